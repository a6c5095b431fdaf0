//! What goes wrong when canonical JSON is written or read.

use std::fmt;

use thiserror::Error;

/// A value that has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WriteError {
    /// NaN or an infinity.
    #[error("expected a finite number, found NaN or an infinity")]
    NotFinite,
    /// A whole number that not every reader keeps exactly.
    #[error("expected a whole number from -(2^53 - 1) to 2^53 - 1, found {found}; write it as a string")]
    Range {
        /// The number in decimal digits.
        found: String,
    },
    /// A key stands twice in one object.
    #[error("expected every key once, found {key} twice")]
    DuplicateKey {
        /// The key as it is written, with its quotes.
        key: String,
    },
    /// A map has keys that are no text.
    #[error("expected a text as key, found {found}")]
    Key {
        /// What was found instead.
        found: &'static str,
    },
    /// Raw JSON inside the value is not canonical.
    #[error("expected canonical raw JSON")]
    Raw(#[source] ReadError),
    /// The value's own `Serialize` failed.
    #[error("expected a value that can be serialized: {message}")]
    Custom {
        /// Its words.
        message: String,
    },
}

impl serde::ser::Error for WriteError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Custom { message: message.to_string() }
    }
}

/// A text that is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} at byte {offset}")]
pub struct ReadError {
    offset: usize,
    kind: ReadErrorKind,
}

impl ReadError {
    /// Returns at which byte the text was refused.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns why the text was refused.
    pub const fn kind(&self) -> &ReadErrorKind {
        &self.kind
    }

    #[cold]
    pub(super) fn new(offset: usize, kind: ReadErrorKind) -> Self {
        Self { offset, kind }
    }

    /// Returns the error of a text that is good JSON but not of the type that was asked for.
    #[cold]
    pub(super) fn from_serde(error: &serde_json::Error, text: &str) -> Self {
        let before = error.line().saturating_sub(1);
        let line_start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
        let offset = (line_start + error.column()).min(text.len());
        Self::new(offset, ReadErrorKind::Shape { message: error.to_string() })
    }
}

/// Why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadErrorKind {
    /// The whole text is too long.
    #[error("expected at most {limit} bytes, found {found}")]
    TooLong {
        /// The most allowed.
        limit: usize,
        /// How many there were.
        found: usize,
    },
    /// Arrays and objects lie too deep inside one another.
    #[error("expected at most {limit} arrays and objects inside one another, found more")]
    TooDeep {
        /// The most allowed.
        limit: usize,
    },
    /// An array or object has too many members.
    #[error("expected at most {limit} members, found more")]
    TooMany {
        /// The most allowed.
        limit: usize,
    },
    /// A string is too long.
    #[error("expected a string of at most {limit} bytes, found {found}")]
    TextTooLong {
        /// The most allowed.
        limit: usize,
        /// How many there were.
        found: usize,
    },
    /// The bytes are not UTF-8.
    #[error("expected UTF-8, found another byte sequence")]
    Utf8,
    /// Another byte was needed here.
    #[error("expected {expected}, found byte 0x{found:02x}")]
    Byte {
        /// What was needed.
        expected: &'static str,
        /// What was found.
        found: u8,
    },
    /// The text ends too early.
    #[error("expected {expected}, found the end")]
    End {
        /// What was needed.
        expected: &'static str,
    },
    /// Something follows the value.
    #[error("expected the end after the value, found byte 0x{found:02x}")]
    Trailing {
        /// The first byte of it.
        found: u8,
    },
    /// Whitespace in a canonical text.
    #[error("expected canonical JSON without whitespace, found byte 0x{found:02x}")]
    Whitespace {
        /// The whitespace.
        found: u8,
    },
    /// A key stands twice in one object.
    #[error("expected every key once, found it twice")]
    DuplicateKey,
    /// The keys of a canonical object are out of order.
    #[error("expected the keys in the order of their UTF-16 code units, found a smaller one after a greater")]
    KeyOrder,
    /// A control character stands bare in a string.
    #[error("expected control characters to be escaped, found a bare 0x{found:02x}")]
    Control {
        /// The control character.
        found: u8,
    },
    /// An escape that is none, or not the canonical one.
    #[error("expected {expected}, found another escape")]
    Escape {
        /// What was needed.
        expected: &'static str,
    },
    /// Half a surrogate pair.
    #[error("expected surrogates in pairs, found a lone one")]
    Surrogate,
    /// A number that is not spelled as JSON spells numbers, or not canonically.
    #[error("expected {expected}, found another spelling")]
    Number {
        /// What was needed.
        expected: &'static str,
    },
    /// A number that not every reader keeps, or that is beyond all doubles.
    #[error(
        "expected a number that every reader keeps exactly (whole ones up to 2^53 - 1), found one beyond"
    )]
    Range,
    /// Good JSON, but not of the type that was asked for.
    #[error("expected another shape ({message})")]
    Shape {
        /// What the type said.
        message: String,
    },
}
