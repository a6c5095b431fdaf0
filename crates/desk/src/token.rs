//! Tokens for what is not local. The store keeps the SHA-256 of each secret, never the secret, and no part of it is in the
//! ledger; that a client was given a token, and that it was taken back, stands in the registry. Sessions of people do not.

mod handle;
mod registered;
mod session;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::{code::Code, refusal::Refusal, scope::Scope};
use demur_core::{
    hash::{Digest, sha256},
    limit::Text,
    random::Random as _,
    time::Timestamp,
};
use demur_ledger::{
    name::{ClientId, TokenId},
    role::Role,
};
use demur_store::contract::{KeptRecord, RecordKey, Swap};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

pub(crate) use self::session::FoundSession;
pub use self::session::SessionTimeouts;

use crate::{
    access::{Browser, RelayedPerson, Token},
    client::{self, KnownClient, MadeFor},
    name,
    owner::Owner,
    person::NewSession,
    records,
};

/// The tokens of a store, as read when somebody first asked. Each is a record.
pub struct Tokens {
    known: Mutex<Known>,
    /// Counts the times that one or more ended.
    ended: watch::Sender<u64>,
    /// How many there can be.
    most: usize,
    /// How long a browser stays signed in.
    timeouts: SessionTimeouts,
}

/// What was read. Nobody waits for the disk with it: async workers look here.
#[derive(Default)]
struct Known {
    /// None before the first look.
    tokens: Option<BTreeMap<String, Kept>>,
    /// How many changes were made here.
    changes: u64,
    /// How many could not be read.
    unread: usize,
    /// When they were read last from a store that other processes change; none for one that nobody else does.
    read_at: Option<Timestamp>,
    /// Up to when it was told which have expired.
    told_expired: Option<Timestamp>,
}

impl Known {
    /// Returns the tokens, unless they were read so long ago that others may have taken back some of them.
    fn believed(&self, now: Timestamp) -> Option<&BTreeMap<String, Kept>> {
        // They may have been read since the caller looked at the clock; and a clock that was set tells nothing.
        let is_fresh = |read: Timestamp| now.as_millis().abs_diff(read.as_millis()) < TRUST_MILLIS;
        self.tokens.as_ref().filter(|_| self.read_at.is_none_or(is_fresh))
    }

    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, Kept>)) {
        if let Some(tokens) = &mut self.tokens {
            change(tokens);
        }
        self.changes += 1;
    }
}

/// A token with what proves it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    token: Token,
    digest: Digest,
    /// When the session was used last, as far as that was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    used: Option<Timestamp>,
    /// When that was written down last.
    #[serde(skip)]
    noted: Option<Timestamp>,
}

impl Kept {
    fn of(token: &Token, secret: &str) -> Self {
        Self { token: token.clone(), digest: sha256(secret.as_bytes()), used: None, noted: None }
    }
}

/// As much of a token as says whose session it is. A newer version may have written more: its sessions end with their person,
/// too.
#[derive(Deserialize)]
struct Named {
    token: NamedToken,
}

#[derive(Deserialize)]
struct NamedToken {
    id: String,
    name: String,
    scopes: Vec<String>,
}

/// What a new token is to be.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Whose it is.
    pub name: Text<1, 64>,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// The people whose words it passes on; none for one that passes on what anybody says, about its own questions alone.
    pub people: Option<Vec<Text<1, 64>>>,
    /// How long it is good for, in seconds; otherwise until it is revoked.
    pub seconds: Option<u64>,
}

impl Tokens {
    /// Returns the tokens of a store that has no more than this.
    pub fn new(most: usize) -> Self {
        let timeouts = SessionTimeouts::default();
        Self { known: Mutex::default(), ended: watch::Sender::default(), most, timeouts }
    }

