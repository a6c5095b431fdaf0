//! Times as the seed writes them: RFC 3339 in UTC, whole seconds without a fraction (`2026-05-10T15:00:00Z`),
//! otherwise three digits of it. Each time has one spelling.

use std::{fmt, str::FromStr};

use demur_core::{form::FormError, time::Timestamp};

use crate::name::text_on_the_wire;

/// A point in time, to the millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Timestamp);

text_on_the_wire!(
    Time,
    20,
    24,
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.(?!000)[0-9]{3})?Z$"
);

impl Time {
    /// Returns the time as the rest of demur counts it.
    pub const fn as_timestamp(self) -> Timestamp {
        self.0
    }

    /// Returns the time this many milliseconds later.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.plus_millis(millis))
    }
}

impl From<Timestamp> for Time {
    fn from(timestamp: Timestamp) -> Self {
        Self(timestamp)
    }
}

impl FromStr for Time {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        let whole = text.strip_suffix('Z').filter(|_| text.len() == 20);
        if let Some(whole) = whole {
            return format!("{whole}.000Z").parse().map(Self);
        }
        if text.ends_with(NO_FRACTION) {
            let found = "a fraction of zero".to_owned();
            return Err(FormError::Value { expected: "whole seconds without a fraction", found });
        }
        text.parse().map(Self)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        match text.strip_suffix(NO_FRACTION) {
            Some(whole) => formatter.pad(&format!("{whole}Z")),
            None => formatter.pad(&text),
        }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Time({self})")
    }
}

const NO_FRACTION: &str = ".000Z";
