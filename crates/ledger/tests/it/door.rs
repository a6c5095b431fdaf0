//! The door: what a submission must satisfy before the desk orders it.

use demur_core::{commitment::Salt, key::SecretKey};
use demur_ledger::{
    admission::Checked,
    author::{Author, Place},
    content::Opening,
    desk::{DeskError, Run},
    event_type::Facts,
    facts::{
        ClaimChallenged, ClaimIssued, FinalStatementSigned, KeyRevoked, ProposalCreated, RevocationReason,
        Risk, VerificationRunCompleted, VerificationStatus,
    },
    name::{Position, Sequence, TraceId},
    proof::KeySignature,
    role::Role,
    statement::Submission,
};

use crate::{
    state::intent,
    world::{World, fitting, list, whole},
};

fn proposal() -> ProposalCreated {
    ProposalCreated { fallback_for: None, replaces: None }
}

/// Asserts that the door refuses with this code and that nothing was recorded.
#[track_caller]
fn refuses(world: &mut World, submission: Submission, code: &str) {
    let before = world.open_run().length();
    match world.submit(submission) {
        Err(DeskError::Admission(error)) => assert_eq!(error.code(), code, "{error}"),
        other => panic!("expected {code}, found {other:?}"),
    }
    assert_eq!(world.open_run().length(), before);
}

#[test]
fn what_was_checked_is_exactly_what_was_signed() {
    let mut world = World::opened();
    let submission = world.submission(Role::Planner, proposal());
    let checked = Checked::new(submission.clone(), Some(world.desk.registry())).unwrap();
    assert_eq!(checked.statement_bytes(), submission.statement);
    assert_eq!(checked.statement().to_bytes().unwrap(), submission.statement);
    assert_eq!(checked.key(), world.agent(Role::Planner).public().fingerprint());
}

/// LED-09
#[test]
fn each_mandatory_type_is_refused_without_the_actors_own_signature() {
    let mut world = World::opened();
    let head = world.run.chain().head().unwrap();
    let first = list([Sequence::FIRST]);
    let six: [Facts; 6] = [
        proposal().into(),
        intent(Sequence::FIRST, Risk::Low).into(),
        ClaimIssued { about_failure: false, evidence: list([]), executions: first.clone() }.into(),
        ClaimChallenged { claim: Sequence::FIRST }.into(),
        FinalStatementSigned { claims: first }.into(),
        VerificationRunCompleted { status: VerificationStatus::Pass, through: head }.into(),
    ];
    for facts in six {
        let kind = facts.event_type().unwrap();
        assert!(kind.rule().mandatory_in_seed);
        let good = world.submission(kind.rule().roles[0], facts);
        // Signed by nobody: a signature of another statement.
        let other = world.submission(Role::Planner, proposal());
        let borrowed = KeySignature { key: good.proof.key(), signature: other.proof.signature() };
        refuses(&mut world, Submission { proof: borrowed.into(), ..good.clone() }, "SIGNATURE_INVALID");
        // Signed by a key nobody knows.
        let stranger = SecretKey::generate(&mut world.random);
        let foreign = KeySignature::sign(&stranger, demur_core::hash::Purpose::Statement, &good.statement);
        refuses(&mut world, Submission { proof: foreign.clone().into(), ..good.clone() }, "KEY_UNKNOWN");
        // A stranger's signature under the actor's name.
        let disguised = KeySignature { key: good.proof.key(), signature: foreign.signature };
        refuses(&mut world, Submission { proof: disguised.into(), ..good }, "SIGNATURE_INVALID");
    }
}

