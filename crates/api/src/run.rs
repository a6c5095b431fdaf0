//! Accountable runs: opened, spoken in, audited, looked at.

mod given;
mod next;
mod standing;

pub use given::{AuditRun, Demands, GivenArtifact, OpenRun, SayInRun};
pub use next::{Act, Next};
pub use standing::{
    AuditedRun, ClaimView, ExecutionView, IntentView, Player, ProposalView, RunEvent, RunStanding,
};
