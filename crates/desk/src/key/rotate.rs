//! A key names its successor, or its recovery key does. The old key stays usable for 24 hours, unless told otherwise.

use demur_api::{
    code::Code,
    key::{KeyEntry, RotateKey, RotatedKey, Status},
    refusal::Refusal,
    statement::SignedStatement,
};
use demur_core::{
    key::{Fingerprint, PublicKey, SecretKey},
    visible::visible,
};
use demur_ledger::{author::Author, event_type::Facts, name::Sequence, role::Role, statement::Submission};
use demur_store::contract::Swap;

use super::change::{facts, find, malformed};
use crate::{
    key_entry::KEY_OVERLAP_MILLIS,
    keyring::KeyFile,
    name::{self, Holder},
    owner::Owner,
    records,
};

/// Gives a key a successor, whose secret is kept here.
pub fn rotate(owner: &Owner, key: Fingerprint, given: &RotateKey) -> Result<RotatedKey, Refusal> {
    let (old, new, event) = records::retry(|| succeed(owner, key, given))?;
    let ends_at_once = given.retire_now && old.status.speaks();
    let old_secret = if ends_at_once { Some(owner.retire(&old, event)?.secret) } else { None };
    let retired = owner.retire_due();
    let overlaps = old_secret.is_none() && old.status.speaks();
    let time = owner.key_directory()?.time(event).filter(|_| overlaps);
    Ok(RotatedKey {
        event,
        fingerprint: new,
        key_file: owner.keyring().place(&new),
        old_secret,
        retired,
        retires_after: time.map(|time| time.plus_millis(KEY_OVERLAP_MILLIS)),
    })
}

/// Records a successor, and that the name is still its holder's: whoever took the name meanwhile makes this fail. Returns the key
/// as it was, and the new one with its event.
fn succeed(
    owner: &Owner,
    key: Fingerprint,
    given: &RotateKey,
) -> Result<(KeyEntry, Fingerprint, Sequence), Refusal> {
    let name = find(&owner.newest_entries()?, key)?.name.clone();
    // Read before the keys: a key that is registered after them changes this record.
    let was = name::kept_by_key(owner, &name)?;
    let entries = owner.newest_entries()?;
    let old = find(&entries, key)?;
    name::expect_silent(&entries, &name, Some(old.principal))?;
    let naming = name::giving(&name, was, &Holder::Key(old.principal))?;
    let (new, event) = match &given.statement {
        Some(signed) => by_recovery(owner, old, signed.clone(), naming)?,
        None => by_itself(owner, old, given.recovery, naming)?,
    };
    Ok((old.clone(), new, event))
}

/// Names a successor with the key itself, whose secret is here.
fn by_itself(
    owner: &Owner,
    old: &KeyEntry,
    recovery: Option<PublicKey>,
    naming: Swap,
) -> Result<(Fingerprint, Sequence), Refusal> {
    let signer = own_key(owner, old)?;
    let registry = owner.sequencer().registry();
    let role = old.roles.first().copied().unwrap_or(Role::Holder);
    let (name, principal, secret) = (old.name.clone(), old.principal, owner.generate());
    let new = KeyFile { name, principal, role, secret };
    // The new key keeps the recovery key: whoever stole the old one cannot take the way back away.
    let kept = old.recovery.and_then(|key| registry.public_key(&key).copied());
    if kept.is_some() && recovery.is_some() {
        let message =
            format!("expected a key without a recovery key, found that {} has one", old.fingerprint.short());
        return Err(Refusal::new(Code::KeyStanding, message)
            .with_cure("leave --recovery out: the successor keeps it"));
    }
    let recovery = kept.or(recovery);
    let author = Author::new(signer, principal, role);
    let place = owner.place()?;
    let submission =
        author.rotate(&place, old.fingerprint, &new.secret, recovery, &mut { owner.system() })?;
    let event = owner.keep_and_submit(&new, submission, &[naming])?;
    if principal == registry.desk() {
        owner.sequencer().use_desk_key(new.secret.clone())?;
    }
    Ok((new.secret.public().fingerprint(), event))
}

/// Takes the word of a recovery key, which lies elsewhere. Whoever holds it has kept the successor's secret here.
fn by_recovery(
    owner: &Owner,
    old: &KeyEntry,
    signed: SignedStatement,
    naming: Swap,
) -> Result<(Fingerprint, Sequence), Refusal> {
    let submission = Submission::from(signed);
    let new = match facts(&submission)? {
        Facts::KeyRotated(facts) if facts.old == old.fingerprint => facts.key.fingerprint(),
        _ => return Err(malformed("the rotation of this key")),
    };
    // Read before anything is recorded: without the new secret the desk could sign nothing any more.
    let secret = owner.keyring().load(&new)?.secret;
    let event = owner.sequencer().submit_with(submission, None, &[naming])?.position.sequence;
    if old.principal == owner.sequencer().registry().desk() {
        owner.sequencer().use_desk_key(secret)?;
    }
    Ok((new, event))
}

/// Returns the secret of the key itself, if it may name a successor.
fn own_key(owner: &Owner, old: &KeyEntry) -> Result<SecretKey, Refusal> {
    let (name, key) = (visible(&old.name), old.fingerprint.short());
    match old.status {
        Status::Active => {}
        Status::Rotated => {
            let message = format!("expected a key without a successor, found that key {key} has one");
            return Err(Refusal::new(Code::RotatedAlready, message)
                .with_cure(format!("rotate the successor: demur keys rotate \"{name}\"")));
        }
        Status::Retired | Status::Revoked => {
            let message =
                format!("expected a key that may speak, found that key {key} is {}", old.status.as_str());
            let cure = match old.recovery {
                Some(_) => "its recovery key can still name a successor: use --with-recovery FILE",
                None => "it has no recovery key: register a new key with `demur keys new`",
            };
            return Err(Refusal::new(Code::KeyStanding, message).with_cure(cure));
        }
    }
    owner.keyring().load(&old.fingerprint).map(|key| key.secret).map_err(|error| {
        error.with_cure_if_absent(|_| {
            "if the secret is lost, its recovery key can help: use --with-recovery FILE".to_owned()
        })
    })
}
