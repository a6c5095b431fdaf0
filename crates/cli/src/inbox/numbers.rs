//! The numbers of the questions at an inbox. A number once given stays the number of its question, also when it is
//! answered. Of a question nothing is kept but what tells whether something happened to it.

use std::collections::HashMap;

use demur_core::time::Timestamp;
use demur_desk::question::{QuestionId, QuestionView};

use super::line::Number;

/// The questions that have a number.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    known: Vec<Known>,
    by_id: HashMap<QuestionId, Number>,
}

#[derive(Debug)]
struct Known {
    id: QuestionId,
    standing: Standing,
}

/// How a question stands, as far as others can change it.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    state: String,
    deadline: Option<Timestamp>,
    people: bool,
}

/// What a look at a question showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It had no number before.
    New(Number),
    /// Something happened to it.
    Changed(Number),
    /// Nothing did.
    Same(Number),
}

impl Numbers {
    /// Gives a question its number, and remembers how it stands.
    pub(super) fn see(&mut self, question: &QuestionView) -> Seen {
        let standing =
            Standing { state: question.state.clone(), deadline: question.deadline, people: question.people };
        if let Some(number) = self.by_id.get(&question.id).copied() {
            let known = self.known.get_mut(number - 1).map(|known| &mut known.standing);
            return match known {
                Some(known) if *known != standing => {
                    *known = standing;
                    Seen::Changed(number)
                }
                _ => Seen::Same(number),
            };
        }
        self.known.push(Known { id: question.id, standing });
        let number = self.known.len();
        self.by_id.insert(question.id, number);
        Seen::New(number)
    }

    /// Returns whether a question has a number.
    pub(super) fn knows(&self, id: QuestionId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Returns the question with this number.
    pub(super) fn id(&self, number: Number) -> Option<QuestionId> {
        number.checked_sub(1).and_then(|at| self.known.get(at)).map(|known| known.id)
    }
}

impl Seen {
    /// Returns the number.
    pub(super) const fn number(self) -> Number {
        match self {
            Self::New(number) | Self::Changed(number) | Self::Same(number) => number,
        }
    }
}
