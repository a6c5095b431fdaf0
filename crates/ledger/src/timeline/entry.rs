//! One event in words: who, as what, what, why, and what it rests on, each by number and by name.

use demur_core::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::ExecutionEnding;
use crate::{
    facts::Policy,
    name::{PrincipalId, Sequence},
    role::Role,
    state::Phase,
};

/// One event in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its place.
    pub sequence: Sequence,
    /// When, by the desk's clock.
    pub time: Timestamp,
    /// Who: the name the desk gives, else the principal.
    pub who: String,
    /// As what.
    pub role: &'static str,
    /// Whether a key stands behind it; otherwise it is the desk's word.
    pub signed: bool,
    /// The event type.
    pub kind: String,
    /// What, in one sentence.
    pub what: String,
    /// Why, in the author's own words.
    pub why: Option<String>,
    /// The events it refers to.
    pub cites: Vec<Sequence>,
    /// Where the run stood before and after; none where the state could not be followed so far.
    pub phase: Option<Step>,
    /// What the run opens with.
    pub opening: Option<Opening>,
    /// What a policy says of clients and of each tool.
    pub rules: Vec<String>,
    /// What a proposal says beside its objective.
    pub plan: Option<ProposalPlan>,
    /// The conditions of an approval.
    pub conditions: Vec<String>,
    /// The conditions that an intent meets, by number.
    pub meets: Vec<u64>,
    /// The tool it is about.
    pub tool: Option<String>,
    /// The limits in force, and those that could not be put in force.
    pub limits: Vec<String>,
    /// The artifact that holds the input of a tool.
    pub input: Option<Named>,
    /// How a tool ended.
    pub ending: Option<ExecutionEnding>,
    /// The artifacts a tool produced.
    pub outputs: Vec<Named>,
    /// How sure the author of a claim is, in percent.
    pub confidence: Option<u64>,
    /// The artifacts a claim rests on.
    pub evidence: Vec<Named>,
    /// The executions a claim is about.
    pub executions: Vec<Execution>,
    /// The claims it refers to, by the beginning of their text.
    pub claims: Vec<Named>,
    /// Of the claims it is about, those with an open challenge after it.
    pub disputed: Vec<Dispute>,
}

/// Where the run stood before and after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Before.
    pub from: Phase,
    /// After.
    pub to: Phase,
}

/// What a run opens with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Opening {
    /// The name of the task, if disclosed.
    pub task: Option<String>,
    /// What must hold throughout.
    pub constraints: Vec<String>,
    /// Who takes part as what.
    pub participants: Vec<Participant>,
    /// What the run demands before it goes on.
    pub policy: Policy,
}

/// Somebody who takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Participant {
    /// The name the desk gives.
    pub name: Option<String>,
    /// Who.
    pub principal: PrincipalId,
    /// As what.
    pub role: Role,
    /// The client it is, in words, where the registry was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// What a proposal says beside its objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProposalPlan {
    /// What is taken for granted.
    pub assumptions: Vec<String>,
    /// What will show that it worked.
    pub expected_evidence: Vec<String>,
    /// The tools it needs.
    pub required_tools: Vec<String>,
}

/// An earlier event by number and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The event.
    pub sequence: Sequence,
    /// What it is called, if that is disclosed and not too long ago.
    pub name: Option<String>,
}

/// An execution that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Execution {
    /// The completed or failed event.
    pub sequence: Sequence,
    /// The tool, if it is disclosed and not too long ago.
    pub tool: Option<String>,
    /// How it ended, if that is not too long ago.
    pub ending: Option<ExecutionEnding>,
}

/// A claim and the challenges against it that are open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dispute {
    /// The claim.
    pub claim: Sequence,
    /// The challenges.
    pub challenges: Vec<Sequence>,
}
