//! Proofs: what ties a statement to its author (`docs/format.md` 4). What each proof is and how it is checked stands
//! here alone: others ask [`Proof::key`] and [`Proof::check`].

mod unknown;
mod wire;

use demur_core::{
    hash::{Digest, Purpose},
    key::{Batch, Fingerprint, PublicKey, SecretKey, Signature, SignatureError},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use unknown::UnknownProof;

use crate::{
    envelope::Event,
    event_type::{EventType, Facts},
    facts::Enrolment,
    passkey::{Assertion, ExpectedAssertion, PasskeyError},
    registry::Registry,
};

/// The proof of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A key of the author's own signed the statement: `{"ed25519": {"key": ..., "signature": ...}}`.
    Ed25519(KeySignature),
    /// Nothing, the desk's word: `"none"`.
    None,
    /// A passkey signed the statement's leaf: `{"webauthn": assertion}`.
    Webauthn(Box<Assertion>),
    /// Something that a later version knows. What it proves nobody can tell here.
    Unknown(UnknownProof),
}

/// What ties a statement to its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorProof {
    /// See [`Proof::Ed25519`].
    Key(KeySignature),
    /// See [`Proof::Webauthn`].
    Passkey(Box<Assertion>),
}

impl AuthorProof {
    /// Returns the kind.
    pub const fn kind(&self) -> ProofKind {
        match self {
            Self::Key(_) => ProofKind::Ed25519,
            Self::Passkey(_) => ProofKind::Webauthn,
        }
    }

    /// Returns the key or the passkey that made it.
    pub const fn key(&self) -> Fingerprint {
        match self {
            Self::Key(proof) => proof.key,
            Self::Passkey(assertion) => assertion.key,
        }
    }

    /// Returns the signature.
    pub const fn signature(&self) -> Signature {
        match self {
            Self::Key(proof) => proof.signature,
            Self::Passkey(assertion) => assertion.signature,
        }
    }
}

impl From<KeySignature> for AuthorProof {
    fn from(proof: KeySignature) -> Self {
        Self::Key(proof)
    }
}

impl From<Assertion> for AuthorProof {
    fn from(assertion: Assertion) -> Self {
        Self::Passkey(Box::new(assertion))
    }
}

impl From<AuthorProof> for Proof {
    fn from(proof: AuthorProof) -> Self {
        match proof {
            AuthorProof::Key(proof) => Self::Ed25519(proof),
            AuthorProof::Passkey(assertion) => Self::Webauthn(assertion),
        }
    }
}

/// A signature and the fingerprint of the key that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeySignature {
    /// Which key.
    pub key: Fingerprint,
    /// Its signature.
    pub signature: Signature,
}

/// The kind of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProofKind {
    /// See [`Proof::Ed25519`].
    Ed25519,
    /// See [`Proof::None`].
    None,
    /// See [`Proof::Webauthn`].
    Webauthn,
    /// See [`Proof::Unknown`].
    Unknown,
}

impl ProofKind {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ed25519 => ED25519,
            Self::None => NONE,
            Self::Webauthn => WEBAUTHN,
            Self::Unknown => "of a later version",
        }
    }

    /// Returns whether a key or a passkey of the actor's own made it.
    pub const fn has_key(self) -> bool {
        match self {
            Self::Ed25519 | Self::Webauthn => true,
            Self::None | Self::Unknown => false,
        }
    }
}

impl Proof {
    /// Returns the kind.
    pub const fn kind(&self) -> ProofKind {
        match self {
            Self::Ed25519(_) => ProofKind::Ed25519,
            Self::None => ProofKind::None,
            Self::Webauthn(_) => ProofKind::Webauthn,
            Self::Unknown(_) => ProofKind::Unknown,
        }
    }

    /// Returns the key or passkey of the author's own that made it; none for the desk's word.
    pub const fn key(&self) -> Option<Fingerprint> {
        match self {
            Self::Ed25519(proof) => Some(proof.key),
            Self::Webauthn(assertion) => Some(assertion.key),
            Self::None | Self::Unknown(_) => None,
        }
    }

    /// Returns what a passkey made, if one did.
    pub fn assertion(&self) -> Option<&Assertion> {
        match self {
            Self::Webauthn(assertion) => Some(assertion),
            Self::Ed25519(_) | Self::None | Self::Unknown(_) => None,
        }
    }

