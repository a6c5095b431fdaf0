//! Recording without a thread that waits: a command is decided and stands in line at once if everything for that is at hand,
//! and whoever wants to know what became of it is woken after the commit. Somebody has to write: whoever is told to
//! ([`Progress::Lead`]) calls [`Sequencer::lead`] on a thread that may wait for the disk.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

use demur_engine::{Reply, command::Command};
use demur_ledger::name::TraceId;
use demur_store::contract::{Conflict, Swap};

use super::{
    Acknowledged, Sequencer, SequencerError,
    at_hand::AtHand,
    attempt::{Past, Step},
    commit::{CommitLeader, Commits, Ending, Slot},
    decide::Wanted,
    item::{Item, Waits},
    queue::{Queue, States},
};

/// A command that is decided and waits for its commit.
#[must_use = "nobody may be writing"]
pub struct Underway {
    trace: TraceId,
    reply: Reply,
    slot: Arc<Slot>,
    commits: Arc<Commits>,
    leader: Option<CommitLeader>,
}

/// What is to be done about a command that is under way.
#[derive(Debug)]
pub enum Progress {
    /// Somebody has to write now, with [`Sequencer::lead`]; then ask again.
    Lead(CommitLeader),
    /// It is on the disk.
    Recorded(Acknowledged),
    /// Something came between: it has to be decided again, with [`Sequencer::perform`].
    Again,
}

impl AtHand {
    /// Decides a command and puts it in line, if nothing has to be waited for or read first. Otherwise, and for
    /// whatever will not simply be recorded, there is none: [`Sequencer::perform`] is for that, and nothing has happened yet.
    pub fn begin(&self, trace: TraceId, command: &Command) -> Result<Option<Underway>, SequencerError> {
        self.begin_with(trace, command, &[])
    }

    /// Begins like [`Self::begin`] what changes records too, as [`Sequencer::perform_with`] does.
    pub fn begin_with(
        &self,
        trace: TraceId,
        command: &Command,
        swaps: &[Swap],
    ) -> Result<Option<Underway>, SequencerError> {
        let wanted = Wanted { trace, command, past: &Past::Unknown, swaps, waits: Waits::Unattended };
        let queue = self.queues.of(trace);
        let Some(mut turn) = queue.try_enter() else { return Ok(None) };
        // Whoever opens a trace has just drawn its id, so nothing of it has to be read. If it is there, the commit says so.
        let Some(states) = turn.at_hand(opens(command).then_some(trace)) else { return Ok(None) };
        let step = self.begin_in(&wanted, &queue, states);
        let Ok(Some((reply, (slot, leader)))) = step else {
            turn.forget_if_new();
            return step.map(|_| None);
        };
        if matches!(reply, Reply::Refused(_)) {
            self.counters.count_refusal();
        }
        Ok(Some(Underway { trace, reply, slot, commits: Arc::clone(&self.commits), leader }))
    }

    fn begin_in(
        &self,
        wanted: &Wanted<'_>,
        queue: &Arc<Queue>,
        states: &mut States,
    ) -> Result<Option<(Reply, InLine)>, SequencerError> {
        // Whether the process that wrote last has crashed only the store can tell.
        if states.interrupted_by().is_some_and(|writer| writer != self.lease) {
            return Ok(None);
        }
        let Some(looked_up) = self.look_up(states, wanted) else { return Ok(None) };
        let put = |item: Item, is_followed: bool| self.put(item, is_followed);
        match self.decide(wanted, queue, states, looked_up, put) {
            Ok(Step::Queued(reply, in_line)) => Ok(Some((reply, in_line))),
            Ok(Step::Interrupted | Step::Behind | Step::InFlight(_) | Step::Silent(..) | Step::Over(_))
            | Err(SequencerError::NoDeskKey) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A place in line, and the lead if nobody has it.
type InLine = (Arc<Slot>, Option<CommitLeader>);

/// Returns whether a command begins a trace.
fn opens(command: &Command) -> bool {
    command.said().is_some_and(|said| said.statement().seen.is_none())
}

impl Sequencer {
    /// Writes for everybody who waits. Blocks.
    pub fn lead(&self, leader: CommitLeader) {
        leader.write_on(&|items| self.write(items));
    }
}

impl Underway {
    /// Returns what is to be done, once there is something.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Progress, SequencerError>> {
        if let Some(leader) = self.leader.take() {
            return Poll::Ready(Ok(Progress::Lead(leader)));
        }
        Poll::Ready(match ready!(self.slot.poll(context)) {
            None => Ok(Progress::Lead(self.commits.taken_over())),
            Some(Ending::Done) => self.settled(),
            Some(Ending::Conflict(Conflict::Record)) => Err(SequencerError::RecordChanged),
            Some(Ending::Conflict(Conflict::Lease)) => Err(SequencerError::LeaseLost),
            Some(Ending::Conflict(_)) => Ok(Progress::Again),
            Some(Ending::Failed(error)) => Err(SequencerError::Commit(error)),
            Some(Ending::Uncertain) => Err(SequencerError::Uncertain),
        })
    }

    fn settled(&self) -> Result<Progress, SequencerError> {
        match &self.reply {
            Reply::Recorded(position) => Ok(Progress::Recorded(Acknowledged {
                trace: self.trace,
                position: *position,
                repeated: false,
            })),
            Reply::Refused(refusal) => Err(refusal.clone().into()),
            Reply::Repeated { .. } | Reply::Moved => Ok(Progress::Again),
        }
    }
}

/// Whoever leaves takes no lead along.
impl Drop for Underway {
    fn drop(&mut self) {
        if self.slot.leave() {
            drop(self.commits.taken_over());
        }
    }
}
