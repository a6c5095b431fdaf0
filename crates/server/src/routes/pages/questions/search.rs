//! Finding questions: what the store can tell from its rows at once, and words by reading, so many per request and no more.

use demur_api::{
    code::Code,
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_desk::{owner::Owner, question};
use demur_ledger::{facts::Severity, name::TraceId, question::OutcomeKind};
use demur_store::contract::{Cursor, QuestionFilter, QuestionSummary};
use demur_web::list::{Filters, Which};

use crate::problem::Problem;

/// What is looked for, as the store understands it, and the words that it does not.
pub(super) struct Wanted {
    filter: QuestionFilter,
    after: Option<Cursor>,
    text: String,
    asker: String,
}

/// One page of what was found.
pub(super) struct Found {
    pub(super) questions: Vec<QuestionView>,
    /// How many were read.
    pub(super) read: usize,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

impl Wanted {
    /// Returns what an address asks for.
    pub(super) fn read(filters: &Filters) -> Result<Self, Problem> {
        let severity = match filters.severity.as_str() {
            "" => None,
            "block" => Some(Severity::Block),
            "warn" => Some(Severity::Warn),
            _ => return Err(unknown("severity: expected block or warn, found another word")),
        };
        let trace = filters.trace.as_deref().map(str::parse::<TraceId>).transpose();
        let trace =
            trace.map_err(|_| unknown("trace: expected the name of a trace, found something else"))?;
        let after = filters.after.as_deref().map(cursor).transpose()?;
        let (outcomes, people) = match filters.list {
            Which::Mine => (vec![OutcomeKind::Open], Some(true)),
            Which::Others => (vec![OutcomeKind::Open], Some(false)),
            Which::Done => {
                (OutcomeKind::ALL.into_iter().filter(|kind| *kind != OutcomeKind::Open).collect(), None)
            }
        };
        let newest_first = filters.list == Which::Done;
        let filter =
            QuestionFilter { outcomes: Some(outcomes), trace, asker: None, severity, people, newest_first };
        Ok(Self { filter, after, text: filters.text.to_lowercase(), asker: filters.asker.to_lowercase() })
    }

    fn fits(&self, question: &QuestionView) -> bool {
        let holds = |text: &str, part: &str| part.is_empty() || text.to_lowercase().contains(part);
        let texts =
            [&question.question, &question.terse, &question.detailed, &question.context, &question.field];
        let labels = question.choices.iter().map(|choice| choice.label.as_str());
        let mut texts = texts.into_iter().flatten().map(String::as_str).chain(labels);
        holds(&question.asker.name, &self.asker)
            && (self.text.is_empty() || texts.any(|text| holds(text, &self.text)))
    }
}

/// Returns a page of the questions that fit.
pub(super) fn find(owner: &Owner, wanted: &Wanted) -> Result<Found, Refusal> {
    let store = owner.ledger().store();
    let (mut questions, mut read, mut after) = (Vec::new(), 0, wanted.after);
    loop {
        let batch = store.questions(&wanted.filter, after, BATCH)?;
        if batch.is_empty() {
            return Ok(Found { questions, read, next: None });
        }
        for summary in &batch {
            let shown = question::view(owner, id(summary))?;
            (read, after) = (read + 1, Some(summary.cursor));
            if wanted.fits(&shown) {
                questions.push(shown);
            }
            if questions.len() == PAGE || read == MOST {
                let more = !store.questions(&wanted.filter, after, 1)?.is_empty();
                let next = more.then(|| summary.cursor.to_string());
                return Ok(Found { questions, read, next });
            }
        }
    }
}

/// Returns the oldest question that waits for people besides this one.
pub(super) fn next_waiting(owner: &Owner, done: QuestionId) -> Result<Option<String>, Refusal> {
    let filter = QuestionFilter {
        outcomes: Some(vec![OutcomeKind::Open]),
        people: Some(true),
        ..QuestionFilter::default()
    };
    let waiting = owner.ledger().store().questions(&filter, None, 2)?;
    Ok(waiting.iter().map(id).find(|id| *id != done).map(|id| id.to_string()))
}

const fn id(summary: &QuestionSummary) -> QuestionId {
    QuestionId { trace: summary.trace, sequence: summary.sequence }
}

fn cursor(text: &str) -> Result<Cursor, Problem> {
    text.parse().map_err(|_| unknown("after: expected a place in this list, found something else"))
}

fn unknown(detail: &str) -> Problem {
    Problem::new(Code::Malformed, detail).with_cure("begin anew at the inbox")
}

/// How many questions a page has.
const PAGE: usize = 20;
/// How many questions are read for one page.
const MOST: usize = 2000;
/// How many are taken from the store at a time.
const BATCH: usize = 100;
