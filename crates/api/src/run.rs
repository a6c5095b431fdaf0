//! Accountable runs: opened, spoken in, driven, audited, looked at.

mod drive;
mod given;
mod next;
mod standing;

pub use drive::{
    AbortRun, AgentTurn, AuditReport, AwaitedConfirmation, Base64Bytes, ClaimId, ClaimRun, ClaimedRun,
    DriveReply, DriveReport, DriveStep, NotBase64, ReadRunParameters, ReadyTool, Rested, RunLines, RunOrders,
    RunOrigin, RunStop, SubmitInRun, SubmittedInRun, ToolReport, ToolToPrepare, ToolToRun, TurnReport,
    UnprovenRun,
};
pub use given::{AuditRun, Demands, GivenArtifact, OpenRun, SayInRun};
pub use next::{Next, RunAct};
pub use standing::{
    AuditedRun, ClaimView, ExecutionView, IntentView, Player, ProposalView, RunEvent, RunStanding,
};
