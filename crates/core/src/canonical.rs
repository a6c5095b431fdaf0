//! Canonical JSON, RFC 8785: one spelling for each value, written and checked. Section "Bytes" of the format:
//! bytes received or stored must equal their canonical form, otherwise they fail.
//!
//! The reader is stricter than the RFC where two readers could differ about one text. It refuses duplicate
//! keys, lone surrogates, integer literals beyond 2^53 - 1, and numbers that JavaScript would print as such a
//! literal. The writer refuses to write what the reader would refuse. Into types it reads objects as objects: no
//! list of the fields in their order.
//!
//! | RFC 8785 | here |
//! |---|---|
//! | 3.2.1 whitespace | [`check`] refuses it |
//! | 3.2.2.2 strings | `text` |
//! | 3.2.2.3 numbers | `number`, `tie` |
//! | 3.2.3 sorting | `order` |
//! | 3.2.4 UTF-8 | [`check`], [`scan`] |

mod error;
mod key;
mod number;
mod object;
mod order;
mod scanner;
mod shape;
mod text;
mod tie;
mod writer;

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeSeed;
use serde::{Deserialize, Serialize};

use crate::limit::Limits;

pub use error::{ReadError, ReadErrorKind, WriteError};

/// Returns the canonical bytes of a value.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, WriteError> {
    let mut out = Vec::with_capacity(USUAL_LENGTH);
    write(value, &mut out)?;
    Ok(out)
}

/// Appends the canonical bytes of a value; on failure `out` is as it was.
pub fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let length = out.len();
    let written = value.serialize(&mut writer::Writer::new(out));
    if written.is_err() {
        out.truncate(length);
    }
    written
}

/// Appends a number as ECMAScript prints it (RFC 8785, section 3.2.2.3); refuses NaN and the infinities.
///
/// This is the bare rule of the RFC. Unlike [`write()`] it also prints whole numbers beyond 2^53 - 1.
pub fn write_number(value: f64, out: &mut Vec<u8>) -> Result<(), WriteError> {
    if !value.is_finite() {
        return Err(WriteError::NotFinite);
    }
    out.extend_from_slice(number::Decimal::new(value).as_bytes());
    Ok(())
}

/// Returns these bytes as text if they are exactly the canonical form of some value.
pub fn check<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, ReadError> {
    scanner::scan::<true>(bytes, limits)
}

/// Returns these bytes as text if they are strict JSON (RFC 7493) in any layout and order.
pub fn scan<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, ReadError> {
    scanner::scan::<false>(bytes, limits)
}

/// Returns the canonical text of the one value that these bytes begin with, and the bytes after it.
///
/// For readers that know what stands around the value. Such a reader has another way to read the whole, which
/// says what is wrong and where; so here nothing is said.
pub fn split_first<'a>(bytes: &'a [u8], limits: &Limits) -> Option<(&'a str, &'a [u8])> {
    scanner::split_first(bytes, limits)
}

/// Returns the value of canonical bytes; any other spelling is refused.
pub fn from_canonical<'a, T: Deserialize<'a>>(bytes: &'a [u8], limits: &Limits) -> Result<T, ReadError> {
    parse(scanner::scan::<true>(bytes, limits)?)
}

/// Returns the value of strict JSON in any layout and order.
pub fn from_json<'a, T: Deserialize<'a>>(bytes: &'a [u8], limits: &Limits) -> Result<T, ReadError> {
    parse(scanner::scan::<false>(bytes, limits)?)
}

/// Returns the value of a text that [`check`] or [`scan`] passed before, or of a part of one.
///
/// Saves the second look where a document holds another: the outer check has covered both.
pub fn from_checked<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ReadError> {
    parse(text)
}

/// Returns what a seed makes of a text that [`check`] or [`scan`] passed before, or of a part of one.
pub fn from_checked_with<'a, S: DeserializeSeed<'a>>(text: &'a str, seed: S) -> Result<S::Value, ReadError> {
    shape::seeded(text, seed).map_err(|error| ReadError::from_serde(&error, text))
}

/// Returns the members of strict JSON in any layout, in the order in which they stand; none where it is no object.
///
/// For messages whose fields are looked at one after another: each value is scanned here and read where it is needed, with
/// [`from_checked`].
pub fn members<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Option<Vec<Member<'a>>>, ReadError> {
    let (text, places) = scanner::members(bytes, limits)?;
    let Some(places) = places else { return Ok(None) };
    let member = |(key, value): (order::Key, Range<usize>)| {
        let name = if key.escaped {
            Cow::Owned(from_checked(&text[key.start - 1..=key.end])?)
        } else {
            Cow::Borrowed(&text[key.start..key.end])
        };
        Ok(Member { name, value: &text[value] })
    };
    places.into_iter().map(member).collect::<Result<_, _>>().map(Some)
}

/// One member of an object, as it stands in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key, without its quotes and escapes.
    pub name: Cow<'a, str>,
    /// The text of the value.
    pub value: &'a str,
}

/// Returns the canonical form of strict JSON in any layout and order.
pub fn canonicalize(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, ReadError> {
    let value: serde_json::Value = from_json(bytes, limits)?;
    to_vec(&value).map_err(|error| ReadError::new(0, ReadErrorKind::Shape { message: error.to_string() }))
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ReadError> {
    shape::from_str(text).map_err(|error| ReadError::from_serde(&error, text))
}

/// Enough for most events, so that writing one allocates once.
const USUAL_LENGTH: usize = 1024;
