//! What can be wrong with an event, given those before it.

use thiserror::Error;

/// What is wrong with the order of events.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SequenceFault {
    /// The event belongs to another session.
    #[error("expected an event of this session, found one of another")]
    OtherSession,
    /// Nothing comes before the start.
    #[error("expected agent.session.started first, found another event")]
    NotStarted,
    /// A session starts once.
    #[error("expected agent.session.started once, found it again")]
    StartedTwice,
    /// Nothing comes after the end.
    #[error("expected nothing after the end of the session, found an event")]
    Ended,
    /// Numbers go up by one, from 0.
    #[error("expected the sequence number {expected}, found {found}")]
    Number {
        /// The next number.
        expected: u64,
        /// The number of the event.
        found: u64,
    },
    /// Either all events of a session have numbers or none.
    #[error("expected sequence numbers on all events of the session or on none, found both")]
    NumberMixed,
    /// Times do not go back.
    #[error("expected a time not before that of the last event, found an earlier one")]
    TimeBack,
    /// A state follows from the one before it.
    #[error("expected the state {expected:?} to be left, found {found:?}")]
    StateChain {
        /// What the agent does.
        expected: String,
        /// What the event says that it did.
        found: String,
    },
    /// No call of this tool is open.
    #[error("expected the end of a call that is open, found that of another")]
    ToolUnknown,
    /// A call that is left open.
    #[error("expected every call of a tool to have ended, found one that is open")]
    ToolOpen,
    /// Two calls have the same name.
    #[error("expected a new tool_call_id, found one that was used")]
    CallReused,
    /// An irreversible call without an accepted confirmation.
    #[error("expected an accepted confirmation before an irreversible call, found none")]
    Unconfirmed,
    /// Two open confirmations for the same action.
    #[error("expected one open confirmation for an action, found a second one")]
    SameAction,
    /// The token of an open prompt is used again.
    #[error("expected a new reply_token, found that of an open prompt")]
    TokenReused,
    /// An output goes back.
    #[error("expected a position from {expected} on, found {found}")]
    OutputPosition {
        /// Where the last piece ended.
        expected: u64,
        /// Where this one begins.
        found: u64,
    },
    /// An output goes on after its last piece.
    #[error("expected nothing after the last piece of an output, found another piece")]
    OutputEnded,
    /// An output without its last piece.
    #[error("expected every output to have its last piece, found one without")]
    OutputOpen,
    /// The session has more open things than are kept.
    #[error("expected fewer calls, outputs or prompts in one session, found more than are kept")]
    TooMany,
}

impl SequenceFault {
    /// Returns whether nothing can be done with the event.
    pub const fn is_fatal(&self) -> bool {
        matches!(self, Self::OtherSession | Self::NotStarted | Self::StartedTwice | Self::Ended)
    }
}
