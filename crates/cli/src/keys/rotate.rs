//! `demur keys rotate`: a key names its successor, or its recovery key does. The old key stays usable for
//! 24 hours, unless told otherwise; what ends it is an event, never a date.

use std::{io::ErrorKind, path::Path};

use demur_core::{
    key::{Fingerprint, SecretKey},
    time::Timestamp,
    visible::visible,
};
use demur_ledger::{author::Author, role::Role};
use serde::Serialize;

use super::{
    KeyEntry, OVERLAP, Status, clock, retired_lines,
    select::{check_name, select},
};
use crate::{
    arguments::RotateKey,
    borrow,
    context::Context,
    failure::Failure,
    keystore::{self, KeyFile, KeyFileError, Removal},
    output::{Paint, Reply},
    owner::{Owner, Spent},
    visible::visible_path,
};

/// Rotates a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &RotateKey) -> Result<(), Failure> {
    let mut owner = borrow::open(&context.data()?)?;
    let entries = owner.entries()?;
    let old = select(&entries, &arguments.key)?;
    check_name(&entries, &old.name, Some(old.principal))?;
    let signer = match &arguments.with_recovery {
        Some(path) => recovery_key(path, old)?,
        None => own_key(&owner, old)?,
    };
    let role = old.roles.first().copied().unwrap_or(Role::Holder);
    let (name, principal, secret) = (old.name.clone(), old.principal, owner.generate());
    let new = KeyFile { name, principal, role, secret };
    let key_file = owner.keep(&new)?.to_string_lossy().into_owned();
    let rotation = owner.rotate(&Author::new(signer, principal, role), old, &new.secret)?;
    let ends_at_once = arguments.retire_now && old.status.speaks();
    let old_secret = if ends_at_once { Some(owner.retire(old, rotation)?.secret) } else { None };
    let retired = owner.retire_due();
    let time = owner.roster()?.time(rotation);
    let overlaps = old_secret.is_none() && old.status.speaks();
    context.output.reply(&RotateReply {
        by_recovery: arguments.with_recovery.is_some(),
        fingerprint: new.secret.public().fingerprint(),
        key_file,
        name: new.name,
        old: old.fingerprint,
        old_secret,
        retired,
        retires_after: time.filter(|_| overlaps).map(|time| time.plus_millis(OVERLAP)),
    })
}

/// Returns the secret of the key itself, if it may name a successor.
fn own_key(owner: &Owner, old: &KeyEntry) -> Result<SecretKey, Failure> {
    let (name, key) = (visible(&old.name), old.fingerprint.short());
    match old.status {
        Status::Active => {}
        Status::Rotated => {
            let message = format!("expected a key without a successor, found that key {key} has one");
            return Err(Failure::refused("ROTATED_ALREADY", message)
                .with_hint(format!("rotate the successor: demur keys rotate \"{name}\"")));
        }
        Status::Retired | Status::Revoked => {
            let message =
                format!("expected a key that may speak, found that key {key} is {}", old.status.as_str());
            let cure = match old.recovery {
                Some(_) => "its recovery key can still name a successor: use --with-recovery FILE",
                None => "it has no recovery key: register a new key with `demur keys new`",
            };
            return Err(Failure::refused("KEY_STANDING", message).with_hint(cure));
        }
    }
    match owner.keystore().load(&old.fingerprint) {
        Ok(key) => Ok(key.secret),
        Err(error) => {
            let is_absent = matches!(&error,
                KeyFileError::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound);
            let error = Failure::from(error);
            Err(if is_absent {
                error.with_hint("if the secret is lost, its recovery key can help: use --with-recovery FILE")
            } else {
                error
            })
        }
    }
}

/// Returns the secret in a recovery file, if it is this key's.
fn recovery_key(path: &Path, old: &KeyEntry) -> Result<SecretKey, Failure> {
    let secret = keystore::read(path)?.secret;
    if old.recovery == Some(secret.public().fingerprint()) {
        return Ok(secret);
    }
    let found = if old.recovery.is_some() { "another key" } else { "that it was registered without one" };
    let key = old.fingerprint.short();
    let message = format!("expected the recovery key of key {key} in {}, found {found}", visible_path(path));
    Err(Failure::refused("NOT_THE_RECOVERY_KEY", message))
}

#[derive(Serialize)]
struct RotateReply {
    by_recovery: bool,
    fingerprint: Fingerprint,
    key_file: String,
    name: String,
    old: Fingerprint,
    /// What became of the old secret, if the old key was retired at once.
    old_secret: Option<Removal>,
    /// Other keys whose time had come.
    retired: Vec<Spent>,
    retires_after: Option<Timestamp>,
}

impl Reply for RotateReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let (name, old) = (visible(&self.name), self.old.short());
        let signer = if self.by_recovery { "the recovery key" } else { "the old key" };
        let mut lines = vec![
            format!("{} {name} has a new key, named by {signer}.", paint.good("Rotated:")),
            format!("  fingerprint  {}", self.fingerprint),
            format!("  secret       {}", visible_path(Path::new(&self.key_file))),
        ];
        if let Some(time) = self.retires_after {
            let time = clock(time);
            lines.push(format!(
                "The old key {old} stays usable until {time}; the next change after that retires it."
            ));
        }
        if self.by_recovery && self.retires_after.is_some() {
            lines.push(format!("If others may hold it: demur keys revoke {old} --reason compromised"));
        }
        if let Some(secret) = self.old_secret {
            lines.push(format!("The old key {old} is retired. {}", secret.sentence()));
        }
        lines.extend(retired_lines(&self.retired));
        lines
    }
}
