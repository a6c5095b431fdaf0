//! Which question is meant.

use demur_api::{code::Code, question::QuestionId};
use demur_ledger::name::{Sequence, TraceId};
use demur_store::contract::{QuestionFilter, QuestionSummary, Store};

use super::{ENOUGH, Noun, QuestionNumbers, TypedId, prefix};
use crate::{context::Context, failure::Failure};

/// Returns the question that is meant: a whole id, the beginning of one, a number that a list printed, or `last`, which
/// is the one that was asked last.
pub(crate) fn question(context: &Context<'_>, typed: &TypedId) -> Result<QuestionId, Failure> {
    let text = typed.as_str();
    // A whole id is looked at where it is used.
    if let (true, Ok(whole)) = (text.contains('.'), text.parse()) {
        return Ok(whole);
    }
    let data = context.data()?;
    if let Some(number) = number(text) {
        let found = QuestionNumbers::of(&data).find(number).map_err(|held| {
            Failure::input("NUMBERS_HELD", held).with_hint("name the question by its id, or try again")
        })?;
        return found.ok_or_else(|| {
            let message = format!("expected a number that a list of questions printed, found {number}");
            Failure::of(Code::QuestionUnknown, message)
                .with_hint("`demur inbox --list` shows what waits, with numbers and ids")
        });
    }
    let store = data.read()?;
    let Some(store) = store.as_ref().map(|store| store as &dyn Store) else {
        typed.beginning(Noun::Question, prefix::of_ulid)?;
        return Err(Noun::Question.unknown(text));
    };
    if typed.is_last() {
        let newest = QuestionFilter { newest_first: true, ..QuestionFilter::default() };
        let found = store.questions(&newest, None, 1)?;
        return found.first().map(id_of).ok_or_else(|| Noun::Question.none());
    }
    let found = beginning(store, typed)?;
    Noun::Question.one(text, &found)
}

/// Returns the first few questions whose ids begin so.
fn beginning(store: &dyn Store, typed: &TypedId) -> Result<Vec<(QuestionId, String)>, Failure> {
    let (trace, place) = typed.as_str().split_once('.').map_or((typed.as_str(), None), |(trace, place)| {
        (trace, Some(place.parse::<u64>().ok().and_then(|place| Sequence::try_from(place).ok())))
    });
    let ids = TypedId(trace.to_owned()).beginning(Noun::Question, prefix::of_ulid)?;
    let mut found: Vec<QuestionId> = Vec::new();
    let Some(ids) = ids.filter(|_| place != Some(None)) else { return Ok(Vec::new()) };
    // The whole id of a trace means its first event, if that is a question.
    let whole = ids.start() == ids.end() && place.is_none();
    if whole && let Some(first) = store.question(*ids.start(), Sequence::FIRST)? {
        return Ok(named(&[id_of(&first)]));
    }
    prefix::walk(store, ids, |trace, _| {
        match place.flatten() {
            Some(place) => found.extend(store.question(trace, place)?.as_ref().map(id_of)),
            None => found.extend(of_trace(store, trace)?.iter().map(id_of)),
        }
        Ok(found.len() < ENOUGH)
    })?;
    found.truncate(ENOUGH);
    Ok(named(&found))
}

fn of_trace(store: &dyn Store, trace: TraceId) -> Result<Vec<QuestionSummary>, Failure> {
    let of_trace = QuestionFilter { trace: Some(trace), ..QuestionFilter::default() };
    Ok(store.questions(&of_trace, None, ENOUGH)?)
}

fn named(found: &[QuestionId]) -> Vec<(QuestionId, String)> {
    found.iter().map(|id| (*id, id.to_string())).collect()
}

fn id_of(found: &QuestionSummary) -> QuestionId {
    QuestionId { trace: found.trace, sequence: found.sequence }
}

/// Returns the number that was typed. Ids of our time begin with a zero, and no number does.
fn number(text: &str) -> Option<usize> {
    let plain = !text.starts_with('0') && text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|_| plain && text.len() <= MAX_DIGITS)
}

/// More digits are no number that was ever printed.
const MAX_DIGITS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_beginnings_of_ids() {
        assert_eq!(
            (number("1"), number("123456"), number("999999999")),
            (Some(1), Some(123_456), Some(999_999_999))
        );
        for text in ["", "0", "01", "012345", "+1", "1.0", "1a", "9999999999"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
