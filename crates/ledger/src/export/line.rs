//! The lines of an export, read.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_core::{
    canonical::{self, ReadError},
    commitment::Salt,
    limit::{Limits, Text},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    envelope::{Event, FORMAT, Said},
    event_type::TypeName,
    name::{Sequence, StoreId, TraceId, object_or_null, present},
    signed::{Checkpoint, Head, Inclusion, Signed},
};

/// One line of an export.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Line<'a> {
    /// The first line.
    Header(Header),
    /// An event with its content: first those of the registry, then those of the trace.
    #[serde(borrow)]
    Event(EventLine<'a>),
    /// The bytes of the artifact that the event on the line before records.
    #[serde(borrow)]
    Artifact(ArtifactLine<'a>),
    /// The desk's signature on the head of the registry or of the trace, after its last event.
    Head(Signed<Head>),
    /// Shows what the trace held when a registry event recorded a root.
    Inclusion(Inclusion),
    /// The last line.
    Checkpoint(Signed<Checkpoint>),
}

/// What the file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always 1.
    pub format: u64,
    /// The program that wrote it.
    pub software: Text<1, 128>,
    /// The store.
    pub store: StoreId,
    /// The trace.
    pub trace: TraceId,
}

/// An event and what is disclosed of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventLine<'a> {
    /// The content, if disclosed.
    #[serde(borrow, deserialize_with = "object_or_null")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub content: Option<&'a RawValue>,
    /// What became of the content.
    pub disclosure: Disclosure,
    /// The envelope.
    #[serde(borrow)]
    #[schemars(with = "crate::envelope::Wire<'static>")]
    pub event: &'a RawValue,
    /// The salt, if the content is disclosed.
    #[serde(deserialize_with = "present")]
    pub salt: Option<Salt>,
}

/// The bytes of an artifact, or why they are not there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactLine<'a> {
    /// The bytes in padded base64, if disclosed.
    #[serde(borrow, deserialize_with = "present")]
    pub bytes: Option<&'a str>,
    /// What became of the bytes.
    pub disclosure: Disclosure,
    /// The event that records the artifact: the one on the line before.
    pub event: Sequence,
    /// The salt, if the bytes are disclosed.
    #[serde(deserialize_with = "present")]
    pub salt: Option<Salt>,
}

/// Whether content or bytes are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Disclosure {
    /// There is none: the event is facts entirely.
    Absent,
    /// In the file, with its salt.
    Disclosed,
    /// Erased at the store; nobody can check it any more.
    Erased,
    /// Recorded, but the store no longer finds it.
    Missing,
    /// Kept back by whoever made the export.
    Withheld,
}

impl<'a> Line<'a> {
    /// Returns the line in these bytes, without the line feed.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, LineError> {
        let text = canonical::check(bytes, &Limits::LINE)?;
        canonical::from_checked(text).map_err(|error| explain(text, error))
    }
}

/// A file of a newer format says so in its header, even where this version cannot read the rest of it.
fn explain(text: &str, error: ReadError) -> LineError {
    #[derive(Deserialize)]
    struct AnyHeader {
        header: AnyFormat,
    }
    #[derive(Deserialize)]
    struct AnyFormat {
        format: u64,
    }
    match canonical::from_checked::<AnyHeader>(text) {
        Ok(AnyHeader { header: AnyFormat { format } }) if format != FORMAT => {
            LineError::Format { found: format }
        }
        _ => LineError::Read(error),
    }
}

impl EventLine<'_> {
    /// Returns the event.
    pub fn event(&self) -> Result<Event, LineError> {
        let text = self.event.get();
        if text.len() > Limits::EVENT.bytes {
            return Err(LineError::TooLong { what: "event", limit: Limits::EVENT.bytes });
        }
        let event = Event::from_checked(text)?;
        // The schema bounds what is known; facts of a later type are bounded by nothing else.
        if let Ok(Said { kind: TypeName::Unknown(_), .. }) = event.said() {
            canonical::check(text.as_bytes(), &Limits::EVENT)?;
        }
        Ok(event)
    }

    /// Returns the content's bytes, if disclosed.
    pub fn content(&self) -> Result<Option<&[u8]>, LineError> {
        let text = self.content.map(RawValue::get);
        text.map_or(Ok(()), check_content_length)?;
        Ok(text.map(str::as_bytes))
    }
}

/// Checks that content is not longer than content may be.
fn check_content_length(text: &str) -> Result<(), LineError> {
    if text.len() > Limits::CONTENT.bytes {
        return Err(LineError::TooLong { what: "content", limit: Limits::CONTENT.bytes });
    }
    Ok(())
}

impl ArtifactLine<'_> {
    /// Returns the bytes, if disclosed.
    pub fn bytes(&self) -> Result<Option<Vec<u8>>, LineError> {
        self.bytes.map(|text| STANDARD.decode(text).map_err(|_| LineError::Base64)).transpose()
    }
}

/// A line that is not of this format.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Not canonical JSON, or not a line this version knows.
    #[error("expected a line of a demur export in canonical JSON: {0}")]
    Read(#[from] ReadError),
    /// Another format.
    #[error("expected format {FORMAT}, found format {found}: use a newer version of demur")]
    Format {
        /// The number found.
        found: u64,
    },
    /// Larger than it may be.
    #[error("expected {what} of at most {limit} bytes, found more")]
    TooLong {
        /// What.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
    /// Bytes that are not base64.
    #[error("expected artifact bytes in padded base64")]
    Base64,
}
