//! Recording without a thread that waits: a command is decided and put in line at once, if nothing has to be read for it, and
//! its caller is woken after the commit. A caller who is told to write ([`Progress::Lead`]) calls [`Sequencer::lead`] on a thread
//! that may wait for the disk.

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
    commit::{CommitLeader, Commits, Ending, Slot},
    decide::{Past, Queued, Wanted},
    write::Waits,
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

/// What its caller has to do about a command that is under way.
#[derive(Debug)]
pub enum Progress {
    /// Write now, with [`Sequencer::lead`]; then ask again.
    Lead(CommitLeader),
    /// Nothing: it is on the disk.
    Recorded(Acknowledged),
    /// Have it decided again, with [`Sequencer::perform`]: something came between.
    Again,
}

impl AtHand {
    /// Decides a command and puts it in line, with records that change as [`Sequencer::perform_with`] does it, if nothing has to
    /// be waited for or read first. Otherwise, and for whatever will not simply be recorded, there is none:
    /// [`Sequencer::perform_with`] is for that, and nothing has happened yet.
    pub fn begin(
        &self,
        trace: TraceId,
        command: &Command,
        swaps: &[Swap],
    ) -> Result<Option<Underway>, SequencerError> {
        let wanted = Wanted { trace, command, past: &Past::Unknown, swaps, waits: Waits::Unattended };
        let queue = self.queues.of(trace);
        let Some(mut turn) = queue.try_enter() else { return Ok(None) };
        let Some(queued) = self.decide_at_once(&wanted, &queue, &mut turn)? else { return Ok(None) };
        let Queued { reply, slot, leader, .. } = queued;
        if matches!(reply, Reply::Refused(_)) {
            self.counters.count_refusal();
        }
        Ok(Some(Underway { trace, reply, slot, commits: Arc::clone(&self.commits), leader }))
    }
}

impl Sequencer {
    /// Writes for everybody in line, until the next of them has a thread to write on. Blocks.
    pub fn lead(&self, leader: CommitLeader) {
        loop {
            self.write(leader.take_items());
            if !leader.precedes_unattended() {
                // This hands the lead on.
                return drop(leader);
            }
        }
    }
}

impl Underway {
    /// Returns what the caller has to do, once there is something.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Progress, SequencerError>> {
        if let Some(leader) = self.leader.take() {
            return Poll::Ready(Ok(Progress::Lead(leader)));
        }
        Poll::Ready(match ready!(self.slot.poll(context)) {
            None => Ok(Progress::Lead(self.commits.taken_over())),
            Some(Ending::Done) => self.settled(),
            Some(Ending::Conflict(Conflict::Record | Conflict::Post)) => Err(SequencerError::RecordChanged),
            Some(Ending::Conflict(Conflict::Lease)) => Err(SequencerError::LeaseLost),
            Some(Ending::Conflict(
                Conflict::Head | Conflict::Command | Conflict::Registry | Conflict::Artifact,
            )) => Ok(Progress::Again),
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

/// A caller who leaves gives the lead back, if it was told to write.
impl Drop for Underway {
    fn drop(&mut self) {
        if self.slot.leave() {
            drop(self.commits.taken_over());
        }
    }
}
