//! Confirmations: one operation by its digest, one yes or no by somebody entitled, one start.

use demur_core::hash::sha256;
use demur_engine::Reply;
use demur_ledger::{
    content::{
        ConfirmationAskContent, ConfirmationGivenContent, ConfirmationRefusedContent, OperationContent,
        OperationEndContent, OperationObject, operation_digest,
    },
    event_type::{Content, Facts},
    facts::{
        Answerers, Assurance, ConfirmationAsked, ConfirmationExpired, ConfirmationGiven, ConfirmationRefused,
        IntentDecision, OperationEnded, OperationStarted, ProposalCreated, ProposalDecision,
        ProposalReviewed, Risk, ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned,
    },
    name::{ClientId, Position, Sequence},
    role::Role,
    verify::Verdict,
};
use serde_json::json;

use crate::{
    asking::{answer, anybody, operation, question},
    words::{INPUT, list, text, whole},
    world::{To, World, position, refusal},
};

/// ONE-09
#[test]
fn one_yes_serves_for_one_start_of_exactly_that_operation() {
    let (mut world, asked) = World::waiting(wanted());
    let begin = || begin(Some(asked.sequence));
    assert_eq!(refusal(&world.speak(Role::Agent, begin())).code, "OPERATION_UNCONFIRMED");
    position(&world.told(Role::Person, given(asked)));
    let other = world.begin_with(begin(), 1_000_000);
    assert_eq!((other.code, other.field), ("CONFIRMATION_MISMATCH", Some("content.digest")));
    let started = position(&world.speak(Role::Agent, begin())).sequence;
    assert_eq!(refusal(&world.speak(Role::Agent, begin())).code, "CONFIRMATION_SPENT");
    // Leaving the confirmation out does not make it another operation.
    assert_eq!(refusal(&world.speak(Role::Agent, self::begin(None))).code, "CONFIRMATION_SPENT");
    let end = OperationEnded { failed: false, started };
    position(&world.speak(Role::Agent, end.clone()));
    assert_eq!(refusal(&world.speak(Role::Agent, end)).code, "REFERENCE");
    let report = world.verified();
    assert_ne!(report.verdict, Verdict::Fail, "{}", report.to_text());
    let line =
        format!("confirmed by a person (same user, recorded by demur) in #2, ran once as event {started}");
    assert!(report.to_text().contains(&line), "{}", report.to_text());
    let told = &report.confirmations[0];
    assert_eq!((told.digest, told.against), (Some(operation_digest(&transfer(10)).unwrap()), false));
}

/// ONE-09
#[test]
fn refused_or_expired_operation_never_starts() {
    let (mut world, asked) = World::waiting(wanted());
    position(&world.told(Role::Person, refused(asked)));
    for confirmation in [Some(asked.sequence), None] {
        assert_eq!(refusal(&world.speak(Role::Agent, begin(confirmation))).code, "OPERATION_UNCONFIRMED");
    }
    // What somebody would confirm instead needs a confirmation of its own; asked anew it may get one.
    let again = position(&world.speak(Role::Agent, wanted()));
    position(&world.told(Role::Person, given(again)));
    position(&world.speak(Role::Agent, begin(Some(again.sequence))));

    let deadline = Some(World::asking().now.plus_millis(1000));
    let (mut world, asked) = World::waiting(ConfirmationAsked { deadline, ..wanted() });
    let expire = ConfirmationExpired { confirmation: asked.sequence };
    assert_eq!(refusal(&world.told(Role::Desk, expire.clone())).code, "CONFIRMATION_IN_TIME");
    world.now = world.now.plus_millis(1000);
    assert_eq!(refusal(&world.told(Role::Person, given(asked))).code, "CONFIRMATION_EXPIRED");
    position(&world.told(Role::Desk, expire.clone()));
    assert_eq!(refusal(&world.told(Role::Desk, expire)).code, "CONFIRMATION_CLOSED");
    assert_eq!(refusal(&world.told(Role::Person, given(asked))).code, "CONFIRMATION_CLOSED");
    assert_eq!(refusal(&world.speak(Role::Agent, begin(Some(asked.sequence)))).code, "OPERATION_UNCONFIRMED");
    let report = world.verified();
    assert!(report.to_text().contains("refused, as nobody confirmed it in time"), "{}", report.to_text());
}

/// ONE-09
#[test]
fn first_yes_or_no_counts_and_the_second_is_told_who_was_first() {
    for (first, second) in [(true, false), (false, true), (true, true)] {
        let (mut world, asked) =
            World::waiting(ConfirmationAsked { assurance: Assurance::Agent, ..wanted() });
        let said: fn(Position) -> Facts = |asked| given(asked).into();
        let not: fn(Position) -> Facts = |asked| refused(asked).into();
        let pick = |yes: bool| if yes { said } else { not };
        position(&world.told(Role::Person, pick(first)(asked)));
        let late = refusal(&world.told(Role::Person, pick(second)(asked)));
        assert_eq!(late.code, "CONFIRMATION_CLOSED");
        assert!(late.message.contains("by a person in event 1"), "{late}");
    }
}

