//! A data folder open for writing: locked, its registry read and checked, what is new kept in memory until one
//! commit. Whatever fails before that leaves the folder as it was.

use std::{fs, io::ErrorKind, path::PathBuf};

use demur_core::{
    key::{Fingerprint, PublicKey, SecretKey},
    time::Timestamp,
};
use demur_ledger::{
    author::Author,
    event_type::Content,
    facts::{KeyRetired, KeyRevoked},
    name::{PrincipalId, Sequence},
    role::Role,
};

use crate::{
    book::{Book, DESK},
    data::{DataFolder, Lock},
    durable,
    error::CommandError,
    keys::KeyEntry,
    keystore::{KeyFile, KeyFileError, Keystore, Removal},
    visible::visible_path,
    world::World,
};

/// A data folder that this process alone writes to.
#[derive(Debug)]
pub(crate) struct Store {
    data: DataFolder,
    _lock: Lock,
    keystore: Keystore,
    book: Book,
    /// The desk's key, once something had to be signed with it.
    desk: Option<SecretKey>,
    world: World,
    now: Timestamp,
    /// Files that mean nothing unless the registry is written.
    added: Vec<PathBuf>,
    /// Keys whose secret is of no more use once the registry is written.
    spent: Vec<Fingerprint>,
}

/// A key that stopped speaking, and what became of its secret.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Spent {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) name: String,
    pub(crate) secret: Removal,
}

impl Store {
    /// Returns the store of a data folder that has one.
    pub(crate) fn open(data: DataFolder) -> Result<Self, CommandError> {
        // Before the lock, which would create the folder.
        if data.registry().symlink_metadata().is_err() {
            return Err(no_keys(&data));
        }
        let lock = data.lock()?;
        let book = Book::read(&data.registry())?.ok_or_else(|| no_keys(&data))?;
        Self::with(data, lock, book, World::open()?)
    }

    /// Returns the store of a data folder, and whether it had to be created.
    pub(crate) fn open_or_create(data: DataFolder) -> Result<(Self, bool), CommandError> {
        let mut world = World::open()?;
        let lock = data.lock()?;
        if let Some(book) = Book::read(&data.registry())? {
            return Ok((Self::with(data, lock, book, world)?, false));
        }
        let secret = SecretKey::generate(&mut world);
        let book = Book::create(secret.clone(), world.now()?, &mut world)?;
        let principal = book.registry().desk();
        let mut store = Self::with(data, lock, book, world)?;
        store.keep(&KeyFile {
            name: DESK.to_owned(),
            principal,
            role: Role::Desk,
            secret: secret.clone(),
        })?;
        store.desk = Some(secret);
        Ok((store, true))
    }

    fn with(data: DataFolder, lock: Lock, book: Book, world: World) -> Result<Self, CommandError> {
        Ok(Self {
            keystore: Keystore::of(&data),
            data,
            _lock: lock,
            book,
            desk: None,
            now: world.now()?,
            world,
            added: Vec::new(),
            spent: Vec::new(),
        })
    }

    /// Returns the registry.
    pub(crate) const fn book(&self) -> &Book {
        &self.book
    }

    /// Returns the secrets.
    pub(crate) const fn keystore(&self) -> &Keystore {
        &self.keystore
    }

    /// Returns every key.
    pub(crate) fn entries(&self) -> Vec<KeyEntry> {
        KeyEntry::all(&self.book, &self.keystore)
    }

    /// Returns a new secret that nothing knows of yet.
    pub(crate) fn generate(&mut self) -> SecretKey {
        SecretKey::generate(&mut self.world)
    }

    /// Returns a new principal.
    pub(crate) fn principal(&mut self) -> PrincipalId {
        PrincipalId::new(self.now, &mut self.world)
    }

    /// Keeps a secret in the keystore.
    pub(crate) fn keep(&mut self, key: &KeyFile) -> Result<PathBuf, CommandError> {
        let path = self.keystore.add(key)?;
        self.added.push(path.clone());
        Ok(path)
    }

    /// Writes a secret to a file of the caller's choice.
    pub(crate) fn keep_elsewhere(&mut self, key: &KeyFile, path: PathBuf) -> Result<(), CommandError> {
        key.create(&path)?;
        self.added.push(path);
        Ok(())
    }

    /// Registers a new key, signed with that very key.
    pub(crate) fn register(
        &mut self,
        author: &Author,
        recovery: Option<PublicKey>,
        name: &str,
    ) -> Result<Sequence, CommandError> {
        let place = self.book.place(self.now);
        let submission = author.register(&place, recovery, name, &mut self.world)?;
        let desk = self.desk_key()?;
        self.book.admit(desk, submission, self.now)
    }

