//! What can go wrong, for people and for scripts: every failure of a command ends here as one exit code, one stable code,
//! one sentence and, where there is a cure, one hint.

use std::{fmt::Display, io, path::Path};

use demur_api::{code::Code, refusal::Refusal};
use demur_desk::error;
use serde::Serialize;

use crate::{exit::Exit, hints::hint_of};

/// A command that did not do what it was asked to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// It was refused, here or by the server.
    #[error("{0}")]
    Refused(Refusal),
    /// It failed before anything was asked for: what was typed, a file, the terminal.
    #[error("{0}")]
    Local(LocalFailure),
}

/// A failure of the command itself. Its code is known nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct LocalFailure {
    exit: Exit,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// Returns a failure of the command itself. Codes are upper-case words, as in refusals.
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Display) -> Self {
        Self::Local(LocalFailure { exit, code, message: message.to_string(), hint: None })
    }

    /// Returns a failure of the command itself about what was given.
    pub(crate) fn input(code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::BadInput, code, message)
    }

    /// Returns a failure of the command itself, which must not do this.
    pub(crate) fn refused(code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::Refused, code, message)
    }

    /// Returns a failure of the command itself that is ours.
    pub(crate) fn internal(code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::Internal, code, message)
    }

    /// Returns a failure under a code that others use, too.
    pub(crate) fn of(code: Code, message: impl Display) -> Self {
        Refusal::new(code, message).into()
    }

    /// Returns the failure of something that cannot happen unless we made a mistake.
    pub(crate) fn bug(error: &impl Display) -> Self {
        Refusal::bug(error).into()
    }

    /// Returns the failure of a file that cannot be read.
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        error::unreadable(path, error).into()
    }

    /// Returns the failure of a file that could not be made. `action` completes "cannot ...".
    pub(crate) fn file(action: &str, path: &Path, error: &io::Error) -> Self {
        error::file(action, path, error).into()
    }

    /// Returns the same failure with what to do about it.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Display) -> Self {
        match &mut self {
            Self::Refused(refusal) => refusal.cure = Some(hint.to_string()),
            Self::Local(failure) => failure.hint = Some(hint.to_string()),
        }
        self
    }

    /// Returns its stable code.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code.as_str(),
            Self::Local(failure) => failure.code,
        }
    }

    /// Returns whether it has this code.
    pub(crate) fn is(&self, code: Code) -> bool {
        self.code() == code.as_str()
    }

    /// Returns whether it is worth trying again later.
    pub(crate) const fn is_passing(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code.is_passing())
    }

    /// Returns whether somebody else was first.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code.is_late())
    }

    /// Returns how the command ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Refused(refusal) => refusal.code.class().into(),
            Self::Local(failure) => failure.exit,
        }
    }

    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.cure.as_deref().or_else(|| hint_of(refusal.code)),
            Self::Local(failure) => failure.hint.as_deref(),
        }
    }

    /// Returns the document for `--json`.
    pub(crate) fn document(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Document<'a> {
            error: Body<'a>,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            code: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            field: Option<&'a str>,
            hint: Option<&'a str>,
            message: String,
        }
        let field = match self {
            Self::Refused(refusal) => refusal.field.as_deref(),
            Self::Local(_) => None,
        };
        Document { error: Body { code: self.code(), field, hint: self.hint(), message: self.to_string() } }
    }
}

impl<E: Into<Refusal>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}
