//! Several statements of one run in one commit. Each is decided before the next is signed, so that its author can go by
//! it; none is acknowledged before all of them are on the disk. For an author in this process who has more to say: a run
//! of a thousand tool calls then waits for the disk where it must, and not after every line.

use std::{mem, sync::Arc};

use demur_engine::{
    Reply,
    command::{Command, Consequences},
};
use demur_ledger::{author::Artifact, entry::Entry, name::TraceId, statement::Submission};
use demur_store::contract::{Conflict, RecordKey, StoreError, Swap};

use super::{
    Sequencer,
    commit::{Ending, Slot, lock},
    decide::{Attempt, DecisionStep, Past, Queued, Wanted},
    error::SequencerError,
    perform::ATTEMPTS,
    write::Waits,
};

/// Statements that wait for one commit.
pub struct Series<'a> {
    sequencer: &'a Sequencer,
    waiting: Vec<Arc<Slot>>,
    /// What each of them depends on. They change no record: others may write a part of the series before the rest.
    swaps: Vec<Swap>,
}

/// What was decided about a statement. Not on the disk yet: nobody outside may hear of it.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The events that follow the trace, in order; a refusal may be among them.
    pub events: Vec<Entry>,
    /// What its author is told after the commit.
    pub reply: Reply,
}

impl Sequencer {
    /// Returns a series without statements.
    pub const fn series(&self) -> Series<'_> {
        Series { sequencer: self, waiting: Vec::new(), swaps: Vec::new() }
    }

    /// Records that the desk came back to a run after a crash, if it did (LED-22). What is submitted does so by itself;
    /// this is for callers that read the run before they go on with it.
    pub fn come_back(&self, trace: TraceId) -> Result<(), SequencerError> {
        let queue = self.at_hand.queues.of(trace);
        // Another process may have gone on with it, and crashed.
        queue.void();
        let interrupted = {
            let mut turn = queue.enter();
            self.is_interrupted(turn.states(|known| self.load(trace, known))?)?
        };
        if interrupted { self.recover(trace) } else { Ok(()) }
    }
}

impl Series<'_> {
    /// Returns the series that is recorded only while there is no record with this key, refusals included. Once there is one,
    /// it ends with [`SequencerError::RecordChanged`].
    #[must_use]
    pub fn while_absent(mut self, key: RecordKey) -> Self {
        self.swaps.push(Swap::absence(key));
        self
    }

    /// Decides what an author said. A full series is committed first.
    pub fn submit(
        &mut self,
        submission: Submission,
        artifact: Option<&Artifact>,
    ) -> Result<Decided, SequencerError> {
        self.submit_followed(submission, artifact, Consequences::default())
    }

    /// Decides what an author said, and what the desk adds to it in the same commit.
    pub fn submit_followed(
        &mut self,
        submission: Submission,
        artifact: Option<&Artifact>,
        rest: Consequences,
    ) -> Result<Decided, SequencerError> {
        if self.waiting.len() >= MAX_WAITING {
            self.commit()?;
        }
        let sequencer = self.sequencer;
        let said = sequencer.check(submission)?;
        let trace = said.statement().trace;
        if trace == sequencer.registry().trace() {
            return Err(StoreError::Misuse { what: "a series is of a run, not of the registry" }.into());
        }
        let decided = self.decide(trace, &sequencer.submission(said, artifact, rest)?)?;
        if matches!(decided.reply, Reply::Refused(_)) {
            sequencer.at_hand.counters.count_refusal();
        }
        Ok(decided)
    }

    fn decide(&mut self, trace: TraceId, command: &Command) -> Result<Decided, SequencerError> {
        let sequencer = self.sequencer;
        // Otherwise this thread would wait for what it has not let go yet.
        let slot = command.id().and_then(|id| lock(&sequencer.at_hand.in_flight).get(&id).cloned());
        let mut past = Past::Unknown;
        if slot.is_some_and(|slot| self.waiting.iter().any(|waiting| Arc::ptr_eq(waiting, &slot))) {
            self.commit()?;
            past = Past::Known(sequencer.earlier(command)?.map(Box::new));
        }
        for _ in 0..ATTEMPTS {
            let wanted = Wanted { trace, command, past: &past, swaps: &self.swaps, waits: Waits::Later };
            match sequencer.enqueue(&wanted)? {
                DecisionStep::Queued(Queued { reply, slot, events, .. }) => {
                    self.waiting.push(slot);
                    return Ok(Decided { events, reply });
                }
                // The trace has an event that the author has not seen: see `Sequencer::come_back`.
                DecisionStep::Interrupted => {
                    self.commit()?;
                    sequencer.recover(trace)?;
                    return Err(SequencerError::Contended);
                }
                step => match sequencer.settle(&wanted, step)? {
                    Attempt::Settled(reply) => return Ok(Decided { events: Vec::new(), reply }),
                    Attempt::LookUp => past = Past::Known(sequencer.earlier(command)?.map(Box::new)),
                    Attempt::Again => {}
                },
            }
        }
        Err(SequencerError::Contended)
    }

    /// Waits until everything decided so far is on the disk. If this fails, none of it counts unless the record shows
    /// it: callers that go on read the trace again.
    pub fn commit(&mut self) -> Result<(), SequencerError> {
        let slots = mem::take(&mut self.waiting);
        let commits = &self.sequencer.at_hand.commits;
        let _in_line = (!slots.is_empty()).then(|| self.sequencer.at_hand.counters.stand_in_line());
        let mut leader = commits.call_in(&slots);
        let mut result = Ok(());
        for slot in slots {
            let ending = commits.wait(&slot, leader.take(), &|items| self.sequencer.write(items));
            result = result.and(match ending {
                Ending::Done => Ok(()),
                Ending::Conflict(Conflict::Lease) => Err(SequencerError::LeaseLost),
                Ending::Conflict(Conflict::Record | Conflict::Post) => Err(SequencerError::RecordChanged),
                Ending::Conflict(
                    Conflict::Head | Conflict::Command | Conflict::Registry | Conflict::Artifact,
                ) => Err(SequencerError::Contended),
                Ending::Failed(error) => Err(SequencerError::Commit(error)),
                Ending::Uncertain => Err(SequencerError::Uncertain),
            });
        }
        result
    }
}

/// Commits what was put in line: a caller that sends one of its commands again waits for that commit.
impl Drop for Series<'_> {
    fn drop(&mut self) {
        let _ = self.commit();
    }
}

/// How many statements wait at most.
const MAX_WAITING: usize = 64;
