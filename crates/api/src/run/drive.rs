//! A run is driven: the server decides each next step from the record, and the client is its hands. The client has the folder
//! of the run, the tools and the agents' processes; it reports what they did and is told what comes next. Whatever the client
//! holds comes with each report, so either side may end at any moment: a new server goes on with the same client, a new
//! client with the same server.
//!
//! A client claims the run before it drives ([`ClaimRun`]), and again whenever the server does not know the claim any more.
//! Every request here may be sent twice.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_core::{hash::Digest, limit::Text, time::Timestamp, ulid_id};
use demur_ledger::{
    facts::{FailureKind, Participant},
    name::{Position, Sequence, StoreId},
    role::Role,
    state::Phase,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confirmation::ConfirmationId;

ulid_id! {
    /// The right of one process to drive one run. The process draws it.
    pub struct ClaimId;
}

impl ClaimId {
    /// How long a claim is good for, in milliseconds.
    pub const LIFETIME_MILLIS: u64 = 60_000;
    /// How often its holder renews it, in milliseconds.
    pub const RENEWAL_MILLIS: u64 = 20_000;
}

/// Takes the right to drive a run, or renews it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRun {
    /// The claim, of the caller's choice.
    pub claim: ClaimId,
    /// Whether the process that drove it before has ended for sure. Otherwise its claim has to end first.
    #[serde(default)]
    pub abandoned: bool,
    /// What the run is started with. Left out where a claim is only renewed.
    #[serde(default)]
    pub orders: Option<RunOrders>,
    /// Where the run began, if it was claimed before. It goes on nowhere else.
    #[serde(default)]
    pub began: Option<RunOrigin>,
}

/// Where a run began. A run that began before a restoration may have a history that the store does not know any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunOrigin {
    /// The store.
    pub store: StoreId,
    /// The registry event with which its epoch began: the first one, or the newest restoration.
    pub epoch: Position,
}

/// The texts that a run is started with. The record names their hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunOrders {
    /// The task file.
    pub task: String,
    /// The policy file.
    pub policy: String,
    /// A line for each file of the task: its hash and its name.
    pub files: String,
}

/// A run that is claimed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimedRun {
    /// Where the run is recorded. Every later claim names it.
    pub origin: RunOrigin,
    /// How many events are recorded.
    pub length: u64,
    /// Who takes part as what.
    pub participants: Vec<Participant>,
}

/// What a client did since it was last told what to do, and everything it holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveReport {
    /// The claim.
    pub claim: ClaimId,
    /// Where to stop; otherwise at the end.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub until: Option<Phase>,
    /// How the tool ended whose start is on record. A start on record that is neither here nor among `ready` is lost.
    #[serde(default)]
    pub ended: Option<ToolReport>,
    /// The tools that are ready to run, in this order; none of them was started.
    #[serde(default)]
    pub ready: Vec<ReadyTool>,
    /// The calls to run after those, in this order, whose tools are being made ready.
    #[serde(default)]
    pub ahead: Vec<String>,
    /// What came of the turn of an agent.
    #[serde(default)]
    pub turn: Option<TurnReport>,
    /// How many events there were when an agent's last turn ended, by role.
    #[serde(default)]
    pub rested: Vec<Rested>,
    /// The SHA-256 of the auditor's report, once it is kept.
    #[serde(default)]
    pub kept: Option<Digest>,
    /// Whether the client stops here.
    #[serde(default)]
    pub leaves: bool,
}

/// How a tool ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolReport {
    /// The event that records its start.
    pub started: Sequence,
    /// The call's name in the task.
    pub call: String,
    /// In what way it failed; none if it completed.
    #[serde(default)]
    pub failure: Option<FailureKind>,
    /// Its exit status, where it has one.
    #[serde(default)]
    pub exit_status: Option<u8>,
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// What it wrote to standard output.
    #[serde(default)]
    pub stdout: Base64Bytes,
    /// What it wrote to standard error.
    #[serde(default)]
    pub stderr: Base64Bytes,
    /// What went wrong, or what else is worth knowing.
    #[serde(default)]
    pub note: Option<String>,
}

/// Bytes, in padded base64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Base64Bytes(pub Vec<u8>);

impl From<Base64Bytes> for String {
    fn from(bytes: Base64Bytes) -> Self {
        STANDARD.encode(bytes.0)
    }
}

impl TryFrom<String> for Base64Bytes {
    type Error = NotBase64;

