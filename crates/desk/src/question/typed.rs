//! What somebody typed, read as an answer to a question: the value or the label of a choice, its number, yes or no, a
//! number, or any text.

use demur_core::limit::Text;
use demur_ledger::{content::AnswerValue, facts::AnswerKind};

use super::QuestionView;
use crate::error::CommandError;

/// Returns the answer that these words are.
pub fn typed(question: &QuestionView, words: &str) -> Result<AnswerValue, CommandError> {
    let words = if question.kinds.contains(&AnswerKind::Secret) { words } else { words.trim() };
    let found = question.kinds.iter().rev().find_map(|kind| match kind {
        AnswerKind::MultipleChoice => choice(question, words),
        AnswerKind::YesNo => flag(words).map(AnswerValue::Flag),
        AnswerKind::Numeric => number(words),
        AnswerKind::Freetext | AnswerKind::Secret => None,
    });
    if let Some(found) = found {
        return Ok(found);
    }
    let takes_text =
        question.kinds.iter().any(|kind| matches!(kind, AnswerKind::Freetext | AnswerKind::Secret));
    let text = Text::try_from(words).ok().filter(|_| takes_text).map(AnswerValue::Text);
    text.ok_or_else(|| {
        // A secret is not printed, not even one that cannot be taken.
        let secret = question.kinds.contains(&AnswerKind::Secret);
        let found =
            if secret { format!("{} characters", words.chars().count()) } else { format!("{words:?}") };
        CommandError::input("ANSWER_KIND", format!("expected {}, found {found}", expected(question)))
            .with_hint("the question is still open: answer again")
    })
}

/// Returns what can be typed, in words.
fn expected(question: &QuestionView) -> String {
    let kinds = question.kinds.iter().map(|kind| match kind {
        AnswerKind::MultipleChoice => format!("a number from 1 to {} or a choice", question.choices.len()),
        AnswerKind::YesNo => "yes or no".to_owned(),
        AnswerKind::Numeric => "a number".to_owned(),
        AnswerKind::Freetext | AnswerKind::Secret => "a text of 1 to 16384 characters".to_owned(),
    });
    kinds.collect::<Vec<_>>().join(", or ")
}

fn choice(question: &QuestionView, words: &str) -> Option<AnswerValue> {
    let by_value = question.choices.iter().find(|choice| choice.value.as_str() == words);
    let by_label = || question.choices.iter().find(|choice| choice.label.eq_ignore_ascii_case(words));
    let by_number = || words.parse::<usize>().ok()?.checked_sub(1).and_then(|at| question.choices.get(at));
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
