//! An identity as its messages make it, one after the other, and the reasons why one does not hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Check, FreePayload, Identity, IdentityError, IdentityMessage, Reason, Register, SignedMessage, Status,
    message::POSSESSION,
};
use crate::{Error, seal::AgentKey, time::Time};

/// What an identity is at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdentityStanding {
    /// One key is valid.
    Active,
    /// The new key is valid, and the old one still is.
    Rotating,
    /// It was revoked.
    Revoked,
    /// Every key has ended by itself.
    Expired,
    /// No key is valid yet.
    NotYetValid,
}

/// Why a message does not hold, or an identity is not valid, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "IdentityFlaw")]
pub enum Flaw {
    /// The message names another agent.
    AgentMismatch,
    /// No key was valid any more.
    Expired,
    /// The registration names another key than the one that was given.
    KeyMismatch,
    /// The identity had the new key before.
    KeyReused,
    /// No key is valid yet.
    NotYetValid,
    /// The message lies before the one it follows, or another one than the registration is first.
    OutOfOrder,
    /// The new key did not sign that it is in the same hands.
    PossessionMismatch,
    /// The identity is registered already.
    RegisteredTwice,
    /// The identity was revoked.
    Revoked,
    /// The last rotation was not over.
    Rotating,
    /// No valid key made the signature.
    SignatureMismatch,
    /// The message was more than 60 s old when it came, or that far ahead.
    Stale,
}

/// Why a message does not hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) flaw: Flaw,
    /// What was expected and what was found.
    pub(super) problem: String,
}

/// An identity after some of its messages.
#[derive(Debug)]
pub(super) struct History {
    identity: Identity,
    /// Since when its first key is used.
    begins: Time,
    /// When the last of them was taken.
    last: Time,
    /// When the old key of the last rotation ends.
    old_key_expires: Option<Time>,
}

impl History {
    /// Returns the identity that a message registers; with a pin, only with that key.
    pub(super) fn begin(message: &IdentityMessage, pin: Option<AgentKey>) -> Result<Self, Failure> {
        let IdentityMessage::Register(signed) = message else {
            let problem = "expected the registration first, found another message".to_owned();
            return Err(Failure { flaw: Flaw::OutOfOrder, problem });
        };
        expect_key(signed, pin)?;
        let (begins, last) = (signed.message.payload.created_at, signed.message.timestamp);
        let identity = Identity::register(signed, last)?;
        Ok(Self { identity, begins, last, old_key_expires: None })
    }

    /// Takes the next message, received at this time.
    pub(super) fn take(&mut self, message: &IdentityMessage, received: Time) -> Result<(), Failure> {
        let changes = !matches!(message, IdentityMessage::Other(_));
        if changes && received < self.last {
            let problem = format!(
                "message.timestamp: expected a time not before the last message, {}, found {received}",
                self.last
            );
            return Err(Failure { flaw: Flaw::OutOfOrder, problem });
        }
        match message {
            IdentityMessage::Register(_) => {
                let problem =
                    "expected one registration, found a second; a new key comes by rotation".to_owned();
                return Err(Failure { flaw: Flaw::RegisteredTwice, problem });
            }
            IdentityMessage::Rotate(signed) => {
                self.old_key_expires = Some(self.identity.rotate(signed, received)?.old_key_expires);
            }
            IdentityMessage::Revoke(signed) => self.identity.revoke(signed, received)?,
            IdentityMessage::Other(signed) => return self.check(signed, received),
        }
        self.last = received;
        Ok(())
    }

    fn check(&self, signed: &SignedMessage<FreePayload>, received: Time) -> Result<(), Failure> {
        let reply =
            self.identity.check(&Check::new(signed.clone()), received).map_err(IdentityError::from)?;
        let Some(reason) = reply.reason else { return Ok(()) };
        let agent = self.identity.agent_id();
        let sent = signed.message.timestamp;
        let (flaw, problem) = match reason {
            Reason::SignatureMismatch => (
                Flaw::SignatureMismatch,
                format!(
                    "signature: expected one by a key of {agent} that is valid at {received}, found another"
                ),
            ),
            Reason::AgentMismatch => (
                Flaw::AgentMismatch,
                format!("message.agent_id: expected {agent}, found {}", signed.message.agent_id),
            ),
            Reason::Stale => (
                Flaw::Stale,
                format!("message.timestamp: expected at most 60 s from {received}, found {sent}"),
            ),
            Reason::Revoked => {
                (Flaw::Revoked, format!("expected a valid identity, found that {agent} is revoked"))
            }
            Reason::Expired => {
                (Flaw::Expired, format!("expected a key of {agent} that is valid at {received}, found none"))
            }
        };
        Err(Failure { flaw, problem })
    }

