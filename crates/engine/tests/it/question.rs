//! Questions: one answer counts, by somebody entitled, in time, with the assurance that its proof carries.

use demur_core::{hash::sha256, time::Timestamp};
use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying},
};
use demur_ledger::{
    content::{AnswerValue, DefaultContent, Wordings},
    event_type::{Content, EventType, Facts},
    facts::{
        AnswerClaimed, AnswerKind, AnswerRevoked, AnswerSuperseded, Answerers, Assurance, Policy,
        PolicyRecorded, ProposalCreated, ProposalDecision, ProposalReviewed, Question, QuestionAnswered,
        QuestionAsked, QuestionCancelled, QuestionDeclined, QuestionDefaulted, QuestionDelivered,
        QuestionEscalated, QuestionExpired, QuestionExtended, QuestionPassedOn, Risk, Severity,
        ToolExecutionStarted, ToolIntentSigned,
    },
    name::{Position, Sequence},
    question::{AnswerEnd, RestedEvent},
    role::Role,
    verify::Verdict,
};

use demur_testing::authenticator::Authenticator;

use crate::{
    asking::{answer, answers, anybody, choices, operation, question, typed},
    words::{list, whole},
    world::{To, World, position, refusal, usual_policy},
};

/// ONE-02 CLR-04
#[test]
fn the_first_answer_counts_and_everybody_else_is_told_who_won() {
    let (mut world, asked) = World::asked(question());
    let winner = world.speaker(Role::Answerer).principal;
    let first = position(&world.speak(Role::Answerer, answer(asked)));
    world.other_answerer();
    let loser = world.refused_answer(answer(asked));
    assert_eq!(loser.code, "ALREADY_ANSWERED");
    for told in [winner.to_string(), format!("event {}", first.sequence), world.now.to_string()] {
        assert!(loser.message.contains(&told), "{told}: {loser}");
    }
    // CLR-04: the refusal is in the record.
    let refused = world.run.entries.last().unwrap().event.said().unwrap().facts.clone();
    assert!(matches!(refused, Facts::CommandRefused(facts) if facts.code.as_str() == "ALREADY_ANSWERED"));
    let late = refusal(&world.told(Role::Person, typed(asked)));
    assert!(late.message.contains(&winner.to_string()), "{late}");
    let refused = world.run.entries.last().unwrap().event.said().unwrap().facts.clone();
    let desk = world.known_registry().desk();
    assert!(matches!(refused, Facts::CommandRefused(facts) if facts.principal == desk), "a person's, too");
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// CLR-04 AEP-06
#[test]
fn the_same_answer_again_is_the_same_answer() {
    let (mut world, asked) = World::asked(question());
    let sent = world.spoken(Role::Answerer, answer(asked));
    let first = position(&world.send(To::Run, &sent));
    match world.send(To::Run, &sent) {
        Reply::Repeated { position, .. } => assert_eq!(position, first),
        other => panic!("{other:?}"),
    }
}

/// ONE-07
#[test]
fn an_asker_does_not_settle_its_own_question_unless_a_rule_says_so() {
    let (mut world, asked) = World::asked(question());
    let both = register_as_answerer(&mut world);
    assert_eq!(refusal(&both.answers(&mut world, asked)).code, "SELF_ANSWER");
    let claimed = position(&world.speak(Role::Agent, AnswerClaimed { question: asked.sequence }));
    assert_eq!(world.run.state.questions().unwrap().unsettled().count(), 1, "a claim settles nothing");
    assert_ne!(claimed, asked);

    let (mut world, asked) = World::asked(Question { asker_settles: true, ..question() });
    let both = register_as_answerer(&mut world);
    position(&both.answers(&mut world, asked));
}

/// Another key of the agent's own principal, with the role of answerers.
struct OtherKey(crate::world::Speaker);

impl OtherKey {
    fn answers(&self, world: &mut World, asked: Position) -> Reply {
        let draft = world.draft(To::Run, Role::Answerer, answer(asked));
        let sent = world.sign(draft, &self.0.key);
        world.send(To::Run, &sent)
    }
}

fn register_as_answerer(world: &mut World) -> OtherKey {
    let principal = world.speaker(Role::Agent).principal;
    let speaker = crate::world::Speaker { principal, ..world.new_speaker(Role::Answerer) };
    world.register(&speaker);
    OtherKey(speaker)
}

/// ONE-07
#[test]
fn assurance_is_what_the_proof_carries() {
    for claimed in Assurance::ALL {
        let (mut world, _, asked) = World::rooted(&Authenticator::es256(1), question());
        let by_key = world.speak(Role::Answerer, QuestionAnswered { assurance: claimed, ..answer(asked) });
        if claimed == Assurance::Agent {
            position(&by_key);
            continue;
        }
        assert_eq!(refusal(&by_key).code, "ASSURANCE_FORGED", "{claimed:?}");
        let by_person = world.told(Role::Person, QuestionAnswered { assurance: claimed, ..answer(asked) });
        match claimed {
            Assurance::Passkey => assert_eq!(refusal(&by_person).code, "ASSURANCE_FORGED"),
            _ => drop(position(&by_person)),
        }
    }
    let (mut world, asked) = World::asked(question());
    let by_person = world.told(Role::Person, answer(asked));
    assert_eq!(refusal(&by_person).code, "ASSURANCE_FORGED", "a person is no key");
}

#[test]
fn less_assurance_than_the_question_demands_is_refused() {
    for least in Assurance::ALL {
        for claimed in [Assurance::Relayed, Assurance::Terminal, Assurance::SignedIn] {
            let asks = Question { assurance: least, ..question() };
            let (mut world, _, asked) = World::rooted(&Authenticator::es256(1), asks);
            let reply = world.told(Role::Person, QuestionAnswered { assurance: claimed, ..answer(asked) });
            if claimed < least {
                assert_eq!(refusal(&reply).code, "ASSURANCE_TOO_LOW", "{claimed:?} for {least:?}");
            } else {
                position(&reply);
            }
        }
    }
}

#[test]
fn only_those_whom_the_question_names_may_answer() {
    let mut world = World::asking();
    let named = world.speaker(Role::Answerer).principal;
    let only = Answerers { people: false, principals: Some(list([named])) };
    let asked = world.ask(Question { answerers: only.clone(), ..question() });
    assert_eq!(refusal(&world.told(Role::Person, typed(asked))).code, "NOT_ENTITLED");
    let other = world.other_answerer();
    assert_eq!(world.refused_answer(answer(asked)).code, "NOT_ENTITLED");
    assert_eq!(
        world.refused_answer(QuestionDeclined { attribution: None, question: asked.sequence }).code,
        "NOT_ENTITLED"
    );
    // Whoever is named hands it on, and is out of it then.
    world.speakers.retain(|speaker| speaker.principal != other);
    let to = Answerers { people: false, principals: Some(list([other])) };
    position(&world.speak(
        Role::Answerer,
        QuestionPassedOn { attribution: None, answerers: to, question: asked.sequence },
    ));
    assert_eq!(world.refused_answer(answer(asked)).code, "NOT_ENTITLED");
}

/// AEP-10
#[test]
fn an_answer_of_another_kind_is_refused_and_the_question_stays_open() {
    use AnswerKind as K;
    let kinds = [K::Freetext, K::YesNo, K::MultipleChoice, K::Numeric, K::Secret];
    for accepted in kinds {
        for kind in kinds {
            let count = if accepted == K::MultipleChoice { 3 } else { 0 };
            let asked = Question { kinds: list([accepted]), choices: whole(count), ..question() };
            let (mut world, asked) = World::asked(asked);
            let choice = (kind == K::MultipleChoice).then(|| whole(1));
            let reply = world.speak(Role::Answerer, QuestionAnswered { kind, choice, ..answer(asked) });
            if kind == accepted {
                position(&reply);
            } else {
                assert_eq!(refusal(&reply).code, "ANSWER_KIND", "{kind:?} for {accepted:?}");
                assert_eq!(world.run.state.questions().unwrap().unsettled().count(), 1);
            }
        }
    }
}

/// AEP-11
#[test]
fn a_choice_is_one_of_the_choices_by_number_and_value() {
    let chooses = Question { kinds: list([AnswerKind::MultipleChoice]), choices: whole(2), ..question() };
    let (mut world, asked) = World::asked(chooses);
    let chosen = |choice| QuestionAnswered { kind: AnswerKind::MultipleChoice, choice, ..answer(asked) };
    assert_eq!(world.refused_answer(chosen(Some(whole(2)))).code, "ANSWER_CHOICE");
    assert_eq!(world.refused_answer(chosen(None)).code, "ANSWER_CHOICE");
    let mut draft = world.draft(To::Run, Role::Answerer, chosen(Some(whole(0))));
    let mut words = answers(&chosen(Some(whole(0))));
    words.answer = AnswerValue::Text(choices(2)[1].value.as_str().try_into().unwrap());
    draft.content = Some(Content::QuestionAnswered(words));
    let key = world.speaker(Role::Answerer).key.clone();
    let sent = world.sign(draft, &key);
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "ANSWER_CHOICE");
    position(&world.speak(Role::Answerer, chosen(Some(whole(1)))));
}

