//! One caller: what is acknowledged is recorded, what is refused leaves the state as it was.

use std::sync::Arc;

use demur_core::{key::SecretKey, limit::Text, random::Seeded};
use demur_engine::reactor::CheckpointAfterRun;
use demur_ledger::{
    author::Artifact,
    content::NoteContent,
    event_type::{Content, EventType},
    facts::{ProposalCreated, ProposalDecision, ProposalReviewed, RevocationReason},
    name::{CommandId, Position, Sequence},
    role::Role,
    state::Phase,
    verify::{Options, Verdict, verify},
};
use demur_sequencer::{Sequencer, SequencerError, System as _};
use demur_store::{contract::Failure, memory::MemoryStore, sqlite::SqliteStore};
use demur_testing::{
    office::{Clock, Office, Run},
    sample::{keep_record, text, whole},
};

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

fn code(result: Result<impl std::fmt::Debug, SequencerError>) -> &'static str {
    match result.unwrap_err() {
        SequencerError::Refused(refusal) => refusal.code,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

fn kinds(office: &Office, run: &Run) -> Vec<String> {
    let stored = office.sequencer.store().events(run.trace, Sequence::FIRST, 100).unwrap();
    let kind = |bytes: &[u8]| {
        let event = demur_ledger::envelope::Event::parse(bytes).unwrap();
        event.said().unwrap().kind.to_string()
    };
    stored.iter().map(|stored| kind(&stored.bytes)).collect()
}

/// ONE-04, LED-05
#[test]
fn a_whole_run_is_exported_and_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let office = Office::create(Arc::new(SqliteStore::create(folder.path().join("data")).unwrap()));
    let run = office.whole_run();
    let report = office.verdict(run.trace);
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
    assert_eq!(report.scope.through, run.seen);
    let summary = office.sequencer.store().trace(run.trace).unwrap().unwrap();
    assert_eq!((summary.phase, Some(summary.head)), (Some(Phase::Completed), run.seen));
}

#[test]
fn the_registry_is_exported_alone() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let report = office.verdict(office.sequencer.registry().trace());
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
}

#[test]
fn a_receipt_holds_against_the_export() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let run = office.whole_run();
    let receipt = office.sequencer.receipt(run.trace, 2.into()).unwrap().unwrap();
    let options = Options { receipts: vec![receipt], require_anchor: true, ..Options::default() };
    let report = verify(&office.export(run.trace)[..], &options, &mut |_| ()).unwrap();
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
}

#[test]
fn the_same_command_again_is_answered_with_the_first_result() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let submission = office.submission(&run, PROPOSAL);
    let first = office.sequencer.submit(submission.clone(), None).unwrap();
    run.seen = Some(first.position);
    office.clock.pass(3_600_000);
    let again = office.sequencer.submit(submission, None).unwrap();
    assert_eq!((again.position, again.repeated, first.repeated), (first.position, true, false));
    assert_eq!(kinds(&office, &run), ["session_initialized", "policy_recorded", "proposal_created"]);
}

/// ONE-03
#[test]
fn bad_input_is_refused_with_a_code_and_noted() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let unopened = office.new_run();
    assert_eq!(code(office.sequencer.submit(office.submission(&unopened, PROPOSAL), None)), "NOT_OPENED");
    let foreign =
        Position { hash: *office.sequencer.registry().store().as_digest(), sequence: Sequence::FIRST };
    let stale = Run { seen: Some(foreign), ..run };
    assert_eq!(code(office.say(&mut stale.clone(), PROPOSAL)), "SEEN_UNKNOWN");
    let late = office.submission(&run, PROPOSAL);
    office.clock.pass(3_600_000);
    assert_eq!(code(office.sequencer.submit(late, None)), "EXPIRED");
    let review =
        ProposalReviewed { conditions: whole(0), decision: ProposalDecision::Approved, proposal: 0.into() };
    assert_eq!(code(office.say(&mut run, review)), "OUT_OF_PHASE");
    let command = CommandId::new(office.clock.now(), &mut Seeded::from_number(9));
    let used = office.submission_with(command, &run, PROPOSAL.into());
    office.sequencer.submit(used, None).unwrap();
    let reused = office.submission_with(command, &run, PROPOSAL.into());
    assert_eq!(code(office.sequencer.submit(reused, None)), "COMMAND_USED");
    let recorded = kinds(&office, &run);
    assert_eq!(recorded.iter().filter(|kind| *kind == "command_refused").count(), 4);
    assert_eq!(office.sequencer.store().trace(run.trace).unwrap().unwrap().phase, Some(Phase::Reviewing));
    assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
}

/// LED-12
#[test]
fn an_artifact_that_does_not_match_is_refused() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let (mut run, _) = office.executing();
    let mut random = Seeded::from_number(4);
    let (right, wrong) =
        (Artifact::new(b"words".to_vec(), &mut random), Artifact::new(b"other".to_vec(), &mut random));
    let submission = || office.submission(&run, right.facts());
    assert_eq!(code(office.sequencer.submit(submission(), Some(&wrong))), "ARTIFACT_MISMATCH");
    assert_eq!(code(office.sequencer.submit(submission(), None)), "ARTIFACT_MISSING");
    let long = Artifact::new(b"more than five".to_vec(), &mut random);
    assert_eq!(
        code(office.sequencer.submit(office.submission(&run, long.facts()), Some(&long))),
        "ARTIFACT_SIZE"
    );
    office.record(&mut run, b"words").unwrap();
}

