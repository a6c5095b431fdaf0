//! What is said in a run that is driven: signed, decided and recorded, several statements in one commit, and only while the
//! claim holds. What is not on the disk is told to nobody.

use demur_api::{
    code::{Code, RuleCode},
    refusal::Refusal,
    run::ClaimId,
};
use demur_core::{limit::Text, time::Timestamp};
use demur_engine::{Reply, command::Consequences, refusal::RuleRefusal};
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::{ArtifactContent, PolicyContent},
    entry::{Address, Entry},
    event_type::{Content, Facts},
    facts::{Attribution, Door, Root},
    name::{Position, Sequence, TraceId},
    state::GuardError,
    statement::Submission,
};
use demur_run::{history::History, role::Look};
use demur_sequencer::{Sequencer, SequencerError, Series};
use demur_store::contract::{RecordKey, Store, StoreError, Swap};

use super::{claim, lines::NewLines};
use crate::{
    operating_system::OperatingSystem,
    owner::Owner,
    run::{bytes_in, open::policy_follows, read_on},
};

/// A run in progress.
pub(super) struct Recorder<'a> {
    pub(super) ledger: &'a Sequencer,
    pub(super) trace: TraceId,
    pub(super) history: &'a mut History,
    system: OperatingSystem,
    series: Series<'a>,
    /// What is recorded here depends on its absence.
    mark: RecordKey,
    /// Decided, and not on the disk yet.
    undone: Vec<Entry>,
    /// The lines of what is on the disk and the client was not told.
    lines: NewLines,
}

