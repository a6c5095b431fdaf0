//! `demur keys revoke`: a key may no longer speak. The event fixes, by a Merkle root over all traces, what was
//! recorded before it.

use demur_api::{
    call::ApiRequest,
    key::{self, Removal, Spent, Status},
    operation::{self, ListKeys, NoArguments, Nothing, OfIdentity},
    refusal::Refusal,
};
use demur_core::{key::Fingerprint, time::Timestamp, visible::visible};
use demur_ledger::{facts::RevocationReason, name::Sequence};
use serde::Serialize;

use super::{KeyEntry, clock, reason_word, retired_lines, select::select};
use crate::{
    arguments::RevokeKey,
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Revokes a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &RevokeKey) -> Result<(), Failure> {
    let client = Client::of_store(context)?;
    let entries = client.call(ApiRequest::<ListKeys>::get(NoArguments {}, Nothing {}))?.keys;
    let key = select(&entries, &arguments.key)?;
    let (reason, note) = (arguments.reason.into(), arguments.note.clone());
    let path = OfIdentity { fingerprint: key.fingerprint };
    let request = ApiRequest::<operation::RevokeKey>::send(path, key::RevokeKey { reason, note });
    let revoked = client.call_with(&request, SocketRequest::once).map_err(|error| match error {
        Failure::Refused(refusal) if key.status == Status::Revoked => revoked_already(refusal, key, &entries),
        error => error,
    })?;
    let usable = |other: &&KeyEntry| {
        other.principal == key.principal && other.fingerprint != key.fingerprint && other.status.speaks()
    };
    context.output.reply(&RevokeReply {
        event: revoked.event,
        fingerprint: key.fingerprint,
        name: key.name.clone(),
        others: entries.iter().filter(usable).map(|other| other.fingerprint).collect(),
        reason,
        retired: revoked.retired,
        secret: revoked.secret,
        time: revoked.time,
    })
}

/// Returns the error of a key that was revoked before, with those that still speak.
fn revoked_already(refusal: Refusal, key: &KeyEntry, entries: &[KeyEntry]) -> Failure {
    let (name, short) = (visible(&key.name), key.fingerprint.short());
    let message =
        format!("expected a key that may still speak, found key {short} of {name}, which is revoked already");
    let living = entries.iter().filter(|other| other.status.speaks() && other.name == key.name);
    let living: Vec<_> = living.map(|other| other.fingerprint.short()).collect();
    let hint = match living.first() {
        None => format!("no key of {name} speaks any more; `demur keys list` shows those of others"),
        Some(first) => format!(
            "{name} still speaks with {}: `demur keys revoke {first} --reason REASON` revokes it",
            living.join(", ")
        ),
    };
    Refusal { message, ..refusal.with_cure(hint) }.into()
}

#[derive(Serialize)]
struct RevokeReply {
    event: Sequence,
    fingerprint: Fingerprint,
    name: String,
    /// Other keys of the same holder that still speak.
    others: Vec<Fingerprint>,
    reason: RevocationReason,
    /// Other keys whose time had come.
    retired: Vec<Spent>,
    secret: Removal,
    time: Option<Timestamp>,
}

impl Reply for RevokeReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let (name, key, reason) = (visible(&self.name), self.fingerprint.short(), reason_word(self.reason));
        let verb = paint.good("Revoked:");
        let mut lines = vec![format!("{verb} key {key} of {name} may no longer speak (reason: {reason}).")];
        if let Some(time) = self.time {
            lines.push(format!("  recorded     {} (registry event {})", clock(time), self.event));
        }
        lines.push(self.secret.sentence().to_owned());
        let other = |other: &Fingerprint| format!("Note: {name} still speaks with key {}.", other.short());
        lines.extend(self.others.iter().map(other));
        lines.extend(retired_lines(&self.retired));
        lines
    }
}
