//! Errors that somebody is told: by a stable code, the field they are about and what to do. What the layers below refuse
//! and what the machine did comes to the API this one way, so that a code stands where its error stands.

use std::fmt::Display;

use crate::{canonical::WriteError, limit::LimitError};

/// An error that somebody is told.
pub trait Reason: Display {
    /// Returns the stable code: upper-case words such as `ROLE_FORBIDDEN`.
    fn code(&self) -> &'static str;

    /// Returns the field it is about, as a dotted path.
    fn field(&self) -> Option<&'static str> {
        None
    }

    /// Returns what was expected and what was found.
    fn message(&self) -> String {
        self.to_string()
    }

    /// Returns what to do about it, where the code alone does not say it.
    fn cure(&self) -> Option<&'static str> {
        None
    }
}

/// What is ours to write has a canonical form.
impl Reason for WriteError {
    fn code(&self) -> &'static str {
        BUG
    }
}

/// Only for values of our own making: what people type is checked where it comes in.
impl Reason for LimitError {
    fn code(&self) -> &'static str {
        BUG
    }
}

/// The code of a mistake in demur.
pub const BUG: &str = "BUG";
