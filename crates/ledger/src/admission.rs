//! The door: what a submission must satisfy before the desk orders it (`docs/format.md` 3 and 4; LED-09).
//! Everything here holds without the state of the run; the guards of [`crate::state`] come after it.

use demur_core::{
    canonical::ReadError,
    hash::{Digest, Purpose},
    key::{Fingerprint, PublicKey, SignatureError},
    time::Timestamp,
};

use crate::{
    chain::{Body, Tip},
    content::{self, ContentMismatch, ContentRule, Opening},
    event_type::{Content, EventType, Facts, Opens, TypeName},
    name::{PrincipalId, Sequence, StoreId},
    proof::{Proof, ProofKind},
    registry::{Registry, Standing},
    role::Role,
    statement::{Statement, Submission},
};

/// A submission that its author signed: whoever reads it knows who said it. Checking it is most of the work and
/// needs no lock; [`Checked::admit`] then says whether it may stand next in its trace.
#[derive(Clone, Debug)]
pub struct Checked {
    submission: Submission,
    statement: Statement,
    kind: EventType,
    /// What is wrong with it wherever it may be put. Kept, because a refusal to a known author is recorded.
    flaw: Option<AdmissionError>,
}

impl Checked {
    /// Returns the submission once its signature holds. Without a registry only the statement that creates a
    /// store can hold.
    pub fn new(submission: Submission, registry: Option<&Registry>) -> Result<Self, AdmissionError> {
        let statement = Statement::parse(&submission.statement)?;
        let kind = match &statement.kind {
            TypeName::Known(kind) => *kind,
            TypeName::Unknown(_) => return Err(AdmissionError::UnknownType { kind: statement.kind.clone() }),
        };
        let key = signing_key(&submission, &statement, registry)?;
        submission.proof.admit(&key, Purpose::Statement, &submission.statement)?;
        Ok(Self::spoken(submission, statement, kind))
    }

    /// Returns a statement that is known to be signed with the key its proof names: it was signed here, or that was checked.
    pub(crate) fn spoken(submission: Submission, statement: Statement, kind: EventType) -> Self {
        let flaw = check_form(&submission, &statement, kind).err();
        Self { submission, statement, kind, flaw }
    }

    /// Returns the submission, to be sent elsewhere.
    pub fn into_submission(self) -> Submission {
        self.submission
    }

    /// Returns what the author said.
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Returns the exact bytes the author signed.
    pub fn statement_bytes(&self) -> &[u8] {
        &self.submission.statement
    }

    /// Returns the content that came with it, if it is what the statement commits to.
    pub fn opening(&self) -> Option<&Opening> {
        self.submission.opening.as_ref().filter(|_| self.flaw.is_none())
    }

    /// Returns the event type.
    pub const fn kind(&self) -> EventType {
        self.kind
    }

    /// Returns the key it was signed with.
    pub const fn key(&self) -> Fingerprint {
        self.submission.proof.key
    }

    /// Returns the principal behind the key if the statement may stand next in this trace, as far as the door can
    /// tell. `seen` is the hash of this trace's event at the place that the statement's `seen` names, if any; `now` is the
    /// time that the event will carry, [`Tip::time_at`].
    pub fn admit(
        &self,
        registry: Option<&Registry>,
        tip: &Tip,
        seen: Option<Digest>,
        now: Timestamp,
    ) -> Result<PrincipalId, AdmissionError> {
        if let Some(flaw) = &self.flaw {
            return Err(flaw.clone());
        }
        check_place(&self.statement, self.kind, registry.map(Registry::store), tip, seen)?;
        if now > self.statement.not_after {
            return Err(AdmissionError::Expired { not_after: self.statement.not_after, now });
        }
        author(self.key(), &self.statement, registry)
    }

    /// Returns what goes into the envelope, and the content beside it.
    pub fn into_body(self) -> (Body, Option<Opening>) {
        let Submission { proof, opening, .. } = self.submission;
        (Body::Statement(self.statement.into(), Proof::Ed25519(proof)), opening)
    }
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

/// Checks everything that holds or not wherever the statement may be put.
fn check_form(submission: &Submission, statement: &Statement, kind: EventType) -> Result<(), AdmissionError> {
    if !kind.admits_role(statement.role) {
        return Err(AdmissionError::Role { role: statement.role, kind });
    }
    if !kind.admits_proof(ProofKind::Ed25519) {
        return Err(AdmissionError::NotForAuthors { kind });
    }
    check_cites(statement)?;
    check_content(submission, statement, kind)
}

fn check_place(
    statement: &Statement,
    kind: EventType,
    store: Option<StoreId>,
    tip: &Tip,
    seen: Option<Digest>,
) -> Result<(), AdmissionError> {
    if statement.store != store {
        return Err(AdmissionError::OtherStore);
    }
    if statement.trace != tip.trace() {
        return Err(AdmissionError::OtherTrace);
    }
    let opens = tip.head().is_none();
    match (kind.rule().opens, opens) {
        (Opens::Never, true) => return Err(AdmissionError::NotOpened { kind }),
        (Opens::Always, false) => return Err(AdmissionError::TraceExists),
        _ => {}
    }
    match statement.seen {
        None if opens => Ok(()),
        Some(position) if seen == Some(position.hash) => Ok(()),
        _ => Err(AdmissionError::Seen),
    }
}

/// Returns the key to check the signature with, whether or not it may still speak.
fn signing_key(
    submission: &Submission,
    statement: &Statement,
    registry: Option<&Registry>,
) -> Result<PublicKey, AdmissionError> {
    let fingerprint = submission.proof.key;
    let key = match (&statement.facts, registry) {
        // A key that registers itself must be the key that signs.
        (Facts::StoreCreated(facts), None) => Some(facts.key).filter(|key| key.fingerprint() == fingerprint),
        (Facts::KeyRegistered(facts), Some(_)) => {
            Some(facts.key).filter(|key| key.fingerprint() == fingerprint)
        }
        (_, Some(registry)) => registry.public_key(&fingerprint).copied(),
        (_, None) => return Err(AdmissionError::OtherStore),
    };
    key.ok_or(AdmissionError::Key(Standing::Unknown))
}

/// Returns the principal behind the key, if the key may say this now.
fn author(
    key: Fingerprint,
    statement: &Statement,
    registry: Option<&Registry>,
) -> Result<PrincipalId, AdmissionError> {
    match (&statement.facts, registry) {
        (Facts::StoreCreated(facts), None) => Ok(facts.desk),
        (Facts::KeyRegistered(facts), Some(_)) => Ok(facts.principal),
        (Facts::KeyRotated(facts), Some(registry)) => {
            let old = registry.key(&facts.old).ok_or(AdmissionError::Key(Standing::Unknown))?;
            Ok(old.principal)
        }
        (_, Some(registry)) => {
            let at = registry.head().sequence;
            let record = registry.speaker(&key, at).map_err(AdmissionError::Key)?;
            if !record.roles.contains(&statement.role) {
                return Err(AdmissionError::KeyRole { role: statement.role });
            }
            Ok(record.principal)
        }
        (_, None) => Err(AdmissionError::OtherStore),
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
