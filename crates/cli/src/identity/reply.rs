//! What a verification of identity messages says.

use demur_clarify::{name::AgentId, seal::AgentKey, time::Time};
use serde::Serialize;

use super::chain::{Chain, Standing};
use crate::output::{Paint, Reply};

/// What came of checking messages.
#[derive(Debug, Serialize)]
pub(super) struct Verification {
    /// Whose messages they say they are.
    pub(super) agent_id: Option<AgentId>,
    pub(super) anchor: Anchor,
    pub(super) at: Time,
    /// Whether every message holds.
    pub(super) holds: bool,
    /// The keys that are valid at that time; the one that was given, where only signatures were checked.
    pub(super) keys: Vec<AgentKey>,
    pub(super) messages: Vec<Line>,
    /// When the old key ends, while the identity rotates.
    pub(super) old_key_expires: Option<Time>,
    /// The first message that does not hold.
    pub(super) problem: Option<Problem>,
    /// Why it is not valid, in a word.
    pub(super) reason: Option<&'static str>,
    pub(super) status: Option<Standing>,
    /// Whether every message holds and a key is valid at that time.
    pub(super) valid: bool,
}

/// One message.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) agent_id: AgentId,
    pub(super) kind: &'static str,
    pub(super) place: String,
    pub(super) timestamp: Time,
}

/// A message that does not hold.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    /// Its number, from 1.
    pub(super) message: usize,
    pub(super) place: String,
    pub(super) reason: &'static str,
    pub(super) what: String,
}

/// What the identity rests on.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Anchor {
    /// The registration names the key that was given.
    Pinned,
    /// The registration, which vouches for itself.
    OwnWord,
    /// The key that was given, for signatures only.
    KeyAlone,
}

impl Verification {
    /// Returns what is said where everything holds.
    pub(super) fn new(anchor: Anchor, at: Time, messages: Vec<Line>) -> Self {
        let agent_id = messages.first().map(|line| line.agent_id.clone());
        Self {
            agent_id,
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
    pub(super) fn failed(mut self, problem: Problem) -> Self {
        (self.holds, self.valid, self.reason) = (false, false, Some(problem.reason));
        self.problem = Some(problem);
        self
    }

    /// Takes over what the identity is.
    pub(super) fn standing(&mut self, chain: &Chain) {
        let standing = chain.standing(self.at);
        (self.keys, self.old_key_expires) = (chain.keys(self.at), chain.old_key_expires(self.at));
        (self.status, self.valid) = (Some(standing), standing.is_valid());
        self.reason = (!self.valid).then_some(standing.as_str());
    }
}

impl Reply for Verification {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if let Some(problem) = &self.problem {
            let (number, count) = (problem.message, self.messages.len());
            return vec![
                format!("{} message {number} of {count}, {}", paint.bad("Does not hold:"), problem.place),
                format!("  reason   {}", problem.reason),
                format!("  problem  {}", problem.what),
            ];
        }
        let mut lines = vec![self.headline(paint)];
        let mut row = |label: &str, value: &str| lines.push(format!("  {label:<9}{value}"));
        match self.status {
            Some(standing) => row("status", &format!("{} at {}", standing.as_str(), self.at)),
            None => row("status", "not known: only signatures were checked; --identity FILE says more"),
        }
        if let Some(time) = self.old_key_expires {
            row("old key", &format!("ends at {time}"));
        }
        for key in &self.keys {
            row("key", &key.to_string());
        }
        row("anchor", self.anchor.words());
        lines
    }
}

impl Verification {
    fn headline(&self, paint: Paint) -> String {
        let agent = self.agent_id.as_ref().map_or("", AgentId::as_str);
        let count = match self.messages.len() {
            1 => "1 message".to_owned(),
            more => format!("{more} messages"),
        };
        if self.valid {
            format!("{} {count} of {agent}", paint.good("Holds:"))
        } else {
            format!(
                "{} {agent} has no valid key at that time; {count} checked, all hold",
                paint.bad("Not valid:")
            )
        }
    }
}

impl Anchor {
    const fn words(self) -> &'static str {
        match self {
            Self::Pinned => "the registration names the key you gave",
            Self::OwnWord => {
                "none: the registration vouches for itself; compare its key, or give it with --key"
            }
            Self::KeyAlone => "the key you gave",
        }
    }
}