#[test]
fn an_answer_belongs_to_one_question_and_one_request() {
    let (mut world, asked) = World::asked(question());
    let other = world.ask(question());
    let crossed = Position::new(asked.sequence, other.hash);
    assert_eq!(world.refused_answer(answer(crossed)).code, "QUESTION_OTHER");
    let none = world.ask(question());
    position(&world.speak(Role::Agent, QuestionCancelled { question: none.sequence }));
    assert_eq!(world.refused_answer(answer(none)).code, "QUESTION_CLOSED");
    let nothing = Position::new(Sequence::from(0_u32), asked.hash);
    if nothing.sequence != asked.sequence {
        assert_eq!(world.refused_answer(answer(nothing)).code, "QUESTION_UNKNOWN");
    }
    let mut draft = world.draft(To::Run, Role::Answerer, answer(asked));
    let mut words = answers(&answer(asked));
    words.request = Some(sha256(b"another request"));
    draft.content = Some(Content::QuestionAnswered(words));
    let key = world.speaker(Role::Answerer).key.clone();
    let sent = world.sign(draft, &key);
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "ANSWER_REQUEST");
}

/// AEP-07 AEP-08
#[test]
fn a_question_ends_at_its_deadline_and_goes_on_blocking() {
    let (mut world, asked) = World::asked(timed(false));
    assert_eq!(refusal(&expire(&mut world, asked)).code, "QUESTION_IN_TIME");
    world.now = world.now.plus_millis(60_000);
    // Nobody recorded the expiry yet: the clock alone decides.
    assert_eq!(world.refused_answer(answer(asked)).code, "QUESTION_EXPIRED");
    assert_eq!(refusal(&defaulted(&mut world, asked)).code, "QUESTION_FORM");
    position(&expire(&mut world, asked));
    assert_eq!(refusal(&expire(&mut world, asked)).code, "QUESTION_CLOSED");
    assert_eq!(world.refused_answer(answer(asked)).code, "QUESTION_CLOSED");
    assert_eq!(blocked(&world), 1);
    position(&escalate(&mut world, asked, Assurance::Agent, None));
    position(&world.speak(Role::Answerer, answer(asked)));
    assert_eq!(blocked(&world), 0);
}

