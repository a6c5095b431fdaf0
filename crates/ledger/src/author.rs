//! An author: a key, the principal behind it and the role it speaks in. Here statements are made and signed.

use demur_core::{
    canonical::{self, WriteError},
    commitment::{Commitment, Salt},
    hash::{Digest, Purpose},
    key::{Fingerprint, PublicKey, SecretKey},
    limit::List,
    random::Random,
    time::Timestamp,
};

use crate::{
    admission::Checked,
    content::{NameContent, Opening},
    event_type::{Content, EventType, Facts},
    facts::{ArtifactRecorded, KeyRegistered, KeyRotated, PossessionClaim, ReportRecorded},
    name::{CommandId, Position, PrincipalId, StoreId, TraceId},
    passkey::Assertion,
    proof::KeySignature,
    role::Role,
    statement::{Statement, Submission},
};

/// Whoever signs statements.
#[derive(Debug)]
pub struct Author {
    key: SecretKey,
    principal: PrincipalId,
    role: Role,
}

/// Where a statement is meant to stand, and when it is made.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The store.
    pub store: StoreId,
    /// The trace.
    pub trace: TraceId,
    /// The last event of it that the author knows.
    pub seen: Option<Position>,
    /// The author's clock.
    pub now: Timestamp,
}

impl Place {
    /// Returns a statement that is not signed yet, its type, and the content that it commits to.
    fn statement(
        &self,
        command: CommandId,
        (role, facts, content): Saying,
        random: &mut dyn Random,
    ) -> Result<(EventType, Statement, Option<Opening>), DraftError> {
        let salt = Salt::draw(random);
        let kind = facts.event_type().ok_or(DraftError::UnknownType)?;
        let opening = content.map(|content| Opening::of(&content, salt)).transpose()?;
        let statement = Statement {
            command,
            content: opening.as_ref().map(Opening::commitment),
            facts,
            not_after: self.now.plus_millis(STATEMENT_LIFETIME_MILLIS),
            role,
            seen: self.seen,
            store: Some(self.store),
            trace: self.trace,
            kind: kind.into(),
        };
        Ok((kind, statement, opening))
    }
}

impl Author {
    /// Returns the author who speaks with this key.
    pub const fn new(key: SecretKey, principal: PrincipalId, role: Role) -> Self {
        Self { key, principal, role }
    }

    /// Returns the principal behind the key.
    pub const fn principal(&self) -> PrincipalId {
        self.principal
    }

    /// Returns the role.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        self.key.public()
    }

    /// Returns a signed statement for this place. It is good for five minutes.
    pub fn say(
        &self,
        place: &Place,
        facts: impl Into<Facts>,
        content: Option<Content>,
        random: &mut dyn Random,
    ) -> Result<Submission, DraftError> {
        self.say_as(CommandId::new(place.now, random), place, (self.role, facts.into(), content), random)
    }

    /// Returns a signed statement for the desk in this process, under a command id of the caller's choice: it is recorded once
    /// however often it is made. Nothing that came from outside can pass for it, so its signature needs no second look.
    pub fn speak(
        &self,
        command: CommandId,
        place: &Place,
        facts: impl Into<Facts>,
        content: Option<Content>,
        random: &mut dyn Random,
    ) -> Result<Checked, DraftError> {
        let said = (self.role, facts.into(), content);
        let (kind, statement, opening) = place.statement(command, said, random)?;
        Ok(Checked::spoken(sign(&statement, opening, &self.key)?, statement, kind))
    }

    /// Returns the statement that brings this author's key into the registry.
    pub fn register(
        &self,
        place: &Place,
        recovery: Option<PublicKey>,
        name: &str,
        random: &mut dyn Random,
    ) -> Result<Submission, AuthorError> {
        let facts = KeyRegistered {
            key: self.key.public(),
            principal: self.principal,
            recovery,
            roles: List::try_from(vec![self.role]).map_err(|_| AuthorError::Name)?,
        };
        let name = name.try_into().map_err(|_| AuthorError::Name)?;
        let content = Some(Content::KeyRegistered(NameContent { name }));
        let command = CommandId::new(place.now, random);
        Ok(self.say_as(command, place, (Role::Holder, facts.into(), content), random)?)
    }

    /// Returns the statement that names `new` as the successor of `old`, signed with this author's key: the old
    /// key itself or its recovery key.
    pub fn rotate(
        &self,
        place: &Place,
        old: Fingerprint,
        new: &SecretKey,
        recovery: Option<PublicKey>,
        random: &mut dyn Random,
    ) -> Result<Submission, AuthorError> {
        let command = CommandId::new(place.now, random);
        let claim = PossessionClaim { command, key: new.public(), old, store: place.store };
        let bytes = canonical::to_vec(&claim).map_err(DraftError::from)?;
        let possession = new.sign(Purpose::Possession, &bytes);
        let facts = KeyRotated { key: new.public(), old, possession, recovery };
        let role = if self.role == Role::Desk { Role::Desk } else { Role::Holder };
        Ok(self.say_as(command, place, (role, facts.into(), None), random)?)
    }

    fn say_as(
        &self,
        command: CommandId,
        place: &Place,
        said: Saying,
        random: &mut dyn Random,
    ) -> Result<Submission, DraftError> {
        let (_, statement, opening) = place.statement(command, said, random)?;
        Ok(sign(&statement, opening, &self.key)?)
    }
}

