//! Finding questions: what the store can tell from its rows at once, and words by reading, so many per request and no more.

use demur_api::{question::QuestionView, refusal::Refusal};
use demur_ledger::{facts::Severity, name::TraceId, question::OutcomeKind};
use demur_store::contract::{Cursor, QuestionFilter};

use super::{
    turns::{InTurn, turns},
    view::view_listed,
};
use crate::{
    access::{Caller, LOOKING},
    desk::Desk,
    owner::Owner,
};

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct QuestionSearch {
    /// Only what became this.
    pub outcomes: Vec<OutcomeKind>,
    /// Only those that people may answer, or only those that they may not.
    pub people: Option<bool>,
    /// Only those of this severity.
    pub severity: Option<Severity>,
    /// Only those of this trace.
    pub trace: Option<TraceId>,
    /// Only those whose words hold this, in whatever case.
    pub text: String,
    /// Only those whose asker's name holds this, in whatever case.
    pub asker: String,
    /// The newest first.
    pub newest_first: bool,
    /// Only those after this place.
    pub after: Option<Cursor>,
}

/// One page of what was found.
#[derive(Clone, Debug)]
pub struct FoundQuestions {
    /// The questions.
    pub questions: Vec<QuestionView>,
    /// How many were read.
    pub read: usize,
    /// Where the next page begins; none at the end.
    pub next: Option<Cursor>,
}

impl Desk {
    /// Returns a page of the questions that fit. May block.
    pub fn find_questions(
        &self,
        caller: &Caller,
        search: &QuestionSearch,
    ) -> Result<FoundQuestions, Refusal> {
        self.admit(caller, LOOKING)?;
        let mut found = find(&*self.owner()?, search)?;
        found.questions.iter_mut().for_each(|question| self.waiters().tell(question));
        Ok(found)
    }
}

pub(super) fn find(owner: &Owner, search: &QuestionSearch) -> Result<FoundQuestions, Refusal> {
    let store = owner.sequencer().store();
    let filter = QuestionFilter {
        outcomes: Some(search.outcomes.clone()),
        trace: search.trace,
        asker: None,
        with_gaps: false,
        severity: search.severity,
        people: search.people,
        newest_first: search.newest_first,
    };
    let words = Words { text: search.text.to_lowercase(), asker: search.asker.to_lowercase() };
    let (mut questions, mut read, mut after) = (Vec::new(), 0, search.after);
    // What waits is read by people: nobody buries what others ask.
    let takes_turns =
        search.outcomes == [OutcomeKind::Open] && search.trace.is_none() && !search.newest_first;
    let next = |after: Option<Cursor>, limit: usize| -> Result<Vec<InTurn>, Refusal> {
        if takes_turns {
            return turns(store, &filter, after, limit);
        }
        let rows = store.questions(&filter, after, limit)?;
        Ok(rows.into_iter().map(|row| (row.cursor, row)).collect())
    };
    loop {
        let batch = next(after, QUESTIONS_PER_READ)?;
        if batch.is_empty() {
            return Ok(FoundQuestions { questions, read, next: None });
        }
        for (place, summary) in &batch {
            let shown = view_listed(owner, summary)?;
            (read, after) = (read + 1, Some(*place));
            questions.extend(shown.filter(|shown| words.fit(shown)));
            if questions.len() == QUESTIONS_PER_PAGE || read == MAX_READ_QUESTIONS {
                let more = !next(after, 1)?.is_empty();
                return Ok(FoundQuestions { questions, read, next: after.filter(|_| more) });
            }
        }
    }
}

/// What no row tells, in lower case.
struct Words {
    text: String,
    asker: String,
}

impl Words {
    fn fit(&self, question: &QuestionView) -> bool {
        let holds = |text: &str, part: &str| part.is_empty() || text.to_lowercase().contains(part);
        let texts =
            [&question.question, &question.terse, &question.detailed, &question.context, &question.field];
        let labels = question.choices.iter().map(|choice| choice.label.as_str());
        let mut texts = texts.into_iter().flatten().map(String::as_str).chain(labels);
        holds(&question.asker.name, &self.asker)
            && (self.text.is_empty() || texts.any(|text| holds(text, &self.text)))
    }
}

/// How many questions a page has.
const QUESTIONS_PER_PAGE: usize = 20;
/// How many questions are read for one page.
const MAX_READ_QUESTIONS: usize = 2000;
/// How many are taken from the store at a time.
const QUESTIONS_PER_READ: usize = 100;
