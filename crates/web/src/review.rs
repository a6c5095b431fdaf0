//! What will be sent, shown before it is: the one place where something can be taken back. And what is said to somebody who
//! comes too late.

use askama::Template;

use crate::{
    frame::{Frame, Here},
    passkey::Sending,
    question::Card,
    text::Html,
};

/// What somebody is about to send.
#[derive(Template)]
#[template(path = "review.html")]
pub struct Review<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The question.
    pub card: Card,
    /// Why it is shown again.
    pub warning: Option<&'a str>,
    /// The word of the act in the address.
    pub act: &'static str,
    /// What is done, in words.
    pub what: String,
    /// The answer on one line.
    pub shown: Option<Html>,
    /// What is recorded, where that is not what is shown.
    pub recorded: Option<Html>,
    /// The answer or reason as a block.
    pub words: Option<Html>,
    /// What follows.
    pub consequence: &'static str,
    /// What the form carries.
    pub hidden: Vec<(&'static str, String)>,
    /// How it can be sent.
    pub sending: Sending,
    /// A note that can be added, where one can.
    pub note: Option<String>,
}

/// What somebody hears who comes too late, with what was typed.
#[derive(Template)]
#[template(path = "late.html")]
pub struct Late<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// What happened.
    pub title: &'a str,
    /// The question as it stands; none where it is gone.
    pub card: Option<Card>,
    /// What else is to be said.
    pub detail: Option<&'a str>,
    /// What was typed.
    pub kept: String,
}
