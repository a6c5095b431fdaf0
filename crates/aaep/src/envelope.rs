//! The envelope (chapter 3): what every event carries.

use demur_core::limit::{List, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    extension::ExtensionFields,
    form::{AaepVersion, EventId, ScriptCode, SessionId, Uri},
    language::{self, LanguageFit, LanguageTag, TextDirection},
    member::present,
    number::Position,
    time::EventTime,
    word::{Urgency, Verbosity},
};

/// What every event carries, except for its type, which follows from its payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The vocabularies beside the core.
    pub contexts: Contexts,
    /// The version of the protocol.
    pub aaep_version: Option<AaepVersion>,
    /// Names the event. The same id always means the same content.
    pub event_id: EventId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// Its place in the session, from 0.
    pub sequence_number: Option<Position>,
    /// When it was made.
    pub timestamp: EventTime,
    /// Who made it.
    pub producer: Producer,
    /// How wordy its texts are.
    pub verbosity: Option<Verbosity>,
    /// How soon it has to be heard; [`AgentEvent::urgency`](crate::event::AgentEvent::urgency) says what holds.
    pub urgency: Option<Urgency>,
    /// The language of its texts.
    pub localization_hints: Option<LocalizationHints>,
    /// Ties it to records elsewhere.
    pub correlation_id: Option<Text<0, 1024>>,
    /// Fields of extensions.
    pub extensions: Option<ExtensionFields>,
}

/// The contexts of an event beside that of the core, which always comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts(List<Uri, 0, 31>);

impl Contexts {
    /// Returns the contexts of extensions.
    pub fn extensions(&self) -> &[Uri] {
        &self.0
    }
}

impl From<List<Uri, 0, 31>> for Contexts {
    fn from(extensions: List<Uri, 0, 31>) -> Self {
        Self(extensions)
    }
}

impl Serialize for Contexts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_empty() {
            return serializer.serialize_str(CORE_CONTEXT);
        }
        serializer.collect_seq([CORE_CONTEXT].into_iter().chain(self.0.iter().map(Uri::as_str)))
    }
}

/// Who makes events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Producer {
    /// Names the agent, the same in all its versions.
    pub agent_id: Text<1, 1024>,
    /// Its version.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<Text<1, 256>>,
    /// Its name for people.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<Text<1, 1024>>,
    /// The model it runs on.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub model: Option<Text<1, 256>>,
    /// Where its manifest is.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub manifest_uri: Option<Uri>,
}

impl Producer {
    /// Returns a producer with this id and nothing else.
    pub const fn new(agent_id: Text<1, 1024>) -> Self {
        Self { agent_id, agent_version: None, agent_name: None, model: None, manifest_uri: None }
    }
}

/// The language of the texts of an event (chapter 11).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct LocalizationHints {
    /// The language of the texts.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub primary_language: Option<LanguageTag>,
    /// In which direction they run.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub text_direction: Option<TextDirection>,
    /// In which other languages the producer has them.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub available_languages: Option<Languages>,
    /// Which of those to take where nothing fits the reader.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub fallback_chain: Option<List<LanguageTag, 0, 16>>,
    /// The script, if the language does not say it.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptCode>,
    /// The calendar of the dates.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Text<0, 64>>,
}

/// Languages on offer.
pub type Languages = List<LanguageTag, 0, 32>;

impl LocalizationHints {
    /// Returns the hints for texts in one language, with the direction it is written in.
    pub fn of(language: LanguageTag) -> Self {
        let direction = language.direction();
        Self { primary_language: Some(language), text_direction: Some(direction), ..Self::default() }
    }

    /// Returns in which of its languages a reader gets the event, and how well that fits; none where the event names no language.
    pub fn language_for(&self, asked: &[LanguageTag]) -> Option<(&LanguageTag, LanguageFit)> {
        let offered = self.available_languages.as_ref().map_or(&[][..], List::as_slice);
        let fallbacks = self.fallback_chain.as_ref().map_or(&[][..], List::as_slice);
        Some(language::chosen(asked, offered, fallbacks, self.primary_language.as_ref()?))
    }

    /// Returns in which direction the texts run: as the event says, or else as its language is written.
    pub fn direction(&self) -> TextDirection {
        let of_language =
            || self.primary_language.as_ref().map_or(TextDirection::Ltr, LanguageTag::direction);
        self.text_direction.unwrap_or_else(of_language)
    }
}

/// Returns whether a field belongs to the envelope.
pub(crate) fn is_envelope_field(name: &str) -> bool {
    matches!(
        name,
        "@context"
            | "aaep_version"
            | "type"
            | "event_id"
            | "session_id"
            | "sequence_number"
            | "timestamp"
            | "producer"
            | "verbosity"
            | "urgency"
            | "localization_hints"
            | "correlation_id"
            | "extensions"
    )
}

/// Returns whether a field must not be used, by anybody.
pub(crate) fn is_reserved_field(name: &str) -> bool {
    let is_json_ld = matches!(name, "@id" | "@graph" | "@base" | "@vocab");
    is_json_ld || (name.starts_with("aaep_") && !is_envelope_field(name))
}

/// The context of the core.
pub const CORE_CONTEXT: &str = "https://aaep-protocol.org/context/v1";