/// ONE-09
#[test]
fn nobody_confirms_who_is_not_entitled_or_wants_to_act() {
    let agents = ConfirmationAsked { assurance: Assurance::Agent, ..wanted() };
    let (mut world, asked) = World::waiting(agents.clone());
    let by_key =
        |asked| ConfirmationGiven { assurance: Assurance::Agent, attribution: None, confirmation: asked };
    // The agent's own principal with another key.
    let mut own = world.speaker(Role::Agent).clone();
    own.key = world.new_speaker(Role::Answerer).key;
    own.role = Role::Answerer;
    world.register(&own);
    world.speakers.push(own);
    let refused = world.refused_answer(by_key(asked));
    assert_eq!((refused.code, refused.field), ("OWN_CLIENT", Some("proof.key")));
    let other = world.other_answerer();
    position(&world.speak(Role::Answerer, by_key(asked)));

    let (mut world, asked) = World::waiting(wanted());
    assert_eq!(world.refused_answer(by_key(asked)).code, "ASSURANCE_TOO_LOW");
    let overstated =
        ConfirmationGiven { assurance: Assurance::Passkey, attribution: None, confirmation: asked };
    assert_eq!(refusal(&world.told(Role::Person, overstated)).code, "ASSURANCE_FORGED");
    let named = Answerers { people: false, principals: Some(list([other])) };
    let asked = position(&world.speak(Role::Agent, ConfirmationAsked { answerers: named, ..agents }));
    assert_eq!(world.refused_answer(by_key(asked)).code, "NOT_ENTITLED");
    assert_eq!(refusal(&world.told(Role::Person, given(asked))).code, "NOT_ENTITLED");
    let nobody = Answerers { people: false, principals: None };
    let reply = world.speak(Role::Agent, ConfirmationAsked { answerers: nobody, ..wanted() });
    assert_eq!(refusal(&reply).code, "QUESTION_FORM");
}

/// ONE-09
#[test]
fn start_that_does_not_tell_its_operation_does_not_go_around_a_no() {
    // The name is not "transfer": its words tell nothing.
    let untold = || OperationStarted { confirmation: None, operation: operation("paint") };
    let mut world = World::asking();
    let asked = position(&world.speak(Role::Agent, wanted()));
    let open = refusal(&world.speak(Role::Agent, untold()));
    assert_eq!((open.code, open.field), ("OPERATION_UNCONFIRMED", Some("content.operation")));
    position(&world.told(Role::Person, refused(asked)));
    assert_eq!(refusal(&world.speak(Role::Agent, untold())).code, "OPERATION_UNCONFIRMED");
    // Another operation, told whole, was never asked about.
    let reply = world.say_as_with(Role::Agent, begin(None), |content| {
        let Content::OperationStarted(content) = content else { panic!("expected an operation") };
        content.digest = operation_digest(&transfer(1)).ok();
        content.operation = Some(transfer(1));
    });
    position(&reply);
    let (mut world, _) = World::asked(question());
    position(&world.speak(Role::Agent, untold()));
}

/// ONE-09
#[test]
fn client_does_not_confirm_under_another_name_what_it_wants() {
    let agents = || ConfirmationAsked { assurance: Assurance::Agent, ..wanted() };
    let (yes, no) = (
        |asked| {
            Facts::from(ConfirmationGiven {
                assurance: Assurance::Agent,
                attribution: None,
                confirmation: asked,
            })
        },
        |asked| {
            Facts::from(ConfirmationRefused {
                assurance: Assurance::Agent,
                attribution: None,
                confirmation: asked,
            })
        },
    );
    let (mut world, asked) = World::waiting(agents());
    let client = ClientId::new(world.now, &mut world.random);
    position(&world.bind(Role::Agent, client));
    position(&world.bind(Role::Answerer, client));
    for said in [yes(asked), no(asked)] {
        let refused = world.refused_answer(said);
        assert_eq!((refused.code, refused.field), ("OWN_CLIENT", Some("proof.key")));
    }
    let other = world.other_answerer();
    assert_ne!(other, world.speaker(Role::Agent).principal);
    position(&world.speak(Role::Answerer, yes(asked)));
    let report = world.verified();
    assert_ne!(report.verdict, Verdict::Fail, "{}", report.to_text());
}

