//! Tokens for what is not local. Operational data: the store keeps the SHA-256 of each secret, never the secret, and no
//! part of it is in the ledger.

mod handle;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use demur_api::{code::Code, person::PersonRole, refusal::Refusal, scope::Scope};
use demur_core::{
    hash::{Digest, sha256},
    limit::Text,
    random::Random as _,
    time::Timestamp,
};
use demur_ledger::role::Role;
use serde::{Deserialize, Serialize};

use crate::{access::Token, owner::Owner, person};

/// The tokens of a store, as read when somebody first asked.
pub struct Tokens {
    known: Mutex<Option<Vec<Kept>>>,
    /// How many there can be.
    most: usize,
}

/// A token with what proves it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    token: Token,
    digest: Digest,
}

/// What a new token is to be.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Whose it is.
    pub name: Text<1, 64>,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// How long it is good for, in seconds; otherwise until it is revoked.
    pub seconds: Option<u64>,
    /// What the person may do whose session it is to be.
    pub role: Option<PersonRole>,
}

impl Wanted {
    /// Returns the session of a person who signed in with a browser.
    pub fn session(user: &str, role: PersonRole, seconds: u64) -> Result<Self, Refusal> {
        Ok(Self {
            name: Text::cut(user)?,
            scopes: vec![Scope::Person],
            seconds: Some(seconds),
            role: Some(role),
        })
    }
}

impl Tokens {
    /// Returns the tokens of a store that has no more than this.
    pub const fn new(most: usize) -> Self {
        Self { known: Mutex::new(None), most }
    }

    /// Returns the token with this secret, if it is good now. Reads nothing from the disk: nobody is known before
    /// [`Self::load`].
    pub fn find(&self, secret: &str, now: Timestamp) -> Option<Arc<Token>> {
        let id = id_of(secret)?;
        let digest = sha256(secret.as_bytes());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known.iter().flatten().find(|kept| kept.token.id == id);
        // The digest of a guess says nothing about the secret: comparing it needs no constant time.
        let good = kept.filter(|kept| kept.digest == digest).map(|kept| &kept.token);
        let in_time = good.filter(|token| token.expires.is_none_or(|expires| now < expires));
        in_time.map(|token| Arc::new(token.clone()))
    }

    /// Returns whether the tokens were read from the store.
    pub fn is_loaded(&self) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Reads the tokens from the store, unless that was done.
    pub fn load(&self, owner: &Owner) -> Result<(), Refusal> {
        self.read(owner).map(|_| ())
    }

    /// Makes a token; returns it with its secret, which nothing keeps.
    pub fn create(&self, owner: &Owner, wanted: Wanted) -> Result<(Token, String), Refusal> {
        check(&wanted)?;
        self.make(owner, wanted)
    }

    /// Makes the session of a person who signed in.
    pub fn create_session(&self, owner: &Owner, wanted: Wanted) -> Result<(Token, String), Refusal> {
        self.make(owner, wanted)
    }

    fn make(&self, owner: &Owner, wanted: Wanted) -> Result<(Token, String), Refusal> {
        let world = owner.world();
        let now = world.now()?;
        let author =
            speaks_as(&wanted.scopes).map(|role| owner.find_or_enrol(&wanted.name, role)).transpose()?;
        let mut random = [0; 32];
        { world }.fill(&mut random);
        let rest = sha256(&random).to_string();
        let id = sha256(rest.as_bytes()).to_string()[..16].to_owned();
        let secret = format!("{PREFIX}{id}_{rest}");
        let token = Token {
            id,
            name: wanted.name,
            scopes: wanted.scopes,
            created: now,
            expires: wanted.seconds.map(|seconds| now.plus_millis(seconds.saturating_mul(1000))),
            principal: author.map(|author| author.principal()),
            role: wanted.role,
        };
        let mut known = self.read(owner)?;
        let mut tokens = known.clone().unwrap_or_default();
        // What has ended is of no use to anybody.
        tokens.retain(|kept| kept.token.expires.is_none_or(|expires| now < expires));
        let most = self.most;
        if tokens.len() >= most {
            let message = format!("expected at most {most} tokens and sessions, found {}", tokens.len());
            return Err(Refusal::new(Code::TooManyTokens, message).with_cure(
                "revoke those that nobody uses: `demur token list`; `demur serve --max-tokens` allows more",
            ));
        }
        tokens.push(Kept { token: token.clone(), digest: sha256(secret.as_bytes()) });
        write(owner, &tokens)?;
        *known = Some(tokens);
        Ok((token, secret))
    }

