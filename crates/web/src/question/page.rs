//! The page of one question: everything about it, and every way to act on it.

use askama::Template;
use demur_ledger::question::{AnswerEnd, RestedEvent};

use super::Card;
use crate::{
    frame::{Frame, Here, Level},
    text::Html,
    when::When,
};

/// The page.
#[derive(Template)]
#[template(path = "question.html")]
pub struct QuestionPage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The question.
    pub card: Card,
    /// What was just done.
    pub notice: Option<Notice>,
    /// The names that it can be passed to.
    pub names: Vec<String>,
    /// Whether holders of keys may answer at all.
    pub keys_may_answer: bool,
    /// What the visitor may do.
    pub rights: VisitorRights,
    /// What happened to it.
    pub history: Vec<Happening>,
    /// Whether that is not all.
    pub history_is_cut: bool,
    /// What was done on answers that no longer count.
    pub rested: Vec<RestedEvent>,
}

impl QuestionPage<'_> {
    const fn levels() -> [Level; 3] {
        Level::ALL
    }

    /// Returns whether it belongs to a plan and the visitor may speak about it.
    fn may_ask_again(&self) -> bool {
        self.card.plan.is_some() && self.rights != VisitorRights::Reads
    }

    /// Returns whether nobody can answer it any more and it blocks all the same.
    fn is_left(&self) -> bool {
        self.card.state.is_left()
    }
}

/// What a visitor may do on the page of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorRights {
    /// Read it.
    Reads,
    /// Answer, too.
    Answers,
    /// Call it off, too.
    Operates,
}

impl VisitorRights {
    /// Returns whether the visitor may call the question off.
    pub fn may_cancel(self) -> bool {
        self == Self::Operates
    }
}

/// What was just done.
#[derive(Clone, Debug)]
pub struct Notice {
    /// In words.
    pub words: &'static str,
    /// The next question that waits.
    pub next: Option<String>,
}

/// Something that happened to a question.
#[derive(Clone, Debug)]
pub struct Happening {
    /// Who.
    pub who: Html,
    /// How sure one can be who it was.
    pub how: Option<&'static str>,
    /// What.
    pub what: &'static str,
    /// When.
    pub when: When,
    /// The number of the event.
    pub event: String,
}
