//! The run at the desk: what the roles say is signed, decided and recorded, several statements in one commit where
//! nobody has to wait for the disk in between.

use demur_core::limit::Text;
use demur_desk::run::read_on;
use demur_engine::Reply;
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::{ArtifactContent, Opening},
    entry::Entry,
    envelope::Event,
    event_type::{Content, Facts},
    facts::Participant,
    name::{Position, Sequence, TraceId},
    state::GuardError,
};
use demur_run::{history::History, role::Look};
use demur_sequencer::{Sequencer, SequencerError, Series};
use demur_store::contract::Kept;

use super::watch::Watch;
use crate::{failure::Failure, world::World};

/// A run in progress.
pub(super) struct Desk<'a> {
    pub(super) ledger: &'a Sequencer,
    pub(super) trace: TraceId,
    pub(super) history: History,
    /// Who takes part.
    pub(super) participants: Vec<Participant>,
    series: Series<'a>,
    world: World,
    watch: Watch<'a>,
    /// Decided, not on the disk yet, not told to anybody.
    untold: Vec<Entry>,
}

impl<'a> Desk<'a> {
    /// Returns the run of this trace as far as it is recorded.
    pub(super) fn new(
        ledger: &'a Sequencer,
        trace: TraceId,
        world: World,
        watch: Watch<'a>,
    ) -> Result<Self, Failure> {
        let (history, series, untold) = (History::new(), ledger.series(), Vec::new());
        let participants = Vec::new();
        let mut desk = Self { ledger, trace, history, participants, series, world, watch, untold };
        if ledger.store().trace(trace)?.is_some() {
            ledger.come_back(trace)?;
            desk.catch_up(false)?;
        }
        Ok(desk)
    }

    /// Returns the newest event.
    pub(super) fn head(&self) -> Option<Position> {
        self.history.state().head()
    }

    /// Says something with an author's key.
    pub(super) fn say(
        &mut self,
        author: &Author,
        facts: Facts,
        content: Option<Content>,
    ) -> Result<(), Failure> {
        let submission = author.say(&self.place()?, facts, content, &mut { self.world })?;
        let decided = self.series.submit(submission, None).inspect_err(|_| self.untold.clear())?;
        self.take(decided.events, decided.reply)
    }

    /// Stores bytes with an author's key.
    pub(super) fn store(
        &mut self,
        author: &Author,
        (name, media_type): (&str, &str),
        bytes: Vec<u8>,
    ) -> Result<(), Failure> {
        let size = (bytes.len() as u64).try_into()?;
        let content = ArtifactContent { media_type: media_type.try_into()?, name: name.try_into()?, size };
        let artifact = Artifact::new(bytes, &mut { self.world });
        let content = Some(Content::ArtifactRecorded(content));
        let submission = author.say(&self.place()?, artifact.facts(), content, &mut { self.world })?;
        let decided = self.series.submit(submission, Some(&artifact)).inspect_err(|_| self.untold.clear())?;
        self.take(decided.events, decided.reply)
    }

    /// Waits until everything said so far is on the disk, then tells it.
    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        // What is not on the disk is never told, not even by whoever tries again.
        let untold = std::mem::take(&mut self.untold);
        self.series.commit()?;
        for entry in untold {
            self.watch.tell(&entry.event, entry.opening.as_ref())?;
        }
        Ok(())
    }

    /// Takes in what was recorded past this process's own statements.
    pub(super) fn catch_up(&mut self, told: bool) -> Result<(), Failure> {
        let (history, watch) = (&mut self.history, &mut self.watch);
        read_on(self.ledger.store(), self.trace, history, |event, opening| {
            if told { watch.tell(event, opening) } else { watch.learn(event, opening).map(|_| ()) }
        })
    }

    /// Ends the run on the operator's word.
    pub(super) fn abort(&mut self, reason: &str) -> Result<(), Failure> {
        self.commit()?;
        if self.head().is_none() {
            return Err(Failure::refused("RUN_NOT_BEGUN", format!("nothing was recorded: {reason}")));
        }
        self.ledger.abort(self.trace, Text::cut(reason)?)?;
        self.catch_up(true)
    }

    /// Returns where the next statement stands.
    pub(super) fn place(&self) -> Result<Place, Failure> {
        let store = self.ledger.registry().store();
        Ok(Place { store, trace: self.trace, seen: self.head(), now: self.world.now()? })
    }

    fn take(&mut self, entries: Vec<Entry>, reply: Reply) -> Result<(), Failure> {
        for entry in entries {
            take(&mut self.history, self.trace, &entry.event, entry.opening.as_ref())?;
            self.untold.push(entry);
        }
        match reply {
            Reply::Refused(refusal) => {
                self.commit()?;
                Err(refusal.into())
            }
            Reply::Recorded(_) | Reply::Repeated { .. } | Reply::Moved => Ok(()),
        }
    }
}

fn take(
    history: &mut History,
    trace: TraceId,
    event: &Event,
    opening: Option<&Opening>,
) -> Result<(), Failure> {
    let (sequence, content) = (event.envelope().sequence, opening.map(|opening| &opening.bytes[..]));
    let damaged = |error: GuardError| SequencerError::Damaged { trace, sequence, code: error.code() };
    Ok(history.take(event, content).map_err(damaged)?)
}

/// The critic looks at what is recorded.
pub(super) struct Shelf<'a> {
    pub(super) ledger: &'a Sequencer,
    pub(super) trace: TraceId,
}

impl Look for Shelf<'_> {
    fn artifact(&mut self, at: Sequence) -> Result<Option<Vec<u8>>, String> {
        let store = self.ledger.store();
        let stored = store.events(self.trace, at, 1).map_err(|error| error.to_string())?.pop();
        match stored.map(|stored| stored.artifact) {
            Some(Kept::Here(place)) => store.artifact(&place.address).map_err(|error| error.to_string()),
            _ => Ok(None),
        }
    }
}
