//! `demur identity register`, `rotate` and `revoke`: sign a message with a key of the keyring, see that a receiver would
//! take it, and hand it over. Nothing in the data folder changes.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use demur_api::code::Code;
use demur_clarify::{
    identity::{Identity, IdentityError, Register, Revoke, Rotate, SignedMessage},
    name::AgentId,
    seal::{AgentKey, Signer},
    time::Time,
};
use demur_core::{canonical, key::SecretKey, visible::visible};
use demur_desk::{
    durable,
    keyring::{FolderKeyring, Keyring as _},
    operating_system::OperatingSystem,
    visible::{shell_word, visible_path},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    arguments::{RegisterIdentity, RevokeIdentity, RotateIdentity, Signing},
    context::Context,
    failure::Failure,
    keys::{KeyEntry, clock, listed, select},
    output::{Paint, Reply},
};

/// Signs a registration.
pub(super) fn register(context: &mut Context<'_>, arguments: &RegisterIdentity) -> Result<(), Failure> {
    let ring = Ring::open(context)?;
    let now = now()?;
    let key = ring.key(&arguments.key)?;
    let signer = Signer::new(agent_id(&arguments.signing, key)?, ring.secret(key)?);
    // A clock that was set back must not make a key that begins later than its message.
    let since = Time::from(key.since.time).min(now);
    let mut payload = Register::new(&signer, since, arguments.expires);
    payload.did.clone_from(&arguments.did);
    let message = SignedMessage::sign(payload, now, &signer).map_err(|error| unsignable(&error.into()))?;
    Identity::register(&message, now).map_err(|error| unsignable(&error))?;
    hand_over(context, &arguments.signing, SignReply::new("register", message, &signer))
}

/// Signs a rotation: with the old key, and with the new one that it is in the same hands.
pub(super) fn rotate(context: &mut Context<'_>, arguments: &RotateIdentity) -> Result<(), Failure> {
    let ring = Ring::open(context)?;
    let now = now()?;
    let (old, new) = (ring.key(&arguments.key)?, ring.key(&arguments.to)?);
    let agent_id = agent_id(&arguments.signing, old)?;
    let signer = Signer::new(agent_id.clone(), ring.secret(old)?);
    let successor = Signer::new(agent_id, ring.secret(new)?);
    let sign = || {
        let message = SignedMessage::sign(Rotate::new(&successor, now)?, now, &signer)?;
        let reply = registered(&signer, now)?.rotate(&message, now)?;
        Ok((message, reply))
    };
    let (message, reply) = sign().map_err(|error| unsignable(&error))?;
    let mut made = SignReply::new("rotate", message, &signer);
    (made.new_public_key, made.old_key_expires) = (Some(successor.public_key()), Some(reply.old_key_expires));
    hand_over(context, &arguments.signing, made)
}

/// Signs a revocation.
pub(super) fn revoke(context: &mut Context<'_>, arguments: &RevokeIdentity) -> Result<(), Failure> {
    let ring = Ring::open(context)?;
    let now = now()?;
    let key = ring.key(&arguments.key)?;
    let signer = Signer::new(agent_id(&arguments.signing, key)?, ring.secret(key)?);
    let sign = || {
        let message = SignedMessage::sign(Revoke::new(arguments.reason.into()), now, &signer)?;
        registered(&signer, now)?.revoke(&message, now)?;
        Ok(message)
    };
    let message = sign().map_err(|error| unsignable(&error))?;
    hand_over(context, &arguments.signing, SignReply::new("revoke", message, &signer))
}

/// The keys of the data folder, by name and fingerprint.
struct Ring {
    entries: Vec<KeyEntry>,
    keyring: FolderKeyring,
}

impl Ring {
    fn open(context: &Context<'_>) -> Result<Self, Failure> {
        let data = context.data()?;
        let keyring = FolderKeyring::of(&data);
        let entries = listed(&data)?.map_or_else(Vec::new, |listed| listed.keys);
        Ok(Self { entries, keyring })
    }

    /// Returns the key that is meant, if it may still speak.
    fn key(&self, wanted: &str) -> Result<&KeyEntry, Failure> {
        let entry = select(&self.entries, wanted)?;
        if entry.status.speaks() {
            return Ok(entry);
        }
        let (key, status) = (entry.fingerprint.short(), entry.status.as_str());
        let message = format!("expected a key that may speak, found that key {key} is {status}");
        Err(Failure::refused("KEY_STANDING", message)
            .with_hint("make another with `demur keys new`, and register that"))
    }

    fn secret(&self, entry: &KeyEntry) -> Result<SecretKey, Failure> {
        let loaded = self.keyring.load(&entry.fingerprint).map_err(|error| {
            let hint = "only a key whose secret is in this data folder can sign here";
            error.with_cure_if_absent(|_| hint.to_owned())
        });
        Ok(loaded?.secret)
    }
}

