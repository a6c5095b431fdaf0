//! A store in use, with the secrets of its data folder. A secret is on the disk before the event that names its key, and
//! goes away again if there is no such event. Everything that is recorded goes through the sequencer.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

pub use demur_api::key::Spent;
use demur_api::{
    code::Code,
    key::{KeyEntry, Status},
    refusal::Refusal,
};
use demur_core::{
    key::{Fingerprint, SecretKey},
    limit::Text,
    time::Timestamp,
};
use demur_ledger::{
    author::{Author, Place},
    event_type::Content,
    facts::{KeyRetired, RevocationReason},
    name::{ClientId, PrincipalId, Sequence},
    registry::Registry,
    role::Role,
    statement::Submission,
};
use demur_sequencer::{Acknowledged, FindKey, Listener, Sequencer, SequencerError};
use demur_store::{
    contract::{RESTORED, RecordKey, Store, StoreError, Swap, Version},
    sqlite::SqliteStore,
};

use crate::{
    client::MadeFor,
    data::DataFolder,
    durable, error,
    kept_head::{self, HeadKeeper},
    kept_root,
    key_directory::{DESK, KeyDirectory},
    key_entry,
    keyring::{FolderKeyring, KeyFile, Keyring, TentativeKey},
    lookup::Lookup,
    marks::{self, Marks},
    name::{self, Holder},
    operating_system::OperatingSystem,
    records,
    run::driver::Drivers,
    store_check::Checking,
};

/// A data folder in use.
pub struct Owner {
    keyring: Arc<dyn Keyring>,
    /// Always there until the owner goes away.
    sequencer: Option<Sequencer>,
    /// What needs no look at the store.
    lookup: Lookup,
    /// What hooks look at.
    marks: Arc<Marks>,
    /// The user of this machine, whose name nobody else gets.
    user: Option<Text<1, 256>>,
    /// The runs that are driven.
    drivers: Drivers,
    /// How far a check of the store is.
    checking: Checking,
    /// The folder that has the store alone, and beside it what the desk signed about it; none where several have it.
    folder: Option<PathBuf>,
}

impl Owner {
    /// Takes a data folder that has a registry.
    pub fn open(data: &DataFolder) -> Result<Self, Refusal> {
        let system = OperatingSystem::open()?;
        if !data.has_store()? {
            return Err(data.no_keys());
        }
        let store = SqliteStore::open(data.path())?;
        if store.registry()?.is_none() {
            return Err(data.no_keys());
        }
        let store: Arc<dyn Store> = Arc::new(store);
        Self::with_registry(data, &store, system)
    }

    /// Takes a data folder, and returns whether its registry had to be created.
    pub fn open_or_create(data: &DataFolder) -> Result<(Self, bool), Refusal> {
        let store = if data.has_store()? {
            SqliteStore::open(data.path())?
        } else {
            kept_head::check_absent(data)?;
            match SqliteStore::create(data.path()) {
                // Another process was faster, and is done.
                Err(StoreError::Exists { .. }) => SqliteStore::open(data.path())?,
                created => created?,
            }
        };
        let store: Arc<dyn Store> = Arc::new(store);
        Self::over(data, &store)
    }

    /// Takes a store whose secrets are in this data folder, and returns whether its registry had to be created.
    pub fn over(data: &DataFolder, store: &Arc<dyn Store>) -> Result<(Self, bool), Refusal> {
        let system = OperatingSystem::open()?;
        if store.registry()?.is_some() {
            return Ok((Self::with_registry(data, store, system)?, false));
        }
        // Where there was a registry, no other takes its place unnoticed.
        if !store.is_shared() {
            kept_head::compare(data.path(), &**store)?;
            kept_root::check_none(data.path())?;
        }
        let keyring = FolderKeyring::shared(data);
        let secret = SecretKey::generate(&mut { system });
        let mut tentative = None;
        let keep = |principal| -> Result<(), Refusal> {
            let key = KeyFile { name: DESK.to_owned(), principal, role: Role::Desk, secret: secret.clone() };
            tentative = Some(TentativeKey::of(&keyring, &key)?);
            Ok(())
        };
        let created =
            Sequencer::create_keeping(Arc::clone(store), secret.clone(), DESK, Box::new(system), keep);
        // Whoever does not know whether it was recorded must keep the key.
        if created.as_ref().err().is_none_or(|refusal| refusal.code.is_uncertain()) {
            tentative.into_iter().for_each(TentativeKey::keep);
        }
        match created {
            Ok(mut sequencer) => {
                keep_head(data, store, &mut sequencer)?;
                Ok((Self::new(data, keyring, sequencer, system), true))
            }
            // Another process was faster, and is done.
            Err(refusal) if !refusal.code.is_uncertain() && store.registry()?.is_some() => {
                Ok((Self::with_registry(data, store, system)?, false))
            }
            Err(refusal) => Err(refusal),
        }
    }

