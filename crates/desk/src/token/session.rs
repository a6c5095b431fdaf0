//! Sessions of people: tokens that a browser has. One ends when its time is over, when nobody used it for a while, or when somebody
//! ends it.

use std::{sync::Arc, time::Duration};

use demur_api::{code::Code, refusal::Refusal, scope::Scope};
use demur_core::time::Timestamp;

use super::{Kept, Known, PREFIX, Tokens, key};
use crate::{
    access::{Caller, Token},
    desk::Desk,
    name,
    owner::Owner,
    records,
};

/// How long a browser stays signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTimeouts {
    /// Without use.
    pub idle: Duration,
    /// At the longest.
    pub absolute: Duration,
}

impl Default for SessionTimeouts {
    fn default() -> Self {
        Self { idle: Duration::from_hours(1), absolute: Duration::from_hours(12) }
    }
}

impl SessionTimeouts {
    /// Returns how often it is written down that a session is used: no ten of those are lost with a server that is killed.
    fn note_interval(&self) -> Duration {
        (self.idle / 10).min(MAX_NOTE_INTERVAL)
    }
}

/// A session, and how it stands.
#[derive(Clone, Debug)]
pub(crate) struct FoundSession {
    pub(crate) token: Token,
    pub(crate) used: Timestamp,
    pub(crate) ends: Timestamp,
}

impl Kept {
    /// Returns when the token is good no longer, if ever.
    pub(super) fn ends(&self, timeouts: &SessionTimeouts) -> Option<Timestamp> {
        if !self.token.scopes.contains(&Scope::Person) {
            return self.token.expires;
        }
        let absolute = plus(self.token.created, timeouts.absolute);
        let by_time = self.token.expires.map_or(absolute, |expires| expires.min(absolute));
        Some(by_time.min(plus(self.last_use(), timeouts.idle)))
    }

    fn last_use(&self) -> Timestamp {
        self.used.map_or(self.token.created, |used| used.max(self.token.created))
    }

    /// Takes over what was known in memory: a use is written down now and then only.
    pub(super) fn remember(&mut self, before: &Self) {
        self.used = self.used.max(before.used);
        self.noted = before.noted;
    }
}

impl Known {
    /// Notes that a session is used; returns whether it is time to write that down.
    fn note_use(&mut self, id: &str, now: Timestamp, interval: Duration) -> bool {
        let Some(kept) = self.tokens.as_mut().and_then(|tokens| tokens.get_mut(id)) else { return false };
        kept.used = kept.used.max(Some(now));
        let noted = kept.noted.unwrap_or(kept.token.created);
        let is_time = noted > now || plus(noted, interval) <= now;
        if is_time {
            kept.noted = Some(now);
        }
        is_time
    }
}

impl Tokens {
    /// Returns every session that is good now, the oldest first.
    pub(crate) fn sessions(&self, owner: &Owner, now: Timestamp) -> Result<Vec<FoundSession>, Refusal> {
        let mut kept = records::all(owner.sequencer().store(), PREFIX)?;
        kept.sort_by_key(|kept| kept.version);
        let known = self.known();
        let in_memory = |id: &str| known.tokens.as_ref().and_then(|tokens| tokens.get(id));
        let found = kept.iter().filter_map(records::listed).filter_map(|mut kept: Kept| {
            if !kept.token.scopes.contains(&Scope::Person) {
                return None;
            }
            if let Some(before) = in_memory(&kept.token.id) {
                kept.remember(before);
            }
            let (used, ends) = (kept.last_use(), kept.ends(&self.timeouts)?);
            (now < ends).then_some(FoundSession { token: kept.token, used, ends })
        });
        Ok(found.collect())
    }

    /// Ends one session; refused where it is none, or not of this person.
    pub(crate) fn end_session(&self, owner: &Owner, id: &str, of: Option<&str>) -> Result<(), Refusal> {
        let unknown = || {
            let message = "expected the id of a session, found another word";
            Refusal::new(Code::SignInUnknown, message).with_cure("`demur people sessions` shows them")
        };
        let sessions = self.sessions(owner, owner.system().now()?)?;
        let found = sessions.into_iter().find(|found| found.token.id == id).ok_or_else(unknown)?;
        if of.is_some_and(|name| !name::same(&found.token.name, name)) {
            return Err(unknown());
        }
        self.revoke(owner, id).map(drop)
    }

    /// Ends all sessions, or those of one person; returns how many there were.
    pub(crate) fn end_all_sessions(&self, owner: &Owner, of: Option<&str>) -> Result<u64, Refusal> {
        let sessions = self.sessions(owner, owner.system().now()?)?;
        let theirs = |token: &Token| of.is_none_or(|name| name::same(&token.name, name));
        let mut ended = 0;
        for found in sessions.iter().filter(|found| theirs(&found.token)) {
            match self.revoke(owner, &found.token.id) {
                Ok(_) => ended += 1,
                // Somebody was faster.
                Err(refusal) if refusal.code == Code::TokenUnknown => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(ended)
    }

    /// Writes down when a session was used last.
    fn write_use(owner: &Owner, id: &str, now: Timestamp) -> Result<(), Refusal> {
        let key = key(id)?;
        let Some((was, kept)) = records::find::<Kept>(owner.sequencer().store(), &key)? else {
            return Ok(());
        };
        let kept = Kept { used: kept.used.max(Some(now)), ..kept };
        let next = Some(records::value(&kept, kept.token.expires)?);
        // Whoever was faster noted the same, or ended it.
        records::swap(owner, vec![demur_store::contract::Swap { key, was, next }]).map(drop)
    }
}

impl Desk {
    /// Ends the sessions of every browser where this port is the folder's; returns how many there were.
    pub fn end_sessions_at(&self, port: u16) -> Result<u64, Refusal> {
        if self.remembered_port()? != Some(port) {
            return Ok(0);
        }
        self.tokens().end_all_sessions(&*self.owner()?, None)
    }

    /// Notes that the session of a caller is used. Nobody waits until it is written down.
    pub fn note_used(self: &Arc<Self>, caller: &Caller) {
        let (Some(token), Ok(now)) = (caller.person(), self.now()) else { return };
        let interval = self.tokens().timeouts.note_interval();
        if !self.tokens().known().note_use(&token.id, now, interval) {
            return;
        }
        let (desk, id) = (Arc::clone(self), token.id.clone());
        tokio::spawn(async move {
            let written = desk.on_worker(move |desk| Tokens::write_use(&*desk.owner()?, &id, now));
            if let Err(refusal) = written.await {
                tracing::debug!(code = refusal.code.as_str(), "that a session is used was not written down");
            }
        });
    }
}

fn plus(time: Timestamp, more: Duration) -> Timestamp {
    time.plus_millis(u64::try_from(more.as_millis()).unwrap_or(u64::MAX))
}

/// How seldom a use is written down.
const MAX_NOTE_INTERVAL: Duration = Duration::from_mins(1);