/// AEP-14 ONE-09
#[test]
fn question_is_no_confirmation_and_the_reverse() {
    let (mut world, asked) = World::asked(question());
    assert_eq!(refusal(&world.told(Role::Person, given(asked))).code, "CONFIRMATION_UNKNOWN");
    position(&world.speak(Role::Answerer, answer(asked)));
    assert_eq!(refusal(&world.speak(Role::Agent, begin(Some(asked.sequence)))).code, "CONFIRMATION_UNKNOWN");
    let asked = position(&world.speak(Role::Agent, wanted()));
    assert_eq!(world.refused_answer(answer(asked)).code, "QUESTION_UNKNOWN");
}

/// ONE-09
#[test]
fn words_are_about_the_operation_that_is_shown() {
    let mut world = World::asking();
    let mut draft = world.draft(To::Run, Role::Agent, wanted());
    let Some(Content::ConfirmationAsked(content)) = &mut draft.content else {
        panic!("a confirmation has words")
    };
    content.operation = transfer(1_000_000);
    let key = world.speaker(Role::Agent).key.clone();
    let sent = world.sign(draft, &key);
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "CONFIRMATION_MISMATCH");
    let asked = position(&world.speak(Role::Agent, wanted()));
    let words = ConfirmationGivenContent { digest: sha256(b"another"), ..said_yes() };
    let reply = world.told_with(Role::Person, given(asked), Content::ConfirmationGiven(words));
    assert_eq!(refusal(&reply).code, "CONFIRMATION_MISMATCH");
    let other = Position::new(asked.sequence, sha256(b"another"));
    assert_eq!(refusal(&world.told(Role::Person, given(other))).code, "CONFIRMATION_OTHER");
    let unheard = world.told_with(Role::Desk, wanted(), fitting(&wanted().into()).unwrap());
    assert!(matches!(unheard, Reply::Recorded(_)), "the desk asks for the agent: {unheard:?}");
}

/// ONE-09 LED-23
#[test]
fn tool_starts_on_a_yes_to_its_intent_alone() {
    let (mut world, intent, input) = intended();
    let about = |intent| ConfirmationAsked { about: Some(intent), ..wanted() };
    let start = |intent| ToolExecutionStarted { input: Some(input), intent };
    assert_eq!(refusal(&world.speak(Role::Critic, wanted())).code, "CONFIRMATION_FORM");
    let reply = world.say_as_with(Role::Critic, about(intent), |content| {
        let Content::ConfirmationAsked(content) = content else { panic!("expected a confirmation") };
        content.operation = transfer(10);
        content.digest = operation_digest(&content.operation).unwrap();
    });
    assert_eq!(refusal(&reply).code, "CONFIRMATION_MISMATCH");
    let asked = position(&world.speak(Role::Critic, about(intent)));
    assert_eq!(refusal(&world.speak(Role::Critic, about(intent))).code, "CONFIRMATION_FORM");
    assert_eq!(world.refuses(start(intent)).code, "OPERATION_UNCONFIRMED");
    position(&world.told_with(Role::Person, refused(asked), no(Some(intent))));
    assert_eq!(world.refuses(start(intent)).code, "OPERATION_UNCONFIRMED");
    // Another intent for the same call does not go around the no.
    let proposal = Sequence::from(2_u32);
    let again = world.say(ToolIntentSigned { meets: list([]), proposal, retries: None, risk: Risk::Low });
    assert_eq!(world.refuses(start(again)).code, "OPERATION_UNCONFIRMED");
    let asked = position(&world.speak(Role::Critic, about(again)));
    position(&world.told_with(Role::Person, given(asked), yes(Some(again))));
    let started = world.say(start(again));
    let report = world.verified();
    assert!(report.to_text().contains(&format!("ran once as event {started}")), "{}", report.to_text());
}

/// ONE-09
#[test]
fn neither_planner_nor_executor_confirms_what_the_executor_does() {
    let (mut world, intent, _) = intended();
    let asked = ConfirmationAsked { about: Some(intent), assurance: Assurance::Agent, ..wanted() };
    let asked = position(&world.speak(Role::Critic, asked));
    let yes = ConfirmationGiven { assurance: Assurance::Agent, attribution: None, confirmation: asked };
    for role in [Role::Executor, Role::Planner, Role::Critic] {
        let mut own = world.speaker(role).clone();
        own.key = world.new_speaker(Role::Answerer).key;
        own.role = Role::Answerer;
        world.register(&own);
        world.speakers.push(own);
        assert_eq!(world.refused_answer(yes.clone()).code, "OWN_CLIENT", "{role}");
    }
}

/// ONE-09
#[test]
fn nothing_is_concluded_while_an_operation_waits() {
    let (mut world, asked) = World::waiting(wanted());
    assert_eq!(world.run.state.trace().unwrap().as_str(), "waiting");
    let report = world.verified();
    assert_eq!(report.verdict, Verdict::PassWithWarnings, "{}", report.to_text());
    position(&world.told(Role::Person, given(asked)));
    assert_eq!(world.run.state.trace().unwrap().as_str(), "settled");
}