/// What an author says: the role, the facts, the words.
type Saying = (Role, Facts, Option<Content>);

/// Returns a statement signed with its author's key, and the content it commits to.
fn sign(statement: &Statement, opening: Option<Opening>, key: &SecretKey) -> Result<Submission, WriteError> {
    let bytes = statement.to_bytes()?;
    let proof = KeySignature::sign(key, Purpose::Statement, &bytes).into();
    Ok(Submission { statement: bytes, proof, opening })
}

/// A statement that is not signed yet, for whoever is no [`Author`].
#[derive(Clone, Debug)]
pub struct Draft {
    /// See [`Statement::command`].
    pub command: CommandId,
    /// The content, if the event type has any.
    pub content: Option<Content>,
    /// See [`Statement::facts`].
    pub facts: Facts,
    /// See [`Statement::not_after`].
    pub not_after: Timestamp,
    /// See [`Statement::role`].
    pub role: Role,
    /// See [`Statement::seen`].
    pub seen: Option<Position>,
    /// See [`Statement::store`].
    pub store: Option<StoreId>,
    /// See [`Statement::trace`].
    pub trace: TraceId,
}

impl Draft {
    /// Returns the signed submission. The salt must be fresh: one salt, one content.
    pub fn sign(self, key: &SecretKey, salt: Salt) -> Result<Submission, DraftError> {
        let Prepared { statement, opening } = self.prepare(salt)?;
        let proof = KeySignature::sign(key, Purpose::Statement, &statement).into();
        Ok(Submission { statement, proof, opening })
    }

    /// Returns the statement as it is to be signed elsewhere. The salt must be fresh: one salt, one content.
    pub fn prepare(self, salt: Salt) -> Result<Prepared, DraftError> {
        let kind = self.facts.event_type().ok_or(DraftError::UnknownType)?;
        let opening = self.content.map(|content| Opening::of(&content, salt)).transpose()?;
        let statement = Statement {
            command: self.command,
            content: opening.as_ref().map(Opening::commitment),
            kind: kind.into(),
            facts: self.facts,
            not_after: self.not_after,
            role: self.role,
            seen: self.seen,
            store: self.store,
            trace: self.trace,
        };
        Ok(Prepared { statement: statement.to_bytes()?, opening })
    }
}

/// A statement that is made and waits to be signed: by a passkey, whose holder is shown what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The statement's canonical bytes.
    pub statement: Vec<u8>,
    /// The content that it commits to.
    pub opening: Option<Opening>,
}

impl Prepared {
    /// Returns what stands for the statement in a challenge.
    pub fn leaf(&self) -> Digest {
        Assertion::leaf(&self.statement)
    }

    /// Returns the submission with what a passkey made of the touch that this statement was shown for.
    pub fn assert(self, assertion: Assertion) -> Submission {
        Submission { statement: self.statement, proof: assertion.into(), opening: self.opening }
    }
}

/// A draft that cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// Caller misuse: facts of a type this version does not know.
    #[error("expected facts of a known event type, found an unknown one: use a newer version of demur")]
    UnknownType,
    /// Caller misuse: a value that JSON cannot carry.
    #[error("the statement cannot be written as canonical JSON")]
    Write(#[from] WriteError),
}

/// Bytes to be stored, with the facts that commit to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The raw bytes.
    pub bytes: Vec<u8>,
    /// The salt of the commitment.
    pub salt: Salt,
}

impl Artifact {
    /// Returns the artifact of these bytes with a fresh salt.
    pub fn new(bytes: Vec<u8>, random: &mut dyn Random) -> Self {
        Self { bytes, salt: Salt::draw(random) }
    }

    /// Returns the commitment to the bytes.
    pub fn commitment(&self) -> Commitment {
        Commitment::to_artifact(&self.salt, &self.bytes)
    }

    /// Returns the facts of the event that records it.
    pub fn facts(&self) -> ArtifactRecorded {
        ArtifactRecorded { commitment: self.commitment() }
    }

    /// Returns the facts of the event that records it as the auditor's report.
    pub fn report_facts(&self) -> ReportRecorded {
        ReportRecorded { commitment: self.commitment() }
    }
}

/// A statement about a key that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AuthorError {
    /// Caller misuse: a name too long or empty.
    #[error("expected a name of 1 to 256 characters")]
    Name,
    /// Caller misuse: a draft that cannot be signed.
    #[error(transparent)]
    Draft(#[from] DraftError),
}

/// How long a statement is good for, in milliseconds.
const STATEMENT_LIFETIME_MILLIS: u64 = 5 * 60 * 1000;
