//! What is said in a run that is driven: signed, decided and recorded, several statements in one commit. What is not on the
//! disk is told to nobody.

use demur_api::{
    code::{Code, RuleCode},
    refusal::Refusal,
};
use demur_core::{limit::Text, time::Timestamp};
use demur_engine::Reply;
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::{ArtifactContent, Opening},
    entry::Entry,
    envelope::Event,
    event_type::{Content, Facts},
    name::{Sequence, TraceId},
    state::GuardError,
};
use demur_run::{history::History, line::ShownEvent, role::Look};
use demur_sequencer::{Sequencer, SequencerError, Series};
use demur_store::contract::Kept;

use crate::{owner::Owner, run::read_on, world::World};

/// A run in progress.
pub(super) struct Recorder<'a> {
    pub(super) ledger: &'a Sequencer,
    pub(super) trace: TraceId,
    pub(super) history: &'a mut History,
    world: World,
    series: Series<'a>,
    /// Decided, and not on the disk yet.
    undone: Vec<Entry>,
    /// The lines of what is on the disk since the recorder began.
    lines: Vec<String>,
}

impl<'a> Recorder<'a> {
    /// Returns the run of this trace, as far as it is recorded. `history` is what was known of it.
    pub(super) fn new(owner: &'a Owner, trace: TraceId, history: &'a mut History) -> Result<Self, Refusal> {
        let (ledger, world) = (owner.ledger(), owner.world());
        let series = ledger.series();
        let mut recorder =
            Self { ledger, trace, history, world, series, undone: Vec::new(), lines: Vec::new() };
        recorder.catch_up()?;
        if !recorder.lines.is_empty() && ledger.store().is_shared() {
            // Another process may have recorded it, and what is decided here has to follow.
            ledger.come_back(trace)?;
            recorder.catch_up()?;
        }
        Ok(recorder)
    }

    /// Says something with an author's key.
    pub(super) fn say(
        &mut self,
        author: &Author,
        facts: Facts,
        content: Option<Content>,
    ) -> Result<(), Refusal> {
        let submission = author.say(&self.place()?, facts, content, &mut { self.world })?;
        let decided = self.series.submit(submission, None)?;
        self.take(decided.events, decided.reply)
    }

    /// Stores bytes with an author's key.
    pub(super) fn store(
        &mut self,
        author: &Author,
        (name, media_type): (&str, &str),
        bytes: Vec<u8>,
    ) -> Result<(), Refusal> {
        let size = (bytes.len() as u64).try_into()?;
        let content = ArtifactContent { media_type: media_type.try_into()?, name: name.try_into()?, size };
        let artifact = Artifact::new(bytes, &mut { self.world });
        let content = Some(Content::ArtifactRecorded(content));
        let submission = author.say(&self.place()?, artifact.facts(), content, &mut { self.world })?;
        let decided = self.series.submit(submission, Some(&artifact))?;
        self.take(decided.events, decided.reply)
    }

    /// Waits until everything said so far is on the disk.
    pub(super) fn commit(&mut self) -> Result<(), Refusal> {
        let undone = std::mem::take(&mut self.undone);
        self.series.commit()?;
        for Entry { event, opening, .. } in undone {
            self.lines.push(line(event, opening)?);
        }
        Ok(())
    }

    /// Takes in what others recorded.
    pub(super) fn catch_up(&mut self) -> Result<(), Refusal> {
        let lines = &mut self.lines;
        read_on(self.ledger.store(), self.trace, self.history, |event, opening| {
            lines.push(line(event.clone(), opening.cloned())?);
            Ok(())
        })
    }

    /// Ends the run on the operator's word.
    pub(super) fn abort(&mut self, reason: &str) -> Result<(), Refusal> {
        self.commit()?;
        if self.history.state().head().is_none() {
            return Err(Refusal::new(Code::RunNotBegun, format!("nothing was recorded: {reason}")));
        }
        self.ledger.abort(self.trace, Text::cut(reason)?)?;
        self.catch_up()
    }

    /// Returns how many events there are, and the lines of those that are on the disk since the recorder began.
    pub(super) fn into_lines(self) -> (u64, Vec<String>) {
        (self.history.state().length(), self.lines)
    }

    /// Returns the time.
    pub(super) fn now(&self) -> Result<Timestamp, Refusal> {
        self.world.now()
    }

    fn place(&self) -> Result<Place, Refusal> {
        let store = self.ledger.registry().store();
        Ok(Place { store, trace: self.trace, seen: self.history.state().head(), now: self.world.now()? })
    }

    fn take(&mut self, entries: Vec<Entry>, reply: Reply) -> Result<(), Refusal> {
        let next = self.history.state().length();
        if entries.first().is_some_and(|first| first.event.envelope().sequence.number() != next) {
            // Somebody else spoke in between. What is on the disk has it all, in order.
            self.commit()?;
            self.catch_up()?;
            return self.heard(reply);
        }
        for entry in entries {
            let (trace, sequence) = (self.trace, entry.event.envelope().sequence);
            let content = entry.opening.as_ref().map(|opening| &opening.bytes[..]);
            let damaged = |error: GuardError| SequencerError::Damaged { trace, sequence, code: error.code() };
            self.history.take(&entry.event, content).map_err(damaged)?;
            self.undone.push(entry);
        }
        self.heard(reply)
    }

    fn heard(&mut self, reply: Reply) -> Result<(), Refusal> {
        match reply {
            // What was decided here before it did not get to the disk.
            Reply::Refused(refusal) if refusal.code == RuleCode::SEEN_UNKNOWN.as_str() => {
                Err(SequencerError::Contended.into())
            }
            Reply::Refused(refusal) => {
                self.commit()?;
                Err(refusal.into())
            }
            Reply::Recorded(_) | Reply::Repeated { .. } | Reply::Moved => Ok(()),
        }
    }
}

/// Returns an event as it stands in an export.
fn line(event: Event, opening: Option<Opening>) -> Result<String, Refusal> {
    text(ShownEvent::new(event, opening).to_line().map_err(|error| Refusal::bug(&error))?)
}

/// Returns a line without its line feed, as text.
pub(super) fn text(mut line: Vec<u8>) -> Result<String, Refusal> {
    line.pop();
    String::from_utf8(line).map_err(|error| Refusal::bug(&error))
}

/// The critic looks at what is recorded.
pub(super) struct RecordedArtifacts<'a> {
    pub(super) ledger: &'a Sequencer,
    pub(super) trace: TraceId,
}

impl Look for RecordedArtifacts<'_> {
    fn artifact(&mut self, at: Sequence) -> Result<Option<Vec<u8>>, String> {
        let store = self.ledger.store();
        let stored = store.events(self.trace, at, 1).map_err(|error| error.to_string())?.pop();
        match stored.map(|stored| stored.artifact) {
            Some(Kept::Here(place)) => store.artifact(&place.address).map_err(|error| error.to_string()),
            _ => Ok(None),
        }
    }
}