impl<'a> Recorder<'a> {
    /// Returns the run of this trace, as far as it is recorded. `history` is what was known of it, and the client was told of
    /// so many events. Nothing more is recorded once the claim has ended.
    pub(super) fn new(
        owner: &'a Owner,
        (trace, claim): (TraceId, ClaimId),
        (history, told): (&'a mut History, u64),
    ) -> Result<Self, Refusal> {
        let (ledger, system, mark) = (owner.sequencer(), owner.system(), claim::mark(claim)?);
        let series = ledger.series().while_absent(mark.clone());
        let (undone, lines) = (Vec::new(), NewLines::after(told));
        let known = history.state().length();
        let mut recorder = Self { ledger, trace, history, system, series, mark, undone, lines };
        recorder.catch_up()?;
        if recorder.history.state().length() > known && ledger.store().is_shared() {
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
        let submission = author.say(&self.place()?, facts, content, &mut { self.system })?;
        let decided = self.series.submit(submission, None).map_err(under_claim(self.trace))?;
        self.take(decided.events, decided.reply)
    }

    /// Opens the run with the planner's key, and records its policy in the same commit.
    pub(super) fn open(
        &mut self,
        author: &Author,
        (facts, content): (Facts, Option<Content>),
        policy: &PolicyContent,
    ) -> Result<(), Refusal> {
        let submission = author.say(&self.place()?, facts, content, &mut { self.system })?;
        let rest = policy_follows(policy.clone());
        let decided = self.series.submit_followed(submission, None, rest).map_err(under_claim(self.trace))?;
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
        let artifact = Artifact::new(bytes, &mut { self.system });
        let content = Some(Content::ArtifactRecorded(content));
        let submission = author.say(&self.place()?, artifact.facts(), content, &mut { self.system })?;
        let decided = self.series.submit(submission, Some(&artifact)).map_err(under_claim(self.trace))?;
        self.take(decided.events, decided.reply)
    }

    /// Stores the auditor's report with its key.
    pub(super) fn store_report(&mut self, author: &Author, bytes: Vec<u8>) -> Result<(), Refusal> {
        let artifact = Artifact::new(bytes, &mut { self.system });
        let submission = author.say(&self.place()?, artifact.report_facts(), None, &mut { self.system })?;
        let decided = self.series.submit(submission, Some(&artifact)).map_err(under_claim(self.trace))?;
        self.take(decided.events, decided.reply)
    }

    /// Waits until everything said so far is on the disk.
    pub(super) fn commit(&mut self) -> Result<(), Refusal> {
        let undone = std::mem::take(&mut self.undone);
        self.series.commit().map_err(under_claim(self.trace))?;
        for Entry { event, opening, .. } in undone {
            self.lines.push(&event, opening.as_ref())?;
        }
        Ok(())
    }

    /// Takes in what others recorded.
    pub(super) fn catch_up(&mut self) -> Result<(), Refusal> {
        let lines = &mut self.lines;
        read_on(self.ledger.store(), self.trace, self.history, |event, opening| lines.push(event, opening))
    }

    /// Records what an agent in a process of its own said and what the desk adds to it, or returns why it is refused.
    pub(super) fn submit(
        &mut self,
        submission: Submission,
        artifact: Option<&Artifact>,
        rest: Consequences,
    ) -> Result<Result<Position, RuleRefusal>, Refusal> {
        let recorded = match self.ledger.submit_followed(submission, artifact, rest, &[self.condition()]) {
            Ok(acknowledged) => Ok(acknowledged.position),
            Err(SequencerError::Refused(refusal)) => Err(refusal),
            Err(error) => return Err(under_claim(self.trace)(error)),
        };
        self.catch_up()?;
        Ok(recorded)
    }

    /// Ends the run on the operator's word.
    pub(super) fn abort(&mut self, reason: &str) -> Result<(), Refusal> {
        self.commit()?;
        if self.history.state().head().is_none() {
            return Err(Refusal::new(Code::RunNotBegun, format!("nothing was recorded: {reason}")));
        }
        // The one who drives it is the user of this machine.
        let way = Attribution::new(Door::Socket, Root::SameUser);
        let aborted = self.ledger.abort_with(self.trace, way, Text::cut(reason)?, &[self.condition()]);
        aborted.map_err(under_claim(self.trace))?;
        self.catch_up()
    }

    /// Returns how many events there are, and the lines of those that the client was not told, as many as fit.
    pub(super) fn into_lines(self) -> (u64, Vec<String>) {
        (self.history.state().length(), self.lines.into_vec())
    }

    /// Returns what is recorded, for roles to look at.
    pub(super) fn artifacts(&self) -> RecordedArtifacts<'_> {
        RecordedArtifacts { store: self.ledger.store(), history: self.history }
    }

    /// Returns the time.
    pub(super) fn now(&self) -> Result<Timestamp, Refusal> {
        self.system.now()
    }

    fn condition(&self) -> Swap {
        Swap::absence(self.mark.clone())
    }

    fn place(&self) -> Result<Place, Refusal> {
        let store = self.ledger.registry().store();
        Ok(Place { store, trace: self.trace, seen: self.history.state().head(), now: self.system.now()? })
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
            let mut bytes = bytes_in(self.ledger.store());
            self.history.take_with(&entry.event, content, &mut bytes).map_err(damaged)?;
            if let Some(place) = &entry.artifact {
                self.history.learn(sequence, *place.address.as_digest());
            }
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

/// Returns the refusal of what could not be recorded under a claim: one that has ended is another's by now.
fn under_claim(trace: TraceId) -> impl Fn(SequencerError) -> Refusal {
    move |error| match error {
        SequencerError::RecordChanged => claim::claimed(trace),
        error => error.into(),
    }
}

/// What is recorded, for roles to look at; also what is decided and not on the disk yet, for artifacts are there before.
pub(super) struct RecordedArtifacts<'a> {
    store: &'a dyn Store,
    history: &'a History,
}

impl Look for RecordedArtifacts<'_> {
    fn artifact(&mut self, at: Sequence) -> Result<Option<Vec<u8>>, String> {
        let Some(digest) = self.history.digest(at) else { return Ok(None) };
        match self.store.artifact(&Address::from_digest(*digest)) {
            // Bytes that changed are no evidence; the audit finds them.
            Err(StoreError::Corrupt { .. }) => Ok(None),
            found => found.map_err(|error| error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use demur_api::run::Demands;
    use demur_ledger::{
        content::{ProposalContent, SessionContent},
        facts::ProposalCreated,
        role::Role,
    };

    use super::*;
    use crate::{
        client::MadeFor,
        run::{
            RunOpening,
            driver::claim::tests::{Pair, pair},
            open, seat_name,
        },
    };

    fn is_claimed<T>(refused: Result<T, Refusal>) -> bool {
        refused.is_err_and(|refusal| refusal.code == Code::RunClaimed)
    }

    fn proposal() -> (Facts, Option<Content>) {
        let content = ProposalContent {
            assumptions: Vec::new().try_into().unwrap(),
            expected_evidence: Vec::new().try_into().unwrap(),
            objective: "the work".try_into().unwrap(),
            required_tools: Vec::new().try_into().unwrap(),
        };
        let facts = ProposalCreated { fallback_for: None, replaces: None };
        (facts.into(), Some(Content::ProposalCreated(content)))
    }

    /// Opens a run under the first claim, and returns its planner.
    fn planner(Pair { here, trace, claims, .. }: &Pair) -> Arc<Author> {
        let content = SessionContent {
            constraints: Vec::new().try_into().unwrap(),
            objective: "something".try_into().unwrap(),
            task: "a task".try_into().unwrap(),
        };
        let (agents, demands, trace) = (BTreeMap::new(), Demands::default(), Some(*trace));
        let (planner, client) = ("anna", MadeFor::Nobody);
        let opening = RunOpening { planner, agents: &agents, anybody: true, trace, content, demands, client };
        let trace = open(here, &opening).unwrap().trace;
        claim::take(here, trace, claims[0], false, here.system().now().unwrap()).unwrap();
        here.find_author(&seat_name("anna", Role::Planner), Role::Planner).unwrap().unwrap()
    }

    /// LED-16: by whatever way something would be recorded.
    #[test]
    fn nothing_is_recorded_under_a_claim_that_ended_after_it_was_looked_at() {
        let pair = pair();
        let author = planner(&pair);
        let Pair { here, there, claims, .. } = &pair;
        let (trace, now) = (pair.trace, here.system().now().unwrap());
        let mut history = History::new();
        let mut recorder = Recorder::new(here, (trace, claims[0]), (&mut history, 0)).unwrap();
        let place = recorder.place().unwrap();
        let (facts, content) = proposal();
        let said = author.say(&place, facts.clone(), content.clone(), &mut { here.system() }).unwrap();
        recorder.say(&author, facts, content).unwrap();

        claim::take(there, trace, claims[1], true, now).unwrap();
        assert!(is_claimed(recorder.commit()));
        assert!(is_claimed(recorder.submit(said, None, Consequences::default())));
        assert!(is_claimed(recorder.abort("it is enough")));
        assert_eq!(there.sequencer().store().events(trace, Sequence::FIRST, 10).unwrap().len(), 2);
    }

    #[test]
    fn client_is_told_what_is_new_as_far_as_there_is_room() {
        let pair = pair();
        let author = planner(&pair);
        let at = (pair.trace, pair.claims[0]);
        let told = |history: &mut History, told, room| {
            let mut recorder = Recorder::new(&pair.here, at, (history, told)).unwrap();
            recorder.lines.room = room;
            for _ in 0..3 {
                let (facts, content) = proposal();
                recorder.say(&author, facts, content).unwrap();
            }
            recorder.commit().unwrap();
            let (length, lines) = recorder.into_lines();
            let sequence = |line: &String| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["event"]["event"]["sequence"].as_u64().unwrap()
            };
            (length, lines.iter().map(sequence).collect::<Vec<_>>())
        };
        let mut history = History::new();
        assert_eq!(told(&mut history, 2, MAX), (5, vec![2, 3, 4]));
        // What was known is gone, and what was told is not told again.
        assert_eq!(told(&mut History::new(), 5, MAX), (8, vec![5, 6, 7]));
        assert_eq!(told(&mut history, 8, 1), (11, vec![8]));
    }

    const MAX: usize = usize::MAX;
}
