//! What whoever answers sits at: a terminal that can print above a line being typed, or one that only knows lines.

use zeroize::Zeroizing;

use super::{plain::Plain, screen::Screen};
use crate::{
    failure::Failure,
    output::{Output, Paint},
};

/// One of the two.
pub(super) enum Face<'a> {
    Screen(Screen<'a>),
    Plain(Plain<'a>),
}

/// What came from it.
#[derive(Debug)]
pub(super) enum Input {
    /// A line.
    Line(String),
    /// Something is to be looked at; the line under way stays.
    News,
    /// Whoever sat there has left.
    End,
}

impl Face<'_> {
    /// Returns the next thing to do.
    pub(super) fn read(&mut self) -> Result<Input, Failure> {
        if self.output().is_deserted() {
            return Ok(Input::End);
        }
        match self {
            Self::Screen(screen) => screen.read(),
            Self::Plain(plain) => plain.read(),
        }
    }

    /// Returns a line that nobody sees; none if whoever types thinks better of it.
    pub(super) fn secret(&mut self, prompt: &str) -> Result<Option<Zeroizing<String>>, Failure> {
        match self {
            Self::Screen(screen) => screen.secret(prompt),
            Self::Plain(_) => Plain::secret(prompt),
        }
    }

    /// Prints lines, never into what is being typed.
    pub(super) fn say(&mut self, lines: &[String]) -> Result<(), Failure> {
        match self {
            Self::Screen(screen) => screen.say(lines),
            Self::Plain(plain) => plain.say(lines),
        }
    }

    /// Returns whether news show by themselves.
    pub(super) const fn is_live(&self) -> bool {
        matches!(self, Self::Screen(_))
    }

    /// Returns how text may be painted.
    pub(super) fn paint(&self) -> Paint {
        self.output().paint()
    }

    fn output(&self) -> &Output {
        match self {
            Self::Screen(screen) => screen.output,
            Self::Plain(plain) => plain.output,
        }
    }
}

/// What stands before the line that is typed.
pub(super) const PROMPT: &str = "inbox> ";
