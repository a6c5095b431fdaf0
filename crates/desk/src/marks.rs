//! Marks on the disk for questions and confirmations that stop an agent: an empty file `open/ID` for each that is open and blocks. A hook
//! that looks there needs no server to know that nothing stops it, and a server that is killed takes no mark along.
//!
//! Marks are kept for the askers that a hook named (`hooked.json`). They are made after the commit that carries the question
//! and before anybody hears that it was asked, and taken away after the commit that settles it: both where the ledger tells
//! its listeners. Whatever a crash left is put right when the folder is opened next. A mark too many costs one look into the
//! ledger; one too few would let a call pass, so whatever is in doubt is marked. In a store that other processes write to no marks
//! are kept: nobody here hears in time what they record, so every hook asks the server.

mod handle;
mod hooked;
mod list;
mod seen;
mod standing;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use demur_api::question::QuestionId;
use demur_ledger::{
    confirmation::{ConfirmationEffect, confirmation_effect},
    entry::Entry,
    event_type::Facts,
    facts::{Question, Severity},
    name::{PrincipalId, Sequence, TraceId},
    question::{QuestionEffect, question_effect},
    role::Role,
};
use demur_sequencer::Listener;

pub(crate) use hooked::release;
pub use seen::{SESSIONS, discard_revoked, see};
pub use standing::{may_stop, name, tidy};

use crate::durable;

/// The marks of a data folder.
pub struct Marks {
    folder: PathBuf,
    /// Whoever puts the marks right, one at a time.
    turn: Mutex<()>,
    /// Taken by every commit: nobody looks into the ledger while holding it.
    kept: Mutex<Kept>,
    /// How many marks commits have made. It grows only while `kept` is held.
    made: AtomicU64,
    /// Whether one of them could not be made since the marks were put right last.
    missed: AtomicBool,
}

/// For whom marks are kept.
#[derive(Default)]
struct Kept {
    askers: BTreeSet<String>,
    /// Holders of keys who are none of the askers, as of the last look. Whoever is not among them may be one.
    others: BTreeSet<PrincipalId>,
}

/// What the disk says about somebody's questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskerStanding {
    /// No marks are kept for this asker: only the ledger knows.
    Unknown,
    /// Nothing stops it.
    Clear,
    /// Something may stop it; the ledger knows what.
    Marked,
}

