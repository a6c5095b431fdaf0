//! What a subscriber can take, and what a producer grants of it (5.3).

use std::{collections::BTreeMap, fmt};

use demur_core::limit::List;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::{
    event::AgentEvent,
    event_type::{CoreType, EventFilters, EventName},
    extension::{KnownExtension, Prefix},
    form::Uri,
    language::LanguageTag,
    number::Integer,
    payload::Payload,
    word::{CoalesceBoundary, CognitiveLoad, Verbosity},
};

/// Events in a second.
pub type EventRate = Integer<1, 100_000>;

/// Makes the struct of capabilities, its reader and its schema from one table.
macro_rules! capabilities {
    ($($(#[$attribute:meta])* $field:ident $name:literal: $type:ty,)*) => {
        /// What a subscriber can take. What is left out has its default.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Capabilities {
            $(
                $(#[$attribute])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
            /// What extensions ask for.
            #[serde(flatten)]
            pub extensions: BTreeMap<Prefix, Map<String, Value>>,
        }

        impl Capabilities {
            /// Returns these capabilities with those that `newer` names in their place.
            #[must_use]
            pub fn updated(&self, newer: &Self) -> Self {
                let mut updated = self.clone();
                $(if newer.$field.is_some() { updated.$field.clone_from(&newer.$field); })*
                updated.extensions.extend(newer.extensions.clone());
                updated
            }
        }

        impl<'de> Deserialize<'de> for Capabilities {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;

                impl<'de> Visitor<'de> for Fields {
                    type Value = Capabilities;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str("an object of capabilities")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Capabilities, A::Error> {
                        let mut found = Capabilities::default();
                        while let Some(name) = members.next_key::<String>()? {
                            match name.as_str() {
                                $($name => found.$field = Some(members.next_value()?),)*
                                other => found.take_extension(other, members.next_value()?)?,
                            }
                        }
                        Ok(found)
                    }
                }

                deserializer.deserialize_map(Fields)
            }
        }

        impl JsonSchema for Capabilities {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                "Capabilities".into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let properties = [$(($name.to_owned(), Value::from(generator.subschema_for::<$type>())),)*];
                let properties: Map<String, Value> = properties.into_iter().collect();
                json_schema!({
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": { "type": "object" },
                })
            }
        }
    };
}

capabilities! {
    /// How many events it can take in a second; any number where nothing is said.
    max_events_per_second "max_events_per_second": EventRate,
    /// How many words its person wants; a sentence where nothing is said.
    preferred_verbosity "preferred_verbosity": Verbosity,
    /// Its languages, the best first; American English where nothing is said.
    languages "languages": List<LanguageTag, 1, 32>,
    /// Whether it can reply to confirmations; it cannot where nothing is said.
    supports_confirmation_reply "supports_confirmation_reply": bool,
    /// Whether it can reply to clarifications; it cannot where nothing is said.
    supports_clarification_reply "supports_clarification_reply": bool,
    /// Where output may be cut; at sentences and at the end where nothing is said.
    coalesce_boundaries "coalesce_boundaries": List<CoalesceBoundary, 1, 5>,
    /// Which types it wants.
    event_filters "event_filters": EventFilters,
    /// Which levels it conforms to; the first where nothing is said.
    supported_conformance_levels "supported_conformance_levels": List<Integer<1, 3>, 1, 3>,
    /// Which extensions it understands.
    supported_extensions "supported_extensions": List<Uri, 0, 64>,
    /// How much its person wants to hear.
    cognitive_load "cognitive_load": CognitiveLoad,
    /// How many words it speaks in a minute.
    pace_wpm "pace_wpm": Integer<50, 1000>,
    /// Whether it wants a signed manifest.
    accept_signed_manifests_only "accept_signed_manifests_only": bool,
}

impl Capabilities {
    /// Returns how many words the person wants.
    pub fn verbosity(&self) -> Verbosity {
        self.preferred_verbosity.unwrap_or(Verbosity::Normal)
    }

    /// Returns the languages of the subscriber, the best first.
    pub fn spoken(&self) -> Vec<LanguageTag> {
        let usual = || DEFAULT_LANGUAGE.parse().into_iter().collect();
        self.languages.as_ref().map_or_else(usual, |languages| languages.as_slice().to_vec())
    }

    /// Returns whether output may be cut where this ends: a paragraph ends a sentence too, and the end of the output all of them.
    pub fn may_cut_at(&self, boundary: CoalesceBoundary) -> bool {
        let usual = &[CoalesceBoundary::Sentence, CoalesceBoundary::Completion][..];
        let wanted = self.coalesce_boundaries.as_ref().map_or(usual, |boundaries| boundaries.as_slice());
        wanted.iter().any(|wanted| *wanted <= boundary)
    }

    /// Returns whether the subscriber can reply to this prompt.
    pub fn can_reply_to(&self, payload: &Payload) -> bool {
        match payload {
            Payload::AwaitingConfirmation(_) => self.supports_confirmation_reply == Some(true),
            Payload::AwaitingClarification(_) => self.supports_clarification_reply == Some(true),
            _ => false,
        }
    }

    /// Returns whether the subscriber gets an event: everything critical, and what it includes and does not exclude.
    ///
    /// Where it says nothing it gets the core, and the types of the extensions that it understands. With a low cognitive load it
    /// gets no progress, which only says that something still goes on.
    pub fn wants(&self, event: &AgentEvent, known: &[KnownExtension]) -> bool {
        event.is_critical() || self.wants_type(&event.payload.name(), known)
    }

    /// Returns whether the subscriber gets events of this type that are not critical.
    pub(crate) fn wants_type(&self, name: &EventName, known: &[KnownExtension]) -> bool {
        if name.is(CoreType::ProgressUpdated) && self.cognitive_load == Some(CognitiveLoad::Low) {
            return false;
        }
        let filters = self.event_filters.as_ref();
        let includes = match filters.and_then(|filters| filters.include.as_ref()) {
            Some(patterns) => patterns.iter().any(|pattern| pattern.matches(name.as_str())),
            None => match name {
                EventName::Extension(name) => self.understands(name.prefix().as_ref(), known),
                EventName::Core(_) => true,
            },
        };
        let mut excluded = filters.and_then(|filters| filters.exclude.as_ref()).into_iter().flatten();
        includes && !excluded.any(|pattern| pattern.matches(name.as_str()))
    }

    fn understands(&self, prefix: Option<&Prefix>, known: &[KnownExtension]) -> bool {
        let supported = self.supported_extensions.as_ref().map_or(&[][..], |supported| supported.as_slice());
        let mut namesakes = known.iter().filter(|known| Some(&known.prefix) == prefix);
        namesakes.any(|known| supported.contains(&known.context))
    }

    fn take_extension<E: Error>(&mut self, name: &str, fields: Map<String, Value>) -> Result<(), E> {
        // A capability of a later version is an object too, or it would not be let through. What is no prefix is inert.
        if let Ok(prefix) = name.parse() {
            self.extensions.insert(prefix, fields);
        }
        if self.extensions.len() > MAX_EXTENSIONS {
            return Err(E::custom(format!(
                "expected the capabilities of at most {MAX_EXTENSIONS} extensions"
            )));
        }
        Ok(())
    }
}

/// Of how many extensions a subscriber may tell.
const MAX_EXTENSIONS: usize = 32;

/// What a subscriber speaks that does not say it.
const DEFAULT_LANGUAGE: &str = "en-US";
