//! The lines that a desk and an agent in a process of its own exchange (`docs/agents.md`).
//!
//! Every line is canonical JSON (RFC 8785) of one object with one member, which names its kind, and ends with one line
//! feed. The desk writes [`FromDesk`] and reads [`FromAgent`]; the agent does the reverse. Whose turn it is, and how
//! long an answer may take, is for the two ends to know: here is only what one line can say.

mod door;
mod from_agent;
mod from_desk;

use std::io::{self, BufRead, Read as _};

use demur_core::{
    canonical::{ReadError, WriteError},
    limit::Limits,
};
use serde::{Deserialize, Deserializer, Serialize};

pub use from_agent::{FromAgent, Submit};
pub use from_desk::{End, FromDesk, Hello, Refused, ShownArtifact, ShownEvent, Turn};

/// The protocol that this version speaks.
pub const PROTOCOL: u64 = 1;

/// Returns the next line without its line feed, or none at the end.
///
/// Reads no more than the longest line may have: a peer that never ends its line cannot fill the memory.
pub fn read_line(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, LineError> {
    let mut line = Vec::new();
    // The line feed is one more, and the byte that tells a line too long from one that just fits stands in its place.
    reader.take(LONGEST as u64 + 1).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() == LONGEST => Err(LineError::TooLong),
        Some(_) => Err(LineError::Unended),
    }
}

/// A line that is not of this protocol.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Not canonical JSON, or not a line this version knows.
    #[error("expected a line of protocol {PROTOCOL} in canonical JSON: {0}")]
    Read(#[from] ReadError),
    /// An event or artifact that is not what stands in an export.
    #[error("expected an event or artifact as in an export")]
    Export(#[from] demur_ledger::export::LineError),
    /// Another protocol.
    #[error("expected protocol {PROTOCOL}, found protocol {found}: use a newer version of demur")]
    Protocol {
        /// The number found.
        found: u64,
    },
    /// Longer than a line may be.
    #[error("expected a line of at most {LONGEST} bytes, found more")]
    TooLong,
    /// The other end stopped in the middle of a line.
    #[error("expected a line feed at the end of the line, found the end of the input")]
    Unended,
    /// Content or bytes without their salt, or the other way round.
    #[error("expected {what} and salt together or not at all, found one of them")]
    Halves {
        /// What goes with the salt.
        what: &'static str,
    },
    /// What is disclosed and what is there do not fit.
    #[error("expected {what} and salt exactly where the line says they are disclosed")]
    Disclosure {
        /// What goes with the salt.
        what: &'static str,
    },
    /// Bytes that are not base64.
    #[error("expected artifact bytes in padded base64")]
    Base64,
    /// A statement that nobody signed.
    #[error("expected an ed25519 proof, found another kind: sign the statement with the agent's key")]
    Proof,
    /// Caller misuse: a value that JSON cannot carry.
    #[error("the line cannot be written as canonical JSON")]
    Write(#[from] WriteError),
    /// The other end cannot be reached.
    #[error("the line to the other end is broken")]
    Io(#[from] io::Error),
}

/// Deserializes an optional field that must be there: serde alone would take a missing field for `null`.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// Returns two halves as one.
fn both<A, B>(what: &'static str, first: Option<A>, salt: Option<B>) -> Result<Option<(A, B)>, LineError> {
    match (first, salt) {
        (Some(first), Some(salt)) => Ok(Some((first, salt))),
        (None, None) => Ok(None),
        _ => Err(LineError::Halves { what }),
    }
}

/// Returns the canonical bytes of a line, with its line feed.
fn to_line(line: &impl Serialize) -> Result<Vec<u8>, LineError> {
    let mut bytes = Vec::new();
    demur_core::canonical::write(line, &mut bytes)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The most bytes of a line without its line feed.
const LONGEST: usize = Limits::LINE.bytes;
