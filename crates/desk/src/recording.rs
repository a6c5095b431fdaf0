//! Something that is to be recorded, and what follows once it is. Made by whoever knows what to say; done on a thread that
//! waits for the disk ([`Recording::perform`]), or begun by somebody who is woken ([`Recording::begin`]).

use demur_api::refusal::Refusal;
use demur_engine::command::Command;
use demur_ledger::name::TraceId;
use demur_sequencer::{Acknowledged, SequencerError, Underway};

use crate::owner::Owner;

/// What is to be recorded.
pub struct Recording<T> {
    trace: TraceId,
    command: Command,
    finish: Finish<T>,
}

/// What follows.
type Finish<T> = Box<dyn FnOnce(&Owner, Result<Acknowledged, SequencerError>) -> Result<T, Refusal> + Send>;

impl<T> Recording<T> {
    /// Returns the recording of a command, and what follows from what became of it.
    pub(crate) fn new(
        trace: TraceId,
        command: Command,
        finish: impl FnOnce(&Owner, Result<Acknowledged, SequencerError>) -> Result<T, Refusal> + Send + 'static,
    ) -> Self {
        Self { trace, command, finish: Box::new(finish) }
    }

    /// Records it. When this returns, it is on the disk.
    pub fn perform(self, owner: &Owner) -> Result<T, Refusal> {
        let recorded = owner.ledger().perform(self.trace, &self.command);
        (self.finish)(owner, recorded)
    }

    /// Puts it in line, if nothing has to be waited for first; otherwise it has to be performed.
    pub fn begin(&self, owner: &Owner) -> Result<Option<Underway>, Refusal> {
        Ok(owner.ledger().begin(self.trace, &self.command)?)
    }

    /// Does what follows once it is known what became of it.
    pub fn finish(self, owner: &Owner, recorded: Result<Acknowledged, SequencerError>) -> Result<T, Refusal> {
        (self.finish)(owner, recorded)
    }
}
