//! Several questions at once: what is about to happen to each of them, and what became of each.

use askama::Template;

use crate::{
    frame::{Frame, Here, Level},
    passkey::Sending,
    question::Card,
    text::Html,
    words::fill,
};

/// What is filled in for all of them.
#[derive(Clone, Debug)]
pub struct BulkFields {
    /// `decline`, `accept` or `answer`.
    pub act: String,
    /// The answer to all.
    pub value: String,
    /// Why.
    pub reason: String,
}

impl Default for BulkFields {
    fn default() -> Self {
        Self { act: "decline".to_owned(), value: String::new(), reason: String::new() }
    }
}

impl BulkFields {
    /// Returns whether this is to be done.
    pub fn is(&self, act: &str) -> bool {
        self.act == act
    }
}

/// One of the questions.
#[derive(Clone, Debug)]
pub struct BulkItem {
    /// Its name.
    pub id: String,
    /// The question; none where it is gone.
    pub card: Option<Card>,
    /// What is answered, or what became of it.
    pub shown: Option<Html>,
    /// Why it cannot be done.
    pub problem: Option<String>,
}

/// What is about to happen to several questions.
#[derive(Template)]
#[template(path = "bulk.html")]
pub struct BulkReview<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// What is done, in words.
    pub what: &'static str,
    /// The answer or the reason, as a block.
    pub words: Option<Html>,
    /// The questions.
    pub items: Vec<BulkItem>,
    /// What is filled in.
    pub bulk: BulkFields,
    /// In which wording they were shown.
    pub level: Level,
    /// Whether something has to be changed before it can be sent.
    pub editing: bool,
    /// How it can be sent.
    pub sending: Sending,
    /// What is wrong.
    pub wrong: Option<&'static str>,
}

/// What became of several questions.
#[derive(Template)]
#[template(path = "bulk_result.html")]
pub struct BulkResult<'a> {
    frame: &'a Frame,
    title: String,
    items: Vec<BulkItem>,
}

impl<'a> BulkResult<'a> {
    /// Returns the page that says what became of each.
    pub fn new(frame: &'a Frame, items: Vec<BulkItem>) -> Self {
        let done = items.iter().filter(|item| item.problem.is_none()).count();
        Self { frame, title: fill(frame.words.bulk_done, &[&done, &items.len()]), items }
    }
}
