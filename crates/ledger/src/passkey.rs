//! Assertions: what a passkey signs in the place of a statement (`docs/format.md` 4). An authenticator signs its own bytes and
//! those of the browser; the browser's hold a challenge, and the challenge is made from statements. So one touch can carry
//! several of them, and each of their events has the whole assertion.

mod client;

use demur_core::{
    hash::{Digest, Purpose, digest, sha256},
    key::{Fingerprint, PasskeyKey, Signature},
    limit::{List, Text},
    octets::Octets,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    event_type::{EventType, TraceKind},
    facts::Enrolment,
    name::{PersonId, StoreId},
};

/// What a passkey made of one touch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assertion {
    /// The authenticator's data, as it made them.
    pub authenticator: Octets<0, 1024>,
    /// The client data, the exact text that was signed.
    pub client: Text<0, 4096>,
    /// Which passkey.
    pub key: Fingerprint,
    /// What was signed with this touch, each once: the leaves of statements, or of one enrolment.
    pub leaves: List<Digest, 1, 64>,
    /// Over the authenticator's data and the hash of the client data: r and s, or an Ed25519 signature.
    pub signature: Signature,
}

/// What an assertion must be about.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedAssertion<'a> {
    /// The leaf of the statement or of the enrolment.
    pub leaf: Digest,
    /// Whether nothing else may be signed with the same touch.
    pub is_alone: bool,
    /// The passkey as it was enrolled.
    pub enrolment: &'a Enrolment,
}

/// What a new passkey signs to show that somebody holds it: purpose `enrolment`, canonical JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnrolmentClaim {
    /// The new passkey.
    pub key: PasskeyKey,
    /// Whose it is.
    pub person: PersonId,
    /// The store.
    pub store: StoreId,
}

/// What an authenticator says of itself and of the touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthenticatorFlags(u8);

impl AuthenticatorFlags {
    const PRESENT: u8 = 0x01;
    const VERIFIED: u8 = 0x04;
    const ELIGIBLE: u8 = 0x08;
    const SYNCED: u8 = 0x10;
    const ATTESTED: u8 = 0x40;
    const EXTENDED: u8 = 0x80;

    /// Returns the flags in authenticator data; none where these are cut short.
    pub fn of(authenticator: &[u8]) -> Option<Self> {
        authenticator.get(RP_HASH_BYTES).copied().map(Self)
    }

    /// Returns whether the user was verified (UV).
    pub const fn is_verified(self) -> bool {
        self.0 & Self::VERIFIED != 0
    }

    /// Returns whether the passkey may be kept in several places (BE).
    pub const fn is_eligible(self) -> bool {
        self.0 & Self::ELIGIBLE != 0
    }

    /// Returns whether it is kept in several places (BS).
    pub const fn is_synced(self) -> bool {
        self.0 & Self::SYNCED != 0
    }

    const fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

impl Assertion {
    /// Returns the leaf of a statement: what stands for it in a challenge. It is not the hash that receipts name it by.
    pub fn leaf(statement: &[u8]) -> Digest {
        digest(Purpose::Passkey, &[statement])
    }

    /// Returns the challenge that stands for these leaves.
    pub fn challenge(leaves: &[Digest]) -> Digest {
        match leaves {
            [leaf] => *leaf,
            leaves => {
                let joined: Vec<&[u8]> = leaves.iter().map(|leaf| &leaf.as_bytes()[..]).collect();
                digest(Purpose::Node, &joined)
            }
        }
    }

    /// Checks an assertion at the door.
    pub fn admit(&self, expected: &ExpectedAssertion<'_>) -> Result<(), PasskeyError> {
        self.check(expected)?;
        let key = &expected.enrolment.key;
        key.admit(&self.signed_bytes(), &self.signature).map_err(|_| PasskeyError::Signature)
    }

    /// Checks an assertion in a file.
    pub fn verify(&self, expected: &ExpectedAssertion<'_>) -> Result<(), PasskeyError> {
        self.check(expected)?;
        let key = &expected.enrolment.key;
        key.verify(&self.signed_bytes(), &self.signature).map_err(|_| PasskeyError::Signature)
    }

    /// Returns what the authenticator says of itself; none where its data are cut short.
    pub fn flags(&self) -> Option<AuthenticatorFlags> {
        AuthenticatorFlags::of(&self.authenticator)
    }

