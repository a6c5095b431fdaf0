//! Why something may not happen to a confirmation now, each with a stable code, the field and the cure. Who may say yes at all
//! is decided as for an answer, with the same errors.

use demur_core::time::Timestamp;

use super::ConfirmationStanding;
use crate::{attribution::assurance_word, name::Sequence, question::Given, state::Blame};

/// A rule of confirmations said no. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmationError {
    /// No such confirmation in this trace. A question is none.
    #[error("expected a confirmation that was asked for in this trace, found event {confirmation}")]
    Unknown {
        /// The event it names.
        confirmation: Sequence,
    },
    /// Another one than the author saw.
    #[error(
        "the hash is not that of confirmation {confirmation}: a yes or a no is for exactly one operation"
    )]
    Other {
        /// The confirmation at that place.
        confirmation: Sequence,
    },
    /// Somebody was first, or it ended.
    #[error("confirmation {confirmation} is {standing} already{}", by(.said.as_ref()))]
    Closed {
        /// The confirmation.
        confirmation: Sequence,
        /// How it stands.
        standing: ConfirmationStanding,
        /// The yes or the no that counts.
        said: Option<Given>,
    },
    /// Too late.
    #[error("confirmation {confirmation} ended at {deadline}, and nobody had said yes")]
    Expired {
        /// The confirmation.
        confirmation: Sequence,
        /// Its end.
        deadline: Timestamp,
    },
    /// Too early for its end.
    #[error("confirmation {confirmation} can still be given: its deadline has not passed, or it has none")]
    StillInTime {
        /// The confirmation.
        confirmation: Sequence,
    },
    /// Whoever wants to act says yes to itself.
    #[error("expected a yes or a no of another, found one of the client whose operation it is")]
    OwnClient,
    /// A second one about the same intent.
    #[error("about: expected an intent without a confirmation, found one with confirmation {confirmation}")]
    AskedBefore {
        /// The first.
        confirmation: Sequence,
    },
    /// Something is concluded while an operation waits.
    #[error(
        "expected no confirmation to be open, still waiting: {}",
        confirmations.iter().map(Sequence::to_string).collect::<Vec<_>>().join(", ")
    )]
    StillOpen {
        /// Those that wait.
        confirmations: Vec<Sequence>,
    },
    /// Parts that do not belong together.
    #[error("{field}: expected {expected}")]
    Form {
        /// The fact.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// More confirmations than a trace has room for.
    #[error("a trace has at most {limit} confirmations")]
    TooMany {
        /// How many.
        limit: usize,
    },
}

fn by(said: Option<&Given>) -> String {
    let Some(Given { at, by, assurance, time }) = said else { return String::new() };
    let who = by.map_or_else(|| "a person".to_owned(), |principal| principal.to_string());
    format!(": by {who} in event {at} at {time} ({})", assurance_word(*assurance))
}

impl ConfirmationError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "CONFIRMATION_UNKNOWN",
            Self::Other { .. } => "CONFIRMATION_OTHER",
            Self::Closed { .. } => "CONFIRMATION_CLOSED",
            Self::Expired { .. } => "CONFIRMATION_EXPIRED",
            Self::StillInTime { .. } => "CONFIRMATION_IN_TIME",
            Self::OwnClient => "OWN_CLIENT",
            Self::AskedBefore { .. } | Self::Form { .. } => "CONFIRMATION_FORM",
            Self::StillOpen { .. } => "CONFIRMATIONS_OPEN",
            Self::TooMany { .. } => "TOO_MANY",
        }
    }

    /// Returns the field of the statement it is about.
    pub fn field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unknown { .. }
            | Self::Other { .. }
            | Self::Closed { .. }
            | Self::Expired { .. }
            | Self::StillInTime { .. } => "facts.confirmation",
            Self::OwnClient => "proof.key",
            Self::StillOpen { .. } | Self::TooMany { .. } => return None,
            Self::Form { field: "deadline", .. } => "facts.deadline",
            Self::AskedBefore { .. } | Self::Form { field: "about", .. } => "facts.about",
            Self::Form { .. } => "facts",
        })
    }

    /// Returns what has to happen first, or instead.
    pub const fn cure(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "name the event that asked for the confirmation",
            Self::Other { .. } => "read what was asked again, and confirm or refuse that",
            Self::Closed { .. } | Self::Expired { .. } => "ask for a new confirmation",
            Self::StillInTime { .. } => "wait for the deadline",
            Self::OwnClient => "let a person or another answerer confirm or refuse it",
            Self::AskedBefore { .. } => "sign a new intent and ask about that",
            Self::StillOpen { .. } => "wait until each is given or refused",
            Self::Form { .. } => "ask with parts that belong together",
            Self::TooMany { .. } => "open a new trace",
        }
    }

    /// Returns who has to do something about it.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Unknown { .. } | Self::Other { .. } | Self::AskedBefore { .. } | Self::Form { .. } => {
                Blame::Malformed
            }
            Self::Closed { .. } | Self::Expired { .. } | Self::OwnClient => Blame::Forbidden,
            Self::StillInTime { .. } | Self::StillOpen { .. } | Self::TooMany { .. } => Blame::TooEarly,
        }
    }
}
