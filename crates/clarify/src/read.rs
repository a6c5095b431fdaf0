//! Reading documents: strict JSON in any layout, limits on everything, and errors that name the field.

use std::{fmt, marker::PhantomData};

use demur_core::{
    canonical::{self, ReadError, ReadErrorKind},
    limit::Limits,
};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use crate::Error;

/// Returns the document in these bytes.
///
/// The layout and the order of members are free; duplicate keys, lone surrogates, unknown members and anything
/// beyond the limits are refused. So is what would be written back as something else: signatures are checked over
/// what was sent.
pub fn from_slice<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let text = canonical::scan(bytes, &LIMITS).map_err(Error::Json)?;
    let document: T = canonical::from_checked(text).map_err(|error| named(text, error))?;
    let sent: Value = canonical::from_checked(text).map_err(|error| named(text, error))?;
    let kept = serde_json::to_value(&document)
        .map_err(|error| Error::Shape { field: WHOLE.to_owned(), message: error.to_string() })?;
    match difference(&sent, &kept) {
        None => Ok(document),
        Some(path) => {
            let message = "expected an object with named members, found another form of it".to_owned();
            Err(Error::Shape { field: dotted(path.into_iter().rev()), message })
        }
    }
}

/// Returns a value that is checked as a whole after its members were read.
///
/// The check runs inside of the reader, so that its errors carry the place of the value. An array is refused; serde
/// would take it for the members in their order.
pub(crate) fn object<'de, D, W, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    W: Deserialize<'de>,
    T: TryFrom<W, Error: fmt::Display>,
{
    struct Object<W, T>(PhantomData<(W, T)>);

    impl<'de, W: Deserialize<'de>, T: TryFrom<W, Error: fmt::Display>> Visitor<'de> for Object<W, T> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
            let wire = W::deserialize(MapAccessDeserializer::new(members))?;
            T::try_from(wire).map_err(A::Error::custom)
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// Returns a member that may be left out but not be null: both would mean the same and be signed differently.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Returns the error with the field it is about.
fn named(text: &str, error: ReadError) -> Error {
    let ReadErrorKind::Shape { message } = error.kind() else { return Error::Json(error) };
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(words, _)| words);
    Error::Shape { field: path_at(text, error.offset()), message: message.to_owned() }
}

/// Returns where two values differ first, the innermost part of the path first.
fn difference(sent: &Value, kept: &Value) -> Option<Vec<String>> {
    let inner = |name: String, sent: &Value, kept: Option<&Value>| {
        let mut path = kept.map_or_else(|| Some(Vec::new()), |kept| difference(sent, kept))?;
        path.push(name);
        Some(path)
    };
    match (sent, kept) {
        (Value::Object(sent), Value::Object(kept)) if sent.len() == kept.len() => {
            sent.iter().find_map(|(name, value)| inner(name.clone(), value, kept.get(name)))
        }
        (Value::Array(sent), Value::Array(kept)) if sent.len() == kept.len() => sent
            .iter()
            .zip(kept)
            .enumerate()
            .find_map(|(index, (sent, kept))| inner(index.to_string(), sent, Some(kept))),
        _ => (sent != kept).then(Vec::new),
    }
}

fn dotted(parts: impl Iterator<Item = String>) -> String {
    let path = parts.collect::<Vec<_>>().join(".");
    if path.is_empty() { WHOLE.to_owned() } else { path }
}

/// Returns the dotted path of the value that ends at, or contains, this offset of a good JSON text.
///
/// serde tells where it stopped and not in which field; that follows from the text before.
fn path_at(text: &str, offset: usize) -> String {
    let mut frames: Vec<Frame> = Vec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < offset.min(bytes.len()) {
        match bytes[at] {
            b'{' => frames.push(Frame::Object { key: String::new(), expects_key: true }),
            b'[' => frames.push(Frame::Array { index: 0 }),
            b'}' | b']' => {
                frames.pop();
            }
            b',' => frames.last_mut().into_iter().for_each(Frame::advance),
            b'"' => {
                let end = string_end(bytes, at);
                if let Some(Frame::Object { key, expects_key: expects_key @ true }) = frames.last_mut() {
                    text.get(at + 1..end).unwrap_or_default().clone_into(key);
                    *expects_key = false;
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    // A list that has only just begun is itself what was not expected, not its first item.
    if text.get(..at).is_some_and(|before| before.ends_with('[')) {
        frames.pop();
    }
    dotted(frames.iter().filter_map(Frame::part))
}

enum Frame {
    Object { key: String, expects_key: bool },
    Array { index: usize },
}

impl Frame {
    fn advance(&mut self) {
        match self {
            Self::Object { expects_key, .. } => *expects_key = true,
            Self::Array { index } => *index += 1,
        }
    }

    fn part(&self) -> Option<String> {
        match self {
            Self::Object { key, .. } => (!key.is_empty()).then(|| key.clone()),
            Self::Array { index } => Some(index.to_string()),
        }
    }
}

/// Returns where the closing quote of the string that begins at `start` stands.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// Stands for the path of the whole document.
const WHOLE: &str = "document";

/// Enough for a record of 1,000 rounds or an attestation over 10,000 files.
const LIMITS: Limits = Limits { bytes: 16 << 20, depth: 24, members: 16_384, text: 256 << 10 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_value_that_ends_at_the_offset() {
        let text = r#"{"a": [1, {"b\"": "x,]", "c": 2}], "d": null}"#;
        let after = |part: &str| text.find(part).unwrap() + part.len();
        assert_eq!(path_at(text, after("[")), "a");
        assert_eq!(path_at(text, after("[1")), "a.0");
        assert_eq!(path_at(text, after("x,]\"")), "a.1.b\\\"");
        assert_eq!(path_at(text, after("\"c\": 2")), "a.1.c");
        assert_eq!(path_at(text, after("2}")), "a.1");
        assert_eq!(path_at(text, after("null")), "d");
        assert_eq!(path_at(text, text.len()), "document");
    }
}