    fn with_registry(
        data: &DataFolder,
        store: &Arc<dyn Store>,
        system: OperatingSystem,
    ) -> Result<Self, Refusal> {
        // Who has the store alone has the folder alone.
        if !store.is_shared() {
            FolderKeyring::of(data).tidy()?;
            durable::sweep(data.path()).map_err(|error| error::file("tidy", data.path(), &error))?;
        }
        let keyring = FolderKeyring::shared(data);
        let is_restored = store.record(&RecordKey::new(RESTORED)?)?.is_some();
        let open = |find: FindKey| Sequencer::open(Arc::clone(store), find, Box::new(system));
        let mut sequencer = open_sequencer(&keyring, open)?;
        if is_restored {
            // The files are about the store before; the registry says by now that another one took its place.
            forget_kept(data.path()).map_err(|error| error::file("tidy", data.path(), &error))?;
        }
        keep_head(data, store, &mut sequencer)?;
        let owner = Self::new(data, keyring, sequencer, system);
        // What happened without this process has its marks before anybody hears from it.
        if marks::tidy(&owner).is_err() {
            owner.marks.give_up();
        }
        Ok(owner)
    }

    fn new(
        data: &DataFolder,
        keyring: Arc<dyn Keyring>,
        mut sequencer: Sequencer,
        system: OperatingSystem,
    ) -> Self {
        let lookup = Lookup::new(system, Arc::clone(sequencer.at_hand()));
        let keys = Arc::clone(&keyring);
        sequencer.find_key_with(move |registry| desk_key(&*keys, registry).ok());
        sequencer.listen(Arc::clone(lookup.questions()) as _);
        let marks = Arc::new(Marks::of(data.path()));
        let folder = (!sequencer.store().is_shared()).then(|| data.path().to_owned());
        if folder.is_some() {
            sequencer.listen(Arc::clone(&marks) as _);
        }
        Self {
            lookup,
            marks,
            keyring,
            sequencer: Some(sequencer),
            user: None,
            drivers: Drivers::default(),
            checking: Checking::default(),
            folder,
        }
    }

    /// Returns the sequencer.
    ///
    /// # Panics
    /// Never: it is there until the owner goes away.
    pub fn sequencer(&self) -> &Sequencer {
        self.sequencer.as_ref().expect("the sequencer is there until the owner goes away")
    }

    /// Tells a listener of everything that is recorded from now on.
    pub fn listen(&mut self, listener: Arc<dyn Listener>) {
        if let Some(sequencer) = &mut self.sequencer {
            sequencer.listen(listener);
        }
    }

    /// Says which user of this machine this process works for.
    pub(crate) fn work_for(&mut self, user: Text<1, 256>) {
        self.user = Some(user);
    }

    /// Returns the user of this machine, if this process works for one.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Returns the secrets.
    pub fn keyring(&self) -> &dyn Keyring {
        &*self.keyring
    }

    /// Returns the secrets, for another reader of the store.
    pub(crate) fn shared_keyring(&self) -> Arc<dyn Keyring> {
        Arc::clone(&self.keyring)
    }

    /// Returns the clock and the randomness.
    pub const fn system(&self) -> OperatingSystem {
        self.lookup.system()
    }

    /// Returns what can be known and begun without the store.
    pub(crate) const fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// Returns the registry with its words. It is read again only if it has grown.
    pub fn key_directory(&self) -> Result<Arc<KeyDirectory>, Refusal> {
        if let Some(key_directory) = self.lookup.key_directory() {
            return Ok(key_directory);
        }
        let registry = Arc::unwrap_or_clone(self.sequencer().registry());
        let key_directory = Arc::new(KeyDirectory::read(self.sequencer().store(), registry)?);
        self.lookup.keep_key_directory(&key_directory);
        Ok(key_directory)
    }

    /// Returns the runs that are driven.
    pub(crate) const fn drivers(&self) -> &Drivers {
        &self.drivers
    }

    /// Returns how far a check of the store is.
    pub(crate) const fn checking(&self) -> &Checking {
        &self.checking
    }

    /// Compares what is kept beside the database with the database.
    pub(crate) fn check_kept(&self) -> Result<(), Refusal> {
        let Some(folder) = &self.folder else { return Ok(()) };
        kept_head::compare(folder, self.sequencer().store())?;
        kept_root::compare(folder, self.sequencer().store(), &*self.sequencer().newest_registry()?)
    }

