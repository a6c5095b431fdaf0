//! The list of questions, page by page: a cursor stays good however many are asked or answered meanwhile.

use demur_api::{code::Code, refusal::Refusal};
use demur_ledger::name::PrincipalId;
use demur_store::contract::{Cursor, QuestionFilter, QuestionSummary};

use super::{Listed, QuestionView, view::view_listed};
use crate::owner::Owner;

/// Returns a page of the questions that fit.
pub fn list(
    owner: &Owner,
    filter: &QuestionFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<Listed, Refusal> {
    let after = after.map(cursor).transpose()?;
    let summaries = owner.sequencer().store().questions(filter, after, limit + 1)?;
    page(owner, summaries, limit)
}

/// Returns a page of the questions that fit and that one of these asked.
pub fn list_of(
    owner: &Owner,
    askers: &[PrincipalId],
    filter: &QuestionFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<Listed, Refusal> {
    let after = after.map(cursor).transpose()?;
    let mut summaries = Vec::new();
    for asker in askers {
        let filter = QuestionFilter { asker: Some(*asker), ..filter.clone() };
        summaries.extend(owner.sequencer().store().questions(&filter, after, limit + 1)?);
    }
    summaries.sort_unstable_by_key(|summary| summary.cursor);
    if filter.newest_first {
        summaries.reverse();
    }
    page(owner, summaries, limit)
}

fn page(owner: &Owner, mut summaries: Vec<QuestionSummary>, limit: usize) -> Result<Listed, Refusal> {
    let mut more = summaries.len() > limit;
    summaries.truncate(limit);
    let (mut questions, mut bytes, mut last) = (Vec::new(), 0, None);
    for summary in &summaries {
        // Words can be many: a page ends where it has grown enough.
        if bytes > MAX_PAGE_BYTES {
            more = true;
            break;
        }
        last = Some(summary.cursor);
        if let Some(shown) = view_listed(owner, summary)? {
            bytes += words(&shown);
            questions.push(shown);
        }
    }
    let next = last.filter(|_| more).map(|last| last.to_string());
    Ok(Listed { questions, next })
}

/// Returns about how much a question says.
fn words(question: &QuestionView) -> usize {
    let texts = [&question.question, &question.terse, &question.detailed, &question.context];
    let choices = question.choices.iter().map(|choice| choice.label.len() + choice.value.len());
    let suggestions = question.suggestions.iter().map(String::len);
    texts.into_iter().flatten().map(String::len).chain(choices).chain(suggestions).sum()
}

pub(crate) fn cursor(text: &str) -> Result<Cursor, Refusal> {
    text.parse().map_err(|_| {
        Refusal::new(Code::CursorInvalid, "expected a cursor that a list gave, found something else")
            .with_cure("leave the cursor out to begin anew")
    })
}

/// How much the questions of a page say before it ends.
const MAX_PAGE_BYTES: usize = 1 << 20;
