//! Words that are erased: gone from the store and every export, while everything else still holds.

use std::sync::Arc;

use demur_core::limit::Text;
use demur_ledger::{
    name::{Sequence, TraceId},
    verify::Verdict,
};
use demur_sequencer::{Acknowledged, SequencerError};
use demur_store::{
    contract::{Kept, Store},
    memory::MemoryStore,
};
use demur_testing::office::Office;

/// LED-29 ONE-04
#[test]
fn whatever_is_erased_the_trace_holds_and_goes_on_being_read() {
    let length = {
        let office = Office::create(Arc::new(MemoryStore::new()));
        let run = office.whole_run();
        office.sequencer.store().trace(run.trace).unwrap().unwrap().head.sequence.number() + 1
    };
    let mut erased = 0;
    for number in 0..length {
        let event = Sequence::try_from(number).unwrap();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let office = Office::create(Arc::clone(&store));
        let trace = office.whole_run().trace;
        match erase(&office, trace, event) {
            Ok(_) => erased += 1,
            Err(error) => {
                assert_eq!(code(&error), "NOTHING_TO_ERASE", "event {number}");
                continue;
            }
        }
        let stored = store.events(trace, event, 1).unwrap().pop().unwrap();
        assert!(!matches!(stored.content, Kept::Here(_)) && !matches!(stored.artifact, Kept::Here(_)));
        let report = office.verdict(trace);
        assert_eq!(report.code(), None, "event {number}: {}", report.to_text());
        assert_eq!(report.verdict, Verdict::NotEstablished, "event {number}");
        assert_eq!(code(&erase(&office, trace, event).unwrap_err()), "ALREADY_ERASED");
        // A new process reads the trace without the words, and does not take it for damaged.
        let office = office.close_and_reopen(Arc::clone(&store));
        assert!(!office.sequencer.look(trace).unwrap().is_failed(), "event {number}");
        assert_eq!(store.trace(trace).unwrap().unwrap().failed, None, "event {number}");
        assert_eq!(store.check(&mut |_| {}).unwrap(), []);
    }
    assert!(erased > 10, "only {erased} of {length} events had words");
}

#[test]
fn a_name_in_the_registry_can_be_erased() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let office = Office::create(Arc::clone(&store));
    let trace = office.whole_run().trace;
    let registry = office.sequencer.registry().trace();
    erase(&office, registry, 1_u32.into()).unwrap();
    let report = office.verdict(trace);
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
    assert!(report.erased[0].registry);
    let office = office.close_and_reopen(store);
    assert_eq!(office.verdict(trace).verdict, Verdict::Pass);
}

/// A run that goes on is judged by what is left, the same before and after a restart.
#[test]
fn a_run_goes_on_after_an_erasure() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let office = Office::create(Arc::clone(&store));
    let (mut run, _) = office.executing();
    let at = office.record(&mut run, b"print").unwrap();
    erase(&office, run.trace, at).unwrap();
    run.seen = office.sequencer.newest(run.trace).unwrap();
    office.record(&mut run, b"other").unwrap();
    let office = office.close_and_reopen(store);
    office.record(&mut run, b"third").unwrap();
    assert_eq!(office.verdict(run.trace).code(), None);
}

fn erase(office: &Office, trace: TraceId, event: Sequence) -> Result<Acknowledged, SequencerError> {
    office.sequencer.erase(trace, event, Text::try_from("asked to").unwrap())
}

fn code(error: &SequencerError) -> &'static str {
    match error {
        SequencerError::Refused(refusal) => refusal.code,
        other => panic!("expected a refusal, found {other}"),
    }
}