    /// Renews the root over all traces that is kept beside the database.
    pub(crate) fn keep_root(&self) -> Result<(), Refusal> {
        self.folder.as_ref().map_or(Ok(()), |folder| kept_root::keep(folder, self.sequencer()))
    }

    /// Returns what hooks look at.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns every key.
    pub fn entries(&self) -> Result<Vec<KeyEntry>, Refusal> {
        Ok(key_entry::entries(&*self.key_directory()?, &*self.keyring))
    }

    /// Returns every key, also those that others registered a moment ago.
    pub(crate) fn newest_entries(&self) -> Result<Vec<KeyEntry>, Refusal> {
        self.sequencer().newest_registry()?;
        self.entries()
    }

    /// Returns the author with this name whose key speaks in this role and whose secret is here; none if there is no
    /// such key.
    pub fn find_author(&self, name: &str, role: Role) -> Result<Option<Arc<Author>>, Refusal> {
        let head = self.sequencer().registry().head();
        if let Some(author) = self.lookup.author(name, role) {
            return Ok(Some(author));
        }
        if let Some(author) = self.read_author(name, role)? {
            self.lookup.keep_author(head, name, role, &author);
            return Ok(Some(author));
        }
        // It may have been registered elsewhere.
        let is_behind =
            self.sequencer().store().is_shared() && self.sequencer().newest_registry()?.head() != head;
        if is_behind { self.read_author(name, role) } else { Ok(None) }
    }

    /// Returns the author behind a principal, with a key that speaks and whose secret is here.
    pub fn author_of(&self, principal: PrincipalId) -> Result<Arc<Author>, Refusal> {
        let usable = |entry: &KeyEntry| {
            entry.principal == principal && entry.status == Status::Active && entry.has_secret()
        };
        let mut found = self.entries()?.into_iter().find(usable);
        if found.is_none() && self.sequencer().store().is_shared() {
            // It may have been registered elsewhere.
            self.sequencer().newest_registry()?;
            found = self.entries()?.into_iter().find(usable);
        }
        let entry = found.ok_or_else(|| {
            let message = "expected the secret key of the asker in the data folder, found none";
            Refusal::new(Code::AskerElsewhere, message)
                .with_cure("its holder has it elsewhere and has to say this itself")
        })?;
        let key = self.keyring.load(&entry.fingerprint)?;
        Ok(Arc::new(Author::new(key.secret, key.principal, key.role)))
    }

    fn read_author(&self, name: &str, role: Role) -> Result<Option<Arc<Author>>, Refusal> {
        let speaks = |entry: &KeyEntry| {
            entry.name == name && entry.status == Status::Active && entry.roles.contains(&role)
        };
        let Some(entry) = self.entries()?.into_iter().find(speaks) else { return Ok(None) };
        if !entry.has_secret() {
            let message = format!("expected the secret key of {name:?} in the data folder, found none");
            return Err(Refusal::new(Code::SecretElsewhere, message)
                .with_cure("its holder has it elsewhere and has to say this itself"));
        }
        let key = self.keyring.load(&entry.fingerprint)?;
        Ok(Some(Arc::new(Author::new(key.secret, key.principal, role))))
    }

    /// Returns a new secret that nothing knows of yet.
    pub fn generate(&self) -> SecretKey {
        SecretKey::generate(&mut { self.system() })
    }

    /// Returns the author with this name in this role; a key is made where there is none yet. One name is one holder:
    /// whoever asks under it must not answer under it as somebody else (ONE-07).
    pub fn find_or_enrol(&self, name: &str, role: Role) -> Result<Arc<Author>, Refusal> {
        self.find_or_enrol_for(name, role, &MadeFor::Nobody)
    }

    /// Returns the author with this name in this role; where there is none yet, a key is made for this client.
    pub(crate) fn find_or_enrol_for(
        &self,
        name: &str,
        role: Role,
        client: &MadeFor,
    ) -> Result<Arc<Author>, Refusal> {
        records::retry(|| {
            if let Some(author) = self.find_author(name, role)? {
                return Ok(author);
            }
            let was = match name::free_for_key(self, name) {
                // Somebody else was faster since the look above.
                Err(taken) if taken.code == Code::NameTaken => {
                    self.sequencer().newest_registry()?;
                    return self.find_author(name, role)?.ok_or(taken);
                }
                free => free?,
            };
            let made = self.make_author(name, role, was, client).map(Arc::new);
            // Somebody else was faster, here or elsewhere.
            if made.as_ref().is_err_and(|error| error.code == Code::RecordChanged) {
                self.sequencer().newest_registry()?;
            }
            made
        })
    }

