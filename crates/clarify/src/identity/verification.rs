//! Whether messages about an identity hold, and what the identity is at a time. Files, sockets and the clock are the
//! caller's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error as ThisError;

use super::{
    Flaw, Found, IdentityMessage, IdentityStanding, MessageKind,
    history::{self, Failure, History},
};
use crate::{Error, name::AgentId, seal::AgentKey, time::Time};

/// What came of checking messages about an identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdentityVerification {
    /// Whose messages they say they are.
    pub agent_id: Option<AgentId>,
    /// What the identity rests on.
    pub anchor: Anchor,
    /// The time it was judged at.
    pub at: Time,
    /// Whether every message holds.
    pub holds: bool,
    /// The keys that are valid at that time; the one that was given, where only signatures were checked.
    pub keys: Vec<AgentKey>,
    /// Every message, in the order in which they were judged.
    pub messages: Vec<MessageLine>,
    /// When the old key ends, while the identity rotates.
    pub old_key_expires: Option<Time>,
    /// The first message that does not hold.
    pub problem: Option<MessageProblem>,
    /// Why it is not valid, in a word.
    pub reason: Option<Flaw>,
    /// What the identity is at that time; none where that is not known.
    pub status: Option<IdentityStanding>,
    /// Whether every message holds and a key is valid at that time.
    pub valid: bool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "IdentityMessageLine")]
pub struct MessageLine {
    /// Whose message it says it is.
    pub agent_id: AgentId,
    /// What it is.
    pub kind: MessageKind,
    /// Where it was found.
    pub place: String,
    /// When it was signed, by its own word.
    pub timestamp: Time,
}

/// A message that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "IdentityMessageProblem")]
pub struct MessageProblem {
    /// Its number, from 1.
    pub message: usize,
    /// Where it was found.
    pub place: String,
    /// Why it does not hold, in a word.
    pub reason: Flaw,
    /// What was expected and what was found.
    pub what: String,
}

/// What an identity rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "IdentityAnchor")]
pub enum Anchor {
    /// The registration names the key that was given.
    Pinned,
    /// The registration, which vouches for itself.
    OwnWord,
    /// The key that was given, for signatures only.
    KeyAlone,
}

/// Messages that cannot be judged at all.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum VerificationError {
    /// What was given is no signed message.
    #[error("{place}: expected a signed message: {source}")]
    Malformed {
        /// Where it was found.
        place: String,
        /// What is wrong with it.
        source: Error,
    },
    /// There is nothing to judge.
    #[error("expected a message, found none")]
    Empty,
    /// Nothing says which key is the agent's.
    #[error("{place}: expected a registration first, found another message and no key to check it with")]
    Unanchored {
        /// Where the first message was found.
        place: String,
    },
}

impl IdentityVerification {
    /// How many messages are judged together at most; whoever reads them holds to it.
    pub const MOST: usize = 1024;

    /// Returns whether messages hold, and what the identity is at `at`.
    ///
    /// An agent's `history` is judged with each message at its own time, and what `came` as received at `at`. Without
    /// a history, messages that begin with a registration are one; others are checked with `key` and nothing else.
    pub fn of(
        history: &[Found],
        came: &[Found],
        key: Option<AgentKey>,
        at: Time,
    ) -> Result<Self, VerificationError> {
        match (history, came, key) {
            ([], [], _) => Err(VerificationError::Empty),
            ([], [Found { message: IdentityMessage::Register(_), .. }, ..], pin) => {
                Ok(Self::judge(came, &[], pin, at))
            }
            ([], _, Some(key)) => Ok(Self::signatures(came, key, at)),
            ([], [first, ..], None) => Err(VerificationError::Unanchored { place: first.place.clone() }),
            (_, _, pin) => Ok(Self::judge(history, came, pin, at)),
        }
    }

    fn judge(history: &[Found], came: &[Found], pin: Option<AgentKey>, at: Time) -> Self {
        let anchor = if pin.is_some() { Anchor::Pinned } else { Anchor::OwnWord };
        let mut verification = Self::new(anchor, at, history.iter().chain(came));
        let mut known: Option<History> = None;
        for (index, found) in history.iter().chain(came).enumerate() {
            let message = &found.message;
            let received = if index < history.len() { message.timestamp() } else { at };
            let taken = match &mut known {
                Some(known) => known.take(message, received),
                None => History::begin(message, pin).map(|begun| known = Some(begun)),
            };
            if let Err(failure) = taken {
                return verification.failed(index, found, failure);
            }
        }
        if let Some(known) = known {
            verification.stand(&known);
        }
        verification
    }

    fn signatures(came: &[Found], key: AgentKey, at: Time) -> Self {
        let mut verification = Self::new(Anchor::KeyAlone, at, came.iter());
        let agent = came.first().map(|found| found.message.agent_id());
        for (index, found) in came.iter().enumerate() {
            let same = match agent {
                Some(agent) if agent != found.message.agent_id() => Err(Failure {
                    flaw: Flaw::AgentMismatch,
                    problem: format!(
                        "message.agent_id: expected {agent}, found {}",
                        found.message.agent_id()
                    ),
                }),
                _ => Ok(()),
            };
            if let Err(failure) = same.and_then(|()| history::check_with(&found.message, &key)) {
                return verification.failed(index, found, failure);
            }
        }
        verification.keys = vec![key];
        verification
    }

    /// Returns what is said where everything holds.
    fn new<'a>(anchor: Anchor, at: Time, found: impl Iterator<Item = &'a Found>) -> Self {
        let messages: Vec<_> = found.map(MessageLine::of).collect();
        Self {
            agent_id: messages.first().map(|line| line.agent_id.clone()),
            anchor,
            at,
            holds: true,
            keys: Vec::new(),
            messages,
            old_key_expires: None,
            problem: None,
            reason: None,
            status: None,
            valid: true,
        }
    }

    /// Returns the same with what does not hold.
    fn failed(mut self, index: usize, found: &Found, failure: Failure) -> Self {
        let Failure { flaw, problem: what } = failure;
        (self.holds, self.valid, self.reason) = (false, false, Some(flaw));
        self.problem =
            Some(MessageProblem { message: index + 1, place: found.place.clone(), reason: flaw, what });
        self
    }

    /// Takes over what the identity is.
    fn stand(&mut self, known: &History) {
        let standing = known.standing(self.at);
        (self.keys, self.old_key_expires) = (known.keys(self.at), known.old_key_expires(self.at));
        (self.status, self.reason) = (Some(standing), standing.flaw());
        self.valid = self.reason.is_none();
    }
}

impl MessageLine {
    fn of(found: &Found) -> Self {
        let Found { message, place } = found;
        Self {
            agent_id: message.agent_id().clone(),
            kind: message.kind(),
            place: place.clone(),
            timestamp: message.timestamp(),
        }
    }
}

impl VerificationError {
    /// Returns its stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } | Self::Empty => "MESSAGE_MALFORMED",
            Self::Unanchored { .. } => "NO_IDENTITY",
        }
    }

    /// Returns where the message was found that it is about.
    pub fn place(&self) -> Option<&str> {
        match self {
            Self::Malformed { place, .. } | Self::Unanchored { place } => Some(place),
            Self::Empty => None,
        }
    }
}