    /// Checks everything but the signature.
    fn check(&self, expected: &ExpectedAssertion<'_>) -> Result<(), PasskeyError> {
        self.check_leaves(expected)?;
        client::check(&self.client, &Self::challenge(&self.leaves), &expected.enrolment.origin)?;
        self.check_authenticator(expected.enrolment)
    }

    fn check_leaves(&self, expected: &ExpectedAssertion<'_>) -> Result<(), PasskeyError> {
        let wrong = |expected| Err(PasskeyError::Leaves { expected });
        let leaves = self.leaves.as_slice();
        let mut sorted = leaves.to_vec();
        sorted.sort_unstable();
        if !sorted.is_sorted_by(|left, right| left < right) {
            return wrong("each leaf once");
        }
        if !leaves.contains(&expected.leaf) {
            return wrong("the leaf of the statement among the leaves");
        }
        if expected.is_alone && leaves.len() > 1 {
            return wrong("no other leaf: this is signed with a touch of its own");
        }
        Ok(())
    }

    fn check_authenticator(&self, enrolment: &Enrolment) -> Result<(), PasskeyError> {
        let wrong = |expected| Err(PasskeyError::Authenticator { expected });
        let data = &self.authenticator;
        let Some(flags) = self.flags().filter(|_| data.len() >= PLAIN_BYTES) else {
            return wrong("37 bytes or more");
        };
        if !data.starts_with(sha256(enrolment.rp.as_bytes()).as_bytes()) {
            return wrong("the hash of the host name it was enrolled for");
        }
        if !flags.has(AuthenticatorFlags::PRESENT) || !flags.has(AuthenticatorFlags::VERIFIED) {
            return wrong("a user who was present and verified (UP, UV)");
        }
        if flags.has(AuthenticatorFlags::ATTESTED) {
            return wrong("no new credential (AT)");
        }
        if flags.is_eligible() != enrolment.eligible {
            return wrong("the flag BE as enrolled");
        }
        if flags.is_synced() && !flags.is_eligible() {
            return wrong("the flag BS only with BE");
        }
        if data.len() > PLAIN_BYTES && !flags.has(AuthenticatorFlags::EXTENDED) {
            return wrong("37 bytes where there are no extensions (ED)");
        }
        Ok(())
    }

    fn signed_bytes(&self) -> Vec<u8> {
        [&self.authenticator[..], sha256(self.client.as_bytes()).as_bytes()].concat()
    }
}

impl EventType {
    /// Returns whether a passkey signs an event of this type with a touch of its own. In the registry it signs everything so.
    pub fn stands_alone(self) -> bool {
        let apart = |trace: &TraceKind| matches!(trace, TraceKind::Registry | TraceKind::Journal);
        self.rule().traces.iter().all(apart)
            || matches!(self, Self::ConfirmationGiven | Self::ConfirmationRefused | Self::SessionAborted)
    }
}

/// An assertion that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyError {
    /// The challenge is made from other leaves than it may be.
    #[error("leaves: expected {expected}")]
    Leaves {
        /// What they must be.
        expected: &'static str,
    },
    /// The browser's part is not what it must be.
    #[error("client data: expected {expected}, found something else")]
    Client {
        /// What it must say.
        expected: &'static str,
    },
    /// The authenticator's part is not what it must be.
    #[error("authenticator data: expected {expected}, found something else")]
    Authenticator {
        /// What it must say.
        expected: &'static str,
    },
    /// The event would be dated before the registry event that it goes by.
    #[error("expected a time at or after the registry event that it goes by, found an earlier one")]
    BeforePin,
    /// The signature is not the passkey's.
    #[error("the passkey's signature does not hold")]
    Signature,
}

impl PasskeyError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Signature => "SIG_INVALID",
            Self::Leaves { .. } | Self::Client { .. } | Self::Authenticator { .. } | Self::BeforePin => {
                "PASSKEY_INVALID"
            }
        }
    }
}

/// How many bytes authenticator data begin with that name the host.
const RP_HASH_BYTES: usize = 32;
/// How many bytes they have without extensions: the hash, the flags, a counter.
const PLAIN_BYTES: usize = 37;
