//! The words of a question. One that says nothing cannot be answered, so that no door can ask it: every one of them reads
//! its words as this type.

use std::{fmt, ops::Deref, str::FromStr};

use demur_core::{limit::Text, visible::is_blank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The words of a question: up to 16384 characters, of which at least one is a letter or a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "Text<1, 16384>", inline)]
pub struct QuestionText(Text<1, 16384>);

impl QuestionText {
    /// Returns the words as they are recorded.
    pub const fn as_text(&self) -> &Text<1, 16384> {
        &self.0
    }
}

/// Words that are no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoQuestion {
    /// There is no letter and no number among them.
    #[error("expected a question with a letter or a number, found none: say what you want to know")]
    Blank,
    /// They are too many.
    #[error("expected a question of at most 16384 characters, found {0}: say it in fewer words")]
    Long(usize),
}

impl TryFrom<String> for QuestionText {
    type Error = NoQuestion;

    fn try_from(words: String) -> Result<Self, NoQuestion> {
        if is_blank(&words) {
            return Err(NoQuestion::Blank);
        }
        let count = words.chars().count();
        Text::try_from(words).map(Self).map_err(|_| NoQuestion::Long(count))
    }
}

impl TryFrom<&str> for QuestionText {
    type Error = NoQuestion;

    fn try_from(words: &str) -> Result<Self, NoQuestion> {
        Self::try_from(words.to_owned())
    }
}

impl FromStr for QuestionText {
    type Err = NoQuestion;

    fn from_str(words: &str) -> Result<Self, NoQuestion> {
        Self::try_from(words)
    }
}

impl Deref for QuestionText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for QuestionText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
