//! What goes wrong at an agent's end of the lines.

use std::io;

use demur_core::limit::LimitError;
use demur_ledger::{
    author::DraftError,
    name::{Position, PrincipalId},
    role::Role,
};

use super::TrailError;
use crate::line::{LineError, Refused};

/// Why an agent cannot go on. After [`AgentError::Refused`], [`AgentError::Limit`] and [`AgentError::Draft`] it can.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The desk refused the statement; nothing was recorded of it but perhaps the refusal.
    #[error("the desk refused the statement ({}): {}; {}", .0.code.as_str(), .0.message, .0.cure)]
    Refused(Refused),
    /// Caller misuse: a text or list that is too short or too long.
    #[error("a part of the statement is too short or too long")]
    Limit(#[from] LimitError),
    /// Caller misuse: a statement that cannot be signed.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// Caller misuse: nobody listens to an agent outside its turn.
    #[error("expected to speak in the agent's turn, found that it is not: wait for the turn")]
    NotMyTurn,
    /// The desk speaks to somebody else.
    #[error(
        "expected a hello to the holder of this key, found one to {principal} as {role}: check the key file"
    )]
    OtherAgent {
        /// Whom.
        principal: PrincipalId,
        /// As what.
        role: Role,
    },
    /// A line that may not stand here.
    #[error("expected {expected}, found the line {found}")]
    Unexpected {
        /// What may stand here.
        expected: &'static str,
        /// What was found.
        found: &'static str,
    },
    /// The desk says that it recorded what it never showed.
    #[error("expected the event with this very statement before its answer, found event {} without it", .position.sequence)]
    NotShown {
        /// What the desk says.
        position: Position,
    },
    /// The desk shows a trace that does not hold.
    #[error(transparent)]
    Trail(#[from] TrailError),
    /// The desk stopped before it said that the run is over.
    #[error("expected another line from the desk, found the end of the input")]
    Ended,
    /// A line that cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The desk cannot be reached.
    #[error("the line to the desk is broken")]
    Write(#[source] io::Error),
}
