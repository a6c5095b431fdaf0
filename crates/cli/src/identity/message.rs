//! Files of identity messages: one message in any layout, or one on each line.

use std::path::{Path, PathBuf};

use demur_clarify::{
    Error,
    identity::{FreePayload, Register, Revoke, Rotate, SignedMessage},
    name::AgentId,
    read,
    time::Time,
};

use crate::{error::CommandError, input::Input};

/// A signed message, by what it says.
#[derive(Debug)]
pub(super) enum Message {
    /// Binds a key to an agent.
    Register(SignedMessage<Register>),
    /// Replaces a key.
    Rotate(SignedMessage<Rotate>),
    /// Ends an identity.
    Revoke(SignedMessage<Revoke>),
    /// Something of another protocol.
    Other(SignedMessage<FreePayload>),
}

/// A message and where it was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) message: Message,
    /// The file, and the line where there are several.
    pub(super) place: String,
}

impl Found {
    /// Returns all messages of these files, in order.
    pub(super) fn all(paths: &[PathBuf]) -> Result<Vec<Self>, CommandError> {
        let mut all = Vec::new();
        for path in paths {
            all.extend(Self::of(path)?);
            if all.len() > MOST {
                let message = format!("expected at most {MOST} messages, found more");
                return Err(CommandError::input("MESSAGE_MALFORMED", message));
            }
        }
        Ok(all)
    }

    fn of(path: &Path) -> Result<Vec<Self>, CommandError> {
        let Input { shown, bytes } = Input::read(path, LONGEST)?;
        let lines: Vec<(usize, &[u8])> = bytes
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(index, line)| (index + 1, line.trim_ascii()))
            .filter(|(_, line)| !line.is_empty())
            .collect();
        let is_object = |(_, line): &(usize, &[u8])| line.starts_with(b"{") && line.ends_with(b"}");
        if lines.len() < 2 || !lines.iter().all(is_object) {
            let message = Message::read(&bytes).map_err(|error| malformed(&shown, &error))?;
            return Ok(vec![Self { message, place: shown }]);
        }
        let read = |(number, line): (usize, &[u8])| {
            let place = format!("{shown}:{number}");
            let message = Message::read(line).map_err(|error| malformed(&place, &error))?;
            Ok(Self { message, place })
        };
        lines.into_iter().map(read).collect()
    }
}

impl Message {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let free: SignedMessage<FreePayload> = read::from_slice(bytes)?;
        match free.message.payload.get("type").and_then(|kind| kind.as_str()) {
            Some("wwa.identity.register") => read::from_slice(bytes).map(Self::Register),
            Some("wwa.identity.rotate") => read::from_slice(bytes).map(Self::Rotate),
            Some("wwa.identity.revoke") => read::from_slice(bytes).map(Self::Revoke),
            _ => Ok(Self::Other(free)),
        }
    }

    /// Returns whose message it says it is.
    pub(super) const fn agent_id(&self) -> &AgentId {
        match self {
            Self::Register(signed) => &signed.message.agent_id,
            Self::Rotate(signed) => &signed.message.agent_id,
            Self::Revoke(signed) => &signed.message.agent_id,
            Self::Other(signed) => &signed.message.agent_id,
        }
    }

    /// Returns when it was signed, by its own word.
    pub(super) const fn timestamp(&self) -> Time {
        match self {
            Self::Register(signed) => signed.message.timestamp,
            Self::Rotate(signed) => signed.message.timestamp,
            Self::Revoke(signed) => signed.message.timestamp,
            Self::Other(signed) => signed.message.timestamp,
        }
    }

    /// Returns what it is, in a word.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Register(_) => "register",
            Self::Rotate(_) => "rotate",
            Self::Revoke(_) => "revoke",
            Self::Other(_) => "other",
        }
    }
}

fn malformed(place: &str, error: &Error) -> CommandError {
    let message = format!("{place}: expected a signed message: {error}");
    CommandError::input("MESSAGE_MALFORMED", message)
        .with_hint("a message is {\"message\": {\"agent_id\", \"timestamp\", \"payload\"}, \"signature\"}; docs/clarify.md, section 8, has the payloads")
}

/// How long a file of messages is at most, in bytes.
const LONGEST: usize = 1 << 20;

/// How many messages are checked at most.
const MOST: usize = 1024;
