//! `demur keys new`: makes a key, registers it with its own signature, and keeps its secret.

use std::path::{Path, PathBuf};

use demur_core::{
    key::{Fingerprint, PublicKey},
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
    context::Context,
    error::CommandError,
    keystore::{KeyFile, Keystore},
    output::{Paint, Reply},
    store::{Spent, Store},
    visible::visible_path,
};

/// Makes a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &NewKey) -> Result<(), CommandError> {
    let data = context.data()?;
    let had_secrets = !Keystore::of(&data).is_empty();
    let (mut store, created) = Store::open_or_create(data)?;
    let name = arguments.name.as_str();
    check_name(&store.entries(), name, None)?;
    let (principal, role) = (store.principal(), arguments.role.into());
    let recovery = match &arguments.recovery {
        Some(path) => Some(make_recovery(&mut store, name, principal, path)?),
        None => None,
    };
    let secret = store.generate();
    let public_key = secret.public();
    let key = KeyFile { name: name.to_owned(), principal, role, secret };
    let file = store.keep(&key)?;
    let author = Author::new(key.secret, principal, role);
    let event = store.register(&author, recovery.as_ref().map(|recovery| recovery.public_key), name)?;
    let desk = store.desk_fingerprint();
    let (book, retired) = store.commit()?;
    context.output.reply(&NewReply {
        created_store: created,
        desk,
        event,
        fingerprint: public_key.fingerprint(),
        key_file: file.to_string_lossy().into_owned(),
        name: name.to_owned(),
        principal,
        public_key,
        recovery,
        retired,
        role,
        store: book.registry().store(),
        strangers: created && had_secrets,
    })
}

fn make_recovery(
    store: &mut Store,
    name: &str,
    principal: PrincipalId,
    path: &Path,
) -> Result<RecoveryReply, CommandError> {
    let secret = store.generate();
    let public_key = secret.public();
    let key = KeyFile { name: name.to_owned(), principal, role: Role::Holder, secret };
    store.keep_elsewhere(&key, PathBuf::from(path))?;
    let file = path.to_string_lossy().into_owned();
    Ok(RecoveryReply { file, fingerprint: public_key.fingerprint(), public_key })
}

#[derive(Serialize)]
struct NewReply {
    created_store: bool,
    desk: Option<Fingerprint>,
    event: Sequence,
    fingerprint: Fingerprint,
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
        lines.push(format!("{} {name} may now speak as {}.", paint.good("Registered:"), self.role));
        lines.push(format!("  fingerprint  {}", self.fingerprint));
        lines.push(format!("  secret       {}", visible_path(Path::new(&self.key_file))));
        if let Some(recovery) = &self.recovery {
            lines.push(format!("  recovery     {}", visible_path(Path::new(&recovery.file))));
            lines.push("Move the recovery file away from this machine: it replaces a lost key.".to_owned());
        }
        lines.extend(retired_lines(&self.retired));
        lines
    }
}
