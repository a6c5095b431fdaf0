//! What stands around every page: who is signed in, where one is, and what the page needs to be live.

use crate::words::{ENGLISH, Words};

/// The frame of a page.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The texts of the interface.
    pub words: &'static Words,
    /// Who is signed in; none on pages for strangers.
    pub visitor: Option<Visitor>,
    /// Which part of the inbox this is.
    pub here: Here,
}

/// Whoever is signed in, as far as pages show it.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The name.
    pub name: String,
    /// `operator`, `answerer` or `auditor`.
    pub role: &'static str,
    /// Whether this one may answer, decline, extend and pass on.
    pub may_answer: bool,
    /// What every form that changes something carries.
    pub form_key: String,
    /// How much of a question is shown at first.
    pub level: Level,
    /// Whether single letters act.
    pub keys: bool,
}

/// A part of the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Here {
    /// Questions that wait for the reader.
    Mine,
    /// Questions that wait for others.
    Others,
    /// Questions that are settled.
    Done,
    /// Operations that wait for a yes or a no.
    Confirmations,
    /// Traces.
    Traces,
    /// How the inbox behaves.
    Settings,
    /// Anything else.
    Elsewhere,
}

/// How much of a question is shown at first (AEP-09).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// In a few words.
    Terse,
    /// The question.
    #[default]
    Normal,
    /// With why it is asked and what the answer affects.
    Detailed,
}

impl Level {
    /// Every level, with the least words first.
    pub const ALL: [Self; 3] = [Self::Terse, Self::Normal, Self::Detailed];

    /// Returns the word of it in forms and cookies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terse => "terse",
            Self::Normal => "normal",
            Self::Detailed => "detailed",
        }
    }
}

impl Frame {
    /// Returns the frame of a page for somebody.
    pub const fn new(here: Here, visitor: Option<Visitor>) -> Self {
        Self { words: &ENGLISH, visitor, here }
    }

    /// Returns whether this part is the one that is shown.
    pub fn is(&self, here: Here) -> bool {
        self.here == here
    }
}