    /// Checks what can be checked at once, and adds to the batch what is left to check. The desk's word adds nothing.
    /// `keys` is none only before the event that creates the store.
    pub fn check(
        &self,
        subject: &Subject<'_>,
        keys: Option<&Registry>,
        batch: &mut Batch,
    ) -> Result<(), ProofError> {
        match self {
            Self::Ed25519(proof) => {
                let statement = subject.statement.ok_or(ProofError::NoStatement)?;
                let key = subject.key(&proof.key, keys).ok_or(ProofError::KeyUnknown { key: proof.key })?;
                // The event's hash is over the envelope, and the statement stands in it.
                batch.push_within(subject.event, key, Purpose::Statement, statement, &proof.signature);
                Ok(())
            }
            Self::Webauthn(assertion) => {
                let statement = subject.statement.ok_or(ProofError::NoStatement)?;
                let enrolment = subject
                    .enrolment(&assertion.key, keys)
                    .ok_or(ProofError::KeyUnknown { key: assertion.key })?;
                let leaf = Assertion::leaf(statement);
                Ok(assertion.verify(&ExpectedAssertion { leaf, is_alone: subject.is_alone, enrolment })?)
            }
            Self::None | Self::Unknown(_) => Ok(()),
        }
    }
}

/// What a proof is about: a statement in its event.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The hash of the event.
    event: &'a Digest,
    /// The exact bytes of the statement.
    statement: Option<&'a [u8]>,
    /// The key that comes in with the statement, which it must be signed with.
    newcomer: Newcomer<'a>,
    /// Whether a passkey signs it with a touch of its own.
    is_alone: bool,
}

/// A key that comes in with the statement that it signs.
#[derive(Clone, Copy, Debug)]
enum Newcomer<'a> {
    None,
    Key(&'a PublicKey),
    Passkey(&'a Enrolment),
}

impl<'a> Subject<'a> {
    /// Returns the subject of an event whose statement stands in these bytes.
    pub fn new(event: &'a Event, statement: Option<&'a [u8]>) -> Self {
        let kind = event.said().ok().and_then(|said| said.facts.event_type());
        let is_alone = kind.is_some_and(EventType::stands_alone);
        Self { is_alone, ..Self::of_parts(event.hash(), statement) }
    }

    /// Returns the subject of an event with this hash, which is over the statement too.
    pub(crate) const fn of_parts(event: &'a Digest, statement: Option<&'a [u8]>) -> Self {
        Self { event, statement, newcomer: Newcomer::None, is_alone: false }
    }

    /// Returns the subject of an event of the registry, where a key signs the statement that brings it in.
    pub fn of_registry(event: &'a Event) -> Self {
        let newcomer = match event.said().ok().map(|said| said.facts) {
            Some(Facts::StoreCreated(facts)) => Newcomer::Key(&facts.key),
            Some(Facts::KeyRegistered(facts)) => Newcomer::Key(&facts.key),
            Some(Facts::PasskeyRooted(facts)) => Newcomer::Passkey(&facts.0),
            _ => Newcomer::None,
        };
        Self { newcomer, is_alone: true, ..Self::new(event, event.statement_bytes()) }
    }

    fn key<'b>(&self, fingerprint: &Fingerprint, keys: Option<&'b Registry>) -> Option<&'b PublicKey>
    where
        'a: 'b,
    {
        match self.newcomer {
            Newcomer::Key(key) => Some(key).filter(|key| key.fingerprint() == *fingerprint),
            Newcomer::Passkey(_) => None,
            Newcomer::None => keys.and_then(|keys| keys.public_key(fingerprint)),
        }
    }

    fn enrolment<'b>(&self, fingerprint: &Fingerprint, keys: Option<&'b Registry>) -> Option<&'b Enrolment>
    where
        'a: 'b,
    {
        match self.newcomer {
            Newcomer::Passkey(new) => Some(new).filter(|new| new.key.fingerprint() == *fingerprint),
            Newcomer::Key(_) => None,
            Newcomer::None => keys.and_then(|keys| keys.passkey(fingerprint)).map(|record| &record.enrolment),
        }
    }
}

/// A proof that cannot hold, whatever its signature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It is by a key, and there is no statement that the key could have signed.
    #[error("expected a statement under the proof, found none")]
    NoStatement,
    /// Nobody knows the key.
    #[error("expected a key of the registry, found {}", .key.short())]
    KeyUnknown {
        /// The key.
        key: Fingerprint,
    },
    /// It is a passkey's assertion, which does not hold.
    #[error(transparent)]
    Passkey(#[from] PasskeyError),
}

impl KeySignature {
    /// Returns the signature of `key` over a message with this purpose.
    pub fn sign(key: &SecretKey, purpose: Purpose, message: &[u8]) -> Self {
        Self { key: key.public().fingerprint(), signature: key.sign(purpose, message) }
    }

    /// Returns whether the door lets this signature in: it must hold without the cofactor too.
    pub fn admit(&self, key: &PublicKey, purpose: Purpose, message: &[u8]) -> Result<(), SignatureError> {
        key.admit(purpose, message, &self.signature)
    }
}

/// The names of proofs on the wire.
const ED25519: &str = "ed25519";
const NONE: &str = "none";
const WEBAUTHN: &str = "webauthn";
