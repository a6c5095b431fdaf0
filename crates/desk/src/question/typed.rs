//! Words that are no answer, as a refusal.

use demur_api::question::NoAnswer;

use crate::error::CommandError;

impl From<NoAnswer> for CommandError {
    fn from(words: NoAnswer) -> Self {
        Self::input("ANSWER_KIND", words).with_hint("the question is still open: answer again")
    }
}
