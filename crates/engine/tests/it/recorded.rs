//! Which refusals are recorded: those to participants, a few per minute. Strangers leave no mark.

use demur_engine::{Reply, refusal::RuleRefusal};
use demur_ledger::{
    author::{Artifact, Draft},
    event_type::{Content, EventType, Facts},
    facts::{ClaimChallenged, ProposalCreated, SessionAborted, VerificationProfile, VerificationRunStarted},
    name::Sequence,
    proof::KeySignature,
    role::Role,
    statement::Statement,
    verify::Verdict,
};

use crate::{
    words::{abort, reason},
    world::{Sent, Speaker, To, World, position, refusal},
};

/// Sends something that is refused; returns the refusal, and whether it was recorded.
#[track_caller]
fn refused(world: &mut World, sent: &Sent) -> (RuleRefusal, bool) {
    let before = world.run.entries.len();
    let refusal = refusal(&world.send(To::Run, sent));
    (refusal, world.run.entries.len() > before)
}

/// Returns a statement of this role with one thing changed.
fn flawed(world: &mut World, role: Role, facts: impl Into<Facts>, change: impl Fn(&mut Draft)) -> Sent {
    let mut draft = world.draft(To::Run, role, facts);
    change(&mut draft);
    let key = world.speaker(role).key.clone();
    world.sign(draft, &key)
}

/// Returns what may not be said while planning.
fn out_of_phase(world: &mut World) -> Sent {
    world.saying(ClaimChallenged { claim: Sequence::FIRST })
}

fn proposal() -> ProposalCreated {
    ProposalCreated { fallback_for: None, replaces: None }
}

