//! Several statements in one commit: each can go by the one before, and all or none are acknowledged.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use demur_core::random::Seeded;
use demur_engine::Reply;
use demur_ledger::{
    author::Artifact,
    facts::{
        ProposalCreated, ProposalDecision, ProposalReviewed, Risk, ToolExecutionStarted, ToolIntentSigned,
    },
    name::{CommandId, Sequence},
    verify::Verdict,
};
use demur_sequencer::{Decided, Sequencer, SequencerError, Series, System as _};
use demur_store::{
    contract::{RecordKey, RecordValue, Store, StoreError, Swap, Version},
    memory::{Fault, MemoryStore, Writing},
};
use demur_testing::{
    office::{Clock, Office, POLICY, Run},
    sample::{list, whole},
};

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

/// Has the agent whose role fits say something that nobody has on the disk yet.
fn say(
    office: &Office,
    series: &mut Series<'_>,
    run: &mut Run,
    facts: impl Into<demur_ledger::event_type::Facts>,
) -> Sequence {
    let decided = series.submit(office.submission(run, facts), None).unwrap();
    let Decided { events, reply: Reply::Recorded(position) } = decided else {
        panic!("expected something to be recorded, found {decided:?}")
    };
    assert_eq!(events.last().unwrap().event.position(), position);
    run.seen = Some(position);
    position.sequence
}

/// Proposes, approves and intends, all in a series that is still open.
fn three(office: &Office, series: &mut Series<'_>, run: &mut Run) -> Sequence {
    let proposal = say(office, series, run, PROPOSAL);
    let decision = ProposalDecision::Approved;
    say(office, series, run, ProposalReviewed { conditions: whole(0), decision, proposal });
    say(office, series, run, ToolIntentSigned { meets: list([]), proposal, retries: None, risk: Risk::Low })
}

/// Records the input that the intents name, and starts the tool with it: two events.
fn start(office: &Office, series: &mut Series<'_>, run: &mut Run, intent: Sequence) -> ToolExecutionStarted {
    let input = Artifact::new(b"words".to_vec(), &mut Seeded::from_number(5));
    let decided = series.submit(office.submission(run, input.facts()), Some(&input)).unwrap();
    let Reply::Recorded(position) = decided.reply else { panic!("expected an artifact, found {decided:?}") };
    run.seen = Some(position);
    let started = ToolExecutionStarted { input: Some(position.sequence), intent };
    say(office, series, run, started.clone());
    started
}

/// Returns which events the desk has signed as the newest of their commit, counted from the end of the opening: 0 is the
/// policy, whose commit begins with the opening.
fn heads(office: &Office, run: &Run) -> Vec<u64> {
    let stored = office.sequencer.store().events(run.trace, Sequence::FIRST, 100).unwrap();
    let signed = (0..).zip(stored).filter(|(_, stored)| stored.head.is_some());
    signed.map(|(at, _): (u64, _)| at.checked_sub(POLICY.number()).unwrap()).collect()
}

/// LED-16
#[test]
fn a_series_is_one_commit_and_verifies() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let mut series = office.sequencer.series();
    three(&office, &mut series, &mut run);
    assert_eq!(heads(&office, &run), [0], "nothing is recorded before the commit");
    series.commit().unwrap();
    assert_eq!(heads(&office, &run), [0, 3], "the desk signs the newest event of each commit");
    assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
    assert_eq!(office.verdict(run.trace).scope.through, run.seen);
}

#[test]
fn a_series_that_is_let_go_is_committed() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    three(&office, &mut office.sequencer.series(), &mut run);
    assert_eq!(heads(&office, &run), [0, 3]);
}

#[test]
fn a_refused_statement_leaves_those_before_it() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let mut series = office.sequencer.series();
    let intent = three(&office, &mut series, &mut run);
    let started = start(&office, &mut series, &mut run, intent);
    let again = office.submission(&run, started);
    let Decided { events, reply } = series.submit(again, None).unwrap();
    let Reply::Refused(refusal) = reply else { panic!("expected a refusal, found {reply:?}") };
    assert_eq!((refusal.code, events.len()), ("INTENT_USED", 1), "the refusal is noted");
    series.commit().unwrap();
    assert_eq!(heads(&office, &run), [0, 6]);
}

/// ONE-05
#[test]
fn a_series_whose_commit_fails_leaves_nothing_and_the_run_goes_on() {
    let full = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&full);
    let office = Office::create(Arc::new(MemoryStore::with_faults(move |write| match write {
        Writing::Commit if switch.load(Ordering::Relaxed) => Fault::Before(StoreError::Full),
        _ => Fault::None,
    })));
    let mut run = office.open();
    let opened = run;
    full.store(true, Ordering::Relaxed);
    let mut series = office.sequencer.series();
    three(&office, &mut series, &mut run);
    assert!(matches!(series.commit(), Err(SequencerError::Commit(_))));
    full.store(false, Ordering::Relaxed);
    run = opened;
    three(&office, &mut series, &mut run);
    series.commit().unwrap();
    assert_eq!(heads(&office, &run), [0, 3]);
}

