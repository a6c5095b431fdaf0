//! `demur keys new`: makes a key, registers it with its own signature, and keeps its secret.

use std::path::{Path, PathBuf};

use demur_core::{
    key::{Fingerprint, PublicKey, SecretKey},
    visible::visible,
};
use demur_ledger::{
    author::Author,
    name::{PrincipalId, Sequence, StoreId},
    role::Role,
};
use serde::Serialize;

use super::{retired_lines, select::check_name};
use crate::{
    arguments::NewKey,
    borrow,
    context::Context,
    durable::Tentative,
    failure::Failure,
    keystore::{self, KeyFile, Keystore},
    output::{Paint, Reply},
    owner::{Owner, Spent},
    visible::visible_path,
    world::World,
};

/// Makes a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &NewKey) -> Result<(), Failure> {
    let data = context.data()?;
    let mut world = World::open()?;
    let (name, role) = (arguments.name.as_str(), arguments.role.into());
    let principal = PrincipalId::new(world.now()?, &mut world);
    // Before the folder is touched: these files may turn out to be there already.
    let recovery = arguments.recovery.as_deref();
    let recovery = recovery.map(|path| make_recovery(&mut world, name, principal, path)).transpose()?;
    let key = KeyFile { name: name.to_owned(), principal, role, secret: SecretKey::generate(&mut world) };
    let out = arguments.out.as_deref().map(|path| create(&key, path)).transpose()?;
    let had_secrets = !Keystore::of(&data).is_empty();
    let (mut owner, created) = context.making(&data, || borrow::open_or_create(&data))?;
    check_name(&owner.entries()?, name, None)?;
    let recovery = recovery.map(|(reply, file)| {
        owner.adopt(file);
        reply
    });
    let kept = out.is_none();
    let file = keep(&mut owner, &key, out)?;
    let public_key = key.secret.public();
    let author = Author::new(key.secret, principal, role);
    let event = owner.register(&author, recovery.as_ref().map(|recovery| recovery.public_key), name)?;
    let retired = owner.retire_due();
    context.output.reply(&NewReply {
        created_store: created,
        desk: owner.desk_fingerprint(),
        event,
        fingerprint: public_key.fingerprint(),
        kept,
        key_file: file.to_string_lossy().into_owned(),
        name: name.to_owned(),
        principal,
        public_key,
        recovery,
        retired,
        role,
        store: owner.ledger().registry().store(),
        strangers: created && had_secrets,
    })
}

/// Keeps a secret if the next event is recorded: in the file that was made for it, or else in the keystore.
fn keep(owner: &mut Owner, key: &KeyFile, out: Option<(PathBuf, Tentative)>) -> Result<PathBuf, Failure> {
    match out {
        Some((path, file)) => {
            owner.adopt(file);
            Ok(path)
        }
        None => Ok(owner.keep(key)?),
    }
}

/// Writes a secret to a new file, which goes away again unless something is recorded about it.
fn create(key: &KeyFile, path: &Path) -> Result<(PathBuf, Tentative), Failure> {
    keystore::create(key, path)?;
    Ok((path.to_owned(), Tentative::of(path.to_owned())))
}

fn make_recovery(
    world: &mut World,
    name: &str,
    principal: PrincipalId,
    path: &Path,
) -> Result<(RecoveryReply, Tentative), Failure> {
    let secret = SecretKey::generate(world);
    let public_key = secret.public();
    let key = KeyFile { name: name.to_owned(), principal, role: Role::Holder, secret };
    let (path, tentative) = create(&key, path)?;
    let file = path.to_string_lossy().into_owned();
    Ok((RecoveryReply { file, fingerprint: public_key.fingerprint(), public_key }, tentative))
}

#[derive(Serialize)]
struct NewReply {
    created_store: bool,
    desk: Option<Fingerprint>,
    event: Sequence,
    fingerprint: Fingerprint,
    /// Whether the secret is in the keystore.
    kept: bool,
    key_file: String,
    name: String,
    principal: PrincipalId,
    public_key: PublicKey,
    recovery: Option<RecoveryReply>,
    retired: Vec<Spent>,
    role: Role,
    store: StoreId,
    /// Whether the keystore held keys before the store began: they belong to no registry here.
    strangers: bool,
}

#[derive(Serialize)]
struct RecoveryReply {
    file: String,
    fingerprint: Fingerprint,
    public_key: PublicKey,
}

impl Reply for NewReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        if let (true, Some(desk)) = (self.created_store, &self.desk) {
            lines.push(format!("Created a key registry here; its desk signs with key {}.", desk.short()));
        }
        if self.strangers {
            lines.push("Note: the folder held keys of no registry. They were left alone.".to_owned());
        }
        let name = visible(&self.name);
        lines.push(format!("{} {name} can now sign as {}.", paint.good("Registered:"), self.role));
        lines.push(format!("  fingerprint  {}", self.fingerprint));
        lines.push(format!("  secret       {}", visible_path(Path::new(&self.key_file))));
        if let Some(recovery) = &self.recovery {
            lines.push(format!("  recovery     {}", visible_path(Path::new(&recovery.file))));
            lines.push("Move the recovery file away from this machine: it replaces a lost key.".to_owned());
        }
        if !self.kept {
            lines.push(format!(
                "This data folder has no copy of the secret: whoever holds the file is {name}."
            ));
        }
        lines.extend(retired_lines(&self.retired));
        lines
    }
}