/// ONE-03
#[test]
fn a_refusal_to_a_participant_is_recorded_with_code_field_and_cure() {
    let mut world = World::opened();
    let sent = out_of_phase(&mut world);
    let command = Statement::parse(&sent.submission.statement).unwrap().command;
    let (refusal, recorded) = refused(&mut world, &sent);
    assert!(recorded);
    let entry = world.run.entries.last().unwrap();
    let Facts::CommandRefused(facts) = entry.event.said().unwrap().facts else { panic!("another event") };
    assert_eq!((facts.code.as_str(), facts.command), (refusal.code, command));
    assert_eq!(facts.principal, world.speaker(Role::Critic).principal);
    let words = Content::parse(EventType::CommandRefused, &entry.opening.as_ref().unwrap().bytes).unwrap();
    let Content::CommandRefused(words) = words else { panic!("other words") };
    assert_eq!(words.field.as_deref(), refusal.field);
    assert_eq!(words.message.as_str(), format!("{}; {}", refusal.message, refusal.cure));
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// ONE-03
#[test]
fn whatever_is_wrong_with_a_participants_statement_is_recorded() {
    let mut world = World::opened();
    let opening = world.opening(crate::world::usual_policy());
    let used = world.saying(proposal());
    position(&world.send(To::Run, &used));
    let used = Statement::parse(&used.submission.statement).unwrap().command;
    let none = |_: &mut Draft| {};
    let mut cases = vec![
        ("ROLE_FORBIDDEN", flawed(&mut world, Role::Executor, proposal(), none)),
        ("CONTENT_RULE", flawed(&mut world, Role::Planner, proposal(), |draft| draft.content = None)),
        (
            "CONTENT_MALFORMED",
            flawed(&mut world, Role::Planner, proposal(), |draft| {
                draft.content = Some(Content::SessionAborted(reason()));
            }),
        ),
        ("SEEN_UNKNOWN", flawed(&mut world, Role::Planner, proposal(), |draft| draft.seen = None)),
        ("TRACE_EXISTS", flawed(&mut world, Role::Planner, opening, none)),
        ("COMMAND_USED", flawed(&mut world, Role::Planner, proposal(), |draft| draft.command = used)),
    ];
    let artifact = Artifact::new(b"words".to_vec(), &mut world.random);
    let missing = flawed(&mut world, Role::Executor, artifact.facts(), none);
    cases.push(("OUT_OF_PHASE", missing));
    let unasked = flawed(&mut world, Role::Planner, proposal(), none);
    cases.push(("ARTIFACT_UNASKED", Sent { artifact: Some(artifact), ..unasked }));
    for (code, sent) in cases {
        let (refusal, recorded) = refused(&mut world, &sent);
        assert_eq!(refusal.code, code);
        assert!(recorded, "{code} was not recorded");
    }
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn a_bad_signature_is_nobodys_word_and_not_recorded() {
    let mut world = World::opened();
    let mut sent = out_of_phase(&mut world);
    let other = out_of_phase(&mut world);
    let (key, signature) = (sent.submission.proof.key(), other.submission.proof.signature());
    sent.submission.proof = KeySignature { key, signature }.into();
    let (refusal, recorded) = refused(&mut world, &sent);
    assert_eq!((refusal.code, recorded), ("SIGNATURE_INVALID", false));
}

/// Somebody unknown, somebody registered whom the run does not name, and the operator.
#[test]
fn those_who_take_no_part_leave_no_mark() {
    let mut world = World::opened();
    let outsider = world.new_speaker(Role::Executor);
    world.register(&outsider);
    let unknown = world.new_speaker(Role::Executor);
    let operator = world.speaker(Role::Operator).clone();
    let from = |world: &mut World, Speaker { key, .. }: &Speaker, role, facts: Facts| {
        let draft = world.draft(To::Run, role, facts);
        let sent = world.sign(draft, key);
        refused(world, &sent)
    };
    let facts = Artifact::new(Vec::new(), &mut world.random).facts();
    for (speaker, code) in [(&unknown, "KEY_UNKNOWN"), (&outsider, "OUT_OF_PHASE")] {
        let (refusal, recorded) = from(&mut world, speaker, Role::Executor, facts.clone().into());
        assert_eq!((refusal.code, recorded), (code, false));
    }
    position(&world.command(To::Run, abort()));
    let (refusal, recorded) =
        from(&mut world, &operator, Role::Operator, SessionAborted { attribution: None }.into());
    assert_eq!((refusal.code, recorded), ("OUT_OF_PHASE", false));
}

#[test]
fn nothing_is_recorded_in_a_trace_that_is_not_open() {
    let mut world = World::new();
    let sent = world.saying(proposal());
    let (refusal, recorded) = refused(&mut world, &sent);
    assert_eq!((refusal.code, recorded), ("NOT_OPENED", false));
}

#[test]
fn a_run_that_is_over_still_notes_refusals() {
    let mut world = World::opened();
    position(&world.command(To::Run, abort()));
    let sent = world.saying(proposal());
    assert!(refused(&mut world, &sent).1);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn eight_refusals_of_one_participant_are_recorded_per_minute() {
    let mut world = World::opened();
    let begin = world.now;
    for count in 0..12 {
        let sent = out_of_phase(&mut world);
        let (refusal, recorded) = refused(&mut world, &sent);
        assert_eq!(refusal.code, "OUT_OF_PHASE", "the answer is the same, recorded or not");
        assert_eq!(recorded, count < 8, "refusal {count}");
        world.now = world.now.plus_millis(100);
    }
    // Somebody else has a count of its own.
    let sent = world.saying(VerificationRunStarted { profile: VerificationProfile::Default });
    assert!(refused(&mut world, &sent).1);
    world.now = begin.plus_millis(59_999);
    let sent = out_of_phase(&mut world);
    assert!(!refused(&mut world, &sent).1, "the minute is not over");
    world.now = begin.plus_millis(60_000);
    for count in 0..9 {
        let sent = out_of_phase(&mut world);
        assert_eq!(refused(&mut world, &sent).1, count < 8, "refusal {count} of the next minute");
    }
}

/// A restart is no way around the limit.
#[test]
fn the_count_is_the_same_after_a_replay() {
    let mut world = World::opened();
    for _ in 0..8 {
        let sent = out_of_phase(&mut world);
        assert!(refused(&mut world, &sent).1);
    }
    let replayed = world.run.replayed();
    assert_eq!(replayed, world.run.state);
    world.run.state = replayed;
    let sent = out_of_phase(&mut world);
    assert!(!refused(&mut world, &sent).1);
}

#[test]
fn a_clock_that_goes_back_starts_no_new_minute() {
    let mut world = World::opened();
    for _ in 0..8 {
        let sent = out_of_phase(&mut world);
        assert!(refused(&mut world, &sent).1);
    }
    let sent = out_of_phase(&mut world);
    world.now = demur_core::time::Timestamp::from_millis(world.now.as_millis() - 120_000).unwrap();
    let reply = world.send(To::Run, &sent);
    assert!(matches!(reply, Reply::Refused(_)));
    assert_eq!(world.run.entries.len(), 10);
}
