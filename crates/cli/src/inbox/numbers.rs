//! The numbers of the questions at an inbox: those that every list of this data folder prints. Of a question nothing is
//! kept but what tells whether something happened to it.

use std::collections::{BTreeMap, HashMap};

use demur_api::question::{QuestionId, QuestionView};
use demur_core::time::Timestamp;
use demur_ledger::question::OutcomeKind;

use super::line::Number;
use crate::lookup::QuestionNumbers;

/// The questions that have a number.
#[derive(Debug)]
pub(super) struct Numbers {
    kept: QuestionNumbers,
    known: BTreeMap<Number, Known>,
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
    state: OutcomeKind,
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
    /// Returns the numbers at an inbox where nothing was shown yet.
    pub(super) fn new(kept: QuestionNumbers) -> Self {
        Self { kept, known: BTreeMap::new(), by_id: HashMap::new() }
    }

    /// Gives a question its number, and remembers how it stands.
    pub(super) fn see(&mut self, question: &QuestionView) -> Seen {
        self.look(question, |kept| kept.assign(&[question.id]).first().copied().flatten())
    }

    /// The same; `kept` returns the number that the file has for it, where it is not known here yet.
    fn look(
        &mut self,
        question: &QuestionView,
        kept: impl FnOnce(&QuestionNumbers) -> Option<Number>,
    ) -> Seen {
        let standing =
            Standing { state: question.state, deadline: question.deadline, people: question.people };
        if let Some(number) = self.by_id.get(&question.id).copied() {
            return match self.known.get_mut(&number) {
                Some(known) if known.standing != standing => {
                    known.standing = standing;
                    Seen::Changed(number)
                }
                _ => Seen::Same(number),
            };
        }
        let number = self.next(kept(&self.kept));
        self.known.insert(number, Known { id: question.id, standing });
        self.by_id.insert(question.id, number);
        Seen::New(number)
    }

    /// Gives all of these their numbers, which takes one look at the file instead of one for each.
    pub(super) fn see_all<'a>(&mut self, questions: &'a [QuestionView]) -> Vec<(Number, &'a QuestionView)> {
        let ids: Vec<QuestionId> = questions.iter().map(|question| question.id).collect();
        let kept = self.kept.assign(&ids);
        let looked = questions.iter().zip(kept);
        looked.map(|(question, kept)| (self.look(question, |_| kept).number(), question)).collect()
    }

    /// Returns the number of a question. Where it cannot be kept, it is good at this inbox only.
    fn next(&self, kept: Option<Number>) -> Number {
        let after_last = || self.known.last_key_value().map_or(1, |(last, _)| last + 1);
        kept.filter(|number| !self.known.contains_key(number)).unwrap_or_else(after_last)
    }

    /// Returns the numbers of those that were open when they were seen last.
    pub(super) fn open(&self) -> Vec<Number> {
        let open = self.known.iter().filter(|(_, known)| known.standing.state == OutcomeKind::Open);
        open.map(|(number, _)| *number).collect()
    }

    /// Returns whether a question has a number.
    pub(super) fn knows(&self, id: QuestionId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Returns the question with this number, also where only another list showed it.
    pub(super) fn id(&self, number: Number) -> Option<QuestionId> {
        self.known.get(&number).map(|known| known.id).or_else(|| self.kept.find(number).ok().flatten())
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
