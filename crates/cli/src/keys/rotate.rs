//! `demur keys rotate`: a key names its successor, or its recovery key does. The old key stays usable for
//! 24 hours, unless told otherwise; what ends it is an event, never a date.

use std::path::Path;

use demur_api::{
    call::ApiRequest,
    key::{self, RegistryPlace, Removal, Spent},
    operation::{self, ListKeys, NoArguments, Nothing, OfIdentity},
    statement::SignedStatement,
};
use demur_core::{
    key::{Fingerprint, SecretKey},
    time::Timestamp,
    visible::visible,
};
use demur_desk::{
    durable::Tentative,
    keyring::{self, FolderKeyring, KeyFile},
    operating_system::OperatingSystem,
    visible::visible_path,
};
use demur_ledger::{
    author::{Author, Place},
    role::Role,
};
use serde::Serialize;

use super::{
    KeyEntry, clock,
    new::{RECOVERY_ADVICE, RecoveryReply, make_recovery, settled},
    retired_lines,
    select::select,
};
use crate::{
    arguments::RotateKey,
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Rotates a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &RotateKey) -> Result<(), Failure> {
    let client = Client::of_store(context)?;
    let listed = client.call(ApiRequest::<ListKeys>::get(NoArguments {}, Nothing {}))?;
    let old = select(&listed.keys, &arguments.key)?;
    let retire_now = arguments.retire_now;
    let (files, statement) = match &arguments.with_recovery {
        Some(path) => {
            let (file, statement) =
                by_recovery(&context.keyring()?, &recovery_key(path, old)?, old, &listed.registry)?;
            (vec![file], Some(statement))
        }
        None => (Vec::new(), None),
    };
    let made = arguments.recovery.as_deref();
    let made = made.map(|path| make_recovery(&mut OperatingSystem::open()?, &old.name, old.principal, path));
    let (made, made_file) = made.transpose()?.unzip();
    let recovery = made.as_ref().map(|made| made.public_key);
    let path = OfIdentity { fingerprint: old.fingerprint };
    let given = key::RotateKey { retire_now, statement, recovery };
    let request = ApiRequest::<operation::RotateKey>::send(path, given);
    let files = files.into_iter().chain(made_file).collect();
    let rotated = settled(files, client.call_with(&request, SocketRequest::once))?;
    context.output.reply(&RotateReply {
        by_recovery: arguments.with_recovery.is_some(),
        fingerprint: rotated.fingerprint,
        key_file: rotated.key_file,
        name: old.name.clone(),
        old: old.fingerprint,
        old_secret: rotated.old_secret,
        recovery: made,
        retired: rotated.retired,
        retires_after: rotated.retires_after,
    })
}

/// Makes a successor, keeps its secret in the data folder, and names it with the recovery key: no secret travels.
fn by_recovery(
    keyring: &FolderKeyring,
    recovery: &SecretKey,
    old: &KeyEntry,
    registry: &RegistryPlace,
) -> Result<(Tentative, SignedStatement), Failure> {
    let mut system = OperatingSystem::open()?;
    let role = old.roles.first().copied().unwrap_or(Role::Holder);
    let secret = SecretKey::generate(&mut system);
    let new = KeyFile { name: old.name.clone(), principal: old.principal, role, secret };
    let path = keyring.path(&new.secret.public().fingerprint());
    // Under its own name at once: the server writes others meanwhile.
    keyring::create(&new, &path)?;
    let file = Tentative::of(path);
    let RegistryPlace { store, trace, head, .. } = *registry;
    let place = Place { store, trace, seen: Some(head), now: system.now()? };
    let author = Author::new(recovery.clone(), old.principal, role);
    // The new key keeps the recovery key.
    let kept = Some(recovery.public());
    let submission = author.rotate(&place, old.fingerprint, &new.secret, kept, &mut system)?;
    let statement = submission.try_into().map_err(|error: serde_json::Error| Failure::bug(&error))?;
    Ok((file, statement))
}

/// Returns the secret in a recovery file, if it is this key's.
fn recovery_key(path: &Path, old: &KeyEntry) -> Result<SecretKey, Failure> {
    let secret = keyring::read(path)?.secret;
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
    /// The recovery key that was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<RecoveryReply>,
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
        if let Some(recovery) = &self.recovery {
            lines.push(format!("  recovery     {}", visible_path(Path::new(&recovery.file))));
            lines.push(RECOVERY_ADVICE.to_owned());
        }
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
