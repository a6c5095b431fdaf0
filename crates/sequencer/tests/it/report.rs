//! The auditor's report: its bytes are in the store, and the verdict is held against them, also after a restart.

use std::sync::Arc;

use demur_ledger::{
    facts::{VerificationRunCompleted, VerificationStatus},
    verify::Verdict,
};
use demur_sequencer::SequencerError;
use demur_store::{memory::MemoryStore, sqlite::SqliteStore};
use demur_testing::office::{Office, REPORT};

fn is_mismatch(result: Result<impl std::fmt::Debug, SequencerError>) -> bool {
    matches!(result, Err(SequencerError::Refused(refusal)) if refusal.code == "REPORT_MISMATCH")
}

/// LED-15
#[test]
fn verdict_needs_a_report_that_says_the_same() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let (mut run, through) = office.auditing();
    let verdict = |status| VerificationRunCompleted { status, through };
    assert!(is_mismatch(office.say(&mut run, verdict(VerificationStatus::Pass))));
    office.report(&mut run, br#"{"status":"fail"}"#).unwrap();
    assert!(is_mismatch(office.say(&mut run, verdict(VerificationStatus::Pass))));
    office.report(&mut run, REPORT).unwrap();
    assert!(is_mismatch(office.say(&mut run, verdict(VerificationStatus::Fail))));
    office.say(&mut run, verdict(VerificationStatus::Pass)).unwrap();
    assert_eq!(office.verdict(run.trace).verdict, Verdict::Pass);
}

/// LED-15 LED-22
#[test]
fn report_of_an_earlier_process_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let office = Office::create(Arc::new(SqliteStore::create(&path).unwrap()));
    let (mut run, through) = office.auditing();
    office.report(&mut run, REPORT).unwrap();
    let people = office.leave();
    let office = people.enter(Arc::new(SqliteStore::open(&path).unwrap()));
    let verdict = |status| VerificationRunCompleted { status, through };
    assert!(is_mismatch(office.say(&mut run, verdict(VerificationStatus::Fail))));
    office.say(&mut run, verdict(VerificationStatus::Pass)).unwrap();
    let found = office.verdict(run.trace);
    assert_eq!(found.verdict, Verdict::Pass, "{}", found.to_text());
}
