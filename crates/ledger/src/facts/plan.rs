//! Facts of plans: submitted, checked against rules, confirmed, attested (seed 000, section 5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attribution, EventFacts, MaybeAttribution};
use crate::name::{Sequence, present};

/// An agent submits a plan and opens the trace of its clarification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanSubmitted {}

/// The rules that the plan of this trace is held against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesRecorded {}

/// The agent changes its plan while its gaps are being settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanAmended {}

/// The plan is taken back before it was confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanWithdrawn {
    /// The way it came, where the desk recorded it for a person; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
}

/// The agent confirms the plan with all answers in it; every question is settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanConfirmed {}

/// The agent attests what it made of the confirmed plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanAttested {
    /// The confirmation.
    pub confirmed: Sequence,
}

/// The desk signed a document of the clarification protocol, once: it stands here for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaperRecorded {
    /// The event it was written because of.
    pub about: Sequence,
    /// What it is.
    pub kind: PaperKind,
}

/// What a paper is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaperKind {
    /// The attestation of a plan that was confirmed, with the record before it.
    Acceptance,
    /// What is open after a submission or a change.
    Document,
    /// The package for whoever goes on with the work.
    Handoff,
    /// One ask and its answer.
    Round,
}

impl PaperKind {
    /// Returns the word in the facts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acceptance => "acceptance",
            Self::Document => "document",
            Self::Handoff => "handoff",
            Self::Round => "round",
        }
    }
}

impl EventFacts for PlanSubmitted {}
impl EventFacts for RulesRecorded {}
impl EventFacts for PlanAmended {}
impl EventFacts for PlanWithdrawn {
    attributed!();
}
impl EventFacts for PlanConfirmed {}

impl EventFacts for PaperRecorded {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.about);
    }
}

impl EventFacts for PlanAttested {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.confirmed);
    }
}