/// AEP-08
#[test]
fn a_default_takes_effect_once_and_is_no_answer() {
    let (mut world, asked) = World::asked(timed(true));
    assert_eq!(refusal(&defaulted(&mut world, asked)).code, "QUESTION_IN_TIME");
    world.now = world.now.plus_millis(60_000);
    assert_eq!(refusal(&expire(&mut world, asked)).code, "QUESTION_FORM");
    position(&defaulted(&mut world, asked));
    assert_eq!(blocked(&world), 0);
    assert_eq!(world.refused_answer(answer(asked)).code, "QUESTION_CLOSED");
    let report = world.verified();
    assert_eq!((report.questions[0].outcome, report.questions[0].answer), ("defaulted", None));
}

/// AEP-16
#[test]
fn a_default_that_fits_no_kind_is_refused_at_creation() {
    let mut world = World::asking();
    let numeric = Question { kinds: list([AnswerKind::Numeric]), ..timed(true) };
    assert_eq!(refusal(&ask(&mut world, numeric)).code, "CONTENT_MALFORMED");
}

#[test]
fn a_question_whose_parts_do_not_belong_together_is_refused() {
    let mut world = World::asking();
    let somebody = world.speaker(Role::Answerer).principal;
    let early = Some(world.now);
    let nobody = Answerers { people: false, principals: Some(list([])) };
    let twice = Answerers { people: true, principals: Some(list([somebody, somebody])) };
    for (field, wrong) in [
        ("facts.deadline", Question { deadline: early, ..question() }),
        ("facts.deadline", Question { default: true, deadline: None, ..timed(true) }),
        ("facts.kinds", Question { kinds: list([AnswerKind::Numeric, AnswerKind::Freetext]), ..question() }),
        ("facts.blocks", Question { blocks: list([operation("b"), operation("b")]), ..question() }),
        ("facts.blocks", Question { severity: Severity::Warn, ..question() }),
        ("facts.choices", Question { kinds: list([AnswerKind::MultipleChoice]), ..question() }),
        ("facts.answerers", Question { answerers: nobody, ..question() }),
        ("facts.answerers", Question { answerers: twice, ..question() }),
    ] {
        let refused = refusal(&ask(&mut world, wrong));
        assert_eq!((refused.code, refused.field), ("QUESTION_FORM", Some(field)), "{refused}");
    }
}

