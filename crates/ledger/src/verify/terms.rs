//! What only the words of a question tell about its answer, where both are disclosed: a choice has its value, a request
//! stays the same, a default is the declared one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Code, finding::Found};
use crate::{
    content::{Terms, TermsError},
    event_type::Facts,
    name::Sequence,
    timeline::Words,
};

/// The terms of the questions so far; a trace has a bounded number of questions.
#[derive(Debug, Default)]
pub(super) struct TermsBook {
    terms: BTreeMap<Sequence, Terms>,
    /// The questions that ask for a secret.
    secret: BTreeSet<Sequence>,
}

impl TermsBook {
    /// Takes an event that the state let through; returns what is wrong with its words.
    pub(super) fn take(&mut self, at: Sequence, facts: &Facts, words: Option<&Words>) -> Option<Found> {
        if matches!(facts, Facts::QuestionAsked(facts) if facts.0.is_secret()) {
            self.secret.insert(at);
        }
        let checked = match (facts, words) {
            (Facts::QuestionAsked(_) | Facts::GapFound(_), Some(Words::Asked(terms))) => {
                self.terms.insert(at, Terms::clone(terms));
                return None;
            }
            (Facts::AnswerRejected(facts), Some(Words::Rejected)) => {
                let message = "expected no answer to a question that asks for a secret, found one";
                return self
                    .secret
                    .contains(&facts.question)
                    .then(|| Found::new(Code::ContentInvalid, message));
            }
            (Facts::QuestionAnswered(facts), Some(Words::Answer(words))) => {
                self.of(facts.question.sequence)?.check_answer(facts.choice, &words.value, words.request)
            }
            (Facts::AnswerSuperseded(facts), Some(Words::Answer(words))) => {
                let answer = &facts.answer;
                self.of(answer.question.sequence)?.check_answer(answer.choice, &words.value, words.request)
            }
            (Facts::QuestionDefaulted(facts), Some(Words::Default(default))) => {
                self.of(facts.question)?.check_default(default)
            }
            _ => return None,
        };
        let found =
            |error: TermsError| Found::new(Code::ContentInvalid, format!("{error} ({})", error.code()));
        checked.err().map(found)
    }

    fn of(&self, question: Sequence) -> Option<&Terms> {
        self.terms.get(&question)
    }
}
