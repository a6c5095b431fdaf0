//! Guesses at what may be said about questions, some of it allowed, most of it not.

use demur_core::random::Seeded;
use demur_ledger::{
    event_type::{EventType, Facts},
    facts::{
        AnswerClaimed, AnswerKind, AnswerRevoked, AnswerSuperseded, Answerers, Assurance, ConfirmationAsked,
        ConfirmationExpired, ConfirmationGiven, ConfirmationRefused, Question, QuestionAnswered,
        QuestionAsked, QuestionCancelled, QuestionDeclined, QuestionDefaulted, QuestionDelivered,
        QuestionEscalated, QuestionExpired, QuestionExtended, QuestionPassedOn, RecoveryRecorded, Severity,
    },
    name::{Operation, Position, Sequence},
};

use crate::{
    table::{number, pick},
    walker::Walker,
    world::{World, list, whole},
};

/// Returns facts about a question that may or may not be allowed now.
pub(crate) fn guess(walker: &Walker, world: &World, kind: EventType, random: &mut Seeded) -> Facts {
    use EventType as E;
    let question = walker.cite(E::QuestionAsked, random);
    let deadline = world.now.plus_millis(if number(random, 3) == 0 { 0 } else { 60_000 });
    match kind {
        E::QuestionAsked => QuestionAsked(Question {
            assurance: pick(random, &Assurance::ALL),
            blocks: list([operation(pick(random, &["execute", "propose", "claim"]))]),
            deadline: (number(random, 2) == 0).then_some(deadline),
            ..question_for(anyone())
        })
        .into(),
        E::QuestionAnswered => answer(walker, world, question, random).into(),
        E::AnswerSuperseded => AnswerSuperseded {
            answer: answer(walker, world, question, random),
            replaces: walker.cite(E::QuestionAnswered, random),
        }
        .into(),
        E::AnswerRevoked => {
            AnswerRevoked { attribution: None, answer: walker.cite(E::QuestionAnswered, random), question }
                .into()
        }
        E::AnswerClaimed => AnswerClaimed { question }.into(),
        E::QuestionDeclined => QuestionDeclined { attribution: None, question }.into(),
        E::QuestionPassedOn => QuestionPassedOn { attribution: None, answerers: anyone(), question }.into(),
        E::QuestionDelivered => QuestionDelivered { question, to: None }.into(),
        E::QuestionEscalated => {
            QuestionEscalated { answerers: anyone(), assurance: Assurance::Passkey, deadline: None, question }
                .into()
        }
        E::QuestionExtended => QuestionExtended { deadline, question }.into(),
        E::QuestionCancelled => QuestionCancelled { question }.into(),
        E::QuestionExpired => QuestionExpired { question }.into(),
        E::QuestionDefaulted => QuestionDefaulted { question }.into(),
        E::ConfirmationAsked => ConfirmationAsked {
            about: Some(walker.cite(E::ToolIntentSigned, random)),
            answerers: anyone(),
            assurance: pick(random, &Assurance::ALL),
            deadline: (number(random, 2) == 0).then_some(deadline),
        }
        .into(),
        E::ConfirmationGiven => {
            let (assurance, confirmation) = reply(walker, world, random);
            ConfirmationGiven { assurance, attribution: None, confirmation }.into()
        }
        E::ConfirmationRefused => {
            let (assurance, confirmation) = reply(walker, world, random);
            ConfirmationRefused { assurance, attribution: None, confirmation }.into()
        }
        E::ConfirmationExpired => {
            ConfirmationExpired { confirmation: walker.cite(E::ConfirmationAsked, random) }.into()
        }
        _ => RecoveryRecorded { through: last(walker, world) }.into(),
    }
}

/// Returns a question that must be answered by one of these, in any words.
pub(crate) fn question_for(answerers: Answerers) -> Question {
    Question {
        about: None,
        answerers,
        asker_settles: false,
        assurance: Assurance::Agent,
        blocks: list([]),
        choices: whole(0),
        deadline: None,
        default: false,
        kinds: list([AnswerKind::Freetext]),
        repeats: None,
        severity: Severity::Block,
    }
}

/// Returns people and everybody with the role.
pub(crate) const fn anyone() -> Answerers {
    Answerers { people: true, principals: None }
}

/// Returns the name of an operation.
pub(crate) fn operation(name: &str) -> Operation {
    Operation::try_from(name.to_owned()).unwrap()
}

fn answer(walker: &Walker, world: &World, question: Sequence, random: &mut Seeded) -> QuestionAnswered {
    let position = walker.said.iter().find(|(_, position)| position.sequence == question);
    let position = position.map_or_else(|| last(walker, world), |(_, position)| *position);
    let assurance = pick(random, &[Assurance::Relayed, Assurance::Terminal, Assurance::SignedIn]);
    QuestionAnswered {
        attribution: None,
        assurance,
        choice: None,
        kind: AnswerKind::Freetext,
        question: position,
    }
}

fn reply(walker: &Walker, world: &World, random: &mut Seeded) -> (Assurance, Position) {
    let asked = walker.cite(EventType::ConfirmationAsked, random);
    let answered = answer(walker, world, asked, random);
    (answered.assurance, answered.question)
}

fn last(walker: &Walker, world: &World) -> Position {
    walker.said.last().map_or(world.desk.registry().head(), |(_, position)| *position)
}