    /// Returns the same, with browsers signed in for so long.
    #[must_use]
    pub const fn with_timeouts(mut self, timeouts: SessionTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Returns how long browsers stay signed in.
    pub const fn timeouts(&self) -> SessionTimeouts {
        self.timeouts
    }

    /// Returns what is told whenever tokens ended; whoever acts for one looks again whether it is good.
    pub(crate) fn ended(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    fn tell_ended(&self) {
        self.ended.send_modify(|times| *times = times.wrapping_add(1));
    }

    /// Tells whoever acts for a token that has expired since this was last asked.
    pub(crate) fn tell_expired(&self, now: Timestamp) {
        let has_expired = {
            let mut known = self.known();
            let before = known.told_expired.replace(now);
            let is_new = |expires: Timestamp| expires <= now && before.is_none_or(|before| before < expires);
            let mut expiries = known.tokens.iter().flat_map(BTreeMap::values);
            expiries.any(|kept| kept.ends(&self.timeouts).is_some_and(is_new))
        };
        if has_expired {
            self.tell_ended();
        }
    }

    /// Returns the token with this secret, if it is good now. Reads nothing from the disk: nobody is known before
    /// [`Self::load`].
    pub fn find(&self, secret: &str, now: Timestamp) -> Option<Arc<Token>> {
        let id = id_of(secret)?;
        let digest = sha256(secret.as_bytes());
        let known = self.known();
        let kept = known.believed(now).and_then(|tokens| tokens.get(id));
        // The digest of a guess says nothing about the secret: comparing it needs no constant time.
        let good = kept.filter(|kept| kept.digest == digest);
        let in_time = good.filter(|kept| kept.ends(&self.timeouts).is_none_or(|ends| now < ends));
        in_time.map(|kept| Arc::new(kept.token.clone()))
    }

    /// Returns whether the tokens were read from the store, lately where other processes change them.
    pub fn is_loaded(&self, now: Timestamp) -> bool {
        self.known().believed(now).is_some()
    }

    /// Reads the tokens from the store: another process may have changed them.
    pub fn load(&self, owner: &Owner) -> Result<(), Refusal> {
        // What a newer version wrote is good for nothing here, and keeps nobody else out.
        let read =
            |kept: &KeptRecord| records::read(kept).ok().map(|read: Kept| (read.token.id.clone(), read));
        loop {
            let before = self.known().changes;
            // Before the look: whatever is changed after it may not be in what is read.
            let read_at = owner.sequencer().store().is_shared().then(|| owner.system().now()).transpose()?;
            let all = records::all(owner.sequencer().store(), PREFIX)?;
            let mut found: BTreeMap<_, _> = all.iter().filter_map(read).collect();
            let unread = all.len() - found.len();
            let mut known = self.known();
            // What was changed here meanwhile may not be in what was read.
            if known.changes == before {
                // This is done twice a second: only news is told.
                if unread > known.unread {
                    tracing::warn!(
                        count = unread,
                        "tokens of a newer version of demur are good for nothing here"
                    );
                }
                known.unread = unread;
                known.read_at = read_at;
                for (id, kept) in known.tokens.iter().flatten() {
                    found.get_mut(id).into_iter().for_each(|now| now.remember(kept));
                }
                let before = known.tokens.replace(found);
                let is_there = |id| known.tokens.as_ref().is_some_and(|tokens| tokens.contains_key(id));
                let has_ended = before.iter().flat_map(BTreeMap::keys).any(|id| !is_there(id));
                drop(known);
                if has_ended {
                    self.tell_ended();
                }
                return Ok(());
            }
        }
    }

    /// Makes a token; returns it with its secret, which nothing keeps.
    pub fn create(&self, owner: &Owner, wanted: Wanted) -> Result<(Token, String), Refusal> {
        check(&wanted)?;
        name::expect_no_person(owner, &wanted.name).map_err(|refusal| refusal.about("name"))?;
        self.make(owner, wanted, Vec::new())?.ok_or_else(records::contended)
    }

    /// Makes a token together with other changes; none if one of these does not hold any more.
    pub(crate) fn make(
        &self,
        owner: &Owner,
        wanted: Wanted,
        mut swaps: Vec<Swap>,
    ) -> Result<Option<(Token, String)>, Refusal> {
        let system = owner.system();
        let now = system.now()?;
        // First: no key is made for a token that there is no room for.
        self.make_room(owner, now)?;
        let client = self.client_of(owner, &wanted, now)?;
        let people = relayed_people(owner, wanted.people)?;
        let author = match (speaks_as(&wanted.scopes), &client) {
            (Some(role), Some(client)) => {
                let client = MadeFor::Client(client.clone());
                let author = owner.find_or_enrol_for(&wanted.name, role, &client)?;
                // It may have been made at the command line.
                owner.bind(author.public().fingerprint(), &client)?;
                Some(author)
            }
            _ => None,
        };
        let id = TokenId::new(now, &mut { system });
        let secret = secret(owner, id);
        let token = Token {
            id: id.to_string(),
            name: wanted.name,
            scopes: wanted.scopes,
            created: now,
            expires: wanted.seconds.map(|seconds| now.plus_millis(seconds.saturating_mul(1000))),
            principal: author.map(|author| author.principal()),
            client: client.map(|client| client.id),
            by_mcp: false,
            people,
            role: None,
            person: None,
            opened: None,
            rests_on: None,
            browser: None,
        };
        let kept = Kept::of(&token, &secret);
        swaps.push(records::creation(key(&token.id)?, records::value(&kept, token.expires)?));
        let is_made = match registered::made(id, &token)? {
            Some((facts, content)) => registered::state(owner, facts, Some(content), &swaps)?,
            None => records::swap(owner, swaps)?,
        };
        if !is_made {
            return Ok(None);
        }
        self.known().change(|tokens| drop(tokens.insert(token.id.clone(), kept)));
        Ok(Some((token, secret)))
    }

    /// Begins the session of somebody who signed in by this event of the journal, together with other changes; returns its secret and
    /// how many seconds it is good at the longest, and none if one of the changes does not hold any more.
    pub(crate) fn begin(
        &self,
        owner: &Owner,
        new: NewSession,
        (opened, browser): (Digest, Browser),
        mut swaps: Vec<Swap>,
    ) -> Result<Option<(String, u64)>, Refusal> {
        let seconds = self.timeouts.absolute.as_secs();
        let now = owner.system().now()?;
        let secret = secret(owner, new.id);
        let token = Token {
            id: new.id.to_string(),
            name: new.name,
            scopes: vec![Scope::Person],
            created: now,
            expires: Some(now.plus_millis(seconds.saturating_mul(1000))),
            principal: None,
            client: None,
            by_mcp: false,
            people: None,
            role: Some(new.role),
            person: Some(new.person),
            opened: Some(opened),
            rests_on: Some(new.rests_on),
            browser: Some(Box::new(browser)),
        };
        let kept = Kept::of(&token, &secret);
        swaps.push(records::creation(key(&token.id)?, records::value(&kept, token.expires)?));
        if !records::swap(owner, swaps)? {
            return Ok(None);
        }
        self.known().change(|tokens| drop(tokens.insert(token.id, kept)));
        Ok(Some((secret, seconds)))
    }

    /// Takes away what has ended, and says so where there is no room for one more all the same.
    pub(crate) fn expect_room(&self, owner: &Owner) -> Result<(), Refusal> {
        self.make_room(owner, owner.system().now()?)
    }

    /// Returns the client that a token is for: whoever has the name already, otherwise a new one; none for a person's session.
    fn client_of(
        &self,
        owner: &Owner,
        wanted: &Wanted,
        now: Timestamp,
    ) -> Result<Option<KnownClient>, Refusal> {
        if let Some(known) = client::of_name(owner, &wanted.name)? {
            return Ok(Some(known));
        }
        let is_same = |token: &Token| name::same(&token.name, &wanted.name);
        let other = self.list(owner)?.into_iter().filter(is_same).find_map(|token| token.client);
        let id = other.unwrap_or_else(|| ClientId::new(now, &mut { owner.system() }));
        Ok(Some(KnownClient { id, name: Text::try_from(wanted.name.as_str())? }))
    }

    /// Takes away what has ended, and says so where there are too many all the same.
    fn make_room(&self, owner: &Owner, now: Timestamp) -> Result<(), Refusal> {
        let store = owner.sequencer().store();
        // What has ended is of no use to anybody.
        for kept in store.due(PREFIX, now, self.most)? {
            records::swap(owner, vec![records::removal(kept.key, kept.version)])?;
        }
        let (most, found) = (self.most, records::all(store, PREFIX)?.len());
        if found < most {
            return Ok(());
        }
        let message = format!("expected at most {most} tokens and sessions, found {found}");
        Err(Refusal::new(Code::TooManyTokens, message).with_cure(
            "revoke those that nobody uses: `demur token list`; `demur serve --max-tokens` allows more",
        ))
    }

    /// Returns every token, the oldest first.
    pub fn list(&self, owner: &Owner) -> Result<Vec<Token>, Refusal> {
        let mut kept = records::all(owner.sequencer().store(), PREFIX)?;
        // Two may have been made in one moment; a version is made once.
        kept.sort_by_key(|kept| kept.version);
        Ok(kept.iter().filter_map(records::listed).map(|Kept { token, .. }| token).collect())
    }

    /// Takes a token back.
    pub fn revoke(&self, owner: &Owner, id: &str) -> Result<Token, Refusal> {
        let unknown = || {
            Refusal::new(Code::TokenUnknown, "expected the id of a token, found another word")
                .with_cure("`demur token list` shows them")
        };
        let key = key(id).map_err(|_| unknown())?;
        let (version, kept): (_, Kept) =
            records::find(owner.sequencer().store(), &key)?.ok_or_else(unknown)?;
        let swaps = vec![records::removal(key, version)];
        // Whoever was faster took it back too.
        match registered::revoked(owner, id) {
            Some(facts) => registered::state(owner, facts, None, &swaps)?,
            None => records::swap(owner, swaps)?,
        };
        self.known().change(|tokens| drop(tokens.remove(id)));
        self.tell_ended();
        Ok(kept.token)
    }

    /// Ends every session of a person together with other changes; returns how many there were, and none if one of these
    /// does not hold any more.
    pub(crate) fn end_sessions(
        &self,
        owner: &Owner,
        name: &str,
        mut swaps: Vec<Swap>,
        commit: impl FnOnce(&[Swap]) -> Result<bool, Refusal>,
    ) -> Result<Option<u64>, Refusal> {
        let mut ended = Vec::new();
        for kept in records::all(owner.sequencer().store(), PREFIX)? {
            let Some(Named { token }) = records::listed(&kept) else { continue };
            if token.scopes.contains(&Scope::Person.to_string()) && name::same(&token.name, name) {
                swaps.push(records::removal(kept.key, kept.version));
                ended.push(token.id);
            }
        }
        if !commit(&swaps)? {
            return Ok(None);
        }
        self.known().change(|tokens| tokens.retain(|id, _| !ended.contains(id)));
        self.tell_ended();
        Ok(Some(ended.len() as u64))
    }

    /// Returns whether a token is still good.
    pub fn is_good(&self, id: &str, now: Timestamp) -> bool {
        let known = self.known();
        let kept = known.believed(now).and_then(|tokens| tokens.get(id));
        kept.is_some_and(|kept| kept.ends(&self.timeouts).is_none_or(|ends| now < ends))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Draws the secret of a token, whose name stands in it.
fn secret(owner: &Owner, id: TokenId) -> String {
    let mut random = [0; 32];
    owner.system().fill(&mut random);
    format!("{TOKEN_PREFIX}{id}_{}", sha256(&random))
}

fn key(id: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{id}"))?)
}

fn check(wanted: &Wanted) -> Result<(), Refusal> {
    name::check(&wanted.name).map_err(|refusal| refusal.about("name"))?;
    let has = |scope| wanted.scopes.contains(&scope);
    if wanted.scopes.is_empty() {
        return Err(Refusal::new(Code::ScopeMissing, "expected at least one scope, found none"));
    }
    if wanted.scopes.iter().any(|scope| !Scope::GRANTED.contains(scope)) {
        return Err(Refusal::new(
            Code::ScopeInvalid,
            "expected ask, answer, relay, read, operate or metrics",
        ));
    }
    if !has(Scope::Relay) && wanted.people.is_some() {
        let message = "expected people beside the scope relay alone, found some without it";
        return Err(Refusal::new(Code::ScopeInvalid, message).about("people"));
    }
    // An asker never answers itself, and one token is one voice.
    if has(Scope::Answer) && (has(Scope::Ask) || has(Scope::Relay)) {
        let message = "expected one voice per token, found answer beside ask or relay";
        return Err(Refusal::new(Code::ScopeInvalid, message).with_cure("make two tokens"));
    }
    Ok(())
}

/// Returns the people whose words a token is to pass on, in the order of their ids, each once.
fn relayed_people(
    owner: &Owner,
    names: Option<Vec<Text<1, 64>>>,
) -> Result<Option<Vec<RelayedPerson>>, Refusal> {
    let Some(names) = names else { return Ok(None) };
    let person = |name| name::relayed_person(owner, name).map_err(|refusal| refusal.about("people"));
    let mut people = names.iter().map(person).collect::<Result<Vec<_>, _>>()?;
    people.sort_unstable_by_key(|person| person.id);
    people.dedup_by_key(|person| person.id);
    Ok(Some(people))
}

fn speaks_as(scopes: &[Scope]) -> Option<Role> {
    match scopes {
        scopes if scopes.contains(&Scope::Ask) => Some(Role::Agent),
        scopes if scopes.contains(&Scope::Answer) => Some(Role::Answerer),
        _ => None,
    }
}

fn id_of(secret: &str) -> Option<&str> {
    secret.strip_prefix(TOKEN_PREFIX)?.split_once('_').map(|(id, _)| id)
}

/// What every token begins with, so that scanners find one that leaked.
const TOKEN_PREFIX: &str = "dmr_";
/// How long tokens of a shared store are taken as they were read: what is revoked elsewhere is dead within this time. The
/// follower reads them twice a second.
const TRUST_MILLIS: u64 = 1000;
/// What the keys of their records begin with.
pub(crate) const PREFIX: &str = "token/";
