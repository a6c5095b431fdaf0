//! Coming back (LED-22): the head is read and checked, an interrupted run says so, and it goes on at the next valid
//! transition.

use std::sync::Arc;

use demur_engine::snapshot::VERSION;
use demur_ledger::{
    envelope::Event,
    facts::ProposalCreated,
    name::{Sequence, TraceId},
    verify::Verdict,
};
use demur_store::{contract::Store, memory::MemoryStore, sqlite::SqliteStore};
use demur_testing::office::Office;

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

fn kinds(store: &dyn Store, trace: TraceId) -> Vec<String> {
    let stored = store.events(trace, Sequence::FIRST, 1000).unwrap();
    stored
        .iter()
        .map(|stored| Event::parse(&stored.bytes).unwrap().said().unwrap().kind.to_string())
        .collect()
}

/// LED-22
#[test]
fn an_interrupted_run_says_so_before_it_goes_on() {
    let store = Arc::new(MemoryStore::new());
    let office = Office::create(store.clone());
    let (mut run, finished) = (office.open(), office.whole_run());
    // The process ends without closing.
    store.reopen();
    let office = office.reopen(store.clone());
    let proposal = office.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(
        kinds(&*store, run.trace),
        ["session_initialized", "policy_recorded", "recovery_recorded", "proposal_created"]
    );
    assert_eq!(proposal, 3.into());
    assert_eq!(kinds(&*store, finished.trace).last().unwrap(), "verification_run_completed");
    assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
}

#[test]
fn a_store_that_was_closed_goes_on_without_a_word() {
    let store = Arc::new(MemoryStore::new());
    let office = Office::create(store.clone());
    let mut run = office.open();
    let office = office.close_and_reopen(store.clone());
    office.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(kinds(&*store, run.trace), ["session_initialized", "policy_recorded", "proposal_created"]);
}

#[test]
fn a_long_trace_is_loaded_from_its_snapshot_and_goes_on() {
    let store = Arc::new(MemoryStore::new());
    let office = Office::create(store.clone());
    let (mut run, proposal) = office.executing();
    let artifact = office.record(&mut run, b"words").unwrap();
    while run.seen.unwrap().sequence.number() < 4_200 {
        office.call(&mut run, proposal, artifact).unwrap();
    }
    assert_eq!(store.snapshot(run.trace, VERSION).unwrap().unwrap().head.sequence.number(), 4_096);
    let office = office.close_and_reopen(store);
    office.call(&mut run, proposal, artifact).unwrap();
    assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
}

/// LED-18
#[test]
fn a_trace_whose_stored_events_do_not_hold_is_marked_and_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let office = Office::create(Arc::new(SqliteStore::create(&path).unwrap()));
    let mut run = office.open();
    office.say(&mut run, PROPOSAL).unwrap();
    let people = office.leave();
    // Somebody with access to the file puts another signature into the newest event, and its hash right.
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_stay").unwrap();
    let bytes: Vec<u8> = connection
        .query_row("SELECT bytes FROM events ORDER BY ordinal DESC LIMIT 1", [], |row| row.get(0))
        .unwrap();
    let mut forged = bytes;
    let mark = b"\"signature\":\"";
    let place = forged.windows(mark.len()).position(|part| part == mark).unwrap() + mark.len();
    forged[place] = if forged[place] == b'0' { b'1' } else { b'0' };
    let event = Event::parse(&forged).unwrap();
    connection
        .execute(
            "UPDATE events SET bytes = ?1, hash = ?2 WHERE ordinal = (SELECT max(ordinal) FROM events)",
            (&forged, event.hash().as_bytes()),
        )
        .unwrap();
    drop(connection);
    let office = people.enter(Arc::new(SqliteStore::open(&path).unwrap()));
    let mut run = demur_testing::office::Run { seen: Some(event.position()), ..run };
    let refused = office.say(&mut run, PROPOSAL).unwrap_err();
    assert!(refused.to_string().starts_with("TRACE_FAILED"), "{refused}");
    let failed = office.sequencer.store().trace(run.trace).unwrap().unwrap().failed.unwrap();
    assert_eq!((failed.sequence, failed.code.as_str()), (Some(event.position().sequence), "SIG_INVALID"));
}