    /// Names `new` as the successor of `old`. The new key keeps the recovery key: whoever stole the old one
    /// cannot take the way back away.
    pub(crate) fn rotate(
        &mut self,
        author: &Author,
        old: &KeyEntry,
        new: &SecretKey,
    ) -> Result<Sequence, CommandError> {
        let place = self.book.place(self.now);
        let recovery = old.recovery.and_then(|key| self.book.registry().public_key(&key).copied());
        let submission = author.rotate(&place, old.fingerprint, new, recovery, &mut self.world)?;
        let desk = self.desk_key()?;
        let at = self.book.admit(desk, submission, self.now)?;
        if old.principal == self.book.registry().desk() {
            self.desk = Some(new.clone());
        }
        Ok(at)
    }

    /// Ends the overlap after a rotation.
    pub(crate) fn retire(&mut self, key: Fingerprint, rotation: Sequence) -> Result<(), CommandError> {
        let desk = self.desk_key()?;
        let facts = KeyRetired { key, rotation };
        self.book.state(desk, facts, None, self.now, &mut self.world)?;
        self.spent.push(key);
        Ok(())
    }

    /// Revokes a key.
    pub(crate) fn revoke(&mut self, facts: KeyRevoked, content: Content) -> Result<Sequence, CommandError> {
        let desk = self.desk_key()?;
        let key = facts.key;
        let at = self.book.state(desk, facts, Some(content), self.now, &mut self.world)?;
        self.spent.push(key);
        Ok(at)
    }

    /// Returns the key the desk signs with now.
    pub(crate) fn desk_fingerprint(&self) -> Option<Fingerprint> {
        let registry = self.book.registry();
        let at = registry.head().sequence;
        registry
            .keys()
            .filter(|(fingerprint, _)| registry.desk_key(fingerprint, at).is_ok())
            .filter(|(_, record)| record.roles.contains(&Role::Desk))
            .max_by_key(|(_, record)| (record.rotated.is_none(), record.since))
            .map(|(fingerprint, _)| *fingerprint)
    }

    /// Writes the registry, then removes the secrets that are of no more use. Returns those keys.
    pub(crate) fn commit(mut self) -> Result<(Book, Vec<Spent>), CommandError> {
        self.retire_due()?;
        let desk = self.desk_key()?;
        let bytes = self.book.to_bytes(&desk, self.now)?;
        // What we could not read again must never take the place of what we can.
        let book = Book::parse(&bytes).map_err(|error| CommandError::bug(&error))?;
        let path = self.data.registry();
        if let Err(error) = durable::replace(&path, &bytes) {
            // Past the rename only the sync can fail: the registry then names the new keys, so they must stay.
            if fs::read(&path).is_ok_and(|found| found == bytes) {
                self.added.clear();
            }
            return Err(CommandError::file("write", &path, &error));
        }
        self.added.clear();
        let spent = self.spent.iter().map(|fingerprint| self.forget(*fingerprint)).collect();
        Ok((book, spent))
    }

    fn forget(&self, fingerprint: Fingerprint) -> Spent {
        let record = self.book.registry().key(&fingerprint);
        let name = record.map_or("", |record| self.book.name(record.principal)).to_owned();
        Spent { fingerprint, name, secret: self.keystore.remove(&fingerprint) }
    }

    /// Retires every key whose overlap is over.
    fn retire_due(&mut self) -> Result<(), CommandError> {
        let desk = self.desk_fingerprint();
        let due: Vec<(Fingerprint, Sequence)> = self
            .entries()
            .into_iter()
            .filter(|entry| Some(entry.fingerprint) != desk)
            .filter(|entry| entry.retires_after.is_some_and(|time| time <= self.now))
            .filter_map(|entry| entry.rotated.map(|rotated| (entry.fingerprint, rotated.event)))
            .collect();
        due.into_iter().try_for_each(|(key, rotation)| self.retire(key, rotation))
    }

    fn desk_key(&mut self) -> Result<SecretKey, CommandError> {
        if let Some(key) = &self.desk {
            return Ok(key.clone());
        }
        let fingerprint = self.desk_fingerprint().ok_or_else(|| {
            CommandError::refused("NO_DESK_KEY", "expected a key that speaks for the desk, found none active")
        })?;
        let key = self.keystore.load(&fingerprint).map_err(|error| self.desk_key_missing(error))?.secret;
        self.desk = Some(key.clone());
        Ok(key)
    }

    fn desk_key_missing(&self, error: KeyFileError) -> CommandError {
        let absent =
            matches!(&error, KeyFileError::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound);
        let error = CommandError::from(error);
        if absent {
            let keys = visible_path(&self.data.keys());
            error.with_hint(format!("the desk signs every change: restore its key from a backup of {keys}"))
        } else {
            error
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for path in &self.added {
            durable::discard(path);
        }
    }
}

fn no_keys(data: &DataFolder) -> CommandError {
    let message = format!("expected a key registry in {}, found none", visible_path(data.path()));
    CommandError::input("NO_KEYS", message).with_hint(
        "make the first key with `demur keys new NAME --role ROLE`, or name another folder with --data",
    )
}
