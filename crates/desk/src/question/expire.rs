//! Deadlines (AEP-07, AEP-08): a timer only makes visible what follows from the clock. Without a declared default a
//! question expires and goes on blocking; with one, the default holds and is recorded as such.

use demur_core::time::Timestamp;
use demur_engine::command::{Consequences, Saying, Told};
use demur_ledger::{
    content::DefaultContent,
    event_type::{Content, Facts},
    facts::{QuestionDefaulted, QuestionExpired},
    role::Role,
};
use demur_store::contract::{QuestionSummary, Store as _};

use super::view::read;
use crate::{error::CommandError, owner::Owner};

/// Records what follows from deadlines that have passed. Returns how many were found; what could not be recorded is
/// handed to `trouble`.
pub fn expire(
    owner: &Owner,
    now: Timestamp,
    limit: usize,
    trouble: &mut dyn FnMut(&QuestionSummary, &CommandError),
) -> Result<usize, CommandError> {
    let due = owner.ledger().store().due_questions(now, limit)?;
    for question in &due {
        if let Err(error) = end(owner, question) {
            trouble(question, &error);
        }
    }
    Ok(due.len())
}

fn end(owner: &Owner, question: &QuestionSummary) -> Result<(), CommandError> {
    let (event, content) = read(owner, question.trace, question.sequence)?;
    let declares = match event.said().map_err(|error| CommandError::bug(&error))?.facts {
        Facts::QuestionAsked(facts) => facts.0.default,
        Facts::GapFound(facts) => facts.0.default,
        _ => false,
    };
    let default = match content {
        Some(Content::QuestionAsked(words) | Content::GapFound(words)) => words.default,
        _ => None,
    };
    let sequence = question.sequence;
    let saying = match default.filter(|_| declares) {
        Some(default) => Saying {
            role: Role::Desk,
            facts: QuestionDefaulted { question: sequence }.into(),
            content: Some(Content::QuestionDefaulted(DefaultContent { default })),
        },
        None => {
            Saying { role: Role::Desk, facts: QuestionExpired { question: sequence }.into(), content: None }
        }
    };
    let told = Told { first: saying, rest: Consequences::default() };
    match owner.ledger().record(question.trace, told).map_err(CommandError::from) {
        // An escalation takes the default away: then it expires.
        Err(error) if declares && error.code() != "ALREADY_ANSWERED" => expire_plainly(owner, question),
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}

fn expire_plainly(owner: &Owner, question: &QuestionSummary) -> Result<(), CommandError> {
    let facts = QuestionExpired { question: question.sequence }.into();
    let first = Saying { role: Role::Desk, facts, content: None };
    owner.ledger().record(question.trace, Told { first, rest: Consequences::default() })?;
    Ok(())
}
