//! Events: read from bytes in the order that the specification demands, and written.

mod read;

use demur_core::canonical::{self, ReadError, ReadErrorKind};
use serde::{Serialize, Serializer};

use crate::{
    envelope::{Contexts, Envelope, LocalizationHints, Producer},
    error::RuleViolation,
    extension::{ExtensionFields, KnownExtension, Strictness},
    form::{AaepVersion, EventId, ReplyToken, SessionId},
    language::LanguageTag,
    number::Position,
    payload::Payload,
    time::EventTime,
    word::{Urgency, Verbosity},
};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentEvent {
    /// What every event carries.
    pub envelope: Envelope,
    /// What this one says.
    pub payload: Payload,
}

/// An event as it came in. A relay sends [`text`](Self::text), never the event written anew.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedEvent<'a> {
    /// The event.
    pub event: AgentEvent,
    /// Its exact text.
    pub text: &'a str,
    /// Which soft limits it exceeds (3.7). A caller that drops the event for that logs why.
    pub excesses: Vec<SoftLimitExcess>,
}

impl ReceivedEvent<'_> {
    /// Returns the text with another id and another token, and every other byte as it came in: a relay that gives a prompt a token of
    /// its own makes another event.
    pub fn retokened(&self, event_id: &EventId, token: &ReplyToken) -> Result<String, RuleViolation> {
        let members = canonical::members(self.text.as_bytes(), &read::HARD_LIMITS)
            .map_err(|error| RuleViolation::of_json(&error))?;
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut copied = 0;
        for member in members.into_iter().flatten() {
            let new = match member.name.as_ref() {
                "event_id" => event_id.as_str(),
                "reply_token" => token.as_str(),
                _ => continue,
            };
            let start = member.value.as_ptr().addr() - self.text.as_ptr().addr();
            text.push_str(&self.text[copied..start]);
            // Ids and tokens are letters, digits and underscores: nothing to escape.
            text.extend(["\"", new, "\""]);
            copied = start + member.value.len();
        }
        text.push_str(&self.text[copied..]);
        Ok(text)
    }
}

/// A soft limit that an event exceeds; it is valid all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftLimitExcess {
    /// Over 64 KiB.
    Bytes,
    /// Over 32 fields in the envelope, those inside of `extensions` included.
    Fields,
    /// Over 8 levels.
    Depth,
    /// A string over 16 KiB.
    Text,
}

/// Reads events: which extensions it knows, and how strict it is.
#[derive(Clone, Debug, Default)]
pub struct EventReader {
    /// The extensions that are known.
    pub extensions: Vec<KnownExtension>,
    /// Whether anything unknown is let through.
    pub strictness: Strictness,
}

impl EventReader {
    /// Returns the event in these bytes, or the first rule that it breaks.
    pub fn read<'a>(&self, bytes: &'a [u8]) -> Result<ReceivedEvent<'a>, RuleViolation> {
        read::event(bytes, self)
    }
}

impl AgentEvent {
    /// Returns an event of ours: with version, urgency and language, which the protocol leaves open and we always say.
    pub fn new(
        ids: (EventId, SessionId),
        timestamp: EventTime,
        producer: Producer,
        language: LanguageTag,
        payload: Payload,
    ) -> Self {
        let (event_id, session_id) = ids;
        let urgency = payload.core_type().map_or(Urgency::Normal, crate::event_type::CoreType::usual_urgency);
        let envelope = Envelope {
            contexts: Contexts::default(),
            aaep_version: Some(AaepVersion::current()),
            event_id,
            session_id,
            sequence_number: None,
            timestamp,
            producer,
            verbosity: Some(Verbosity::Normal),
            urgency: Some(urgency),
            localization_hints: Some(LocalizationHints::of(language)),
            correlation_id: None,
            extensions: None,
        };
        Self { envelope, payload }
    }

    /// Returns the event with its place in the session.
    #[must_use]
    pub fn numbered(mut self, sequence_number: Position) -> Self {
        self.envelope.sequence_number = Some(sequence_number);
        self
    }

    /// Returns how soon the event has to be heard: what must be critical is, whether it says so or not.
    pub fn urgency(&self) -> Urgency {
        match self.payload.core_type() {
            Some(core) if core.is_always_critical() => Urgency::Critical,
            _ => self.envelope.urgency.unwrap_or(Urgency::Normal),
        }
    }

    /// Returns whether no filter, no rate and no coalescing may hold the event.
    pub fn is_critical(&self) -> bool {
        self.urgency() == Urgency::Critical
    }

    /// Returns the event as JSON, its fields in the recommended order (3.6).
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// An event as it is written. The order of the fields is the recommended one (3.6).
#[derive(Serialize)]
struct Written<'a> {
    #[serde(rename = "@context")]
    contexts: &'a Contexts,
    #[serde(skip_serializing_if = "Option::is_none")]
    aaep_version: Option<&'a AaepVersion>,
    r#type: &'a str,
    event_id: &'a EventId,
    session_id: &'a SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence_number: Option<Position>,
    timestamp: EventTime,
    producer: &'a Producer,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<Verbosity>,
    /// Always written, also where the event came without it: receivers may rely on it.
    urgency: Urgency,
    #[serde(skip_serializing_if = "Option::is_none")]
    localization_hints: Option<&'a LocalizationHints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(flatten)]
    payload: &'a Payload,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<&'a ExtensionFields>,
}

impl Serialize for AgentEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let envelope = &self.envelope;
        let name = self.payload.name();
        let written = Written {
            contexts: &envelope.contexts,
            aaep_version: envelope.aaep_version.as_ref(),
            r#type: name.as_str(),
            event_id: &envelope.event_id,
            session_id: &envelope.session_id,
            sequence_number: envelope.sequence_number,
            timestamp: envelope.timestamp,
            producer: &envelope.producer,
            verbosity: envelope.verbosity,
            urgency: self.urgency(),
            localization_hints: envelope.localization_hints.as_ref(),
            correlation_id: envelope.correlation_id.as_deref(),
            payload: &self.payload,
            extensions: envelope.extensions.as_ref(),
        };
        written.serialize(serializer)
    }
}

impl SoftLimitExcess {
    /// Returns the soft limit that reading within it failed at.
    fn of(error: &ReadError) -> Option<Self> {
        match error.kind() {
            ReadErrorKind::TooLong { .. } => Some(Self::Bytes),
            ReadErrorKind::TooDeep { .. } => Some(Self::Depth),
            ReadErrorKind::TextTooLong { .. } => Some(Self::Text),
            _ => None,
        }
    }
}