#[test]
fn only_whoever_answered_takes_an_answer_back_or_replaces_it() {
    let (mut world, asked) = World::asked(question());
    let given = position(&world.speak(Role::Answerer, answer(asked))).sequence;
    let revoke = AnswerRevoked { attribution: None, answer: given, question: asked.sequence };
    let replace = |replaces| AnswerSuperseded { answer: answer(asked), replaces };
    assert_eq!(refusal(&world.told(Role::Person, revoke.clone())).code, "NOT_YOUR_ANSWER");
    let other = world.other_answerer();
    assert_eq!(world.refused_answer(revoke.clone()).code, "NOT_YOUR_ANSWER");
    assert_eq!(world.refused_answer(replace(given)).code, "NOT_YOUR_ANSWER");
    world.speakers.retain(|speaker| speaker.principal != other);
    assert_eq!(world.refused_answer(replace(asked.sequence)).code, "NOT_THE_ANSWER");
    let newer = position(&world.speak(Role::Answerer, replace(given))).sequence;
    assert_eq!(world.refused_answer(revoke).code, "NOT_THE_ANSWER");
    let revoke = AnswerRevoked { attribution: None, answer: newer, question: asked.sequence };
    position(&world.speak(Role::Answerer, revoke));
    assert_eq!(blocked(&world), 1, "the question is open again");
    position(&world.told(Role::Person, typed(asked)));
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn open_question_has_no_answer_to_replace_or_to_take_back() {
    let (mut world, asked) = World::asked(question());
    let replacement = AnswerSuperseded { answer: typed(asked), replaces: Sequence::FIRST };
    let revocation = AnswerRevoked { attribution: None, answer: Sequence::FIRST, question: asked.sequence };
    for reply in [world.told(Role::Person, replacement), world.told(Role::Person, revocation)] {
        let refused = refusal(&reply);
        assert_eq!((refused.code, refused.field), ("NOT_ANSWERED", Some("facts.question")));
    }
}

/// Whoever can pass on a word cannot put it in the place of what somebody said who was better known.
#[test]
fn replacement_is_no_less_sure_than_the_answer_that_it_replaces() {
    let (mut world, _, asked) = World::rooted(&Authenticator::es256(1), question());
    let given = position(&world.told(Role::Person, typed(asked))).sequence;
    let replace = |assurance, replaces| AnswerSuperseded {
        answer: QuestionAnswered { assurance, ..typed(asked) },
        replaces,
    };
    let refused = refusal(&world.told(Role::Person, replace(Assurance::Relayed, given)));
    assert_eq!((refused.code, refused.field), ("ASSURANCE_TOO_LOW", Some("facts.answer.assurance")));
    let again = position(&world.told(Role::Person, replace(Assurance::Terminal, given))).sequence;
    let surer = position(&world.told(Role::Person, replace(Assurance::SignedIn, again))).sequence;
    let refused = refusal(&world.told(Role::Person, replace(Assurance::Terminal, surer)));
    assert_eq!(refused.code, "ASSURANCE_TOO_LOW");
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn askers_extend_and_cancel_their_own_questions_and_nobody_elses() {
    let (mut world, asked) = World::asked(timed(false));
    let later = |world: &World, seconds: u64| world.now.plus_millis(seconds * 1000);
    let question = asked.sequence;
    let sooner = QuestionExtended { deadline: later(&world, 1), question };
    assert_eq!(refusal(&world.speak(Role::Agent, sooner)).code, "QUESTION_FORM");
    let more = QuestionExtended { deadline: later(&world, 120), question };
    position(&world.speak(Role::Agent, more));
    world.now = world.now.plus_millis(90_000);
    let (stranger, old) = (world.new_speaker(Role::Agent), world.speaker(Role::Agent).principal);
    world.register(&stranger);
    world.speakers.push(stranger);
    for code in [
        refusal(&world.speak(Role::Agent, QuestionCancelled { question })).code,
        refusal(&world.speak(Role::Agent, AnswerClaimed { question })).code,
    ] {
        assert_eq!(code, "NOT_ASKER");
    }
    world.speakers.retain(|speaker| speaker.role != Role::Agent || speaker.principal == old);
    position(&world.speak(Role::Agent, QuestionCancelled { question }));
    assert_eq!(world.refused_answer(answer(asked)).code, "QUESTION_CLOSED");
}

#[test]
fn a_declined_question_blocks_until_it_is_escalated_and_never_with_less_assurance() {
    let (mut world, asked) = World::asked(Question { assurance: Assurance::Terminal, ..question() });
    position(&world.told(Role::Person, QuestionDeclined { attribution: None, question: asked.sequence }));
    assert_eq!(refusal(&world.told(Role::Person, typed(asked))).code, "QUESTION_CLOSED");
    assert_eq!(blocked(&world), 1);
    assert_eq!(refusal(&escalate(&mut world, asked, Assurance::Agent, None)).code, "QUESTION_FORM");
    let past = Some(world.now);
    assert_eq!(refusal(&escalate(&mut world, asked, Assurance::Terminal, past)).code, "QUESTION_FORM");
    position(&escalate(&mut world, asked, Assurance::SignedIn, None));
    assert_eq!(refusal(&world.told(Role::Person, typed(asked))).code, "ASSURANCE_TOO_LOW");
    let delivered = QuestionDelivered { question: asked.sequence, to: None };
    assert_eq!(refusal(&world.told(Role::Person, delivered.clone())).code, "ROLE_FORBIDDEN");
    position(&world.told(Role::Desk, delivered));
}

/// ONE-03
#[test]
fn nobody_speaks_in_a_role_without_its_proof() {
    let (mut world, asked) = World::asked(question());
    assert_eq!(refusal(&world.told(Role::Answerer, answer(asked))).code, "ROLE_FORBIDDEN");
    let draft = world.draft(To::Run, Role::Person, typed(asked));
    let key = world.speaker(Role::Answerer).key.clone();
    let sent = world.sign(draft, &key);
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "KEY_ROLE");
    assert_eq!(refusal(&world.told(Role::Agent, QuestionAsked(question()))).code, "SIG_MISSING");
    for kind in [EventType::QuestionExpired, EventType::QuestionDefaulted, EventType::QuestionEscalated] {
        assert_eq!(kind.rule().roles, [Role::Desk], "{kind}");
    }
}

/// AEP-04 AEP-09 AEP-12
#[test]
fn a_question_has_words_of_bounded_length() {
    for (length, fits) in [(0, false), (1, true), (16_384, true), (16_385, false)] {
        let words =
            serde_json::json!({"detailed": "x".repeat(length), "normal": "x".repeat(length), "terse": "x"});
        assert_eq!(serde_json::from_value::<Wordings>(words).is_ok(), fits, "{length}");
    }
    for (length, fits) in [(0, false), (1, true), (4096, true), (4097, false)] {
        let words = serde_json::json!({"detailed": "x", "normal": "x", "terse": "\u{fc}".repeat(length)});
        assert_eq!(serde_json::from_value::<Wordings>(words).is_ok(), fits, "{length}");
    }
}

#[test]
fn a_choice_among_choices_that_were_erased_is_refused() {
    let chooses = Question { kinds: list([AnswerKind::MultipleChoice]), choices: whole(2), ..question() };
    let (mut world, asked) = World::asked(chooses);
    let at = usize::try_from(asked.sequence.number()).unwrap();
    world.run.entries[at].opening = None;
    let chosen =
        QuestionAnswered { kind: AnswerKind::MultipleChoice, choice: Some(whole(1)), ..answer(asked) };
    assert_eq!(world.refused_answer(chosen).code, "QUESTION_ERASED");
}

#[test]
fn a_default_is_the_declared_one() {
    let (mut world, asked) = World::asked(timed(true));
    world.now = world.now.plus_millis(60_000);
    let facts = QuestionDefaulted { question: asked.sequence };
    let other = DefaultContent { default: AnswerValue::Text("something else".try_into().unwrap()) };
    let first =
        Saying { role: Role::Desk, facts: facts.into(), content: Some(Content::QuestionDefaulted(other)) };
    let reply = world.command(To::Run, Command::record(first, Consequences::default()));
    assert_eq!(refusal(&reply).code, "ANSWER_DEFAULT");
}

/// LED-31 AEP-03
#[test]
fn a_tool_waits_for_the_questions_it_depends_on_and_for_no_others() {
    let mut world = World::opened_for_asking(usual_policy());
    let proposals = [propose(&mut world), propose(&mut world)];
    let intents = proposals.map(|proposal| intend(&mut world, proposal));
    let input = Some(world.record_input());
    let start = |intent| ToolExecutionStarted { input, intent };
    let about_one =
        Question { blocks: list([operation("execute")]), about: Some(proposals[0]), ..question() };
    let asked = position(&world.speak(Role::Executor, QuestionAsked(about_one)));
    let blocked = world.refuses(start(intents[0]));
    assert_eq!(blocked.code, "OPERATION_BLOCKED");
    assert!(blocked.message.contains(&asked.sequence.to_string()), "{blocked}");
    world.say(start(intents[1]));
    position(&world.speak(Role::Answerer, answer(asked)));
    world.say(start(intents[0]));
    let about_nothing = Question { about: Some(Sequence::FIRST), ..question() };
    assert_eq!(refusal(&world.speak(Role::Executor, QuestionAsked(about_nothing))).code, "REFERENCE");
}

/// LED-31: whatever depended on the answer is named, and nothing else.
#[test]
fn report_names_the_tools_that_started_on_an_answer_that_was_taken_back() {
    let mut world = World::opened_for_asking(usual_policy());
    let proposals = [propose(&mut world), propose(&mut world)];
    let intents = proposals.map(|proposal| intend(&mut world, proposal));
    let input = Some(world.record_input());
    let start = |intent| ToolExecutionStarted { input, intent };
    let about_one =
        Question { blocks: list([operation("execute")]), about: Some(proposals[0]), ..question() };
    let asked = position(&world.speak(Role::Executor, QuestionAsked(about_one)));
    let given = position(&world.speak(Role::Answerer, answer(asked))).sequence;
    world.say(start(intents[1]));
    let started = position(&world.speak(Role::Executor, start(intents[0]))).sequence;
    let revoke = AnswerRevoked { attribution: None, answer: given, question: asked.sequence };
    let ended = position(&world.speak(Role::Answerer, revoke)).sequence;
    let report = world.verified();
    let (event, answer, question) = (started, given, asked.sequence);
    let rested = RestedEvent { event, answer, question, ended, how: AnswerEnd::Revoked };
    assert_eq!(report.rested, [rested]);
    assert_ne!(report.verdict, Verdict::Fail, "a warning");
    let line =
        format!("event {event} was done on the answer of event {answer}, which event {ended} took back");
    for text in [report.to_text(), report.to_html()] {
        assert!(text.contains(&line), "{line}: {text}");
    }
}

/// AEP-14
#[test]
fn an_answer_is_no_approval() {
    let mut world = World::opened_for_asking(Policy { approval_from: Risk::Low, ..usual_policy() });
    let proposal = propose(&mut world);
    let intent = intend(&mut world, proposal);
    let may_i =
        Question { blocks: list([operation("execute")]), kinds: list([AnswerKind::YesNo]), ..question() };
    let asked = position(&world.speak(Role::Executor, QuestionAsked(may_i)));
    let yes = QuestionAnswered { kind: AnswerKind::YesNo, ..answer(asked) };
    position(&world.speak(Role::Answerer, yes));
    let input = Some(world.record_input());
    let start = ToolExecutionStarted { input, intent };
    assert_eq!(world.refuses(start).code, "APPROVAL_MISSING");
}

impl World {
    fn opened_for_asking(policy: Policy) -> Self {
        let mut world = Self::asking();
        let opening = world.opening(policy);
        world.say(opening);
        world.say(PolicyRecorded {});
        world
    }
}

fn propose(world: &mut World) -> Sequence {
    world.say(ProposalCreated { fallback_for: None, replaces: None })
}

fn intend(world: &mut World, proposal: Sequence) -> Sequence {
    let decision = ProposalDecision::Approved;
    world.say(ProposalReviewed { conditions: whole(0), decision, proposal });
    world.say(ToolIntentSigned { meets: list([]), proposal, retries: None, risk: Risk::Low })
}

fn timed(default: bool) -> Question {
    let deadline = Timestamp::from_millis(1_794_700_800_000).unwrap().plus_millis(60_000);
    Question { deadline: Some(deadline), default, ..question() }
}

fn ask(world: &mut World, question: Question) -> Reply {
    world.speak(Role::Agent, QuestionAsked(question))
}

fn expire(world: &mut World, asked: Position) -> Reply {
    world.told(Role::Desk, QuestionExpired { question: asked.sequence })
}

fn defaulted(world: &mut World, asked: Position) -> Reply {
    world.told(Role::Desk, QuestionDefaulted { question: asked.sequence })
}

fn escalate(world: &mut World, asked: Position, assurance: Assurance, deadline: Option<Timestamp>) -> Reply {
    let answerers = anybody();
    world.told(Role::Desk, QuestionEscalated { answerers, assurance, deadline, question: asked.sequence })
}

fn blocked(world: &World) -> usize {
    world.run.state.questions().unwrap().unsettled().count()
}

/// ONE-03: what demur alone records nobody says with a key, not even with demur's own.
#[test]
fn what_the_desk_records_is_said_with_no_key() {
    let (mut world, asked) = World::asked(question());
    let draft = world.draft(To::Run, Role::Desk, QuestionExpired { question: asked.sequence });
    let key = world.desk.clone();
    let sent = world.sign(draft, &key);
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "NOT_FOR_AUTHORS");
}
