//! `demur keys revoke`: a key may no longer speak. The event fixes, by a Merkle root over all traces, what was
//! recorded before it.

use demur_core::{key::Fingerprint, time::Timestamp, visible::visible};
use demur_ledger::{content::NoteContent, event_type::Content, facts::RevocationReason, name::Sequence};
use serde::Serialize;

use super::{KeyEntry, NO_NOTE, clock, reason_word, retired_lines, select::select};
use crate::{
    arguments::RevokeKey,
    borrow,
    context::Context,
    failure::Failure,
    keystore::Removal,
    output::{Paint, Reply},
    owner::{Owner, Spent},
};

/// Revokes a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &RevokeKey) -> Result<(), Failure> {
    let owner = borrow::open(&context.data()?)?;
    let entries = owner.entries()?;
    let key = select(&entries, &arguments.key)?;
    check_not_in_use(&owner, key)?;
    let note = arguments.note.clone().unwrap_or(NO_NOTE.try_into()?);
    let reason = arguments.reason.into();
    let (event, spent) = owner.revoke(key, reason, Content::KeyRevoked(NoteContent { note }))?;
    let retired = owner.retire_due();
    let usable = |other: &&KeyEntry| {
        other.principal == key.principal && other.fingerprint != key.fingerprint && other.status.speaks()
    };
    context.output.reply(&RevokeReply {
        event,
        fingerprint: key.fingerprint,
        name: key.name.clone(),
        others: entries.iter().filter(usable).map(|other| other.fingerprint).collect(),
        reason,
        retired,
        secret: spent.secret,
        time: owner.roster()?.time(event),
    })
}

/// The desk signs every revocation: it cannot sign away the key it signs with.
fn check_not_in_use(owner: &Owner, key: &KeyEntry) -> Result<(), Failure> {
    if owner.desk_fingerprint() != Some(key.fingerprint) {
        return Ok(());
    }
    let short = key.fingerprint.short();
    let message = format!("expected a key that the desk does not sign with, found its key {short}");
    Err(Failure::refused("DESK_KEY_IN_USE", message)
        .with_hint(format!("first `demur keys rotate desk`, then `demur keys revoke {short} --reason ...`")))
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
