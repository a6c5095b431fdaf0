//! How the inbox behaves for one browser: how much of a question is shown at first, and whether single letters act.

use askama::Template;

use crate::{
    frame::{Frame, Here, Level},
    sessions::SessionRow,
    words::Words,
};

/// The page.
#[derive(Template)]
#[template(path = "settings.html")]
pub struct Settings<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// Whether something was just changed.
    pub saved: bool,
    /// The browsers that the reader has signed in.
    pub sessions: Vec<SessionRow>,
}

impl Settings<'_> {
    const fn levels() -> [Level; 3] {
        Level::ALL
    }
}

impl Level {
    /// Returns the level of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

impl Words {
    /// Returns the name of a level.
    pub const fn level(&self, level: Level) -> &'static str {
        match level {
            Level::Terse => self.terse,
            Level::Normal => self.normal,
            Level::Detailed => self.detailed,
        }
    }

    const fn level_meaning(&self, level: Level) -> &'static str {
        match level {
            Level::Terse => self.terse_meaning,
            Level::Normal => self.normal_meaning,
            Level::Detailed => self.detailed_meaning,
        }
    }
}
