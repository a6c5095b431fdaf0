//! Something that is to be recorded, and what follows once it is. Made by whoever knows what to say; done on a thread that
//! waits for the disk ([`Recording::perform`]), or begun by somebody who is woken ([`Recording::begin`]).

use demur_api::refusal::Refusal;
use demur_engine::command::Command;
use demur_ledger::name::TraceId;
use demur_sequencer::{Acknowledged, SequencerError, Underway};
use demur_store::contract::Swap;

use crate::{lookup::Lookup, owner::Owner};

/// What is to be recorded.
pub struct Recording<T> {
    trace: TraceId,
    command: Command,
    /// What changes with it or not at all.
    swaps: Vec<Swap>,
    finish: Finish<T>,
}

/// What follows, on a thread that must not wait.
type Finish<T> =
    Box<dyn FnOnce(&Lookup<'_>, Result<Acknowledged, SequencerError>) -> Result<Finished<T>, Refusal> + Send>;

/// How far the end came with what is in memory.
pub enum Finished<T> {
    /// There is nothing left to do.
    Done(T),
    /// Something has to be read.
    Rest(Rest<T>),
}

/// What is left to do on a thread that may wait.
pub type Rest<T> = Box<dyn FnOnce(&Owner) -> Result<T, Refusal> + Send>;

impl<T: 'static> Recording<T> {
    /// Returns the recording of a command, and what follows from what became of it.
    pub(crate) fn new(
        trace: TraceId,
        command: Command,
        finish: impl FnOnce(&Lookup<'_>, Result<Acknowledged, SequencerError>) -> Result<Finished<T>, Refusal>
        + Send
        + 'static,
    ) -> Self {
        Self { trace, command, swaps: Vec::new(), finish: Box::new(finish) }
    }

    /// Returns the recording with a record that changes with it or not at all.
    #[must_use]
    pub(crate) fn with(mut self, swap: Swap) -> Self {
        self.swaps.push(swap);
        self
    }

    /// Returns the same recording with something else to try where it is refused.
    pub(crate) fn or_else(
        self,
        rest: impl FnOnce(&Owner, Refusal) -> Result<T, Refusal> + Send + 'static,
    ) -> Self {
        let Self { trace, command, swaps, finish } = self;
        let or_else = Self::new(trace, command, move |at, recorded| match finish(at, recorded) {
            Err(refusal) => Ok(Finished::Rest(Box::new(move |owner| rest(owner, refusal)))),
            finished => finished,
        });
        Self { swaps, ..or_else }
    }

    /// Returns the same recording with one more thing that follows: `here` with what is in memory, and `rest` where that
    /// is not enough.
    pub(crate) fn then<U: 'static>(
        self,
        here: impl FnOnce(&Lookup<'_>, &T) -> Option<U> + Send + 'static,
        rest: impl FnOnce(&Owner, T) -> Result<U, Refusal> + Send + 'static,
    ) -> Recording<U>
    where
        T: Send,
    {
        let Self { trace, command, swaps, finish } = self;
        let then = Recording::new(trace, command, move |at, recorded| {
            Ok(match finish(at, recorded)? {
                Finished::Done(done) => match here(at, &done) {
                    Some(next) => Finished::Done(next),
                    None => Finished::Rest(Box::new(move |owner| rest(owner, done))),
                },
                Finished::Rest(before) => Finished::Rest(Box::new(move |owner| rest(owner, before(owner)?))),
            })
        });
        Recording { swaps, ..then }
    }

    /// Records it. When this returns, it is on the disk.
    pub fn perform(self, owner: &Owner) -> Result<T, Refusal> {
        let recorded = owner.sequencer().perform_with(self.trace, &self.command, &self.swaps);
        match (self.finish)(&owner.lookup(), recorded)? {
            Finished::Done(done) => Ok(done),
            Finished::Rest(rest) => rest(owner),
        }
    }

    /// Puts it in line, if nothing has to be waited for first; otherwise it has to be performed.
    pub fn begin(&self, at: &Lookup<'_>) -> Result<Option<Underway>, Refusal> {
        Ok(at.at_hand().begin(self.trace, &self.command, &self.swaps)?)
    }

    /// Does what follows once it is known what became of it.
    pub fn finish(
        self,
        at: &Lookup<'_>,
        recorded: Result<Acknowledged, SequencerError>,
    ) -> Result<Finished<T>, Refusal> {
        (self.finish)(at, recorded)
    }
}
