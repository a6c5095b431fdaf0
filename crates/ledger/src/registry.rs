//! The registry: which key may speak as what, decided by position and never by a date (`docs/format.md` 7).

mod client;
mod error;
mod people;
mod rules;

use std::collections::BTreeMap;

use demur_core::{
    hash::Digest,
    key::{Fingerprint, PublicKey},
    time::Timestamp,
};

pub use error::{RegistryError, Standing};

use crate::{
    erasure::Erasures,
    facts::{Enrolment, PersonRole, TokenScope},
    name::{ClientId, PersonId, Position, PrincipalId, Sequence, StoreId, TokenId, TraceId},
    role::Role,
};

/// The keys of a store, folded from its registry trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    store: StoreId,
    trace: TraceId,
    desk: PrincipalId,
    keys: BTreeMap<Fingerprint, KeyRecord>,
    /// Recovery keys speak only in rotations.
    recovery: BTreeMap<Fingerprint, PublicKey>,
    /// The hash of every registry event, so that pinned positions can be checked.
    hashes: Vec<Digest>,
    /// When each was recorded, as the desk says.
    times: Vec<Timestamp>,
    /// Where each epoch begins; the first is epoch 1.
    epochs: Vec<Sequence>,
    /// The roots recorded by revocations and checkpoints, with the number of traces under them.
    roots: BTreeMap<Sequence, (Digest, u64)>,
    /// The clients that speak with the keys of a principal.
    clients: BTreeMap<PrincipalId, BTreeMap<ClientId, Binding>>,
    /// Every token that was made, with whether it was taken back.
    tokens: BTreeMap<TokenId, TokenRecord>,
    /// The people who take part or did.
    people: BTreeMap<PersonId, PersonRecord>,
    /// Their passkeys.
    passkeys: BTreeMap<Fingerprint, PasskeyRecord>,
    /// The first key or token that an agent may hold.
    first_credential: Option<Sequence>,
    /// Whether passkeys ended in the newest event, whose checkpoint comes next.
    owes_checkpoint: bool,
    /// What was erased.
    erasures: Erasures,
    /// The first event of a type that this version does not know: what it did to the keys nobody can tell.
    unknown: Option<Sequence>,
}

/// What the registry says of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenRecord {
    /// Whoever holds it.
    pub(crate) client: ClientId,
    /// Whose words it may relay; none for whoever it names, about what its own client asked.
    pub(crate) people: Option<Vec<PersonId>>,
    /// The holder of the key that speaks for it, if one does.
    pub(crate) principal: Option<PrincipalId>,
    /// What it allows.
    pub(crate) scopes: Vec<TokenScope>,
    /// When it ends, if it does.
    pub(crate) expires: Option<Timestamp>,
    made: Sequence,
    revoked: Option<Sequence>,
}

/// What became of a token. That one has expired is not recorded: it says itself when it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenStanding {
    /// It was made.
    Made,
    /// It was taken back.
    Revoked,
}

/// One key and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key.
    pub public: PublicKey,
    /// Who controls it.
    pub principal: PrincipalId,
    /// What it may speak as.
    pub roles: Vec<Role>,
    /// How it came in.
    pub origin: KeyOrigin,
    /// The registry event that brought it.
    pub since: Sequence,
    /// The key it was named after in a rotation.
    pub replaces: Option<Fingerprint>,
    /// The rotation that named its successor.
    pub rotated: Option<Sequence>,
    /// The event that ended the overlap after a rotation.
    pub retired: Option<Sequence>,
    /// The event that revoked it.
    pub revoked: Option<Sequence>,
    /// The key that may rotate it when it is lost.
    pub recovery: Option<Fingerprint>,
    /// The clients that speak with it, in the order in which that was recorded; first those of the key before it, where it came
    /// in by rotation.
    pub clients: Vec<ClientId>,
}

/// A person, and what became of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonRecord {
    /// What they may do, from when on, oldest first.
    pub roles: Vec<(Sequence, PersonRole)>,
    /// The event that removed them.
    pub removed: Option<Sequence>,
}