/// LED-02
#[test]
fn a_key_speaks_only_in_its_role() {
    let mut world = World::opened();
    let executor = world.agent(Role::Executor).public();
    let place = world.place();
    // The executor's key under the planner's role: a new author with the same secret is not at hand, so the
    // executor says it itself.
    let content = fitting(&proposal().into());
    let agent = world.agents.iter().find(|agent| agent.role() == Role::Executor).unwrap();
    let submission = agent.say(&place, proposal(), content, &mut world.random).unwrap();
    assert_eq!(submission.proof.key(), executor.fingerprint());
    refuses(&mut world, submission, "ROLE_FORBIDDEN");

    let key = SecretKey::generate(&mut world.random);
    let seed = key.seed();
    let principal = world.agent(Role::Critic).principal();
    world.register(&Author::new(key, principal, Role::Executor)).unwrap();
    let pretender = Author::new(SecretKey::from_seed(&seed), principal, Role::Planner);
    let content = fitting(&proposal().into());
    let submission = pretender.say(&place, proposal(), content, &mut world.random).unwrap();
    refuses(&mut world, submission, "KEY_ROLE");
}

#[test]
fn a_changed_statement_is_refused() {
    let mut world = World::opened();
    let good = world.submission(Role::Planner, proposal());
    for index in 0..good.statement.len() {
        let mut bad = good.clone();
        bad.statement[index] ^= 1;
        assert!(world.submit(bad).is_err(), "byte {index}");
    }
    world.submit(good).unwrap();
}

#[test]
fn a_statement_counts_once() {
    let mut world = World::opened();
    let submission = world.submission(Role::Planner, proposal());
    world.submit(submission.clone()).unwrap();
    refuses(&mut world, submission, "COMMAND_USED");
}

#[test]
fn a_statement_for_another_store_or_trace_is_refused() {
    let mut world = World::opened();
    let place = Place { store: World::seeded(8).desk.store(), ..world.place() };
    let content = fitting(&proposal().into());
    let agent = world.agents.iter().find(|agent| agent.role() == Role::Planner).unwrap();
    let submission = agent.say(&place, proposal(), content, &mut world.random).unwrap();
    refuses(&mut world, submission, "OTHER_STORE");
    let trace = TraceId::new(world.now, &mut world.random);
    let place = Place { trace, ..world.place() };
    let content = fitting(&proposal().into());
    let agent = world.agents.iter().find(|agent| agent.role() == Role::Planner).unwrap();
    let submission = agent.say(&place, proposal(), content, &mut world.random).unwrap();
    refuses(&mut world, submission, "OTHER_TRACE");
}

#[test]
fn seen_must_be_an_ancestor_but_need_not_be_the_parent() {
    let mut world = World::opened();
    let early = world.submission(Role::Planner, proposal());
    world.propose();
    // Nobody has to sign again because somebody else was faster.
    world.submit(early).unwrap();
    let head = world.run.chain().head().unwrap();
    let wrong = Position::new(Sequence::FIRST, head.hash);
    let future = Position::new(head.sequence.next(), head.hash);
    for seen in [None, Some(wrong), Some(future)] {
        let place = Place { seen, ..world.place() };
        let content = fitting(&proposal().into());
        let agent = world.agents.iter().find(|agent| agent.role() == Role::Planner).unwrap();
        let submission = agent.say(&place, proposal(), content, &mut world.random).unwrap();
        refuses(&mut world, submission, "SEEN_UNKNOWN");
    }
}

#[test]
fn an_author_cites_only_what_it_has_seen() {
    let mut world = World::opened();
    let place = world.place();
    let proposed = world.propose();
    let facts = demur_ledger::facts::ProposalReviewed {
        conditions: whole(0),
        decision: demur_ledger::facts::ProposalDecision::Approved,
        proposal: proposed,
    };
    let content = fitting(&facts.clone().into());
    let critic = world.agents.iter().find(|agent| agent.role() == Role::Critic).unwrap();
    let blind = critic.say(&place, facts, content, &mut world.random).unwrap();
    refuses(&mut world, blind, "CITES_UNSEEN");
}

#[test]
fn a_statement_past_its_end_is_refused() {
    let mut world = World::opened();
    let submission = world.submission(Role::Planner, proposal());
    world.now = world.now.plus_millis(5 * 60 * 1000 + 1);
    refuses(&mut world, submission, "EXPIRED");
}