    /// Returns every token.
    pub fn list(&self, owner: &Owner) -> Result<Vec<Token>, Refusal> {
        Ok(self.read(owner)?.iter().flatten().map(|kept| kept.token.clone()).collect())
    }

    /// Takes a token back.
    pub fn revoke(&self, owner: &Owner, id: &str) -> Result<Token, Refusal> {
        let mut known = self.read(owner)?;
        let mut tokens = known.clone().unwrap_or_default();
        let at = tokens.iter().position(|kept| kept.token.id == id).ok_or_else(|| {
            Refusal::new(Code::TokenUnknown, "expected the id of a token, found another word")
                .with_cure("`demur token list` shows them")
        })?;
        let revoked = tokens.remove(at).token;
        write(owner, &tokens)?;
        *known = Some(tokens);
        Ok(revoked)
    }

    /// Ends every session of a person; returns how many there were.
    pub(crate) fn end_sessions(&self, owner: &Owner, name: &str) -> Result<u64, Refusal> {
        let mut known = self.read(owner)?;
        let mut tokens = known.clone().unwrap_or_default();
        let before = tokens.len();
        let theirs = |token: &Token| token.scopes.contains(&Scope::Person) && person::same(&token.name, name);
        tokens.retain(|kept| !theirs(&kept.token));
        let ended = before - tokens.len();
        if ended > 0 {
            write(owner, &tokens)?;
            *known = Some(tokens);
        }
        Ok(ended as u64)
    }

    /// Reads the tokens again: another process may have changed them.
    pub fn reload(&self, owner: &Owner) -> Result<(), Refusal> {
        let fresh = stored(owner)?;
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
        Ok(())
    }

    /// Returns whether a token is still good.
    pub fn is_good(&self, id: &str, now: Timestamp) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let token = known.iter().flatten().find(|kept| kept.token.id == id);
        token.is_some_and(|kept| kept.token.expires.is_none_or(|expires| now < expires))
    }

    fn read(&self, owner: &Owner) -> Result<MutexGuard<'_, Option<Vec<Kept>>>, Refusal> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(stored(owner)?);
        }
        Ok(known)
    }
}

fn stored(owner: &Owner) -> Result<Vec<Kept>, Refusal> {
    let note = owner.ledger().store().note(NOTE)?;
    let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).map_err(|error| Refusal::bug(&error));
    Ok(note.map(read).transpose()?.unwrap_or_default())
}

fn write(owner: &Owner, tokens: &[Kept]) -> Result<(), Refusal> {
    let bytes = serde_json::to_vec(tokens).map_err(|error| Refusal::bug(&error))?;
    Ok(owner.ledger().store().set_note(NOTE, &bytes)?)
}

fn check(wanted: &Wanted) -> Result<(), Refusal> {
    let has = |scope| wanted.scopes.contains(&scope);
    if wanted.scopes.is_empty() {
        return Err(Refusal::new(Code::ScopeMissing, "expected at least one scope, found none"));
    }
    if wanted.scopes.iter().any(|scope| !Scope::GRANTED.contains(scope)) {
        return Err(Refusal::new(Code::ScopeInvalid, "expected ask, answer, relay, read or metrics"));
    }
    // An asker never answers itself, and one token is one voice.
    if has(Scope::Answer) && (has(Scope::Ask) || has(Scope::Relay)) {
        let message = "expected one voice per token, found answer beside ask or relay";
        return Err(Refusal::new(Code::ScopeInvalid, message).with_cure("make two tokens"));
    }
    Ok(())
}

fn speaks_as(scopes: &[Scope]) -> Option<Role> {
    match scopes {
        scopes if scopes.contains(&Scope::Ask) => Some(Role::Agent),
        scopes if scopes.contains(&Scope::Answer) => Some(Role::Answerer),
        _ => None,
    }
}

fn id_of(secret: &str) -> Option<&str> {
    secret.strip_prefix(PREFIX)?.split_once('_').map(|(id, _)| id)
}

/// What every token begins with, so that scanners find one that leaked.
const PREFIX: &str = "dmr_";
/// Where the store keeps them.
const NOTE: &str = "tokens";
