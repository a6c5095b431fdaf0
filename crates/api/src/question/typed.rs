//! What somebody typed, read as an answer to a question: the value or the label of a choice, its number, yes or no, a
//! number, or any text.

use demur_core::{
    limit::Text,
    visible::visible,
    words::{ELLIPSIS, clipped},
};
use demur_ledger::{
    content::{AnswerValue, Choice},
    facts::AnswerKind,
};

use crate::{code::Code, refusal::Refusal};

/// Returns the answer that these words are, to a question of these kinds with these choices.
pub fn typed(kinds: &[AnswerKind], choices: &[Choice], words: &str) -> Result<AnswerValue, NoAnswer> {
    let secret = kinds.contains(&AnswerKind::Secret);
    let words = if secret { words } else { words.trim() };
    let found = kinds.iter().rev().find_map(|kind| match kind {
        AnswerKind::MultipleChoice => choice(choices, words),
        AnswerKind::YesNo => flag(words).map(AnswerValue::Flag),
        AnswerKind::Numeric => number(words),
        AnswerKind::Freetext | AnswerKind::Secret => None,
    });
    if let Some(found) = found {
        return Ok(found);
    }
    let takes_text = secret || kinds.contains(&AnswerKind::Freetext);
    let text = Text::try_from(words).ok().filter(|_| takes_text).map(AnswerValue::Text);
    text.ok_or_else(|| {
        // A secret is not printed, not even one that cannot be taken.
        let found = match words.char_indices().nth(MAX_REPEATED) {
            _ if secret => format!("{} characters", words.chars().count()),
            Some((end, _)) => format!("{:?} and more", &words[..end]),
            None => format!("{words:?}"),
        };
        NoAnswer { expected: expected(kinds, choices), found }
    })
}

/// Words that are no answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct NoAnswer {
    expected: String,
    found: String,
}

impl From<NoAnswer> for Refusal {
    fn from(words: NoAnswer) -> Self {
        Self::new(Code::AnswerKind, words).with_cure("the question is still open: answer again")
    }
}

/// Returns what can be typed, in words.
fn expected(kinds: &[AnswerKind], choices: &[Choice]) -> String {
    let kinds = kinds.iter().map(|kind| match kind {
        AnswerKind::MultipleChoice => listed(choices),
        AnswerKind::YesNo => "yes or no".to_owned(),
        AnswerKind::Numeric => "a number".to_owned(),
        AnswerKind::Freetext | AnswerKind::Secret => "a text of 1 to 16384 characters".to_owned(),
    });
    kinds.collect::<Vec<_>>().join(", or ")
}

/// Returns the choices with their numbers, as many as one reads in a sentence.
fn listed(choices: &[Choice]) -> String {
    let shown = choices.iter().take(MAX_LISTED).zip(1..);
    let shown: Vec<String> = shown
        .map(|(choice, number)| {
            format!("{number} ({})", visible(&clipped(&choice.label, MAX_LABEL, ELLIPSIS)))
        })
        .collect();
    match (&shown[..], choices.len().checked_sub(MAX_LISTED)) {
        (_, Some(1..)) => format!("{}, or another number up to {}", shown.join(", "), choices.len()),
        ([rest @ .., last], _) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => shown.join(", "),
    }
}

fn choice(choices: &[Choice], words: &str) -> Option<AnswerValue> {
    let by_value = choices.iter().find(|choice| choice.value.as_str() == words);
    let by_label = || choices.iter().find(|choice| choice.label.eq_ignore_ascii_case(words));
    let by_number = || words.parse::<usize>().ok()?.checked_sub(1).and_then(|at| choices.get(at));
    let found = by_value.or_else(by_label).or_else(by_number)?;
    Text::try_from(found.value.as_str()).ok().map(AnswerValue::Text)
}

fn flag(words: &str) -> Option<bool> {
    match words.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

fn number(words: &str) -> Option<AnswerValue> {
    let value: serde_json::Value = serde_json::from_str(words).ok()?;
    match value {
        serde_json::Value::Number(number) => Some(AnswerValue::Number(number)),
        _ => None,
    }
}

/// How many characters of a wrong answer a message repeats.
const MAX_REPEATED: usize = 40;
/// How many choices a sentence lists.
const MAX_LISTED: usize = 5;
/// How many characters of a label it shows.
const MAX_LABEL: usize = 20;