#[test]
fn content_must_be_there_open_the_commitment_and_fit_the_facts() {
    let mut world = World::opened();
    let good = world.submission(Role::Planner, proposal());
    let bare = Submission { opening: None, ..good.clone() };
    let said = world.submit(bare.clone()).unwrap_err().to_string();
    assert!(said.contains("expected content with its salt"), "{said}");
    refuses(&mut world, bare, "CONTENT_RULE");
    let opening = good.opening.clone().unwrap();
    let salt = Salt::draw(&mut world.random);
    let other = Opening { salt, ..opening.clone() };
    refuses(&mut world, Submission { opening: Some(other), ..good.clone() }, "COMMITMENT");
    let other = Opening { bytes: b"{}".to_vec(), ..opening };
    refuses(&mut world, Submission { opening: Some(other), ..good }, "COMMITMENT");
    // Content of another type.
    let content = fitting(&ClaimChallenged { claim: Sequence::FIRST }.into());
    let place = world.place();
    let agent = world.agents.iter().find(|agent| agent.role() == Role::Planner).unwrap();
    let submission = agent.say(&place, proposal(), content, &mut world.random).unwrap();
    refuses(&mut world, submission, "CONTENT_MALFORMED");
    // No content where there must be some.
    let agent = world.agents.iter().find(|agent| agent.role() == Role::Planner).unwrap();
    let submission = agent.say(&place, proposal(), None, &mut world.random).unwrap();
    refuses(&mut world, submission, "CONTENT_RULE");
}

#[test]
fn content_that_contradicts_the_facts_is_refused() {
    let mut world = World::opened();
    let proposed = world.propose();
    let facts = demur_ledger::facts::ProposalReviewed {
        conditions: whole(1),
        decision: demur_ledger::facts::ProposalDecision::ConditionallyApproved,
        proposal: proposed,
    };
    let two = demur_ledger::facts::ProposalReviewed { conditions: whole(2), ..facts.clone() };
    let content = fitting(&two.into());
    let place = world.place();
    let critic = world.agents.iter().find(|agent| agent.role() == Role::Critic).unwrap();
    let submission = critic.say(&place, facts, content, &mut world.random).unwrap();
    refuses(&mut world, submission, "CONTENT_MALFORMED");
}

#[test]
fn a_trace_opens_once_and_with_an_opening_event() {
    let mut world = World::new();
    let early = world.submission(Role::Planner, proposal());
    refuses(&mut world, early, "NOT_OPENED");
    let opening = world.opening(crate::world::usual_policy());
    world.say(opening.clone()).unwrap();
    let again = world.submission(Role::Planner, opening);
    refuses(&mut world, again, "TRACE_EXISTS");
}

#[test]
fn a_revoked_key_is_refused() {
    let mut world = World::opened();
    let key = world.agent(Role::Planner).public().fingerprint();
    let facts = KeyRevoked {
        key,
        reason: RevocationReason::Lost,
        root: *world.events[0].event.hash(),
        traces: whole(1),
    };
    let note = demur_ledger::event_type::Content::KeyRevoked(demur_ledger::content::NoteContent {
        note: crate::world::text("gone"),
    });
    let World { desk, now, random, .. } = &mut world;
    desk.state_key(facts.into(), Some(note), *now, random).unwrap();
    let submission = world.submission(Role::Planner, proposal());
    refuses(&mut world, submission, "KEY_REVOKED");
}

#[test]
fn registry_events_do_not_enter_a_run() {
    let mut world = World::new();
    let mut run = Run::new(world.run.chain().trace());
    let author = world.new_author(Role::Planner);
    let place = Place { seen: None, trace: run.chain().trace(), ..world.registry_place() };
    let submission = author.register(&place, None, "x", &mut world.random).unwrap();
    assert!(world.desk.admit(&mut run, submission, world.now).is_err());
    assert!(run.chain().head().is_none());
}

/// LED-05
#[test]
fn time_never_goes_back() {
    let mut world = World::opened();
    let before = world.events[1].event.envelope().time;
    let submission = world.submission(Role::Planner, proposal());
    let earlier = demur_core::time::Timestamp::from_millis(1_000).unwrap();
    let recorded = world.desk.admit(&mut world.run, submission, earlier).unwrap();
    assert_eq!(recorded.event.envelope().time, before);
}