fn now() -> Result<Time, Failure> {
    Ok(Time::from(OperatingSystem::open()?.now()?))
}

/// Returns the agent's name in a message: the one that was asked for, or that of the key's holder.
fn agent_id(signing: &Signing, entry: &KeyEntry) -> Result<AgentId, Failure> {
    if let Some(agent_id) = &signing.agent_id {
        return Ok(agent_id.clone());
    }
    entry.name.parse().map_err(|_| {
        let name = visible(&entry.name);
        let message = format!("expected the name of an agent, visible and without spaces, found \"{name}\"");
        Failure::of(Code::AgentName, message).with_hint("say how the agent is called with --agent-id ID")
    })
}

/// Returns an identity as a receiver would have it that knows one key.
fn registered(signer: &Signer, now: Time) -> Result<Identity, IdentityError> {
    let message = SignedMessage::sign(Register::new(signer, now, None), now, signer)?;
    Identity::register(&message, now)
}

/// Returns the error of a message that no receiver would take.
fn unsignable(error: &IdentityError) -> Failure {
    match error {
        IdentityError::Expired => {
            Failure::input("EXPIRES_PAST", error).with_hint("name a later time with --expires")
        }
        IdentityError::KeyReused => Failure::refused("KEY_REUSED", error)
            .with_hint("make another key with `demur keys new`, and name it with --to"),
        other => Failure::bug(other),
    }
}

/// Writes a message to its file and says so, or to standard output as it is.
fn hand_over<P>(context: &mut Context<'_>, signing: &Signing, mut reply: SignReply<P>) -> Result<(), Failure>
where
    P: Serialize + DeserializeOwned,
{
    let mut line = canonical::to_vec(&reply.signed)?;
    line.push(b'\n');
    if let Some(path) = signing.out.as_deref().filter(|path| *path != Path::new("-")) {
        create(path, &line)?;
        reply.file = Some(path.to_owned());
    } else if !context.output.is_json() {
        return context.output.write(&line);
    }
    context.output.reply(&reply)
}

/// Writes a file that must not be there yet.
fn create(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    durable::create(path, bytes).map_err(|error| {
        let shown = Failure::file("write the message to", path, &error);
        match error.kind() {
            ErrorKind::AlreadyExists => shown.with_hint("nothing is overwritten: name a new file"),
            _ => shown,
        }
    })
}

/// A signed message and what is to be said about it.
#[derive(Serialize)]
struct SignReply<P: Serialize> {
    agent_id: AgentId,
    /// Where it was written, if not here.
    file: Option<PathBuf>,
    /// Until when a receiver takes it.
    fresh_until: Time,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_public_key: Option<AgentKey>,
    /// When the old key ends for a receiver that takes the message now.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_key_expires: Option<Time>,
    /// The key that signed it.
    public_key: AgentKey,
    signed: SignedMessage<P>,
}

impl<P: Serialize> SignReply<P> {
    fn new(kind: &'static str, message: SignedMessage<P>, signer: &Signer) -> Self {
        let (agent_id, public_key) = (signer.agent_id().clone(), signer.public_key());
        let fresh_until = message.message.timestamp.plus_millis(MESSAGE_LIFETIME_MILLIS);
        let (file, new_public_key, old_key_expires) = (None, None, None);
        Self {
            agent_id,
            file,
            fresh_until,
            kind,
            new_public_key,
            old_key_expires,
            public_key,
            signed: message,
        }
    }
}

impl<P: Serialize> Reply for SignReply<P> {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        let what = match self.kind {
            "register" => "the registration",
            "rotate" => "a rotation",
            _ => "the revocation",
        };
        let (verb, agent) = (paint.good("Signed:"), &self.agent_id);
        let mut lines = vec![format!("{verb} {what} of {agent}, in {}", visible_path(file))];
        let mut row = |label: &str, value: String| lines.push(format!("  {label:<14}{value}"));
        row("key", self.public_key.to_string());
        if let Some(key) = self.new_public_key {
            row("new key", key.to_string());
        }
        if let Some(time) = self.old_key_expires {
            row("old key ends", format!("{}, if it is received now", clock(time.as_timestamp())));
        }
        row("send it by", clock(self.fresh_until.as_timestamp()));
        lines.push("Nothing was changed here: the registry is changed by `demur keys`.".to_owned());
        if self.kind == "register" {
            lines.push(format!("Check it: demur identity verify {}", shell_word(file)));
        }
        lines
    }
}

/// How long a receiver takes a message after its time, in milliseconds: 60 s.
const MESSAGE_LIFETIME_MILLIS: u64 = 60 * 1000;