    /// Makes, keeps and registers a key for somebody who plays a role in this process.
    pub fn enrol(&self, name: &str, role: Role) -> Result<Author, Refusal> {
        self.make_author(name, role, name::free_for_key(self, name)?, &MadeFor::Nobody)
    }

    /// Keeps a secret and records the statement that names its key, with what changes beside it: all, or nothing.
    pub(crate) fn keep_and_submit(
        &self,
        key: &KeyFile,
        submission: Submission,
        swaps: &[Swap],
    ) -> Result<Sequence, Refusal> {
        let secret = TentativeKey::of(&self.keyring, key)?;
        settle(secret, self.sequencer().submit_with(submission, None, swaps))
    }

    /// Returns whether this id is the server's own.
    pub(crate) fn is_desk(&self, client: ClientId) -> bool {
        self.sequencer().registry().is_desk(client)
    }

    /// Says that a client speaks with a key, unless that is recorded: the key was made before its client had spoken, or for another
    /// process of the same program, or the client calls itself by another's name.
    pub(crate) fn bind(&self, key: Fingerprint, client: &MadeFor) -> Result<(), Refusal> {
        let registry = self.sequencer().registry();
        let Some((facts, content)) = client.binding(registry.desk(), key) else { return Ok(()) };
        let bound = facts.client;
        // A key that may not speak any more is refused where it speaks.
        let is_open = |registry: &Registry| {
            let speaker = registry.speaker(&key, registry.head().sequence);
            speaker.is_ok_and(|record| !record.clients.contains(&bound))
        };
        if !is_open(&registry) {
            return Ok(());
        }
        match self.sequencer().state(facts, Some(content)) {
            // Somebody else was faster.
            Err(_) if !is_open(&*self.sequencer().newest_registry()?) => Ok(()),
            stated => Ok(stated.map(drop)?),
        }
    }

    fn make_author(&self, name: &str, role: Role, was: Version, client: &MadeFor) -> Result<Author, Refusal> {
        let system = self.system();
        let principal = PrincipalId::new(system.now()?, &mut { system });
        let secret = self.generate();
        let key = KeyFile { name: name.to_owned(), principal, role, secret: secret.clone() };
        let author = Author::new(secret, principal, role);
        let submission = author.register(&self.place()?, None, name, &mut { system })?;
        let naming = name::giving(name, was, &Holder::Key(principal))?;
        let desk = self.sequencer().registry().desk();
        match client.binding(desk, author.public().fingerprint()) {
            Some((facts, content)) => {
                let secret = TentativeKey::of(&self.keyring, &key)?;
                let stated = self.sequencer().submit_stated(submission, facts, Some(content), &[naming]);
                settle(secret, stated)?;
            }
            None => drop(self.keep_and_submit(&key, submission, &[naming])?),
        }
        Ok(author)
    }

    /// Ends the overlap after a rotation, and removes the secret.
    pub fn retire(&self, key: &KeyEntry, rotation: Sequence) -> Result<Spent, Refusal> {
        self.sequencer().state(KeyRetired { key: key.fingerprint, rotation }, None)?;
        Ok(self.forget(key))
    }

    /// Revokes a key, and removes the secret.
    pub fn revoke(
        &self,
        key: &KeyEntry,
        reason: RevocationReason,
        content: Content,
    ) -> Result<(Sequence, Spent), Refusal> {
        let recorded = self.sequencer().revoke(key.fingerprint, reason, content)?;
        Ok((recorded.position.sequence, self.forget(key)))
    }

    /// Returns the key the desk signs with now.
    pub fn desk_fingerprint(&self) -> Option<Fingerprint> {
        desk_fingerprint(&self.sequencer().registry())
    }

    /// Retires every key whose overlap is over, after the change that this process was asked for. That one is
    /// recorded: what fails here is no reason to say otherwise, and the next change tries again.
    pub fn retire_due(&self) -> Vec<Spent> {
        let (desk, now) = (self.desk_fingerprint(), self.system().now().unwrap_or(Timestamp::MIN));
        let is_due = |entry: &KeyEntry| {
            Some(entry.fingerprint) != desk && entry.retires_after.is_some_and(|time| time <= now)
        };
        let due = self.entries().unwrap_or_default().into_iter().filter(is_due);
        due.map_while(|entry| self.retire(&entry, entry.rotated?.event).ok()).collect()
    }

    fn forget(&self, key: &KeyEntry) -> Spent {
        let secret = self.keyring.remove(&key.fingerprint);
        Spent { fingerprint: key.fingerprint, name: key.name.clone(), secret }
    }