/// Returns what the disk says about the questions of these askers, without a server and without the ledger.
pub fn standing<'a>(
    data: &Path,
    mut askers: impl Iterator<Item = &'a str>,
) -> Result<AskerStanding, io::Error> {
    let Some(named) = list::read(data)? else { return Ok(AskerStanding::Unknown) };
    if !askers.all(|asker| named.contains(asker)) {
        return Ok(AskerStanding::Unknown);
    }
    match fs::read_dir(data.join(OPEN)) {
        Ok(mut marks) => match marks.next() {
            None => Ok(AskerStanding::Clear),
            Some(Ok(_)) => Ok(AskerStanding::Marked),
            Some(Err(error)) => Err(error),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(AskerStanding::Unknown),
        Err(error) => Err(error),
    }
}

impl Marks {
    /// Returns the marks of a data folder. They are kept for nobody before [`tidy`].
    pub(crate) fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            turn: Mutex::default(),
            kept: Mutex::default(),
            made: AtomicU64::new(0),
            missed: AtomicBool::new(false),
        }
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(&self, id: QuestionId) {
        self.made.fetch_add(1, Ordering::Relaxed);
        if self.try_mark(id).is_err() {
            self.missed.store(true, Ordering::Relaxed);
            self.give_up();
        }
    }

    fn try_mark(&self, id: QuestionId) -> io::Result<()> {
        let folder = self.folder.join(OPEN);
        let make = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600).open(folder.join(id.to_string()))
        };
        match make() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                durable::create_folder(&folder)?;
                make().map(drop)
            }
            opened => opened.map(drop),
        }
    }

    /// Takes a mark away. One that stays costs a look into the ledger, and goes at the next start.
    fn unmark(&self, trace: TraceId, sequence: Sequence) {
        durable::discard(&self.folder.join(OPEN).join(QuestionId { trace, sequence }.to_string()));
    }

    fn unmark_all(&self, trace: TraceId) {
        let beginning = format!("{trace}.");
        let there = fs::read_dir(self.folder.join(OPEN)).into_iter().flatten().flatten();
        let of_trace = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with(&beginning));
        for mark in there.filter(|mark| of_trace(&mark.file_name())) {
            durable::discard(&mark.path());
        }
    }

    /// Marks that cannot be made must not be missed: without the list of askers every hook asks the server, and refuses where
    /// none answers.
    pub(crate) fn give_up(&self) {
        list::remove(&self.folder);
    }

    /// Makes a question news for the sessions that have seen its answer, where an event replaces that answer or takes it back.
    pub(crate) fn renew_seen(&self, trace: TraceId, entry: &Entry) {
        seen::renew(&self.folder, trace, entry);
    }

    fn take(&self, kept: &Kept, trace: TraceId, entry: &Entry, plan_of: Option<PrincipalId>) {
        let Ok(said) = entry.event.said() else { return };
        let own = entry.event.position().sequence;
        let asked = |question: &Question, asker: Option<PrincipalId>| {
            if let Some(replaced) = question.repeats {
                self.unmark(trace, replaced);
            }
            let foreign = asker.is_some_and(|asker| kept.others.contains(&asker));
            if question.severity == Severity::Block && !foreign {
                self.mark(QuestionId { trace, sequence: own });
            }
        };
        match confirmation_effect(said.facts) {
            // The desk asks for somebody whom the ledger knows.
            Some(ConfirmationEffect::Asked(_)) => {
                let actor = entry.event.envelope().actor;
                if said.role == Role::Desk || !kept.others.contains(&actor) {
                    self.mark(QuestionId { trace, sequence: own });
                }
            }
            Some(ConfirmationEffect::Ended(confirmation, _)) => self.unmark(trace, confirmation),
            Some(ConfirmationEffect::Spent(_)) | None => {}
        }
        match question_effect(said.facts) {
            Some(QuestionEffect::Asked(question)) => {
                // The rules ask for a gap; whoever submitted the plan is stopped.
                let is_gap = matches!(said.facts, Facts::GapFound(_));
                asked(question, if is_gap { plan_of } else { Some(entry.event.envelope().actor) });
            }
            Some(QuestionEffect::Ended(question, outcome)) if !outcome.stops_asker() => {
                self.unmark(trace, question);
            }
            // Open again. Whether it blocks, the ledger knows.
            Some(QuestionEffect::Reopened(sequence)) => self.mark(QuestionId { trace, sequence }),
            // Nothing can settle what is left open in a run that is over.
            None if matches!(said.facts, Facts::SessionAborted(_) | Facts::VerificationRunCompleted(_)) => {
                self.unmark_all(trace);
            }
            Some(QuestionEffect::Ended(..) | QuestionEffect::Changed(_)) | None => {}
        }
    }
}

impl Listener for Marks {
    fn recorded(&self, trace: TraceId, entries: &[Entry]) {
        for entry in entries {
            self.renew_seen(trace, entry);
        }
        let kept = self.kept();
        if kept.askers.is_empty() {
            return;
        }
        let submits = |entry: &&Entry| {
            entry.event.said().is_ok_and(|said| matches!(said.facts, Facts::PlanSubmitted(_)))
        };
        let plan_of = entries.iter().find(submits).map(|entry| entry.event.envelope().actor);
        for entry in entries {
            self.take(&kept, trace, entry, plan_of);
        }
    }
}

/// Returns whether a holder asks under this name, by itself or in a role of a run.
pub fn is_of(holder: &str, name: &str) -> bool {
    holder.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The folder of the marks.
const OPEN: &str = "open";