/// One passkey and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyRecord {
    /// The registry event that brought it.
    pub since: Sequence,
    /// The event that ended it: its own removal, that of its person, a reset.
    pub ended: Option<Sequence>,
    /// Who vouches for it.
    pub origin: PasskeyOrigin,
    /// How it came in.
    pub enrolment: Enrolment,
}

/// Who vouches for a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PasskeyOrigin {
    /// Nobody: the first of its store.
    Root {
        /// Whether a key or a token was there before, which an agent may hold.
        is_late: bool,
    },
    /// An earlier passkey.
    Vouched {
        /// Which.
        by: Fingerprint,
    },
    /// The recovery key of the desk.
    Recovery,
}

/// That a client speaks with a key of a principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Binding {
    since: Sequence,
    /// Whether the key was nobody's before.
    is_first: bool,
}

/// How a key came into the registry, and so how much stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyOrigin {
    /// The first key of its principal.
    First,
    /// Named by the key before it.
    RotatedByKey,
    /// Named by the recovery key.
    RotatedByRecovery,
    /// Another key for a principal that had one: only the desk says they belong together.
    DeskWord,
}

impl Registry {
    /// Returns the store's name.
    pub const fn store(&self) -> StoreId {
        self.store
    }

    /// Returns the registry's own trace.
    pub const fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the desk's principal.
    pub const fn desk(&self) -> PrincipalId {
        self.desk
    }

    /// Returns the position of the newest registry event.
    pub fn head(&self) -> Position {
        // A registry has at least the event that opened it.
        let last = self.hashes.len() - 1;
        Position::new(Sequence::at(last), self.hashes[last])
    }

    /// Returns whether this number and hash name an event of this registry.
    pub fn holds(&self, position: &Position) -> bool {
        let hash = position.sequence.index().and_then(|index| self.hashes.get(index));
        hash == Some(&position.hash)
    }

    /// Returns the hash of every registry event, in order.
    pub fn hashes(&self) -> &[Digest] {
        &self.hashes
    }

    /// Returns when a registry event was recorded, as the desk says.
    pub fn time_at(&self, at: Sequence) -> Option<Timestamp> {
        at.index().and_then(|index| self.times.get(index)).copied()
    }

    /// Returns whether an event of a later version stands at or before a registry event.
    pub fn has_unknown_before(&self, at: Sequence) -> bool {
        self.unknown.is_some_and(|unknown| unknown <= at)
    }

    /// Returns the store's epoch.
    pub fn epoch(&self) -> u64 {
        self.epochs.len() as u64
    }

    /// Returns the event with which the store's epoch began. No two restorations have the same one, not even of one backup.
    pub fn epoch_begin(&self) -> Position {
        let sequence = self.epochs.last().copied().unwrap_or(Sequence::FIRST);
        let hash = sequence.index().and_then(|index| self.hashes.get(index));
        Position { sequence, hash: hash.copied().unwrap_or(self.head().hash) }
    }

    /// Returns the store's epoch as of a registry event.
    pub fn epoch_at(&self, at: Sequence) -> u64 {
        self.epochs.iter().filter(|begin| **begin <= at).count() as u64
    }

    /// Returns whether the store began again from a backup at this place of the registry.
    pub fn is_restoration(&self, at: usize) -> bool {
        at > 0 && self.epoch_at(Sequence::at(at)) > self.epoch_at(Sequence::at(at - 1))
    }

    /// Returns every key with its fingerprint.
    pub fn keys(&self) -> impl Iterator<Item = (&Fingerprint, &KeyRecord)> {
        self.keys.iter()
    }

    /// Returns one key, whatever became of it.
    pub fn key(&self, fingerprint: &Fingerprint) -> Option<&KeyRecord> {
        self.keys.get(fingerprint)
    }

    /// Returns the public key under this fingerprint, recovery keys included.
    pub fn public_key(&self, fingerprint: &Fingerprint) -> Option<&PublicKey> {
        self.keys.get(fingerprint).map(|record| &record.public).or_else(|| self.recovery.get(fingerprint))
    }

