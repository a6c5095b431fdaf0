//! What the processes in these tests do all day, and what must hold afterwards.

use std::{collections::BTreeMap, path::Path, sync::Arc, thread};

use demur_core::hash::Digest;
use demur_ledger::{
    envelope::Event,
    event_type::Facts,
    facts::{Risk, ToolExecutionCompleted, ToolExecutionStarted, ToolIntentSigned},
    name::{Position, Sequence, TraceId},
    state::Phase,
    verify::{Options, Report, Verdict, verify},
};
use demur_sequencer::{SequencerError, System as _};
use demur_store::{
    contract::{Store, StoreError, StoreProblem, TraceSummary},
    sqlite::SqliteStore,
};
use demur_testing::{
    office::{Clock, Office, Run},
    sample::{keep_record, list, text},
};

use super::dice::Dice;

/// An office whose store other processes have used before.
pub(super) type Desk = Office;

/// What was acknowledged, by trace and place.
pub(super) type Ledgered = BTreeMap<(TraceId, Sequence), Digest>;

/// Hears of everything that is acknowledged.
pub(super) type Hears<'a> = &'a (dyn Fn(TraceId, Position) + Sync);

/// A run in which tools are called.
#[derive(Clone, Copy)]
pub(super) struct Ready {
    pub(super) run: Run,
    proposal: Sequence,
    artifact: Sequence,
}

impl Ready {
    /// Opens a run and brings it so far.
    pub(super) fn open(desk: &Desk, hears: Hears<'_>) -> Result<Self, SequencerError> {
        let (mut run, proposal) = desk.executing();
        hears(run.trace, run.seen.unwrap());
        let artifact = desk.record(&mut run, b"words")?;
        hears(run.trace, run.seen.unwrap());
        Ok(Self { run, proposal, artifact })
    }

    /// Returns a run that another process brought so far.
    pub(super) fn find(desk: &Desk, summary: &TraceSummary) -> Result<Option<Self>, SequencerError> {
        let stored = desk.sequencer.store().events(summary.trace, Sequence::FIRST, 32)?;
        let (mut proposal, mut artifact) = (None, None);
        for event in stored.iter().filter_map(|stored| Event::parse(&stored.bytes).ok()) {
            let at = event.envelope().sequence;
            match event.said().map(|said| said.facts) {
                Ok(Facts::ProposalCreated(_)) => proposal = Some(at),
                // The first has the input that every intent names.
                Ok(Facts::ArtifactRecorded(_)) => artifact = artifact.or(Some(at)),
                _ => {}
            }
        }
        let run = Run { trace: summary.trace, seen: Some(summary.head) };
        let ready = proposal.zip(artifact).filter(|_| summary.phase == Some(Phase::Executing));
        Ok(ready.map(|(proposal, artifact)| Self { run, proposal, artifact }))
    }

    /// Calls a tool, in three events.
    pub(super) fn call(&mut self, desk: &Desk, hears: Hears<'_>) -> Result<(), SequencerError> {
        let Self { proposal, artifact, .. } = *self;
        let intent = ToolIntentSigned { meets: list([]), proposal, retries: None, risk: Risk::Low };
        let intent = desk.say(&mut self.run, intent)?;
        self.tell(hears);
        let started = desk.say(&mut self.run, ToolExecutionStarted { input: Some(artifact), intent })?;
        self.tell(hears);
        desk.say(&mut self.run, ToolExecutionCompleted { outputs: list([]), started })?;
        self.tell(hears);
        Ok(())
    }

    /// Records bytes that nobody had before.
    pub(super) fn record(&mut self, desk: &Desk, hears: Hears<'_>) -> Result<(), SequencerError> {
        let mut bytes = [0; 5];
        desk.clock.fill(&mut bytes);
        desk.record(&mut self.run, &bytes)?;
        self.tell(hears);
        Ok(())
    }

    fn tell(&self, hears: Hears<'_>) {
        hears(self.run.trace, self.run.seen.unwrap());
    }
}

/// Creates a store with some runs.
pub(super) fn create(path: &Path, runs: usize, hears: Hears<'_>) -> Desk {
    let store = Arc::new(SqliteStore::create(path).unwrap());
    let desk = Office::create_with(store, Clock::of_the_machine());
    for _ in 0..runs {
        Ready::open(&desk, hears).unwrap();
    }
    desk
}

/// Comes back to a store and adds to each of its newest runs: the next event of those that are executing, the end of
/// those that did not come so far. Returns the former.
pub(super) fn go_on(desk: &Desk, newest: usize, hears: Hears<'_>) -> Result<Vec<Ready>, SequencerError> {
    let mut ready = Vec::new();
    for summary in desk.sequencer.store().traces(None, newest)? {
        if let Some(mut run) = Ready::find(desk, &summary)? {
            run.record(desk, hears)?;
            ready.push(run);
        } else if summary.phase.is_some_and(|phase| !phase.is_final()) {
            let ended = desk.sequencer.abort(summary.trace, text("it was left half done"))?;
            hears(ended.trace, ended.position);
        }
    }
    Ok(ready)
}

