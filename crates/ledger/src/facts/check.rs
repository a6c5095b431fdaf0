//! Facts of showing that something holds: conditions judged, checks stated.

use demur_core::limit::{List, Whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventFacts;
use crate::name::{Sequence, present};

/// The critic says whether a condition of an approval holds for an intent, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConditionJudged {
    /// The condition, by its number in the approval.
    pub condition: Whole<0, 63>,
    /// The artifacts and questions that show it, ascending; the input of the intent may be among them.
    pub evidence: List<Sequence, 1, 16>,
    /// Whether it holds.
    pub holds: bool,
    /// The intent, which has not started.
    pub intent: Sequence,
}

/// Somebody says what must be true of an artifact, in a form that everybody can evaluate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckStated {
    /// What it is about: an intent that has not started, or a claim in play.
    pub about: Sequence,
    /// The artifact whose bytes it looks into.
    pub artifact: Sequence,
    /// The condition of the intent that it shows; null where it is about a claim.
    #[serde(deserialize_with = "present")]
    pub condition: Option<Whole<0, 63>>,
}

impl EventFacts for ConditionJudged {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.intent);
        self.evidence.iter().copied().for_each(visit);
    }
}

impl EventFacts for CheckStated {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.about);
        visit(self.artifact);
    }
}
