//! Recording without a thread that waits: a command is decided and stands in line at once if everything for that is at hand,
//! and whoever wants to know what became of it is woken after the commit. Somebody has to write: whoever is told to
//! ([`Progress::Lead`]) calls [`Ledger::lead`] on a thread that may wait for the disk.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

use demur_engine::{Reply, command::Command};
use demur_ledger::name::TraceId;

use super::{
    Acknowledged, Ledger, LedgerError,
    attempt::{Past, Step},
    commit::{Commits, Ending, Pen, Slot},
    item::{Item, Waits},
};
use crate::contract::Store;

/// A command that is decided and waits for its commit.
#[must_use = "nobody may be writing"]
pub struct Underway {
    trace: TraceId,
    reply: Reply,
    slot: Arc<Slot>,
    commits: Arc<Commits>,
    pen: Option<Pen>,
}

/// What is to be done about a command that is under way.
#[derive(Debug)]
pub enum Progress {
    /// Somebody has to write now, with [`Ledger::lead`]; then ask again.
    Lead(Pen),
    /// It is on the disk.
    Recorded(Acknowledged),
    /// Something came between: it has to be decided again, with [`Ledger::perform`].
    Again,
}

impl<S: Store> Ledger<S> {
    /// Decides a command and puts it in line, if nothing has to be waited for or looked up first. Otherwise, and for
    /// whatever will not simply be recorded, there is none: [`Self::perform`] is for that, and nothing has happened yet.
    pub fn begin(&self, trace: TraceId, command: &Command) -> Result<Option<Underway>, LedgerError> {
        let put = |mut item: Item, _| {
            match self.sign_head(item.head.clone(), item.waiting.registry.as_deref()) {
                Ok(signed) => item.signed = Some(signed),
                Err(error) => return Err((Box::new(item), error)),
            }
            let slot = Arc::clone(&item.waiting.slot);
            Ok((slot, self.commits.put(item)))
        };
        let step = match self.enqueue(trace, command, &Past::Unknown, Waits::Unattended, put) {
            Err(LedgerError::NoDeskKey) => return Ok(None),
            step => step?,
        };
        match step {
            Step::Queued(reply, (slot, pen)) => {
                if matches!(reply, Reply::Refused(_)) {
                    self.counters.count_refusal();
                }
                Ok(Some(Underway { trace, reply, slot, commits: Arc::clone(&self.commits), pen }))
            }
            Step::Interrupted | Step::InFlight(_) | Step::Silent(..) | Step::Over(_) => Ok(None),
        }
    }

    /// Writes for everybody who waits. Blocks.
    pub fn lead(&self, pen: Pen) {
        pen.write_on(&|items| self.write(items));
    }
}

impl Underway {
    /// Returns what is to be done, once there is something.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Progress, LedgerError>> {
        if let Some(pen) = self.pen.take() {
            return Poll::Ready(Ok(Progress::Lead(pen)));
        }
        Poll::Ready(match ready!(self.slot.poll(context)) {
            None => Ok(Progress::Lead(self.commits.taken_over())),
            Some(Ending::Done) => self.settled(),
            Some(Ending::Conflict(_)) => Ok(Progress::Again),
            Some(Ending::Failed(error)) => Err(LedgerError::Commit(error)),
            Some(Ending::Uncertain) => Err(LedgerError::Uncertain),
        })
    }

    fn settled(&self) -> Result<Progress, LedgerError> {
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

/// Whoever leaves takes no pen along.
impl Drop for Underway {
    fn drop(&mut self) {
        if self.slot.leave() {
            drop(self.commits.taken_over());
        }
    }
}
