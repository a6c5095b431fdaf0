//! Facts of the journal: who signed in, when. It is a trace of its own, because the registry travels in every export.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attribution, EventFacts, MaybeAttribution};
use crate::name::{PersonId, SessionId, present};

/// The journal of a store begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalOpened {}

/// Somebody signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionOpened {
    /// The way it came, where the desk recorded it; null beside a passkey's assertion.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// Who made the link, where one was used and that is known.
    #[serde(deserialize_with = "present")]
    pub by: Option<PersonId>,
    /// Who signed in.
    pub person: PersonId,
    /// The session.
    pub session: SessionId,
}

impl EventFacts for JournalOpened {}

impl EventFacts for SessionOpened {
    fn attribution(&self) -> Option<Option<&Attribution>> {
        Some(self.attribution.as_deref())
    }

    fn attribute(&mut self, attribution: Attribution) {
        self.attribution = Some(Box::new(attribution));
    }
}
