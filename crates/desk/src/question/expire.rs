//! Deadlines (AEP-07, AEP-08): a timer only makes visible what follows from the clock. Without a declared default a
//! question expires and goes on blocking; with one, the default holds and is recorded as such.

use demur_api::refusal::Refusal;
use demur_core::time::Timestamp;
use demur_engine::command::{Consequences, Saying, Told};
use demur_ledger::{
    content::DefaultContent,
    event_type::Content,
    facts::{QuestionDefaulted, QuestionExpired},
    role::Role,
};
use demur_store::contract::QuestionSummary;

use crate::{owner::Owner, record};

/// Records what follows from deadlines that have passed. Returns how many were found; what could not be recorded is
/// handed to `trouble`.
pub fn expire(
    owner: &Owner,
    now: Timestamp,
    limit: usize,
    trouble: &mut dyn FnMut(&QuestionSummary, &Refusal),
) -> Result<usize, Refusal> {
    let due = owner.ledger().store().due_questions(now, limit)?;
    for question in &due {
        if let Err(error) = end(owner, question) {
            trouble(question, &error);
        }
    }
    Ok(due.len())
}

fn end(owner: &Owner, question: &QuestionSummary) -> Result<(), Refusal> {
    let sequence = question.sequence;
    let state = owner.ledger().look(question.trace)?;
    // As it stands, not as it was asked: an escalation takes the default away.
    let asked = state.questions().and_then(|questions| questions.find(sequence));
    let content = if asked.is_some_and(|asked| asked.facts().default) {
        record::read(owner.ledger().store(), question.trace, sequence)?.1
    } else {
        None
    };
    let default = match content {
        Some(Content::QuestionAsked(words) | Content::GapFound(words)) => words.default,
        _ => None,
    };
    let (facts, content) = match default {
        Some(default) => (
            QuestionDefaulted { question: sequence }.into(),
            Some(Content::QuestionDefaulted(DefaultContent { default })),
        ),
        None => (QuestionExpired { question: sequence }.into(), None),
    };
    let first = Saying { role: Role::Desk, facts, content };
    owner.ledger().record(question.trace, Told { first, rest: Consequences::default() })?;
    Ok(())
}