    fn try_from(text: String) -> Result<Self, NotBase64> {
        STANDARD.decode(text).map(Self).map_err(|_| NotBase64)
    }
}

/// A text that is not base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected bytes in padded base64, found another text")]
pub struct NotBase64;

/// A tool that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyTool {
    /// The call's name in the task.
    pub call: String,
    /// The limits in force, in words for the record.
    pub limits: Vec<String>,
}

/// What came of the turn of an agent in a process of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnReport {
    /// Its role.
    pub role: Role,
    /// Whether anything it said was recorded.
    pub moved: bool,
    /// Why it cannot go on, if it cannot.
    #[serde(default)]
    pub failed: Option<String>,
}

/// How far the record was when an agent's last turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rested {
    /// Its role.
    pub role: Role,
    /// How many events there were.
    pub length: u64,
}

/// What was recorded, and what comes next.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveReply {
    /// What was recorded now, each as a line of an export. Earlier events are read with `readRun`.
    pub events: Vec<String>,
    /// How many events are recorded by now. A client that knows fewer reads the others.
    pub length: u64,
    /// What the client does next.
    pub step: DriveStep,
}

/// What the client does next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriveStep {
    /// Gets the tool of a call ready.
    Prepare(ToolToPrepare),
    /// Runs the tool of a call.
    Run(ToolToRun),
    /// Gives an agent in a process of its own its turn.
    Turn(AgentTurn),
    /// Waits until a confirmation is given or refused.
    Await(AwaitedConfirmation),
    /// Keeps the auditor's report, whose hash is recorded next.
    Keep(AuditReport),
    /// Stops: the run has ended, or has come as far as it may.
    Over(RunStop),
    /// Stops: the record does not hold.
    Unproven(UnprovenRun),
}

/// A confirmation that the run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AwaitedConfirmation {
    /// Which.
    pub confirmation: ConfirmationId,
}

/// A tool to get ready, in place of what was ready before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolToPrepare {
    /// The call's name in the task.
    pub call: String,
}

/// A tool to run, whose start is on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolToRun {
    /// The call's name in the task.
    pub call: String,
    /// The event that records the start.
    pub started: Sequence,
    /// The calls whose tools are to be made ready meanwhile, in this order.
    pub ahead: Vec<String>,
}

/// The turn of an agent in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentTurn {
    /// Its role.
    pub role: Role,
    /// The server's clock.
    pub now: Timestamp,
}

/// The auditor's report on a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditReport {
    /// Canonical JSON, as it is hashed.
    pub report: String,
}

/// A run that has ended, or has come as far as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStop {
    /// Where it stands.
    #[schemars(with = "String")]
    pub phase: Phase,
    /// Whether nobody had anything left to do.
    pub stuck: bool,
}

/// A run that is marked as failed, because its record does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnprovenRun {
    /// What was found.
    pub message: String,
}

/// What an agent in a process of its own said, as it said it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitInRun {
    /// The claim.
    pub claim: ClaimId,
    /// The role of the agent.
    pub role: Role,
    /// Its line, which is signed.
    pub line: String,
}

/// What became of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SubmittedInRun {
    /// What was recorded, each as a line of an export.
    pub events: Vec<String>,
    /// How many events are recorded by now.
    pub length: u64,
    /// The line that the agent is answered with.
    pub answer: String,
    /// What was found, where the record does not hold. The agent is not answered then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven: Option<UnprovenRun>,
}

/// Which part of a run is read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadRunParameters {
    /// The first event; otherwise the first of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// Whether the bytes of artifacts come with the events that record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<bool>,
}

/// A part of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunLines {
    /// Events in order, each as a line of an export, followed by the line of its artifact where that was asked for. Nothing
    /// means that there is no more.
    pub lines: Vec<String>,
}

/// Ends a run for good.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AbortRun {
    /// Why.
    pub reason: Text<1, 16000>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were_and_what_is_not_base64_is_refused() {
        let bytes = Base64Bytes((0..=255).collect());
        let text = serde_json::to_string(&bytes).unwrap();
        assert_eq!(serde_json::from_str::<Base64Bytes>(&text).unwrap(), bytes);
        for wrong in ["\"a\"", "\"====\"", "\"a b=\"", "7"] {
            assert!(serde_json::from_str::<Base64Bytes>(wrong).is_err(), "{wrong}");
        }
    }
}
