//! From the ledger's errors to the command's: a rule that said no ends with 3 and keeps its code, the rest is
//! a bug of ours.

use demur_core::{canonical::WriteError, limit::LimitError};
use demur_ledger::{
    author::AuthorError, desk::DeskError, registry::RegistryError, state::GuardError, statement::DraftError,
};

use super::CommandError;

impl From<DeskError> for CommandError {
    fn from(error: DeskError) -> Self {
        match &error {
            DeskError::Admission(cause) => Self::refused(cause.code(), cause),
            DeskError::Guard(cause) => Self::from_guard(cause),
            DeskError::Registry(cause) => Self::from_registry(cause),
            _ => Self::bug(&error),
        }
    }
}

impl From<AuthorError> for CommandError {
    fn from(error: AuthorError) -> Self {
        Self::bug(&error)
    }
}

impl From<DraftError> for CommandError {
    fn from(error: DraftError) -> Self {
        Self::bug(&error)
    }
}

impl From<WriteError> for CommandError {
    fn from(error: WriteError) -> Self {
        Self::bug(&error)
    }
}

/// Only for values of our own making: what people type is checked where it comes in.
impl From<LimitError> for CommandError {
    fn from(error: LimitError) -> Self {
        Self::bug(&error)
    }
}

impl CommandError {
    fn from_guard(error: &GuardError) -> Self {
        Self::refused(error.code(), error)
    }

    /// Returns the error of a registry that said no.
    pub(crate) fn from_registry(error: &RegistryError) -> Self {
        let code = match error {
            RegistryError::LastDeskKey => "LAST_DESK_KEY",
            RegistryError::Subject(_) => "KEY_STANDING",
            RegistryError::Signer { .. } => "SIGNER_NOT_ENTITLED",
            RegistryError::KeyKnown => "KEY_KNOWN",
            RegistryError::Rotation { .. } => "ROTATION",
            RegistryError::Recovery => "RECOVERY",
            RegistryError::Write(_) => return Self::bug(error),
            _ => "REGISTRY_REFUSED",
        };
        Self::refused(code, error)
    }

    /// Returns the error of something that cannot happen unless we made a mistake.
    pub(crate) fn bug(error: &impl std::fmt::Display) -> Self {
        Self::internal("BUG", error).with_hint("this is a mistake in demur: please report it")
    }
}
