//! The door: what a submission must satisfy before the desk orders it (`docs/format.md` 3 and 4; LED-09).
//! Everything here holds without the state of the run; the guards of [`crate::state`] come after it.

use demur_core::{
    canonical::ReadError,
    hash::Purpose,
    key::{PublicKey, SignatureError},
    time::Timestamp,
};

use crate::{
    chain::Chain,
    content::{self, ContentMismatch, ContentRule},
    event_type::{Content, EventType, Facts, TypeName},
    name::{PrincipalId, Sequence, StoreId},
    proof::ProofKind,
    registry::{Registry, Standing},
    role::Role,
    statement::{Statement, Submission},
};

/// A submission that passed the door.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The statement.
    pub statement: Statement,
    /// Its event type.
    pub kind: EventType,
    /// The principal behind the key.
    pub actor: PrincipalId,
}

/// Returns the statement of a submission that may stand next in this trace, as far as the door can tell.
pub fn admit(
    submission: &Submission,
    registry: Option<&Registry>,
    chain: &Chain,
    now: Timestamp,
) -> Result<Admitted, AdmissionError> {
    let statement = Statement::parse(&submission.statement)?;
    let kind = match &statement.kind {
        TypeName::Known(kind) => *kind,
        TypeName::Unknown(_) => return Err(AdmissionError::UnknownType { kind: statement.kind.clone() }),
    };
    if !kind.admits_role(statement.role) {
        return Err(AdmissionError::Role { role: statement.role, kind });
    }
    if !kind.admits_proof(ProofKind::Ed25519) {
        return Err(AdmissionError::NotForAuthors { kind });
    }
    check_place(&statement, kind, registry.map(Registry::store), chain)?;
    if now > statement.not_after {
        return Err(AdmissionError::Expired { not_after: statement.not_after, now });
    }
    let (key, actor) = author(submission, &statement, registry)?;
    submission.proof.admit(&key, Purpose::Statement, &submission.statement)?;
    check_content(submission, &statement, kind)?;
    if chain.knows_command(submission.proof.key, statement.command) {
        return Err(AdmissionError::CommandUsed);
    }
    Ok(Admitted { statement, kind, actor })
}

/// Checks that every earlier event the facts refer to was known to the author. Otherwise the desk could choose
/// what a number means after the signature was made.
pub fn check_cites(statement: &Statement) -> Result<(), AdmissionError> {
    let mut unseen = None;
    statement.facts.cites(&mut |cited| {
        if statement.seen.is_none_or(|seen| cited > seen.sequence) {
            unseen = unseen.or(Some(cited));
        }
    });
    match unseen {
        Some(cited) => Err(AdmissionError::CitesUnseen { cited }),
        None => Ok(()),
    }
}

fn check_place(
    statement: &Statement,
    kind: EventType,
    store: Option<StoreId>,
    chain: &Chain,
) -> Result<(), AdmissionError> {
    if statement.store != store {
        return Err(AdmissionError::OtherStore);
    }
    if statement.trace != chain.trace() {
        return Err(AdmissionError::OtherTrace);
    }
    let opens = chain.head().is_none();
    if kind.rule().opens != opens {
        return Err(if opens { AdmissionError::NotOpened { kind } } else { AdmissionError::TraceExists });
    }
    match statement.seen {
        None if opens => {}
        Some(seen) if chain.holds(&seen) => {}
        _ => return Err(AdmissionError::Seen),
    }
    check_cites(statement)
}

/// Returns the key to check the signature with and the principal behind it.
fn author(
    submission: &Submission,
    statement: &Statement,
    registry: Option<&Registry>,
) -> Result<(PublicKey, PrincipalId), AdmissionError> {
    let fingerprint = submission.proof.key;
    match (&statement.facts, registry) {
        (Facts::StoreCreated(facts), None) => own(facts.key, facts.desk, submission),
        (Facts::KeyRegistered(facts), Some(_)) => own(facts.key, facts.principal, submission),
        (Facts::KeyRotated(facts), Some(registry)) => {
            let key = registry.public_key(&fingerprint).ok_or(AdmissionError::Key(Standing::Unknown))?;
            let old = registry.key(&facts.old).ok_or(AdmissionError::Key(Standing::Unknown))?;
            Ok((*key, old.principal))
        }
        (_, Some(registry)) => {
            let at = registry.head().sequence;
            let record = registry.speaker(&fingerprint, at).map_err(AdmissionError::Key)?;
            if !record.roles.contains(&statement.role) {
                return Err(AdmissionError::KeyRole { role: statement.role });
            }
            Ok((record.public, record.principal))
        }
        (_, None) => Err(AdmissionError::OtherStore),
    }
}

/// A key that registers itself must be the key that signs.
fn own(
    key: PublicKey,
    principal: PrincipalId,
    submission: &Submission,
) -> Result<(PublicKey, PrincipalId), AdmissionError> {
    if key.fingerprint() == submission.proof.key {
        Ok((key, principal))
    } else {
        Err(AdmissionError::Key(Standing::Unknown))
    }
}

fn check_content(
    submission: &Submission,
    statement: &Statement,
    kind: EventType,
) -> Result<(), AdmissionError> {
    match (kind.rule().content, &submission.opening, &statement.content) {
        (ContentRule::Absent, None, None) => Ok(()),
        (ContentRule::Required, Some(opening), Some(commitment)) => {
            if opening.commitment() != *commitment {
                return Err(AdmissionError::Commitment);
            }
            let content = Content::parse(kind, &opening.bytes).map_err(AdmissionError::Content)?;
            Ok(content::agrees(&statement.facts, &content)?)
        }
        (rule, _, _) => Err(AdmissionError::ContentRule { kind, required: rule == ContentRule::Required }),
    }
}

/// The door says no. Nothing was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
            Self::Commitment => "COMMITMENT",
            Self::Content(_) | Self::Mismatch(_) => "CONTENT_MALFORMED",
            Self::ContentRule { .. } => "CONTENT_RULE",
            Self::CommandUsed => "COMMAND_USED",
        }
    }
}
