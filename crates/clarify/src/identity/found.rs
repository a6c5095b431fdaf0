//! Signed messages as they are found: read from their bytes, told apart by the type that their payload names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FreePayload, Register, Revoke, Rotate, SignedMessage, VerificationError};
use crate::{Error, name::AgentId, read, time::Time};

/// A signed message, by what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityMessage {
    /// Binds a key to an agent.
    Register(SignedMessage<Register>),
    /// Replaces a key.
    Rotate(SignedMessage<Rotate>),
    /// Ends an identity.
    Revoke(SignedMessage<Revoke>),
    /// Something of another protocol.
    Other(SignedMessage<FreePayload>),
}

/// What a message is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "IdentityMessageKind")]
pub enum MessageKind {
    /// It binds a key to an agent.
    Register,
    /// It replaces a key.
    Rotate,
    /// It ends an identity.
    Revoke,
    /// It is of another protocol.
    Other,
}

/// A message and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The message.
    pub message: IdentityMessage,
    /// The place, in the words of whoever looked: a file and a line, or a member of a document.
    pub place: String,
}

impl Found {
    /// Returns the message in these bytes, found at this place.
    pub fn read(bytes: &[u8], place: String) -> Result<Self, VerificationError> {
        match IdentityMessage::read(bytes) {
            Ok(message) => Ok(Self { message, place }),
            Err(source) => Err(VerificationError::Malformed { place, source }),
        }
    }
}

impl IdentityMessage {
    /// Returns the message in these bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let free: SignedMessage<FreePayload> = read::from_slice(bytes)?;
        match free.message.payload.get("type").and_then(|kind| kind.as_str()) {
            Some("wwa.identity.register") => read::from_slice(bytes).map(Self::Register),
            Some("wwa.identity.rotate") => read::from_slice(bytes).map(Self::Rotate),
            Some("wwa.identity.revoke") => read::from_slice(bytes).map(Self::Revoke),
            _ => Ok(Self::Other(free)),
        }
    }

    /// Returns whose message it says it is.
    pub const fn agent_id(&self) -> &AgentId {
        match self {
            Self::Register(signed) => &signed.message.agent_id,
            Self::Rotate(signed) => &signed.message.agent_id,
            Self::Revoke(signed) => &signed.message.agent_id,
            Self::Other(signed) => &signed.message.agent_id,
        }
    }

    /// Returns when it was signed, by its own word.
    pub const fn timestamp(&self) -> Time {
        match self {
            Self::Register(signed) => signed.message.timestamp,
            Self::Rotate(signed) => signed.message.timestamp,
            Self::Revoke(signed) => signed.message.timestamp,
            Self::Other(signed) => signed.message.timestamp,
        }
    }

    /// Returns what it is, in a word.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Register(_) => MessageKind::Register,
            Self::Rotate(_) => MessageKind::Rotate,
            Self::Revoke(_) => MessageKind::Revoke,
            Self::Other(_) => MessageKind::Other,
        }
    }
}