    /// Returns the key if it may speak as of a registry event, and what stands against it if not.
    pub fn speaker(&self, fingerprint: &Fingerprint, at: Sequence) -> Result<&KeyRecord, Standing> {
        let record =
            self.keys.get(fingerprint).filter(|record| record.since <= at).ok_or(Standing::Unknown)?;
        let revoked = record.revoked.filter(|since| *since <= at);
        let retired = record.retired.filter(|since| *since <= at);
        match (revoked, retired) {
            // What came first ended it.
            (Some(since), retired) if retired.is_none_or(|retired| since < retired) => {
                Err(Standing::Revoked { since })
            }
            (_, Some(since)) => Err(Standing::Retired { since }),
            _ => Ok(record),
        }
    }

    /// Returns the key if it may sign for the desk as of a registry event.
    pub fn desk_key(&self, fingerprint: &Fingerprint, at: Sequence) -> Result<&KeyRecord, Standing> {
        let record = self.speaker(fingerprint, at)?;
        // Nobody registers this role: it comes with `store_created` and goes on by rotation.
        if record.roles.contains(&Role::Desk) { Ok(record) } else { Err(Standing::NotTheDesk) }
    }

    /// Returns the clients that speak with the keys of a principal; none where that is not recorded.
    pub fn clients_of(&self, principal: PrincipalId) -> impl Iterator<Item = ClientId> {
        self.clients.get(&principal).into_iter().flatten().map(|(client, _)| *client)
    }

    /// Returns those with whose keys a client speaks.
    pub fn principals_of(&self, client: ClientId) -> impl Iterator<Item = PrincipalId> {
        let bound = self.clients.iter().filter(move |(_, clients)| clients.contains_key(&client));
        bound.map(|(principal, _)| *principal)
    }

    /// Returns those of them that were on record at this position.
    pub fn clients_at(&self, principal: PrincipalId, at: Sequence) -> impl Iterator<Item = ClientId> {
        let clients = self.clients.get(&principal).into_iter().flatten();
        clients.filter(move |(_, bound)| bound.since <= at).map(|(client, _)| *client)
    }

    /// Returns the clients that may have spoken with the keys of a principal up to this position: the first one of a key from the
    /// beginning, whenever that was told, and others from when they were on record.
    pub fn speaking_clients(&self, principal: PrincipalId, at: Sequence) -> impl Iterator<Item = ClientId> {
        let clients = self.clients.get(&principal).into_iter().flatten();
        clients.filter(move |(_, bound)| bound.is_first || bound.since <= at).map(|(client, _)| *client)
    }

    /// Returns whether this stands for the desk itself, which is no client.
    pub fn is_desk(&self, client: ClientId) -> bool {
        client == self.desk.into()
    }

    /// Returns what became of a token; none for one that was not made here.
    pub fn token(&self, token: TokenId) -> Option<TokenStanding> {
        let standing = |record: &TokenRecord| match record.revoked {
            Some(_) => TokenStanding::Revoked,
            None => TokenStanding::Made,
        };
        self.tokens.get(&token).map(standing)
    }

    /// Returns a token that was good at this position.
    pub(crate) fn token_at(&self, token: TokenId, at: Sequence) -> Option<&TokenRecord> {
        let is_good =
            |record: &&TokenRecord| record.made <= at && record.revoked.is_none_or(|revoked| revoked > at);
        self.tokens.get(&token).filter(is_good)
    }

    /// Returns what was erased.
    pub const fn erasures(&self) -> &Erasures {
        &self.erasures
    }

    /// Returns the registry events that recorded a root, oldest first.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = Sequence> {
        self.roots.keys().copied()
    }

    /// Returns the root that a revocation or checkpoint recorded, with its number of traces.
    pub fn root(&self, at: Sequence) -> Option<(Digest, u64)> {
        self.roots.get(&at).copied()
    }
}
