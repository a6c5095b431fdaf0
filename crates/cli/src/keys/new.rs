//! `demur keys new`: makes a key, registers it with its own signature, and keeps its secret.

use std::path::{Path, PathBuf};

use demur_api::{
    call::ApiRequest,
    code::Code,
    key::{MakeKey, NewKey as NewKeyRequest, RegistryPlace, Spent},
    operation::{ListKeys, NoArguments, Nothing, RegisterKey},
    statement::SignedStatement,
};
use demur_core::{
    key::{Fingerprint, PublicKey, SecretKey},
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
    name::{PrincipalId, Sequence, StoreId},
    role::Role,
};
use serde::Serialize;

use super::retired_lines;
use crate::{
    arguments::NewKey,
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Makes a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &NewKey) -> Result<(), Failure> {
    let data = context.data()?;
    let mut system = OperatingSystem::open()?;
    let (name, role) = (arguments.name.as_str(), arguments.role.into());
    let principal = PrincipalId::new(system.now()?, &mut system);
    // Before the folder is touched: these files may turn out to be there already.
    let recovery = arguments.recovery.as_deref();
    let recovery = recovery.map(|path| make_recovery(&mut system, name, principal, path)).transpose()?;
    let (recovery, recovery_file) = recovery.unzip();
    let out = arguments.out.as_deref().map(|path| make_out(&mut system, name, principal, role, path));
    let (out, out_file) = out.transpose()?.unzip();
    let (created, had_secrets) = (!data.has_store()?, !FolderKeyring::of(&data).is_empty());
    let client = Client::open(context)?;
    let RegistryPlace { desk, store, .. } = place(&client)?;
    let recovery_key = recovery.as_ref().map(|recovery: &RecoveryReply| recovery.public_key);
    let request = match &out {
        Some((key, _)) => NewKeyRequest::Signed(signed(&client, key, recovery_key)?),
        None => {
            NewKeyRequest::Made(MakeKey { name: name.try_into()?, role, principal, recovery: recovery_key })
        }
    };
    let request = ApiRequest::<RegisterKey>::send(NoArguments {}, request);
    let files = recovery_file.into_iter().chain(out_file).collect();
    let made = settled(files, client.call_with(&request, SocketRequest::once))?;
    let kept = out.is_none();
    let out = out.map(|(_, path)| path.to_string_lossy().into_owned());
    context.output.reply(&NewReply {
        created_store: created,
        desk,
        event: made.event,
        fingerprint: made.public_key.fingerprint(),
        kept,
        key_file: out.or(made.key_file).unwrap_or_default(),
        name: name.to_owned(),
        principal,
        public_key: made.public_key,
        recovery,
        retired: made.retired,
        role,
        store,
        strangers: created && had_secrets,
    })
}

/// Returns where statements about keys are to stand.
pub(super) fn place(client: &Client) -> Result<RegistryPlace, Failure> {
    Ok(client.call(ApiRequest::<ListKeys>::get(NoArguments {}, Nothing {}))?.registry)
}

/// Returns the registration of a key that is kept elsewhere, signed with that very key.
fn signed(client: &Client, key: &KeyFile, recovery: Option<PublicKey>) -> Result<SignedStatement, Failure> {
    let mut system = OperatingSystem::open()?;
    let RegistryPlace { store, trace, head, .. } = place(client)?;
    let place = Place { store, trace, seen: Some(head), now: system.now()? };
    let author = Author::new(key.secret.clone(), key.principal, key.role);
    let submission = author.register(&place, recovery, &key.name, &mut system)?;
    submission.try_into().map_err(|error: serde_json::Error| Failure::bug(&error))
}

/// Lets files with new secrets stay if the event that names their keys is recorded, or may be.
pub(super) fn settled<T>(files: Vec<Tentative>, recorded: Result<T, Failure>) -> Result<T, Failure> {
    let uncertain = |error: &Failure| error.is(Code::WriteUncertain) || error.is(Code::ConnectionLost);
    match recorded {
        Err(error) if !uncertain(&error) => Err(error),
        settled => {
            files.into_iter().for_each(Tentative::keep);
            settled.map_err(|error| error.with_hint(UNCERTAIN))
        }
    }
}

/// Makes a key in a file outside of the data folder.
fn make_out(
    system: &mut OperatingSystem,
    name: &str,
    principal: PrincipalId,
    role: Role,
    path: &Path,
) -> Result<((KeyFile, PathBuf), Tentative), Failure> {
    let key = KeyFile { name: name.to_owned(), principal, role, secret: SecretKey::generate(system) };
    let (path, file) = create(&key, path)?;
    Ok(((key, path), file))
}

/// Writes a secret to a new file, which goes away again unless something is recorded about it.
fn create(key: &KeyFile, path: &Path) -> Result<(PathBuf, Tentative), Failure> {
    keyring::create(key, path)?;
    Ok((path.to_owned(), Tentative::of(path.to_owned())))
}

pub(super) fn make_recovery(
    system: &mut OperatingSystem,
    name: &str,
    principal: PrincipalId,
    path: &Path,
) -> Result<(RecoveryReply, Tentative), Failure> {
    let secret = SecretKey::generate(system);
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
    /// Whether the secret is in the keyring.
    kept: bool,
    key_file: String,
    name: String,
    principal: PrincipalId,
    public_key: PublicKey,
    recovery: Option<RecoveryReply>,
    retired: Vec<Spent>,
    role: Role,
    store: StoreId,
    /// Whether the keyring held keys before the store began: they belong to no registry here.
    strangers: bool,
}

#[derive(Serialize)]
pub(super) struct RecoveryReply {
    pub(super) file: String,
    fingerprint: Fingerprint,
    pub(super) public_key: PublicKey,
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
            lines.push(RECOVERY_ADVICE.to_owned());
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

const UNCERTAIN: &str = "the new secret was kept: `demur keys list` shows whether its key was registered";

/// What becomes of a recovery file.
pub(super) const RECOVERY_ADVICE: &str =
    "Move the recovery file away from this machine: it replaces a lost key.";
