//! What an identity is after its messages: which keys are valid, and until when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error as ThisError;

use super::message::{Check, CheckReply, Reason, Register, Revoke, Rotate, RotateReply, SignedMessage};
use crate::{
    Error,
    keys::{KeyHistory, Period},
    name::AgentId,
    seal::AgentKey,
    time::Time,
};

/// The state of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// One key is valid.
    Active,
    /// The new key is valid, and the old one still is.
    Rotating,
    /// No key is valid any more.
    Revoked,
}

/// A name and the keys it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    agent_id: AgentId,
    /// The oldest first; never empty.
    periods: Vec<Period>,
    revoked: Option<Time>,
}

impl Identity {
    /// Returns the identity that this message registers, received at `now`.
    pub fn register(signed: &SignedMessage<Register>, now: Time) -> Result<Self, IdentityError> {
        let register = &signed.message.payload;
        if !is_fresh(signed.message.timestamp, now) {
            return Err(IdentityError::Stale { sent: signed.message.timestamp, now });
        }
        signed.verify_with(&register.public_key)?;
        let (from, until) = (Some(register.created_at), register.expires_at);
        if until.is_some_and(|until| until <= now) {
            return Err(IdentityError::Expired);
        }
        let agent_id = signed.message.agent_id.clone();
        Ok(Self { agent_id, periods: vec![Period { key: register.public_key, from, until }], revoked: None })
    }

    /// Takes a new key; the old one stays valid for 24 h, or until it ends by itself if that is sooner.
    pub fn rotate(
        &mut self,
        signed: &SignedMessage<Rotate>,
        now: Time,
    ) -> Result<RotateReply, IdentityError> {
        if self.status(now) == Status::Rotating {
            return Err(IdentityError::Rotating);
        }
        let old_key = self.authentic(signed, now)?;
        let rotate = &signed.message.payload;
        rotate.verify_possession(&self.agent_id, signed.message.timestamp)?;
        if self.periods.iter().any(|period| period.key == rotate.new_public_key) {
            return Err(IdentityError::KeyReused);
        }
        let end = now.plus_millis(OVERLAP_MILLIS);
        let old = self.periods.iter_mut().find(|period| period.key == old_key);
        let until = old.map_or(end, |old| *old.until.insert(old.until.map_or(end, |until| until.min(end))));
        self.periods.push(Period { key: rotate.new_public_key, from: Some(now), until: None });
        Ok(RotateReply::new(until))
    }

    /// Ends every key at `now`.
    pub fn revoke(&mut self, signed: &SignedMessage<Revoke>, now: Time) -> Result<(), IdentityError> {
        self.authentic(signed, now)?;
        self.revoked = Some(now);
        for period in &mut self.periods {
            period.until = Some(period.until.map_or(now, |until| until.min(now)));
        }
        Ok(())
    }

    /// Returns whether a message is by this agent, received at `now`.
    pub fn check(&self, check: &Check, now: Time) -> Result<CheckReply, Error> {
        let Check { agent_id, message, signature } = check;
        if *agent_id != self.agent_id || message.agent_id != self.agent_id {
            return Ok(CheckReply::new(agent_id.clone(), Err(Reason::AgentMismatch)));
        }
        let input = demur_core::canonical::to_vec(message)?;
        let outcome = if self.revoked.is_some() {
            Err(Reason::Revoked)
        } else if !is_fresh(message.timestamp, now) {
            Err(Reason::Stale)
        } else if self.keys().at(now).next().is_none() {
            Err(Reason::Expired)
        } else {
            let holds = self.keys().verify("signature", now, &input, signature).is_ok();
            if holds { Ok(self.status(now)) } else { Err(Reason::SignatureMismatch) }
        };
        Ok(CheckReply::new(agent_id.clone(), outcome))
    }

    /// Returns the name.
    pub const fn agent_id(&self) -> &AgentId {
        &self.agent_id
    }

    /// Returns the state at this time.
    pub fn status(&self, now: Time) -> Status {
        match (self.revoked, self.keys().at(now).count()) {
            (Some(revoked), _) if revoked <= now => Status::Revoked,
            (_, 0 | 1) => Status::Active,
            _ => Status::Rotating,
        }
    }

    /// Returns all keys and when they were valid, to check old signatures with.
    pub fn keys(&self) -> KeyHistory {
        KeyHistory::new(self.agent_id.clone(), self.periods.clone())
    }

    /// Returns the valid key that made a fresh message of this agent.
    fn authentic<P>(&self, signed: &SignedMessage<P>, now: Time) -> Result<AgentKey, IdentityError>
    where
        P: Serialize + serde::de::DeserializeOwned,
    {
        if self.revoked.is_some() {
            return Err(IdentityError::Revoked);
        }
        if !is_fresh(signed.message.timestamp, now) {
            return Err(IdentityError::Stale { sent: signed.message.timestamp, now });
        }
        let keys = self.keys();
        keys.expect_name("message.agent_id", &signed.message.agent_id).map_err(Error::from)?;
        Ok(keys.verify("signature", now, &signed.signing_input()?, &signed.signature)?)
    }
}

/// A message that an identity does not take.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum IdentityError {
    /// The message was sent long ago, or lies ahead: it may be a replay.
    #[error("message.timestamp: expected at most 60 s from {now}, found {sent}; sign it anew")]
    Stale {
        /// When it was sent, by its own word.
        sent: Time,
        /// When it came.
        now: Time,
    },
    /// The identity was revoked.
    #[error("expected a valid identity, found a revoked one; register another")]
    Revoked,
    /// The key ends before it begins to be used.
    #[error("expires_at: expected a time to come, found one that is past")]
    Expired,
    /// The last rotation is not over.
    #[error("expected an identity with one key, found one that still rotates; wait for the old key to end")]
    Rotating,
    /// The new key was used before.
    #[error("new_public_key: expected a key that this identity never had, found an old one")]
    KeyReused,
    /// The message does not hold.
    #[error(transparent)]
    Message(#[from] Error),
}

fn is_fresh(sent: Time, now: Time) -> bool {
    let (sent, now) = (sent.as_timestamp().as_millis(), now.as_timestamp().as_millis());
    sent.abs_diff(now) <= FRESH_MILLIS
}

/// How long the old key stays valid after a rotation: 24 h.
const OVERLAP_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// How old a message may be when it comes, and how far ahead another clock may be: 60 s.
const FRESH_MILLIS: u64 = 60 * 1000;
