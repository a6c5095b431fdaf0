//! Times of events (3.2.5): RFC 3339 in UTC or with an offset, and no fraction, or one of three or six digits. They are kept to the
//! millisecond and written as the one form of [`Timestamp`]; what is forwarded keeps its own bytes.

use std::{borrow::Cow, fmt, str::FromStr};

use demur_core::time::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, Unexpected, Visitor},
};

use crate::{error::shown, form::TextFormError};

/// When an event was made, or a person decided, by the sender's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct EventTime(Timestamp);

impl EventTime {
    /// Returns the time.
    pub const fn as_timestamp(self) -> Timestamp {
        self.0
    }

    /// Returns whether this is later than clocks that differ a little would explain. A prompt with such a time would wait too long.
    pub fn is_dated_ahead(self, now: Timestamp) -> bool {
        self.0 > now.plus_millis(MAX_SKEW_MS)
    }
}

impl From<Timestamp> for EventTime {
    fn from(time: Timestamp) -> Self {
        Self(time)
    }
}

impl FromStr for EventTime {
    type Err = TextFormError;

    fn from_str(text: &str) -> Result<Self, TextFormError> {
        read(text)
            .map(Self)
            .ok_or_else(|| TextFormError { expected: EXPECTED, found: format!("{:?}", shown(text)) })
    }
}

impl fmt::Display for EventTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl<'de> Deserialize<'de> for EventTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = EventTime;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(EXPECTED)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<EventTime, E> {
                let unfit = || E::invalid_value(Unexpected::Str(&shown(text)), &self);
                read(text).map(EventTime).ok_or_else(unfit)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

impl JsonSchema for EventTime {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EventTime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time", "maxLength": MAX_BYTES, "pattern": PATTERN })
    }
}

/// Returns the time that a text spells. Microseconds are cut off, so the order of two times never turns round.
fn read(text: &str) -> Option<Timestamp> {
    let (seconds, rest) = text.split_at_checked("YYYY-MM-DDTHH:MM:SS".len())?;
    let (millis, offset) = match rest.strip_prefix('.') {
        None => ("000", rest),
        Some(rest) => {
            let end = rest.find(|character: char| !character.is_ascii_digit())?;
            let (fraction, offset) = rest.split_at(end);
            (fraction.get(..3).filter(|_| matches!(fraction.len(), 3 | 6))?, offset)
        }
    };
    let mut whole = [0; 24];
    whole[..19].copy_from_slice(seconds.as_bytes());
    whole[19] = b'.';
    whole[20..23].copy_from_slice(millis.as_bytes());
    whole[23] = b'Z';
    let local = Timestamp::from_ascii(&whole).ok()?.as_millis();
    let millis = match offset.as_bytes() {
        b"Z" => local,
        [b'+', rest @ ..] => local.checked_sub(offset_millis(rest)?)?,
        [b'-', rest @ ..] => local.checked_add(offset_millis(rest)?)?,
        _ => return None,
    };
    Timestamp::from_millis(millis).ok()
}

/// Returns how far `HH:MM` is from UTC.
fn offset_millis(text: &[u8]) -> Option<u64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let [hour_tens, hours, b':', minute_tens, minutes] = *text else { return None };
    let hours = digit(hour_tens)? * 10 + digit(hours)?;
    let minutes = digit(minute_tens)? * 10 + digit(minutes)?;
    (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) * 60_000)
}

const EXPECTED: &str =
    "a time such as 2026-05-24T14:22:11.342Z or with an offset, with no fraction or one of 3 or 6 digits";

const PATTERN: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.([0-9]{3}|[0-9]{6}))?(Z|[+-][0-9]{2}:[0-9]{2})$";

/// How far clocks may differ.
pub(crate) const MAX_SKEW_MS: u64 = 60_000;

/// The longest form, with six digits and an offset.
const MAX_BYTES: usize = 32;
