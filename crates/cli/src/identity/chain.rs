//! An identity as its messages make it, one after the other, and the reasons why one does not hold. Which keys are valid
//! when is decided by demur-clarify.

use demur_clarify::{
    Error,
    identity::{
        Check, FreePayload, Identity, IdentityError, Possession, Reason, Register, Rotate, SignedMessage,
        Status,
    },
    read,
    seal::AgentKey,
    time::Time,
};
use demur_core::canonical;
use serde::Serialize;

use super::message::Message;

/// An identity after some of its messages.
#[derive(Debug)]
pub(super) struct Chain {
    identity: Identity,
    /// Since when its first key is used.
    begins: Time,
    /// When the last of them was taken.
    last: Time,
    /// When the old key of the last rotation ends.
    old_key_expires: Option<Time>,
}

/// What an identity is at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Standing {
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

/// Why a message does not hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// A stable word.
    pub(super) reason: &'static str,
    /// A sentence.
    pub(super) problem: String,
}

impl Chain {
    /// Returns the identity that a message registers; with a pin, only with that key.
    pub(super) fn begin(message: &Message, pin: Option<AgentKey>) -> Result<Self, Failure> {
        let Message::Register(signed) = message else {
            let problem = "expected the registration first, found another message".to_owned();
            return Err(Failure { reason: "out_of_order", problem });
        };
        expect_key(signed, pin)?;
        let (begins, last) = (signed.message.payload.created_at, signed.message.timestamp);
        let identity = Identity::register(signed, last)?;
        Ok(Self { identity, begins, last, old_key_expires: None })
    }

    /// Takes the next message, received at this time.
    pub(super) fn take(&mut self, message: &Message, received: Time) -> Result<(), Failure> {
        let changes = !matches!(message, Message::Other(_));
        if changes && received < self.last {
            let problem = format!(
                "message.timestamp: expected a time not before the last message, {}, found {received}",
                self.last
            );
            return Err(Failure { reason: "out_of_order", problem });
        }
        match message {
            Message::Register(_) => {
                let problem =
                    "expected one registration, found a second; a new key comes by rotation".to_owned();
                return Err(Failure { reason: "registered_twice", problem });
            }
            Message::Rotate(signed) => {
                self.old_key_expires = Some(self.identity.rotate(signed, received)?.old_key_expires);
            }
            Message::Revoke(signed) => self.identity.revoke(signed, received)?,
            Message::Other(signed) => return self.check(signed, received),
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
        let (reason, problem) = match reason {
            Reason::SignatureMismatch => (
                "signature_mismatch",
                format!(
                    "signature: expected one by a key of {agent} that is valid at {received}, found another"
                ),
            ),
            Reason::AgentMismatch => (
                "agent_mismatch",
                format!("message.agent_id: expected {agent}, found {}", signed.message.agent_id),
            ),
            Reason::Stale => {
                ("stale", format!("message.timestamp: expected at most 60 s from {received}, found {sent}"))
            }
            Reason::Revoked => {
                ("revoked", format!("expected a valid identity, found that {agent} is revoked"))
            }
            _ => ("expired", format!("expected a key of {agent} that is valid at {received}, found none")),
        };
        Err(Failure { reason, problem })
    }

    /// Returns what the identity is at this time.
    pub(super) fn standing(&self, at: Time) -> Standing {
        match self.identity.status(at) {
            Status::Revoked => Standing::Revoked,
            Status::Rotating => Standing::Rotating,
            // The library calls an identity active too that has no valid key and was not revoked.
            Status::Active if !self.keys(at).is_empty() => Standing::Active,
            Status::Active if at < self.begins => Standing::NotYetValid,
            Status::Active => Standing::Expired,
        }
    }

    /// Returns the keys that are valid at this time, the oldest first.
    pub(super) fn keys(&self, at: Time) -> Vec<AgentKey> {
        self.identity.keys().at(at).copied().collect()
    }

    /// Returns when the old key ends, while the identity rotates.
    pub(super) fn old_key_expires(&self, at: Time) -> Option<Time> {
        self.old_key_expires.filter(|_| self.standing(at) == Standing::Rotating)
    }
}

/// Checks what can be checked of a message with one key alone.
pub(super) fn check_with(message: &Message, key: &AgentKey) -> Result<(), Failure> {
    let held = match message {
        Message::Register(signed) => {
            expect_key(signed, Some(*key))?;
            signed.verify_with(key)
        }
        Message::Rotate(signed) => signed.verify_with(key).and_then(|()| possession(signed)),
        Message::Revoke(signed) => signed.verify_with(key),
        Message::Other(signed) => signed.verify_with(key),
    };
    held.map_err(|error| IdentityError::from(error).into())
}

fn expect_key(signed: &SignedMessage<Register>, pin: Option<AgentKey>) -> Result<(), Failure> {
    let found = signed.message.payload.public_key;
    match pin {
        Some(pin) if pin != found => {
            let problem = format!("public_key: expected {pin}, found {found}");
            Err(Failure { reason: "key_mismatch", problem })
        }
        _ => Ok(()),
    }
}

/// Checks that the new key of a rotation signed that it is in the same hands.
fn possession(signed: &SignedMessage<Rotate>) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Said<'a> {
        agent_id: &'a str,
        public_key: AgentKey,
        timestamp: Time,
        r#type: &'static str,
    }
    let (message, rotate) = (&signed.message, &signed.message.payload);
    let said = Said {
        agent_id: message.agent_id.as_str(),
        public_key: rotate.new_public_key,
        timestamp: message.timestamp,
        r#type: "wwa.identity.possession",
    };
    let possession: Possession = read::from_slice(&canonical::to_vec(&said)?)?;
    let input = canonical::to_vec(&possession)?;
    rotate.new_public_key.bare().verify_foreign(&input, rotate.new_key_signature.bare()).map_err(|source| {
        Error::Signature { field: POSSESSION, signer: message.agent_id.to_string(), source: Some(source) }
    })
}

impl Standing {
    /// Returns the word.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Rotating => "rotating",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
        }
    }

    /// Returns whether a key is valid.
    pub(super) const fn is_valid(self) -> bool {
        matches!(self, Self::Active | Self::Rotating)
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        let reason = match &error {
            IdentityError::Stale { .. } => "stale",
            IdentityError::Revoked => "revoked",
            IdentityError::Expired | IdentityError::Message(Error::Signature { source: None, .. }) => {
                "expired"
            }
            IdentityError::Rotating => "rotating",
            IdentityError::KeyReused => "key_reused",
            IdentityError::Message(Error::Signature { field: POSSESSION, .. }) => "possession_mismatch",
            IdentityError::Message(Error::Field(_)) => "agent_mismatch",
            _ => "signature_mismatch",
        };
        Self { reason, problem: error.to_string() }
    }
}

/// The member that holds the new key's signature.
const POSSESSION: &str = "new_key_signature";