/// Threads that work in several runs at once.
#[derive(Clone, Copy)]
pub(super) struct Bustle {
    pub(super) threads: usize,
    /// How many steps each of them makes.
    pub(super) steps: usize,
    /// Whether they also open runs, record checkpoints, and write a record of this length that fills the log.
    pub(super) besides: Option<usize>,
}

impl Bustle {
    pub(super) fn run(self, desk: &Desk, ready: &[Ready], hears: Hears<'_>) {
        let mut seed = [0; 8];
        desk.clock.fill(&mut seed);
        thread::scope(|scope| {
            for number in 0..self.threads {
                let dice = Dice::new(u64::from_le_bytes(seed).wrapping_add(number as u64));
                scope.spawn(move || self.work(desk, ready.to_vec(), dice, hears));
            }
        });
    }

    fn work(self, desk: &Desk, mut ready: Vec<Ready>, mut dice: Dice, hears: Hears<'_>) {
        for _ in 0..self.steps {
            let place = dice.index(ready.len());
            let outcome = match (dice.roll(32), self.besides) {
                (0, Some(_)) => Ready::open(desk, hears).map(|run| ready[place] = run),
                (1, Some(_)) => desk.sequencer.checkpoint().map(|made| hears(made.trace, made.position)),
                (2, Some(load)) => {
                    keep_record(desk.sequencer.store(), "load", &vec![7; load]).map_err(SequencerError::from)
                }
                (..16, _) => ready[place].record(desk, hears),
                _ => ready[place].call(desk, hears),
            };
            outcome.unwrap();
        }
    }
}

/// Makes sure that all of this is there.
pub(super) fn expect_all(store: &dyn Store, acknowledged: &Ledgered) {
    for ((trace, sequence), hash) in acknowledged {
        let found = store.hash(*trace, *sequence).unwrap();
        assert_eq!(found, Some(*hash), "event {sequence} of trace {trace} was acknowledged");
    }
}

/// Makes sure that a trace holds.
pub(super) fn expect_whole(desk: &Desk, trace: TraceId) -> Report {
    let report = desk.verdict(trace);
    assert_ne!(report.verdict, Verdict::Fail, "trace {trace}: {}", report.to_text());
    report
}

/// Makes sure that every trace that can be exported and verified is what was recorded. Returns how many are, and whether
/// all are.
pub(super) fn expect_the_truth(desk: &Desk, events: &Ledgered) -> (usize, bool) {
    let Ok(heads) = desk.sequencer.store().heads() else { return (0, false) };
    let (mut whole, all) = (0, heads.len());
    for (trace, _) in heads {
        let mut file = Vec::new();
        if desk.sequencer.export(trace, text("demur test"), &mut file, &mut |_| ()).is_err() {
            continue;
        }
        let report = verify(&file[..], &Options::default(), &mut |_| ()).unwrap();
        if report.verdict == Verdict::Fail {
            continue;
        }
        for (sequence, hash) in (0_u32..).zip(report.hashes()) {
            let recorded = events.get(&(trace, sequence.into()));
            assert_eq!(recorded, Some(hash), "event {sequence} of trace {trace}");
        }
        whole += 1;
    }
    (whole, whole == all)
}

/// Returns every event of a store.
pub(super) fn all_events(store: &dyn Store) -> Ledgered {
    let mut events = Ledgered::new();
    for (trace, head) in store.heads().unwrap() {
        for sequence in 0..=head.sequence.number() {
            let sequence = sequence.try_into().unwrap();
            events.insert((trace, sequence), store.hash(trace, sequence).unwrap().unwrap());
        }
    }
    events
}

/// What a store finds wrong with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// Tables that follow from the events, and can be made again from them.
    Derived,
    /// More than that.
    Record,
}

/// Returns whether a store finds that something is wrong with it.
pub(super) fn damage(store: &dyn Store) -> Option<Damage> {
    let is_derived = |problem: &StoreProblem| matches!(problem, StoreProblem::Derived { .. });
    match store.check(&mut |_| ()) {
        Ok(problems) if problems.is_empty() => None,
        Ok(problems) if problems.iter().all(is_derived) => Some(Damage::Derived),
        Ok(_) | Err(_) => Some(Damage::Record),
    }
}

/// Returns the office in a folder, whatever of it was made there before.
pub(super) fn reach(path: &Path) -> Desk {
    let store = match SqliteStore::open(path) {
        Err(StoreError::Missing { .. }) => SqliteStore::create(path).unwrap(),
        opened => opened.unwrap(),
    };
    // The registry begins with one event, so a store has one or none.
    let (store, began) = (Arc::new(store), |store: &SqliteStore| store.registry().unwrap().is_some());
    match Office::at(store.clone()) {
        Err(SequencerError::NotCreated) if !began(&store) => {
            Office::create_with(store, Clock::of_the_machine())
        }
        opened => opened.unwrap(),
    }
}
