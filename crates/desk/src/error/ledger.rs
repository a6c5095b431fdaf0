//! From the ledger's errors to the command's: a rule that said no ends with 3 and keeps its code, its field and its
//! cure; the rest is the store's trouble or a bug of ours.

use demur_core::{canonical::WriteError, limit::LimitError};
use demur_engine::refusal::Refusal;
use demur_ledger::{author::AuthorError, desk::DeskError, statement::DraftError};
use demur_store::ledger::LedgerError;

use super::{CommandError, store};

impl From<LedgerError> for CommandError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Refused(refusal) => refusal.into(),
            LedgerError::Store(error) => error.into(),
            LedgerError::TraceUnknown { .. } => {
                Self::input("TRACE_UNKNOWN", error).with_hint("`demur trace list` shows what is there")
            }
            LedgerError::Damaged { .. } => {
                Self::input("RECORD_DAMAGED", error).with_hint("`demur store check` says what else is wrong")
            }
            LedgerError::NoDeskKey => Self::refused("NO_DESK_KEY", error)
                .with_hint("the desk signs every change: restore its key from a backup of the folder keys"),
            LedgerError::Contended => Self::refused("CONTENDED", error),
            LedgerError::Moved => Self::refused("MOVED", error),
            LedgerError::Commit(store) => Self::from(&*store),
            LedgerError::Uncertain => Self::internal(store::UNCERTAIN, error),
            LedgerError::Output(error) => {
                Self::internal("OUTPUT_TROUBLE", format!("the export could not be written: {error}"))
            }
            LedgerError::NotCreated
            | LedgerError::Created
            | LedgerError::Draft(_)
            | LedgerError::Desk(_)
            | LedgerError::Write(_) => Self::bug(&error),
        }
    }
}

impl From<demur_plan::Error> for CommandError {
    fn from(error: demur_plan::Error) -> Self {
        use demur_plan::Error as E;
        let code = match &error {
            E::NoGap { .. } => "GAP_UNKNOWN",
            E::Trace { .. } | E::Rules(_) => "SESSION_UNREADABLE",
            E::Plan(_) | E::Reserved { .. } | E::TooManyValues { .. } => "PLAN_MALFORMED",
            E::Stricter { .. } => {
                return Self::refused("ASSURANCE_TOO_LOW", error).with_hint("answer the other gap first");
            }
            E::OutOfDate { .. } => return Self::refused("MOVED", error),
            E::TooManyGaps(_) => "TOO_MANY_GAPS",
            E::Judge(_) | E::Limit { .. } => "ANSWER_INVALID",
            E::Clarify(_) => "DOCUMENT_INVALID",
            E::NothingOpen => return Self::bug(&error),
        };
        Self::input(code, error)
            .with_hint("nothing was recorded; `demur plan show SESSION` says what is asked")
    }
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> Self {
        Self::refused(refusal.code, refusal.message).about(refusal.field).with_hint(refusal.cure)
    }
}

impl From<DeskError> for CommandError {
    fn from(error: DeskError) -> Self {
        Self::bug(&error)
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
    /// Returns the error of something that cannot happen unless we made a mistake.
    pub fn bug(error: &impl std::fmt::Display) -> Self {
        Self::internal("BUG", error).with_hint("this is a mistake in demur: please report it")
    }
}
