//! The list of questions, page by page: a cursor stays good however many are asked or answered meanwhile.

use demur_api::{code::Code, refusal::Refusal};
use demur_ledger::name::PrincipalId;
use demur_store::contract::{Cursor, QuestionFilter, QuestionSummary};

use super::{
    Listed, QuestionView,
    turns::turns,
    view::{listed_keys, view_listed},
};
use crate::{
    access::{Part, Sight},
    owner::Owner,
};

/// Returns a page of the questions that fit.
pub fn list(
    owner: &Owner,
    filter: &QuestionFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<Listed, Refusal> {
    list_seen(owner, &Sight::All, filter, after, limit)
}

/// Returns a page of the questions that fit and that a caller sees.
pub(super) fn list_seen(
    owner: &Owner,
    sight: &Sight,
    filter: &QuestionFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<Listed, Refusal> {
    let after = after.map(cursor).transpose()?;
    let read = |part: Part, after: Option<Cursor>, limit: usize| -> Result<Vec<QuestionSummary>, Refusal> {
        let filter = match part {
            Part::All => filter.clone(),
            Part::AskedBy(asker) => QuestionFilter { asker: Some(asker), ..filter.clone() },
            Part::ForPeople if filter.people == Some(false) => return Ok(Vec::new()),
            Part::ForPeople => QuestionFilter { people: Some(true), ..filter.clone() },
        };
        Ok(owner.sequencer().store().questions(&filter, after, limit)?)
    };
    let keys = |summary: &QuestionSummary| listed_keys(owner, summary);
    let (summaries, on) = sight.page((filter.newest_first, after, limit + 1), read, keys)?;
    let mut listed = page(owner, summaries, limit)?;
    listed.next = listed.next.or_else(|| on.map(|on| on.to_string()));
    Ok(listed)
}

/// Returns a page of the open questions that fit, one of each asker in turn.
pub(super) fn list_in_turns(
    owner: &Owner,
    filter: &QuestionFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<Listed, Refusal> {
    let after = after.map(cursor).transpose()?;
    let found = turns(owner.sequencer().store(), filter, after, limit + 1)?;
    // A cursor of this list is the turn.
    let placed = found.into_iter().map(|(place, row)| QuestionSummary { cursor: place, ..row });
    page(owner, placed.collect(), limit)
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
