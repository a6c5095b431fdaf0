//! Which question is meant.

use demur_api::{code::Code, question::QuestionId, store::IdKind};

use super::{Noun, QuestionNumbers, TypedId, parsed};
use crate::{
    context::Context,
    failure::Failure,
    reader::{Find as _, Reader},
};

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
    if !typed.is_last() {
        // What comes before the dot is the id of a trace.
        let trace = text.split_once('.').map_or(text, |(trace, _)| trace);
        TypedId(trace.to_owned()).check_length(Noun::Question)?;
    }
    let found = if data.has_store()? {
        parsed(&Reader::open(data)?.find(IdKind::Question, text)?)
    } else {
        Vec::new()
    };
    match found.first() {
        Some((newest, _)) if typed.is_last() => Ok(*newest),
        None if typed.is_last() => Err(Noun::Question.none()),
        _ => Noun::Question.one(text, &found),
    }
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
