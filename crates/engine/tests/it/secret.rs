//! Secret answers: the ledger holds a commitment to them and nothing else, and a commitment stands for nothing else.

use demur_core::{
    commitment::{Commitment, Salt},
    hash::Digest,
};
use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying},
};
use demur_ledger::{
    content::{AnswerContent, AnswerValue, QuestionContent, Sealed},
    event_type::{Content, Facts},
    facts::{
        AnswerClaimed, AnswerKind, AnswerSuperseded, Assurance, Question, QuestionAnswered, QuestionAsked,
        QuestionDefaulted,
    },
    name::Position,
    role::Role,
    verify::Verdict,
};

use crate::{
    asking::{answer, answers, fitting, question},
    words::{list, text, way, whole},
    world::{To, World, position, refusal},
};

#[test]
fn the_record_holds_a_commitment_that_only_value_and_salt_open() {
    let (mut world, asked) = World::asked(secret());
    let (salt, value) = (Salt::from_bytes([7; 32]), b"correct horse");
    let commitment = Commitment::to_secret(&salt, value);
    let sealed = AnswerValue::Sealed(Sealed { commitment });
    let given = position(&world.told_in(typed(asked), sealed));
    let opening =
        world.run.entries[usize::try_from(given.sequence.number()).unwrap()].opening.clone().unwrap();
    let recorded: AnswerContent = serde_json::from_slice(&opening.bytes).unwrap();
    assert!(
        matches!(recorded.answer, AnswerValue::Sealed(Sealed { commitment }) if commitment.opens_secret(&salt, value))
    );
    assert!(!commitment.opens_secret(&salt, b"another"));
    let export = String::from_utf8(world.export()).unwrap();
    assert!(export.contains(&commitment.to_string()));
    assert!(!export.contains("correct horse") && !export.contains(&salt.to_string()));
    let report = world.verified();
    assert_eq!((report.verdict, report.questions[0].outcome), (Verdict::Pass, "answered"));
}

#[test]
fn a_secret_question_takes_no_other_kind_and_no_choice() {
    let mut world = World::asking();
    for (field, wrong) in [
        ("facts.kinds", Question { kinds: list([AnswerKind::Freetext, AnswerKind::Secret]), ..question() }),
        ("facts.kinds", Question { kinds: list([AnswerKind::Secret, AnswerKind::Freetext]), ..question() }),
        ("facts.kinds", Question { kinds: list([AnswerKind::Secret, AnswerKind::Secret]), ..question() }),
        ("facts.choices", Question { choices: whole(2), ..secret() }),
    ] {
        let refused = refusal(&world.speak(Role::Agent, QuestionAsked(wrong)));
        assert_eq!((refused.code, refused.field), ("QUESTION_FORM", Some(field)), "{refused}");
    }
}

#[test]
fn a_secret_question_offers_nothing() {
    let mut world = World::asking();
    let changes: [fn(&mut QuestionContent); 5] = [
        |words| words.default = Some(plain()),
        |words| words.default = Some(sealed()),
        |words| words.recommendation = Some(plain()),
        |words| words.recommendation = Some(sealed()),
        |words| words.suggestions = list([text("the usual one")]),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let defaults = place < 2;
        let deadline = defaults.then(|| world.now.plus_millis(60_000));
        let reply = world.ask_in(Question { default: defaults, deadline, ..secret() }, change);
        assert_eq!(refusal(&reply).code, "CONTENT_MALFORMED", "change {place}");
    }
    position(&world.ask_in(secret(), |_| {}));
}

#[test]
fn no_question_offers_something_sealed() {
    let mut world = World::asking();
    let reply = world.ask_in(question(), |words| words.recommendation = Some(sealed()));
    assert_eq!(refusal(&reply).code, "CONTENT_MALFORMED");
    position(&world.ask_in(question(), |words| words.recommendation = Some(plain())));
}

#[test]
fn a_secret_is_sealed_and_nothing_else_is() {
    for (asks, kind, wrong, right) in [
        (secret(), AnswerKind::Secret, plain(), sealed()),
        (question(), AnswerKind::Freetext, sealed(), plain()),
    ] {
        let (mut world, asked) = World::asked(asks);
        let spoken = QuestionAnswered { kind, ..answer(asked) };
        let told = QuestionAnswered { assurance: Assurance::Terminal, ..spoken.clone() };
        for reply in [world.speak_in(spoken.clone(), wrong.clone()), world.told_in(told, wrong.clone())] {
            assert_eq!(refusal(&reply).code, "CONTENT_MALFORMED", "{kind:?}");
        }
        let given = position(&world.speak_in(spoken.clone(), right.clone())).sequence;
        let replace = AnswerSuperseded { answer: spoken, replaces: given };
        assert_eq!(refusal(&world.speak_in(replace.clone(), wrong)).code, "CONTENT_MALFORMED", "{kind:?}");
        position(&world.speak_in(replace, right));
    }
}

