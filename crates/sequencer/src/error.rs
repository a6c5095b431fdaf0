//! What a sequencer answers when it cannot do what it was asked, by blame.

use std::sync::Arc;

use demur_core::canonical::WriteError;
use demur_engine::refusal::RuleRefusal;
use demur_ledger::{
    author::DraftError,
    desk::DeskError,
    name::{Sequence, TraceId},
};
use demur_store::contract::StoreError;

/// A sequencer that could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SequencerError {
    /// The author's: a rule said no. Nothing in the domain state changed.
    #[error("{0}")]
    Refused(RuleRefusal),
    /// Caller misuse: there is no such trace.
    #[error("expected a trace of this store, found none with the id {trace}")]
    TraceUnknown {
        /// The id.
        trace: TraceId,
    },
    /// Caller misuse: the folder has no ledger yet.
    #[error("expected a store with a registry, found an empty one")]
    NotCreated,
    /// Caller misuse: the folder has a ledger already.
    #[error("expected an empty store, found one with a registry")]
    Created,
    /// Ours: no key of the desk is at hand.
    #[error("expected a secret key that speaks for the desk, found none")]
    NoDeskKey,
    /// Ours: what the store holds is not what was recorded.
    #[error("the record of trace {trace} is damaged at event {sequence}: {code}")]
    Damaged {
        /// The trace.
        trace: TraceId,
        /// The event.
        sequence: Sequence,
        /// The verifier's code.
        code: &'static str,
    },
    /// A record that the command depends on changed meanwhile: read it again.
    #[error("a record changed meanwhile: read it again and try again")]
    RecordChanged,
    /// The machine's: this process may write nothing more.
    #[error("this process lost its right to write to the store: start it again")]
    LeaseLost,
    /// The trace is no longer where the desk's words were worked out from.
    #[error("the trace moved on meanwhile: read it again and try again")]
    Moved,
    /// Others extended the trace again and again.
    #[error("the trace is extended by others all the time: try again")]
    Contended,
    /// The machine's.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The commit that carried this command failed for everybody in it.
    #[error("{0}")]
    Commit(Arc<StoreError>),
    /// Words are erased, and something may be left of them in a file.
    #[error("the words are erased, and a file of the store may still have some of them: {0}")]
    ErasureUnfinished(Arc<StoreError>),
    /// The disk did not confirm the commit.
    #[error("the disk did not confirm the write: whether it happened shows when the store is opened again")]
    Uncertain,
    /// Caller misuse: a statement that cannot be signed.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// Caller misuse: a desk that cannot be made.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// Ours: something that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The other end of an export went away.
    #[error("the export could not be written: {0}")]
    Output(#[from] std::io::Error),
}

impl From<RuleRefusal> for SequencerError {
    fn from(refusal: RuleRefusal) -> Self {
        Self::Refused(refusal)
    }
}