    /// Returns where a statement about keys is meant to stand.
    pub(crate) fn place(&self) -> Result<Place, Refusal> {
        let (registry, now) = (self.sequencer().registry(), self.system().now()?);
        Ok(Place { store: registry.store(), trace: registry.trace(), seen: Some(registry.head()), now })
    }
}

/// Keeps the newest head of the registry and the root over all traces beside the database from now on, where a folder has the
/// store alone. What is there is compared first.
fn keep_head(data: &DataFolder, store: &Arc<dyn Store>, sequencer: &mut Sequencer) -> Result<(), Refusal> {
    if store.is_shared() {
        return Ok(());
    }
    let registry = sequencer.registry();
    kept_head::compare(data.path(), &**store)?;
    kept_head::check_signed(data.path(), &registry)?;
    kept_root::compare(data.path(), &**store, &registry)?;
    kept_head::keep(data.path(), &**store)?;
    kept_root::keep(data.path(), sequencer)?;
    sequencer.listen(Arc::new(HeadKeeper::new(data, registry.trace(), Arc::clone(store))));
    Ok(())
}

/// Removes what was kept beside the database, where another store takes the place of the one it is about.
pub fn forget_kept(folder: &Path) -> io::Result<()> {
    [kept_head::FILE, kept_root::FILE]
        .iter()
        .try_for_each(|name| durable::remove(&folder.join(name)).map(drop))
}

/// Lets a new secret stay if the event that names its key is recorded, or may be.
fn settle(secret: TentativeKey, recorded: Result<Acknowledged, SequencerError>) -> Result<Sequence, Refusal> {
    match recorded.map_err(Refusal::from) {
        Ok(recorded) => {
            secret.keep();
            Ok(recorded.position.sequence)
        }
        Err(error) if error.code.is_uncertain() => {
            secret.keep();
            let hint = "the new secret was kept: `demur keys list` shows whether its key was registered";
            Err(error.with_cure(hint))
        }
        Err(error) => Err(error),
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // If this fails, the next start renews it, and a trace that was added meanwhile can be taken away unnoticed until then.
        let _ = self.sequencer.as_ref().map(|_| self.keep_root());
        if let Some(sequencer) = self.sequencer.take() {
            // If this fails, the next use takes this one for a crash and says so in the record: harmless.
            let _ = sequencer.close();
        }
    }
}

/// Returns the key the desk of a registry signs with now.
pub(crate) fn desk_fingerprint(registry: &Registry) -> Option<Fingerprint> {
    let at = registry.head().sequence;
    registry
        .keys()
        .filter(|(fingerprint, _)| registry.desk_key(fingerprint, at).is_ok())
        .filter(|(_, record)| record.roles.contains(&Role::Desk))
        .max_by_key(|(_, record)| (record.rotated.is_none(), record.since))
        .map(|(fingerprint, _)| *fingerprint)
}

/// Opens a sequencer with the desk's key from a keyring; says what is wrong with the key where that is why it could not be
/// opened.
pub(crate) fn open_sequencer(
    keyring: &Arc<dyn Keyring>,
    open: impl FnOnce(FindKey) -> Result<Sequencer, SequencerError>,
) -> Result<Sequencer, Refusal> {
    let trouble = Arc::new(Mutex::new(None));
    let (keyring, noted) = (Arc::clone(keyring), Arc::clone(&trouble));
    let opened = open(Box::new(move |registry| {
        let key = desk_key(&*keyring, registry);
        key.map_err(|error| *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error)).ok()
    }));
    opened.map_err(|error| match (error, trouble.lock().unwrap_or_else(PoisonError::into_inner).take()) {
        (SequencerError::NoDeskKey, Some(trouble)) => trouble,
        (error, _) => error.into(),
    })
}

/// Returns the key the desk of a store signs with now, from a keyring. Nothing is opened to write.
pub fn find_desk_key(keyring: &dyn Keyring, store: &dyn Store) -> Result<SecretKey, Refusal> {
    desk_key(keyring, &demur_sequencer::registry(store)?)
}

/// Returns the key the desk of a registry signs with now, from a keyring.
pub(crate) fn desk_key(keyring: &dyn Keyring, registry: &Registry) -> Result<SecretKey, Refusal> {
    let fingerprint = desk_fingerprint(registry).ok_or(SequencerError::NoDeskKey)?;
    keyring.load(&fingerprint).map(|key| key.secret).map_err(|error| {
        error.with_cure_if_absent(|keys| {
            format!("the desk signs every change: restore its key from a backup of {keys}")
        })
    })
}