    /// Returns what the identity is at this time.
    pub(super) fn standing(&self, at: Time) -> IdentityStanding {
        match self.identity.status(at) {
            Status::Revoked => IdentityStanding::Revoked,
            Status::Rotating => IdentityStanding::Rotating,
            // The protocol calls an identity active too that has no valid key and was not revoked.
            Status::Active if !self.keys(at).is_empty() => IdentityStanding::Active,
            Status::Active if at < self.begins => IdentityStanding::NotYetValid,
            Status::Active => IdentityStanding::Expired,
        }
    }

    /// Returns the keys that are valid at this time, the oldest first.
    pub(super) fn keys(&self, at: Time) -> Vec<AgentKey> {
        self.identity.keys().at(at).copied().collect()
    }

    /// Returns when the old key ends, while the identity rotates.
    pub(super) fn old_key_expires(&self, at: Time) -> Option<Time> {
        self.old_key_expires.filter(|_| self.standing(at) == IdentityStanding::Rotating)
    }
}

/// Checks what can be checked of a message with one key alone.
pub(super) fn check_with(message: &IdentityMessage, key: &AgentKey) -> Result<(), Failure> {
    let held = match message {
        IdentityMessage::Register(signed) => {
            expect_key(signed, Some(*key))?;
            signed.verify_with(key)
        }
        IdentityMessage::Rotate(signed) => signed.verify_with(key).and_then(|()| {
            let said = &signed.message;
            said.payload.verify_possession(&said.agent_id, said.timestamp)
        }),
        IdentityMessage::Revoke(signed) => signed.verify_with(key),
        IdentityMessage::Other(signed) => signed.verify_with(key),
    };
    held.map_err(|error| IdentityError::from(error).into())
}

fn expect_key(signed: &SignedMessage<Register>, pin: Option<AgentKey>) -> Result<(), Failure> {
    let found = signed.message.payload.public_key;
    match pin {
        Some(pin) if pin != found => {
            let problem = format!("public_key: expected {pin}, found {found}");
            Err(Failure { flaw: Flaw::KeyMismatch, problem })
        }
        _ => Ok(()),
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        let flaw = match &error {
            IdentityError::Stale { .. } => Flaw::Stale,
            IdentityError::Revoked => Flaw::Revoked,
            IdentityError::Expired | IdentityError::Message(Error::Signature { source: None, .. }) => {
                Flaw::Expired
            }
            IdentityError::Rotating => Flaw::Rotating,
            IdentityError::KeyReused => Flaw::KeyReused,
            IdentityError::Message(Error::Signature { field: POSSESSION, .. }) => Flaw::PossessionMismatch,
            IdentityError::Message(Error::Field(_)) => Flaw::AgentMismatch,
            IdentityError::Message(_) => Flaw::SignatureMismatch,
        };
        Self { flaw, problem: error.to_string() }
    }
}

impl IdentityStanding {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Rotating => "rotating",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
        }
    }

    /// Returns why no key is valid; none where one is.
    pub const fn flaw(self) -> Option<Flaw> {
        match self {
            Self::Active | Self::Rotating => None,
            Self::Revoked => Some(Flaw::Revoked),
            Self::Expired => Some(Flaw::Expired),
            Self::NotYetValid => Some(Flaw::NotYetValid),
        }
    }
}

impl Flaw {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AgentMismatch => "agent_mismatch",
            Self::Expired => "expired",
            Self::KeyMismatch => "key_mismatch",
            Self::KeyReused => "key_reused",
            Self::NotYetValid => "not_yet_valid",
            Self::OutOfOrder => "out_of_order",
            Self::PossessionMismatch => "possession_mismatch",
            Self::RegisteredTwice => "registered_twice",
            Self::Revoked => "revoked",
            Self::Rotating => "rotating",
            Self::SignatureMismatch => "signature_mismatch",
            Self::Stale => "stale",
        }
    }
}
