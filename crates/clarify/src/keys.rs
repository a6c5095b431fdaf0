//! Which keys an agent had, and when: signatures are checked against the key that was valid when they were made.
//!
//! The time of a signature is its signer's word. After a theft it proves nothing; the ledger's order does.

use crate::{
    Error,
    error::FieldError,
    name::AgentId,
    seal::{AgentKey, Seal, Signer},
    time::Time,
};

/// The keys of one agent, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHistory {
    agent_id: AgentId,
    periods: Vec<Period>,
}

/// One key and when it is valid: from `from` on, and before `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) key: AgentKey,
    pub(crate) from: Option<Time>,
    pub(crate) until: Option<Time>,
}

impl Period {
    pub(crate) fn holds_at(&self, time: Time) -> bool {
        self.from.is_none_or(|from| from <= time) && self.until.is_none_or(|until| time < until)
    }
}

impl KeyHistory {
    /// Returns the history of an agent that has one key, valid at all times: a pinned one.
    pub fn pinned(agent_id: AgentId, key: AgentKey) -> Self {
        Self { agent_id, periods: vec![Period { key, from: None, until: None }] }
    }

    /// Returns the history of an agent with these keys, each valid at all times: those that a registry names.
    pub fn known(agent_id: AgentId, keys: impl IntoIterator<Item = AgentKey>) -> Self {
        let period = |key| Period { key, from: None, until: None };
        Self { agent_id, periods: keys.into_iter().map(period).collect() }
    }

    /// Returns the history of this signer's one key.
    pub fn single(signer: &Signer) -> Self {
        Self::pinned(signer.agent_id().clone(), signer.public_key())
    }

    pub(crate) const fn new(agent_id: AgentId, periods: Vec<Period>) -> Self {
        Self { agent_id, periods }
    }

    /// Returns whose keys these are.
    pub const fn agent_id(&self) -> &AgentId {
        &self.agent_id
    }

    /// Returns whether this key was ever one of them.
    pub fn has(&self, key: &AgentKey) -> bool {
        self.periods.iter().any(|period| period.key == *key)
    }

    /// Returns the keys that were valid at this time.
    pub fn at(&self, time: Time) -> impl Iterator<Item = &AgentKey> {
        self.periods.iter().filter(move |period| period.holds_at(time)).map(|period| &period.key)
    }

    pub(crate) fn expect_name(&self, field: &str, found: &AgentId) -> Result<(), FieldError> {
        if *found == self.agent_id { Ok(()) } else { Err(FieldError::new(field, &self.agent_id, found)) }
    }

    /// Returns the key valid at `time` that made this signature.
    pub fn verify(
        &self,
        field: &'static str,
        time: Time,
        input: &[u8],
        seal: &Seal,
    ) -> Result<AgentKey, Error> {
        self.verify_by(field, self.at(time), input, seal)
    }

    /// Returns the key that made this signature and was valid at `time` or later.
    pub(crate) fn verify_since(
        &self,
        field: &'static str,
        time: Option<Time>,
        input: &[u8],
        seal: &Seal,
    ) -> Result<AgentKey, Error> {
        let open = |period: &&Period| period.until.is_none_or(|until| time.is_none_or(|time| time < until));
        self.verify_by(field, self.periods.iter().filter(open).map(|period| &period.key), input, seal)
    }

    fn verify_by<'a>(
        &self,
        field: &'static str,
        keys: impl Iterator<Item = &'a AgentKey>,
        input: &[u8],
        seal: &Seal,
    ) -> Result<AgentKey, Error> {
        let mut last = None;
        for key in keys {
            match key.bare().verify_foreign(input, seal.bare()) {
                Ok(()) => return Ok(*key),
                Err(error) => last = Some(error),
            }
        }
        Err(Error::Signature { field, signer: self.agent_id.to_string(), source: last })
    }
}
