//! A command that is to be recorded, and what follows once it is. There are two ways to record it: on a thread that waits for
//! the disk ([`Recording::perform`]), and without one (`Recording::record`).

use std::{future, sync::Arc};

use demur_api::refusal::Refusal;
use demur_engine::command::Command;
use demur_ledger::name::TraceId;
use demur_sequencer::{Acknowledged, Progress, SequencerError, Underway};
use demur_store::contract::Swap;
use tokio::task;

use crate::{desk::Desk, lookup::Lookup, owner::Owner};

/// A command that is to be recorded in a trace.
pub struct Recording<T> {
    trace: TraceId,
    command: Command,
    /// The records that change with its event, or not at all.
    swaps: Vec<Swap>,
    /// What follows.
    finish: Finish<T>,
}

/// Makes the result of what became of the command. It runs on a thread that must not wait.
type Finish<T> =
    Box<dyn FnOnce(&Lookup, Result<Acknowledged, SequencerError>) -> Result<Finished<T>, Refusal> + Send>;

/// The result, or what is missing to make it.
pub enum Finished<T> {
    /// The result.
    Done(T),
    /// Something has to be read first.
    Rest(Rest<T>),
}

/// Makes the result on a thread that may wait.
pub type Rest<T> = Box<dyn FnOnce(&Owner) -> Result<T, Refusal> + Send>;

impl<T: 'static> Recording<T> {
    /// Returns the recording of a command, and what follows from what became of it.
    pub(crate) fn new(
        trace: TraceId,
        command: Command,
        finish: impl FnOnce(&Lookup, Result<Acknowledged, SequencerError>) -> Result<Finished<T>, Refusal>
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
        here: impl FnOnce(&Lookup, &T) -> Option<U> + Send + 'static,
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
        match (self.finish)(owner.lookup(), recorded)? {
            Finished::Done(done) => Ok(done),
            Finished::Rest(rest) => rest(owner),
        }
    }

    /// Records it without a thread that waits for the disk: one thread writes for everybody in line. Where something has to be
    /// read first, it is [performed](Self::perform). When this returns, it is on the disk.
    pub(crate) async fn record(self, desk: Arc<Desk>, owner: Arc<Owner>) -> Result<T, Refusal>
    where
        T: Send,
    {
        let begun = owner.lookup().at_hand().begin(self.trace, &self.command, &self.swaps)?;
        let Some(underway) = begun else {
            return desk.on_worker(move |desk| self.perform(&*desk.owner()?)).await;
        };
        // It goes on when its caller has left.
        let done = task::spawn(async move {
            let Some(recorded) = follow(&owner, underway).await.transpose() else {
                return desk.on_worker(move |desk| self.perform(&*desk.owner()?)).await;
            };
            match (self.finish)(owner.lookup(), recorded)? {
                Finished::Done(done) => Ok(done),
                // It is recorded: what is left to read is read, also while the desk ends.
                Finished::Rest(rest) => desk.on_worker(move |_| rest(&owner)).await,
            }
        });
        done.await.map_err(|error| Refusal::bug(&error))?
    }
}

/// Waits for the commit of a command, and finds a thread that writes whenever it is this command's turn. Returns none where
/// the command has to be decided again.
async fn follow(owner: &Arc<Owner>, mut underway: Underway) -> Result<Option<Acknowledged>, SequencerError> {
    loop {
        match future::poll_fn(|context| underway.poll(context)).await? {
            Progress::Lead(leader) => {
                let owner = Arc::clone(owner);
                task::spawn_blocking(move || owner.sequencer().lead(leader));
            }
            Progress::Again => return Ok(None),
            Progress::Recorded(recorded) => return Ok(Some(recorded)),
        }
    }
}
