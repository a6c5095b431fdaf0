//! The list of questions, page by page: a cursor stays good however many are asked or answered meanwhile.

use demur_store::contract::{Cursor, QuestionFilter, Store as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{QuestionView, view::view_of};
use crate::{error::CommandError, owner::Owner};

/// One page of questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    /// The questions, in the order in which they were asked.
    pub questions: Vec<QuestionView>,
    /// Where the next page begins; none at the end.
    pub next: Option<String>,
}

/// Returns a page of the questions that fit.
pub fn list(
    owner: &Owner,
    filter: &QuestionFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<Listed, CommandError> {
    let after = after.map(cursor).transpose()?;
    let mut summaries = owner.ledger().store().questions(filter, after, limit + 1)?;
    let more = summaries.len() > limit;
    summaries.truncate(limit);
    let next = summaries.last().filter(|_| more).map(|last| last.cursor.number().to_string());
    let questions = summaries.iter().map(|summary| view_of(owner, summary)).collect::<Result<_, _>>()?;
    Ok(Listed { questions, next })
}

fn cursor(text: &str) -> Result<Cursor, CommandError> {
    let number = text.parse().ok().filter(|number: &u64| number.to_string() == text && *number < LARGEST);
    number.map(Cursor::new).ok_or_else(|| {
        CommandError::input("CURSOR_INVALID", "expected a cursor that a list gave, found something else")
            .with_hint("leave the cursor out to begin anew")
    })
}

/// More events than a store can count.
const LARGEST: u64 = 1 << 62;