#[test]
fn nobody_waits_for_an_open_series() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let (mut run, mut other) = (office.open(), office.open());
    let mut series = office.sequencer.series();
    three(&office, &mut series, &mut run);
    // In this thread and in another: whoever writes takes along what is there.
    office.say(&mut other, PROPOSAL).unwrap();
    assert_eq!(heads(&office, &run), [0, 3]);
    thread::scope(|scope| scope.spawn(|| office.whole_run()).join().unwrap());
    series.commit().unwrap();
    assert_eq!(heads(&office, &run), [0, 3]);
}

#[test]
fn the_same_command_twice_in_a_series_is_one_event() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let run = office.open();
    let command = CommandId::new(office.clock.now(), &mut Seeded::from_number(9));
    let submission = office.submission_with(command, &run, PROPOSAL.into());
    let mut series = office.sequencer.series();
    let first = series.submit(submission.clone(), None).unwrap();
    let again = series.submit(submission, None).unwrap();
    let Reply::Recorded(position) = first.reply else { panic!("expected an event") };
    assert_eq!(again.reply, Reply::Repeated { trace: run.trace, position });
    assert_eq!(again.events.len(), 0);
}

fn mark() -> RecordKey {
    RecordKey::new("ended/somebody").unwrap()
}

fn make_mark(sequencer: &Sequencer) {
    let value = RecordValue { bytes: Vec::new(), expires: None };
    let swap = Swap { key: mark(), was: Version::ABSENT, next: Some(value) };
    sequencer.swap(vec![swap]).unwrap();
}

#[test]
fn series_that_depends_on_an_absence_is_one_append_and_changes_no_record() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let mut series = office.sequencer.series().while_absent(mark());
    let intent = three(&office, &mut series, &mut run);
    series.commit().unwrap();
    assert_eq!(heads(&office, &run), [0, 3]);
    start(&office, &mut series, &mut run, intent);
    series.commit().unwrap();
    assert_eq!(heads(&office, &run), [0, 3, 5]);
    assert_eq!(office.sequencer.store().record(&mark()).unwrap(), None);
}

/// Whoever made the record did so between the decision and the commit, in whatever process.
#[test]
fn series_records_nothing_once_the_record_is_there_that_it_depends_on() {
    let store = Arc::new(MemoryStore::shared(Clock::new().now()));
    let office = Office::create(store.clone());
    let elsewhere = office.twin(store);
    let mut run = office.open();
    let opened = run;
    let mut series = office.sequencer.series().while_absent(mark());
    three(&office, &mut series, &mut run);
    make_mark(&elsewhere.sequencer);
    assert!(matches!(series.commit(), Err(SequencerError::RecordChanged)));
    assert_eq!(heads(&office, &run), [0]);
    // A refusal that would be noted is not.
    let decision = ProposalDecision::Approved;
    let nothing = ProposalReviewed { conditions: whole(0), decision, proposal: Sequence::FIRST };
    let Decided { events, reply } = series.submit(office.submission(&opened, nothing), None).unwrap();
    assert!(matches!(reply, Reply::Refused(_)) && events.len() == 1, "{reply:?}");
    assert!(matches!(series.commit(), Err(SequencerError::RecordChanged)));
    assert_eq!(heads(&office, &run), [0]);
    // Others go on.
    run = opened;
    office.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(heads(&office, &run), [0, 1]);
}

/// Others write what is decided so far, and the rest is refused: what is there was recorded in time.
#[test]
fn part_of_a_series_that_comes_too_late_is_not_recorded() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let (mut run, mut other) = (office.open(), office.open());
    let mut series = office.sequencer.series().while_absent(mark());
    let intent = three(&office, &mut series, &mut run);
    office.say(&mut other, PROPOSAL).unwrap();
    assert_eq!(heads(&office, &run), [0, 3]);
    make_mark(&office.sequencer);
    start(&office, &mut series, &mut run, intent);
    assert!(matches!(series.commit(), Err(SequencerError::RecordChanged)));
    assert_eq!(heads(&office, &run), [0, 3]);
}

/// LED-22
#[test]
fn whoever_comes_back_reads_that_it_crashed() {
    let store = Arc::new(MemoryStore::new());
    let office = Office::create(store.clone());
    let run = office.open();
    store.reopen();
    let office = office.reopen(store.clone());
    office.sequencer.come_back(run.trace).unwrap();
    office.sequencer.come_back(run.trace).unwrap();
    assert_eq!(heads(&office, &run), [0, 1], "the recovery, once");
    let mut run = Run { seen: Some(store.trace(run.trace).unwrap().unwrap().head), ..run };
    let mut series = office.sequencer.series();
    three(&office, &mut series, &mut run);
    series.commit().unwrap();
    assert_eq!(heads(&office, &run), [0, 1, 4]);
}

#[test]
fn a_long_series_is_committed_in_parts() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let mut series = office.sequencer.series();
    for _ in 0..130 {
        say(&office, &mut series, &mut run, PROPOSAL);
    }
    series.commit().unwrap();
    assert_eq!(office.sequencer.store().trace(run.trace).unwrap().unwrap().head, run.seen.unwrap());
    assert_eq!(heads(&office, &run), [0, 64]);
}
