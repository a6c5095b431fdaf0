//! What the door says when it says no.

use demur_core::{canonical::ReadError, key::SignatureError, time::Timestamp};

use super::ContentMismatch;
use crate::{
    event_type::{EventType, TypeName},
    name::Sequence,
    passkey::PasskeyError,
    registry::Standing,
    role::Role,
};

/// The door says no. Nothing was recorded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AdmissionError {
    /// Malformed: not a canonical statement.
    #[error("expected a statement in canonical JSON: {0}")]
    Statement(#[from] ReadError),
    /// Malformed: a type this version does not know.
    #[error("expected a known event type, found {kind}: use a newer version of demur")]
    UnknownType {
        /// The type.
        kind: TypeName,
    },
    /// Forbidden: the role guard.
    #[error("the role {role} may not emit {kind}")]
    Role {
        /// The role.
        role: Role,
        /// The type.
        kind: EventType,
    },
    /// Forbidden: only the desk records such events.
    #[error("{kind} is recorded by the desk and takes no statement")]
    NotForAuthors {
        /// The type.
        kind: EventType,
    },
    /// Malformed: meant for another store.
    #[error("the statement is for another store")]
    OtherStore,
    /// Malformed: meant for another trace.
    #[error("the statement is for another trace")]
    OtherTrace,
    /// Malformed: an event before the one that opens the trace.
    #[error("expected an event that opens a trace, found {kind}")]
    NotOpened {
        /// The type.
        kind: EventType,
    },
    /// Malformed: the trace is there already.
    #[error("the trace exists already: choose a new id to open another")]
    TraceExists,
    /// Malformed: `seen` names no event of this trace.
    #[error("seen: expected number and hash of an event of this trace, found something else")]
    Seen,
    /// Malformed: a reference past `seen`.
    #[error("the facts refer to event {cited}, which the author had not seen")]
    CitesUnseen {
        /// The event.
        cited: Sequence,
    },
    /// Expired.
    #[error("the statement expired at {not_after}, it is {now}: sign it again")]
    Expired {
        /// Its end.
        not_after: Timestamp,
        /// The desk's clock.
        now: Timestamp,
    },
    /// Forbidden: the key may not speak.
    #[error("{0}")]
    Key(Standing),
    /// Forbidden: the key may not speak in this role.
    #[error("the key is not registered for the role {role}")]
    KeyRole {
        /// The role.
        role: Role,
    },
    /// Forbidden: not signed by the key it names.
    #[error("the signature does not hold: {0}")]
    Signature(#[from] SignatureError),
    /// Forbidden: a passkey's assertion that does not hold.
    #[error("{0}")]
    Passkey(#[from] PasskeyError),
    /// Forbidden: the person behind the passkey may not speak so.
    #[error("the person behind the passkey may not say this as {role}")]
    PersonRole {
        /// The role.
        role: Role,
    },
    /// Forbidden: the facts name somebody else than the person behind the passkey.
    #[error("the facts name another person than the one behind the passkey")]
    OtherPerson,
    /// Malformed: content does not open the commitment.
    #[error("the content and salt do not open the commitment in the statement")]
    Commitment,
    /// Malformed: content of the wrong shape.
    #[error("content: {0}")]
    Content(#[source] ReadError),
    /// Malformed: content contradicts the facts.
    #[error("content: {0}")]
    Mismatch(#[from] ContentMismatch),
    /// Malformed: content missing, or there where there is none.
    #[error("{kind}: expected {}", if *.required { "content with its salt and commitment" } else { "no content" })]
    ContentRule {
        /// The type.
        kind: EventType,
        /// What the table says.
        required: bool,
    },
    /// Repeat: this key used this command id before.
    #[error("the command id was used before by this key: a new command needs a new id")]
    CommandUsed,
}

impl AdmissionError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Statement(_) => "STATEMENT_MALFORMED",
            Self::UnknownType { .. } => "TYPE_UNKNOWN",
            Self::Role { .. } => "ROLE_FORBIDDEN",
            Self::NotForAuthors { .. } => "NOT_FOR_AUTHORS",
            Self::OtherStore => "OTHER_STORE",
            Self::OtherTrace => "OTHER_TRACE",
            Self::NotOpened { .. } => "NOT_OPENED",
            Self::TraceExists => "TRACE_EXISTS",
            Self::Seen => "SEEN_UNKNOWN",
            Self::CitesUnseen { .. } => "CITES_UNSEEN",
            Self::Expired { .. } => "EXPIRED",
            Self::Key(Standing::Revoked { .. }) => "KEY_REVOKED",
            Self::Key(Standing::Retired { .. }) => "KEY_RETIRED",
            Self::Key(_) => "KEY_UNKNOWN",
            Self::KeyRole { .. } => "KEY_ROLE",
            Self::Signature(_) => "SIGNATURE_INVALID",
            Self::Passkey(error) => error.code(),
            Self::PersonRole { .. } => "KEY_ROLE_MISMATCH",
            Self::OtherPerson => "ACTOR_MISMATCH",
            Self::Commitment => "COMMITMENT",
            Self::Content(_) | Self::Mismatch(_) => "CONTENT_MALFORMED",
            Self::ContentRule { .. } => "CONTENT_RULE",
            Self::CommandUsed => "COMMAND_USED",
        }
    }
}
