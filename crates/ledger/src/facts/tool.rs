//! Facts of tool calls and their artifacts (seed 002: tool intent and execution workflow).

use demur_core::{
    commitment::Commitment,
    limit::{List, Whole},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cited, EventFacts};
use crate::name::{Sequence, present};

/// The executor says what it is about to do, before it does it (LED-06, LED-11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolIntentSigned {
    /// The conditions of the proposal's approval that are met, by number, ascending.
    pub meets: List<Whole<0, 63>, 0, 64>,
    /// The proposal this call belongs to.
    pub proposal: Sequence,
    /// The failed intent this one tries again (LED-21).
    #[serde(deserialize_with = "present")]
    pub retries: Option<Sequence>,
    /// How risky the call is.
    pub risk: Risk,
}

/// How risky a tool call is, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads only.
    Low,
    /// Changes what can be changed back.
    Medium,
    /// Changes what is hard to change back.
    High,
    /// May harm people, money or other systems.
    Critical,
}

impl Risk {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// The critic lets an intent through or blocks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolIntentReviewed {
    /// The decision.
    pub decision: IntentDecision,
    /// The intent.
    pub intent: Sequence,
}

/// The two answers to an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentDecision {
    /// May execute.
    Approved,
    /// Never executes; a revision is a new intent.
    Blocked,
}

/// The tool starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolExecutionStarted {
    /// The artifact that holds the normalized input.
    #[serde(deserialize_with = "present")]
    pub input: Option<Sequence>,
    /// The intent it carries out.
    pub intent: Sequence,
}

/// The tool ended as it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolExecutionCompleted {
    /// The artifacts it produced.
    pub outputs: Cited<0>,
    /// The `tool_execution_started` event.
    pub started: Sequence,
}

/// The tool did not end as it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolExecutionFailed {
    /// In what way.
    pub failure: FailureKind,
    /// The artifacts it produced all the same.
    pub outputs: Cited<0>,
    /// The `tool_execution_started` event.
    pub started: Sequence,
}

/// The ways a tool fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It ended and said so.
    Exit,
    /// A signal ended it.
    Signal,
    /// It took too long.
    Timeout,
    /// It went over a limit of memory, output or processes.
    Limit,
    /// It could not be started.
    NotStarted,
    /// Nobody knows how it ended: the executor itself stopped.
    Lost,
}

/// Bytes were stored: input, output or evidence. The facts hold a salted commitment, never a plain hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactRecorded {
    /// Commitment to the raw bytes, with a salt of its own.
    pub commitment: Commitment,
}

impl EventFacts for ToolIntentSigned {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.proposal);
        self.retries.into_iter().for_each(visit);
    }
}

impl EventFacts for ToolIntentReviewed {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.intent);
    }
}

impl EventFacts for ToolExecutionStarted {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.intent);
        self.input.into_iter().for_each(visit);
    }
}

impl EventFacts for ToolExecutionCompleted {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.started);
        self.outputs.iter().copied().for_each(visit);
    }
}

impl EventFacts for ToolExecutionFailed {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.started);
        self.outputs.iter().copied().for_each(visit);
    }
}

impl EventFacts for ArtifactRecorded {}
