//! Conditions that somebody must have shown, and checks that anybody can evaluate, at the door.

use demur_ledger::{
    content::{CheckContent, CheckPlace, CheckValue, Comparison},
    desk::DeskError,
    facts::{
        AnswerKind, AnswerRevoked, AnswerSuperseded, Assurance, CheckStated, ConditionJudged,
        ProposalDecision, QuestionAnswered, QuestionAsked, QuestionCancelled, Risk, ToolExecutionStarted,
        ToolIntentSigned,
    },
    name::Sequence,
    role::Role,
};

use super::{intent, refused, refuses};
use crate::{
    asking::{anyone, question_for},
    world::{INPUT, World, list, whole},
};

/// Returns a world with an intent under one condition, and the input it names.
fn conditional() -> (World, Sequence, Sequence) {
    let mut world = World::opened();
    let proposal = world.propose();
    world.review(proposal, ProposalDecision::ConditionallyApproved);
    let input = world.record_artifact(INPUT);
    let facts = ToolIntentSigned { meets: list([whole(0)]), ..intent(proposal, Risk::Low) };
    let intent = world.say(facts).unwrap();
    (world, intent, input)
}

fn judged(intent: Sequence, evidence: &[Sequence], holds: bool) -> ConditionJudged {
    ConditionJudged { condition: whole(0), evidence: list(evidence), holds, intent }
}

/// Returns the check that the bytes are so many.
fn of_size(is: Comparison, size: usize) -> CheckContent {
    CheckContent { at: CheckPlace::Size, is, value: CheckValue::Number(size.into()) }
}

#[track_caller]
fn starts(mut world: World, intent: Sequence, input: Sequence) {
    world.say(ToolExecutionStarted { input: Some(input), intent }).unwrap();
}

/// LED-10
#[test]
fn a_tool_starts_once_the_critic_has_judged_its_conditions() {
    let (mut world, intent, input) = conditional();
    let start = ToolExecutionStarted { input: Some(input), intent };
    refuses(&mut world, start.clone(), "CONDITION_UNSHOWN");
    world.say(judged(intent, &[input], true)).unwrap();
    world.say(judged(intent, &[input], false)).unwrap();
    refuses(&mut world, start, "CONDITION_UNSHOWN");
    world.say(judged(intent, &[input], true)).unwrap();
    starts(world, intent, input);
}

/// Returns a world with an intent under one condition, its input, and a question of the critic's.
fn asking() -> (World, Sequence, Sequence, Sequence) {
    let (mut world, intent, input) = conditional();
    let asked = world.say_as(Role::Critic, QuestionAsked(question_for(anyone()))).unwrap();
    (world, intent, input, asked)
}

/// Returns an answer to a question.
fn answering(world: &World, asked: Sequence) -> QuestionAnswered {
    let question = world.events[asked.index().unwrap()].event.position();
    QuestionAnswered {
        assurance: Assurance::Agent,
        attribution: None,
        choice: None,
        kind: AnswerKind::Freetext,
        question,
    }
}

/// LED-10
#[test]
fn a_judgement_rests_on_a_question_that_has_an_answer() {
    let (mut world, intent, input, asked) = asking();
    refuses(&mut world, judged(intent, &[input, asked], true), "CONDITION_UNSHOWN");
    // That it does not hold, nobody needs an answer for.
    world.say(judged(intent, &[input, asked], false)).unwrap();
    world.say_as(Role::Critic, QuestionCancelled { question: asked }).unwrap();
    refuses(&mut world, judged(intent, &[input, asked], true), "CONDITION_UNSHOWN");
    refuses(&mut world, ToolExecutionStarted { input: Some(input), intent }, "CONDITION_UNSHOWN");
}