impl World {
    /// Returns a piece of work where the agent asked for this.
    fn waiting(wanted: ConfirmationAsked) -> (Self, Position) {
        let mut world = Self::asking();
        let asked = position(&world.speak(Role::Agent, wanted));
        (world, asked)
    }

    /// Has the agent begin another operation than the one it names.
    fn begin_with(&mut self, facts: OperationStarted, amount: u64) -> demur_engine::refusal::RuleRefusal {
        refusal(&self.say_as_with(Role::Agent, facts, |content| {
            let Content::OperationStarted(content) = content else { panic!("expected an operation") };
            content.digest = operation_digest(&transfer(amount)).ok();
            content.operation = Some(transfer(amount));
        }))
    }
}

/// Returns a run with an approved intent and its input.
fn intended() -> (World, Sequence, Sequence) {
    let mut world = World::opened();
    let answerer = world.new_speaker(Role::Answerer);
    world.register(&answerer);
    world.speakers.push(answerer);
    let proposal = world.say(ProposalCreated { fallback_for: None, replaces: None });
    let decision = ProposalDecision::Approved;
    world.say(ProposalReviewed { conditions: whole(0), decision, proposal });
    assert_eq!(proposal, Sequence::from(2_u32));
    let intent = world.say(ToolIntentSigned { meets: list([]), proposal, retries: None, risk: Risk::Low });
    world.say(ToolIntentReviewed { decision: IntentDecision::Approved, intent });
    let input = world.record_input();
    (world, intent, input)
}

/// Returns a confirmation that a person may give.
fn wanted() -> ConfirmationAsked {
    ConfirmationAsked { about: None, answerers: anybody(), assurance: Assurance::Relayed, deadline: None }
}

const fn given(asked: Position) -> ConfirmationGiven {
    ConfirmationGiven { assurance: Assurance::Terminal, attribution: None, confirmation: asked }
}

const fn refused(asked: Position) -> ConfirmationRefused {
    ConfirmationRefused { assurance: Assurance::Terminal, attribution: None, confirmation: asked }
}

fn begin(confirmation: Option<Sequence>) -> OperationStarted {
    OperationStarted { confirmation, operation: operation("transfer") }
}

fn transfer(amount: u64) -> OperationObject {
    object(json!({"amount": amount, "to": "mallory"}))
}

fn object(value: serde_json::Value) -> OperationObject {
    let serde_json::Value::Object(object) = value else { panic!("expected an object") };
    object
}

/// Returns the operation of every confirmation here: that of the usual intent, or a transfer.
fn shown(about: Option<Sequence>) -> OperationObject {
    about.map_or_else(|| transfer(10), |_| object(json!({"input": sha256(INPUT), "tool": "wc"})))
}

fn said_yes() -> ConfirmationGivenContent {
    ConfirmationGivenContent {
        by: None,
        digest: operation_digest(&transfer(10)).unwrap(),
        note: None,
        shown: None,
    }
}

fn yes(about: Option<Sequence>) -> Content {
    let digest = operation_digest(&shown(about)).unwrap();
    Content::ConfirmationGiven(ConfirmationGivenContent { digest, ..said_yes() })
}

fn no(about: Option<Sequence>) -> Content {
    let digest = operation_digest(&shown(about)).unwrap();
    let (by, note, shown, instead) = (None, None, None, Some(transfer(1)));
    Content::ConfirmationRefused(ConfirmationRefusedContent { by, digest, instead, note, shown })
}

/// Returns content that fits these facts.
pub(crate) fn fitting(facts: &Facts) -> Option<Content> {
    Some(match facts {
        Facts::ConfirmationAsked(facts) => {
            let operation = shown(facts.about);
            Content::ConfirmationAsked(ConfirmationAskContent {
                action: text("Transfer money"),
                consequence: Some(text("It is gone.")),
                digest: operation_digest(&operation).unwrap(),
                language: text("en"),
                operation,
                risk: Risk::High,
            })
        }
        Facts::ConfirmationGiven(_) => yes(None),
        Facts::ConfirmationRefused(_) => no(None),
        Facts::OperationStarted(facts) => {
            let operation = (facts.operation.as_str() == "transfer").then(|| transfer(10));
            let digest = operation.as_ref().map(|operation| operation_digest(operation).unwrap());
            Content::OperationStarted(OperationContent { digest, note: None, operation })
        }
        Facts::OperationEnded(_) => {
            let digest = Some(operation_digest(&transfer(10)).unwrap());
            Content::OperationEnded(OperationEndContent { digest })
        }
        _ => return None,
    })
}
