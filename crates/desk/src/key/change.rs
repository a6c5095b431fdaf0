//! Keys that come in and keys that may no longer speak. A name stands for one holder, and a holder registers one key: both are
//! records that change with the registration, so that of two processes one is refused.

use demur_api::{
    code::Code,
    key::{KeyEntry, ListedKeys, MakeKey, NewKey, RegisteredKey, RegistryPlace, RevokeKey, RevokedKey},
    refusal::Refusal,
    statement::SignedStatement,
};
use demur_core::{
    key::{Fingerprint, PublicKey},
    visible::visible,
};
use demur_ledger::{
    author::Author,
    content::NoteContent,
    event_type::{Content, EventType, Facts},
    name::{PrincipalId, Sequence},
    statement::{Statement, Submission},
};
use demur_store::contract::{RecordKey, Swap};

use crate::{
    key_directory::KeyDirectory,
    key_entry::{self, NO_NOTE},
    keyring::{KeyFile, Keyring},
    name::{self, Holder},
    owner::{Owner, desk_fingerprint},
    records,
};

/// Returns every key, and where the registry stands.
pub fn list(key_directory: &KeyDirectory, keyring: &dyn Keyring) -> ListedKeys {
    let registry = key_directory.registry();
    let place = RegistryPlace {
        store: registry.store(),
        epoch: registry.epoch_begin(),
        trace: registry.trace(),
        head: registry.head(),
        desk: desk_fingerprint(registry),
    };
    ListedKeys { keys: key_entry::entries(key_directory, keyring), registry: place }
}

/// Registers a key.
pub fn register(owner: &Owner, new: &NewKey) -> Result<RegisteredKey, Refusal> {
    let (public_key, key_file, event) = records::retry(|| match &new {
        NewKey::Made(wanted) => make(owner, wanted),
        NewKey::Signed(signed) => take(owner, signed),
    })?;
    Ok(RegisteredKey { event, public_key, key_file, retired: owner.retire_due() })
}

/// Revokes a key, and removes its secret.
pub fn revoke(owner: &Owner, key: Fingerprint, given: RevokeKey) -> Result<RevokedKey, Refusal> {
    let entries = owner.newest_entries()?;
    let key = find(&entries, key)?;
    // The desk signs every revocation: it cannot sign away the key it signs with.
    if owner.desk_fingerprint() == Some(key.fingerprint) {
        let short = key.fingerprint.short();
        let message = format!("expected a key that the desk does not sign with, found its key {short}");
        let cure = format!("first `demur keys rotate desk`, then `demur keys revoke {short} --reason ...`");
        return Err(Refusal::new(Code::DeskKeyInUse, message).with_cure(cure));
    }
    let note = given.note.map_or_else(|| NO_NOTE.try_into(), Ok)?;
    let (event, spent) = owner.revoke(key, given.reason, Content::KeyRevoked(NoteContent { note }))?;
    let retired = owner.retire_due();
    Ok(RevokedKey { event, retired, secret: spent.secret, time: owner.key_directory()?.time(event) })
}

/// Makes, keeps and registers a key.
fn make(owner: &Owner, wanted: &MakeKey) -> Result<(PublicKey, Option<String>, Sequence), Refusal> {
    let MakeKey { name, role, principal, recovery } = wanted;
    let swaps = enrolling(owner, name, *principal)?;
    let secret = owner.generate();
    let (public, author) = (secret.public(), Author::new(secret.clone(), *principal, *role));
    let submission = author.register(&owner.place()?, *recovery, name, &mut { owner.system() })?;
    let key = KeyFile { name: name.to_string(), principal: *principal, role: *role, secret };
    let event = owner.keep_and_submit(&key, submission, &swaps)?;
    Ok((public, Some(owner.keyring().place(&public.fingerprint())), event))
}

/// Takes the registration of a key that is kept elsewhere.
fn take(owner: &Owner, signed: &SignedStatement) -> Result<(PublicKey, Option<String>, Sequence), Refusal> {
    let submission = Submission::from(signed.clone());
    let (facts, opening) = (facts(&submission)?, submission.opening.as_ref());
    let content = opening.and_then(|opening| Content::parse(EventType::KeyRegistered, &opening.bytes).ok());
    let (Facts::KeyRegistered(facts), Some(Content::KeyRegistered(content))) = (facts, content) else {
        return Err(malformed("the registration of a key, with its name"));
    };
    let swaps = enrolling(owner, &content.name, facts.principal)?;
    let recorded = owner.sequencer().submit_with(submission, None, &swaps)?;
    Ok((facts.key, None, recorded.position.sequence))
}

/// Returns the changes that go with the first key of a holder: the name is its own from now on, and nobody else registers a key
/// for it.
fn enrolling(owner: &Owner, name: &str, holder: PrincipalId) -> Result<[Swap; 2], Refusal> {
    let was = name::free_for_key(owner, name)?;
    expect_new(owner, holder)?;
    let naming = name::giving(name, was, &Holder::Key(holder))?;
    let key = RecordKey::new(format!("{PRINCIPAL_PREFIX}{holder}"))?;
    Ok([naming, records::creation(key, records::value(&name, None)?)])
}

/// Checks that a holder is new: the keys of one holder follow each other by rotation, where the old key names the new one.
fn expect_new(owner: &Owner, holder: PrincipalId) -> Result<(), Refusal> {
    let entries = owner.newest_entries()?;
    let Some(entry) = entries.iter().find(|entry| entry.principal == holder) else { return Ok(()) };
    let (key, name) = (entry.fingerprint.short(), visible(&entry.name));
    let message = format!("expected a holder without a key, found the holder of key {key} (\"{name}\")");
    Err(Refusal::new(Code::HolderKnown, message)
        .about("principal")
        .with_cure(format!("`demur keys rotate {key}` gives this holder a new key")))
}

/// Returns what a statement says.
pub(super) fn facts(submission: &Submission) -> Result<Facts, Refusal> {
    let read = Statement::parse(&submission.statement);
    read.map(|statement| statement.facts)
        .map_err(|error| Refusal::new(Code::Malformed, error).about("statement"))
}

/// Returns the refusal of a statement that says something else.
pub(super) fn malformed(expected: &str) -> Refusal {
    Refusal::new(Code::Malformed, format!("expected {expected}, found another statement")).about("statement")
}

/// Returns the key with this fingerprint.
pub(super) fn find(entries: &[KeyEntry], key: Fingerprint) -> Result<&KeyEntry, Refusal> {
    entries.iter().find(|entry| entry.fingerprint == key).ok_or_else(|| {
        let message = "expected the fingerprint of a key of this data folder, found another";
        Refusal::new(Code::KeyUnknown, message)
    })
}

/// What the keys of holders begin with for whom somebody registered a key.
const PRINCIPAL_PREFIX: &str = "principal/";