#[test]
fn a_stranger_leaves_no_mark() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let run = office.open();
    let mut submission = office.submission(&run, PROPOSAL);
    let stranger = SecretKey::generate(&mut Seeded::from_number(8));
    submission.proof = demur_ledger::proof::KeySignature::sign(
        &stranger,
        demur_core::hash::Purpose::Statement,
        &submission.statement,
    )
    .into();
    assert_eq!(code(office.sequencer.submit(submission, None)), "KEY_UNKNOWN");
    assert_eq!(kinds(&office, &run), ["session_initialized", "policy_recorded"]);
}

/// LED-18
#[test]
fn a_failed_trace_stops() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let failure = Failure { sequence: Some(Sequence::FIRST), code: "SIG_INVALID".to_owned() };
    office.sequencer.mark_failed(run.trace, &failure).unwrap();
    assert_eq!(code(office.say(&mut run, PROPOSAL)), "TRACE_FAILED");
    assert_eq!(kinds(&office, &run), ["session_initialized", "policy_recorded"]);
    assert_eq!(office.sequencer.store().trace(run.trace).unwrap().unwrap().failed, Some(failure));
}

#[test]
fn a_revoked_key_is_refused_from_then_on() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    let key = office.agent(Role::Planner).0.public().fingerprint();
    let note = Content::KeyRevoked(NoteContent { note: text("lost") });
    office.sequencer.revoke(key, RevocationReason::Lost, note).unwrap();
    assert_eq!(code(office.say(&mut run, PROPOSAL)), "KEY_REVOKED");
    // What came before the revocation is shown to stand under its root.
    assert!(String::from_utf8(office.export(run.trace)).unwrap().contains("{\"inclusion\":"));
    assert_eq!(office.verdict(run.trace).verdict, Verdict::PassWithWarnings);
}

#[test]
fn traces_exported_alone_and_together_show_the_same_roots() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let five_checkpoints = || (0..5).try_for_each(|_| office.sequencer.checkpoint().map(|_| ())).unwrap();
    let early = office.open();
    five_checkpoints();
    let late = office.open();
    five_checkpoints();
    let trees = office.sequencer.root_trees().unwrap();
    for (run, roots) in [(&early, 8), (&late, 5)] {
        let mut together = Vec::new();
        let software = text("a test");
        office.sequencer.export_under(Some(&trees), run.trace, software, &mut together, &mut |_| ()).unwrap();
        let inclusions = |file: Vec<u8>| {
            let file = String::from_utf8(file).unwrap();
            let lines = file.lines().filter(|line| line.starts_with("{\"inclusion\":"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let alone = inclusions(office.export(run.trace));
        assert_eq!(alone.len(), roots);
        assert_eq!(inclusions(together), alone);
    }
}

#[test]
fn the_operator_ends_a_run() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let mut run = office.open();
    office.sequencer.abort(run.trace, Text::try_from("enough").unwrap()).unwrap();
    assert_eq!(code(office.say(&mut run, PROPOSAL)), "OUT_OF_PHASE");
    let unknown = office.new_run().trace;
    let abort = office.sequencer.abort(unknown, Text::try_from("enough").unwrap());
    assert!(matches!(abort, Err(SequencerError::TraceUnknown { .. })));
    assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
}

#[test]
fn a_run_that_ended_is_followed_by_one_checkpoint() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    office.whole_run();
    assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 1);
    assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 0);
    // A reactor that forgot how far it had read finds its effects recorded.
    keep_record(office.sequencer.store(), "reactor/checkpoint_after_run", &[0; 16]).unwrap();
    assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 0);
    let run = office.whole_run();
    assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 1);
    let file = String::from_utf8(office.export(run.trace)).unwrap();
    assert_eq!(file.lines().filter(|line| line.starts_with("{\"inclusion\":")).count(), 1);
    assert_eq!(office.verdict(run.trace).verdict, Verdict::Pass);
    let registry = office.sequencer.registry();
    let stored = office.sequencer.store().events(registry.trace(), Sequence::FIRST, 100).unwrap();
    let checkpoints = stored.iter().filter(|stored| {
        let event = demur_ledger::envelope::Event::parse(&stored.bytes).unwrap();
        *event.said().unwrap().kind == EventType::CheckpointRecorded.into()
    });
    assert_eq!(checkpoints.count(), 2);
    assert_eq!(office.verdict(registry.trace()).verdict, Verdict::Pass);
}

#[test]
fn a_store_is_created_once_and_opened_with_the_desks_key() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    let store = office.sequencer.close().unwrap();
    let other = SecretKey::generate(&mut Seeded::from_number(6));
    let created = Sequencer::create(store, other.clone(), "again", Box::new(Clock::new()));
    assert!(matches!(created, Err(SequencerError::Created)));
    let empty = Sequencer::open(Arc::new(MemoryStore::new()), |_| None, Box::new(Clock::new()));
    assert!(matches!(empty, Err(SequencerError::NotCreated)));
    let office = Office::create(Arc::new(MemoryStore::new()));
    let store = office.sequencer.close().unwrap();
    let strange = Sequencer::open(store, move |_| Some(other.clone()), Box::new(Clock::new()));
    assert!(matches!(strange, Err(SequencerError::NoDeskKey)));
}