#[test]
fn a_secret_has_no_signed_answer_that_tells_it() {
    let (mut world, asked) = World::asked(secret());
    let facts = QuestionAnswered { kind: AnswerKind::Secret, ..answer(asked) };
    let signed = Some(serde_json::Map::new());
    let words = AnswerContent { answer: sealed(), signed, ..answers(&facts) };
    let reply = world.speak_with(Role::Answerer, facts, Content::QuestionAnswered(words));
    assert_eq!(refusal(&reply).code, "CONTENT_MALFORMED");
}

#[test]
fn nobody_guesses_at_a_secret() {
    let (mut world, asked) = World::asked(secret());
    let claim = AnswerClaimed { question: asked.sequence };
    assert_eq!(refusal(&world.speak(Role::Agent, claim)).code, "QUESTION_SECRET");
    let (mut world, asked) = World::asked(question());
    let claim: Facts = AnswerClaimed { question: asked.sequence }.into();
    let Some(Content::AnswerClaimed(mut words)) = fitting(&claim) else { panic!("a claim has words") };
    words.answer = sealed();
    let reply = world.speak_with(Role::Agent, claim, Content::AnswerClaimed(words));
    assert_eq!(refusal(&reply).code, "CONTENT_MALFORMED");
}

#[test]
fn no_default_takes_effect_sealed() {
    let mut world = World::asking();
    let deadline = Some(world.now.plus_millis(60_000));
    let asked = world.ask(Question { default: true, deadline, ..question() });
    world.now = world.now.plus_millis(60_000);
    let facts: Facts = QuestionDefaulted { question: asked.sequence }.into();
    let Some(Content::QuestionDefaulted(mut words)) = fitting(&facts) else { panic!("a default has words") };
    words.default = sealed();
    let reply = world.told_with(Role::Desk, facts, Content::QuestionDefaulted(words));
    assert_eq!(refusal(&reply).code, "CONTENT_MALFORMED");
}

impl World {
    /// Has the agent ask in other words than the usual ones.
    fn ask_in(&mut self, asked: Question, change: impl FnOnce(&mut QuestionContent)) -> Reply {
        let facts: Facts = QuestionAsked(Question { default: false, ..asked.clone() }).into();
        let Some(Content::QuestionAsked(mut words)) = fitting(&facts) else { panic!("a question has words") };
        change(&mut words);
        self.speak_with(Role::Agent, QuestionAsked(asked), Content::QuestionAsked(words))
    }

    /// Has a key answer this.
    fn speak_in(&mut self, facts: impl Into<Facts>, value: AnswerValue) -> Reply {
        let facts = facts.into();
        let content = answered(&facts, value);
        self.speak_with(Role::Answerer, facts, content)
    }

    /// Has a person answer this.
    fn told_in(&mut self, facts: QuestionAnswered, value: AnswerValue) -> Reply {
        let facts = facts.into();
        let content = answered(&facts, value);
        self.told_with(Role::Person, facts, content)
    }

    fn speak_with(&mut self, role: Role, facts: impl Into<Facts>, content: Content) -> Reply {
        let mut draft = self.draft(To::Run, role, facts);
        draft.content = Some(content);
        let key = self.speaker(role).key.clone();
        let sent = self.sign(draft, &key);
        self.send(To::Run, &sent)
    }

    /// Has a person do this through the desk, or the desk itself, in these words.
    pub(crate) fn told_with(&mut self, role: Role, facts: impl Into<Facts>, content: Content) -> Reply {
        let mut facts = facts.into();
        if role == Role::Person {
            facts.attribute(way());
        }
        let first = Saying { role, facts, content: Some(content) };
        self.command(To::Run, Command::record(first, Consequences::default()))
    }
}

fn answered(facts: &Facts, answer: AnswerValue) -> Content {
    match fitting(facts) {
        Some(Content::QuestionAnswered(words)) => {
            Content::QuestionAnswered(AnswerContent { answer, ..words })
        }
        Some(Content::AnswerSuperseded(words)) => {
            Content::AnswerSuperseded(AnswerContent { answer, ..words })
        }
        other => panic!("{other:?} is no answer"),
    }
}

fn secret() -> Question {
    Question { kinds: list([AnswerKind::Secret]), ..question() }
}

fn typed(asked: Position) -> QuestionAnswered {
    QuestionAnswered { kind: AnswerKind::Secret, ..crate::asking::typed(asked) }
}

fn plain() -> AnswerValue {
    AnswerValue::Text(text("correct horse"))
}

fn sealed() -> AnswerValue {
    AnswerValue::Sealed(Sealed { commitment: Commitment::from(Digest::from_bytes([5; 32])) })
}