/// LED-10
#[test]
fn a_judgement_counts_as_long_as_the_answer_that_it_rests_on() {
    let (mut world, intent, input, asked) = asking();
    let author = world.new_author(Role::Answerer);
    world.register(&author).unwrap();
    world.agents.push(author);
    let start = ToolExecutionStarted { input: Some(input), intent };
    let answer = answering(&world, asked);
    let first = world.say(answer.clone()).unwrap();
    world.say(judged(intent, &[asked], true)).unwrap();
    let revoked = AnswerRevoked { answer: first, attribution: None, question: asked };
    world.say(revoked).unwrap();
    refuses(&mut world, start.clone(), "CONDITION_UNSHOWN");
    // The same words again are another answer: nobody has judged by that.
    let replaces = world.say(answer.clone()).unwrap();
    refuses(&mut world, start.clone(), "CONDITION_UNSHOWN");
    world.say(judged(intent, &[asked], true)).unwrap();
    world.say(AnswerSuperseded { answer, replaces }).unwrap();
    refuses(&mut world, start, "CONDITION_UNSHOWN");
    world.say(judged(intent, &[asked], true)).unwrap();
    starts(world, intent, input);
}

/// LED-10
#[test]
fn only_the_critics_check_stands_in_and_only_a_true_one() {
    let about = |intent, input| CheckStated { about: intent, artifact: input, condition: Some(whole(0)) };
    for (role, is, shows) in [
        (Role::Critic, Comparison::Eq, true),
        (Role::Critic, Comparison::Ne, false),
        (Role::Executor, Comparison::Eq, false),
        (Role::Planner, Comparison::Eq, false),
    ] {
        let (mut world, intent, input) = conditional();
        world.check(role, about(intent, input), of_size(is, INPUT.len()), INPUT).unwrap();
        let started = world.say(ToolExecutionStarted { input: Some(input), intent });
        assert_eq!(started.is_ok(), shows, "{role} {is:?}");
    }
}

/// LED-10
#[test]
fn conditions_are_those_of_an_intent_that_has_not_started() {
    let (mut world, intent, input) = conditional();
    let beyond = ConditionJudged { condition: whole(1), ..judged(intent, &[input], true) };
    refuses(&mut world, beyond, "REFERENCE");
    refuses(&mut world, judged(2.into(), &[input], true), "REFERENCE");
    refuses(&mut world, judged(intent, &[2.into()], true), "REFERENCE");
    refuses(&mut world, judged(intent, &[input, input], true), "ASCENDING");
    world.say(judged(intent, &[input], true)).unwrap();
    world.say(ToolExecutionStarted { input: Some(input), intent }).unwrap();
    refuses(&mut world, judged(intent, &[input], true), "REFERENCE");
}

/// LED-24
#[test]
fn nobody_claims_what_a_check_of_their_own_refutes() {
    let (mut world, claim, facts) = World::claiming();
    let artifact = facts.evidence[0];
    let about = CheckStated { about: claim, artifact, condition: None };
    let state = |world: &mut World, role, is| -> Result<Sequence, DeskError> {
        world.check(role, about.clone(), of_size(is, 1), b"5")
    };
    for role in [Role::Planner, Role::Executor] {
        let before = world.open_run().length();
        let outcome = state(&mut world, role, Comparison::Gt);
        refused(&world, before, outcome, "CHECK_FAILED");
        state(&mut world, role, Comparison::Eq).unwrap();
    }
    state(&mut world, Role::Critic, Comparison::Gt).unwrap();
    refuses(&mut world, CheckStated { about: artifact, ..about.clone() }, "REFERENCE");
    refuses(&mut world, CheckStated { artifact: claim, ..about }, "REFERENCE");
}

#[test]
fn there_are_only_so_many_checks() {
    let (mut world, claim, facts) = World::claiming();
    let about = CheckStated { about: claim, artifact: facts.evidence[0], condition: None };
    for _ in 0..1024 {
        world.check(Role::Critic, about.clone(), of_size(Comparison::Eq, 1), b"5").unwrap();
    }
    refuses(&mut world, about, "TOO_MANY");
}
