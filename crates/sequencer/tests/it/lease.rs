//! Two processes on one store that they share: each writes under a lease, and what one that died wrote last is told from
//! everything else by it.

use std::sync::Arc;

use demur_core::time::Timestamp;
use demur_engine::command::{Command, Consequences};
use demur_ledger::{
    admission::Checked,
    envelope::Event,
    facts::ProposalCreated,
    name::{Sequence, TraceId},
    verify::Verdict,
};
use demur_sequencer::SequencerError;
use demur_store::{
    contract::{Leases as _, Store as _},
    memory::MemoryStore,
};
use demur_testing::{office::Office, sample::text};

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

/// Longer than a lease lives unless it is renewed.
const LONG_MILLISECONDS: u64 = 20_000;

fn shared() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap()))
}

fn recoveries(store: &MemoryStore, trace: TraceId) -> usize {
    let stored = store.events(trace, Sequence::FIRST, 1000).unwrap();
    let is_one =
        |bytes: &[u8]| Event::parse(bytes).unwrap().said().unwrap().kind.to_string() == "recovery_recorded";
    stored.iter().filter(|stored| is_one(&stored.bytes)).count()
}

/// LED-22
#[test]
fn crash_is_recovered_where_that_desk_wrote_and_nowhere_else() {
    let store = shared();
    let dying = Office::create(store.clone());
    let living = dying.twin(store.clone());
    let mut its = dying.open();
    let mut other = living.open();
    // Here the one that lives wrote last.
    let mut both = dying.open();
    living.say(&mut both, PROPOSAL).unwrap();
    // This one the living has in memory, as it was before the other went on with it.
    let mut known = living.open();
    dying.say(&mut known, PROPOSAL).unwrap();
    let finished = dying.whole_run();
    drop(dying.leave());
    for _ in 0..2 {
        store.pass(LONG_MILLISECONDS / 2);
        living.sequencer.renew_lease().unwrap();
    }
    for run in [&mut its, &mut other, &mut both] {
        living.say(run, PROPOSAL).unwrap();
    }
    living.sequencer.come_back(known.trace).unwrap();
    living.sequencer.come_back(finished.trace).unwrap();
    let third = living.twin(store.clone());
    third.say(&mut its, PROPOSAL).unwrap();
    let found = [its, other, both, known, finished].map(|run| recoveries(&store, run.trace));
    assert_eq!(found, [1, 0, 0, 1, 0]);
    assert_ne!(third.verdict(its.trace).verdict, Verdict::Fail);
}

/// A desk that lives is not taken for dead, whoever comes.
#[test]
fn nothing_is_recovered_while_its_writer_lives() {
    let store = shared();
    let here = Office::create(store.clone());
    let mut run = here.open();
    let elsewhere = here.twin(store.clone());
    elsewhere.say(&mut run, PROPOSAL).unwrap();
    let closed = elsewhere.close_and_reopen(store.clone());
    here.say(&mut run, PROPOSAL).unwrap();
    closed.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(recoveries(&store, run.trace), 0);
}

#[test]
fn desk_without_a_lease_records_nothing() {
    let store = shared();
    let slept = Office::create(store.clone());
    let (mut run, before) = (slept.open(), store.end().unwrap());
    store.pass(LONG_MILLISECONDS);
    let is_lost = |error: SequencerError| matches!(error, SequencerError::LeaseLost);
    assert!(is_lost(slept.say(&mut run, PROPOSAL).unwrap_err()));
    assert!(is_lost(slept.sequencer.abort(run.trace, text("enough")).unwrap_err()));
    assert!(is_lost(slept.sequencer.checkpoint().unwrap_err()));
    let mut series = slept.sequencer.series();
    series.submit(slept.submission(&run, PROPOSAL), None).unwrap();
    assert!(is_lost(series.commit().unwrap_err()));
    drop(series);
    assert_eq!(store.end().unwrap(), before);
    assert!(store.leases().unwrap().iter().all(|lease| !lease.lives));
    // Whoever comes after it goes on.
    let awake = slept.twin(store.clone());
    awake.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(recoveries(&store, run.trace), 1);
}

/// No commit checks a refusal: what it goes by must not be of yesterday.
#[test]
fn refusal_goes_by_what_another_process_recorded() {
    let store = shared();
    let here = Office::create(store.clone());
    let mut run = here.open();
    let elsewhere = here.twin(store.clone());
    elsewhere.say(&mut run, PROPOSAL).unwrap();
    // The desk's words are worked out from the newest event, which this process has not seen yet.
    let said = here.submission(&run, PROPOSAL);
    let said = Checked::new(said, Some(&here.sequencer.registry())).unwrap();
    let consequences = Consequences { after: run.seen, signing: None, sayings: Vec::new() };
    let command = Command::submit(said, None, consequences);
    let recorded = here.sequencer.perform(run.trace, &command).unwrap();
    assert_eq!(recorded.position.sequence, run.seen.unwrap().sequence.next());
}
