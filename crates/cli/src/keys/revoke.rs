//! `demur keys revoke`: a key may no longer speak. The event fixes, by a Merkle root over all traces, what was
//! recorded before it.

use demur_core::{
    key::Fingerprint,
    limit::Whole,
    merkle::{self, Scheme},
    time::Timestamp,
    visible::visible,
};
use demur_ledger::{
    chain::Chain,
    content::NoteContent,
    event_type::Content,
    facts::{KeyRevoked, RevocationReason},
    name::Sequence,
    signed::TraceLeaf,
};
use serde::Serialize;

use super::{
    KeyEntry, clock,
    entry::{NO_NOTE, reason_word},
    retired_lines,
    select::select,
};
use crate::{
    arguments::RevokeKey,
    context::Context,
    error::CommandError,
    keystore::Removal,
    output::{Paint, Reply},
    store::{Spent, Store},
};

/// Revokes a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &RevokeKey) -> Result<(), CommandError> {
    let mut store = Store::open(context.data()?)?;
    let entries = store.entries();
    let key = select(&entries, &arguments.key)?;
    check_not_in_use(&store, key)?;
    let note = arguments.note.clone().unwrap_or(NO_NOTE.try_into()?);
    let (root, traces) = root_over_all_traces(store.book().chain())?;
    let reason = arguments.reason.into();
    let facts = KeyRevoked { key: key.fingerprint, reason, root, traces };
    let event = store.revoke(facts, Content::KeyRevoked(NoteContent { note }))?;
    let (book, mut spent) = store.commit()?;
    let secret = spent.iter().position(|spent| spent.fingerprint == key.fingerprint);
    let secret = secret.map_or(Removal::NotHere, |at| spent.remove(at).secret);
    let usable = |other: &&KeyEntry| {
        other.principal == key.principal && other.fingerprint != key.fingerprint && other.status.speaks()
    };
    context.output.reply(&RevokeReply {
        event,
        fingerprint: key.fingerprint,
        name: key.name.clone(),
        others: entries.iter().filter(usable).map(|other| other.fingerprint).collect(),
        reason,
        retired: spent,
        secret,
        time: book.event(event).map(|recorded| recorded.event.envelope().time),
    })
}

/// The desk signs every revocation: it cannot sign away the key it signs with.
fn check_not_in_use(store: &Store, key: &KeyEntry) -> Result<(), CommandError> {
    if store.desk_fingerprint() != Some(key.fingerprint) {
        return Ok(());
    }
    let short = key.fingerprint.short();
    let message = format!("expected a key that the desk does not sign with, found its key {short}");
    Err(CommandError::refused("DESK_KEY_IN_USE", message)
        .with_hint(format!("first `demur keys rotate desk`, then `demur keys revoke {short} --reason ...`")))
}

/// The registry is the only trace there is until runs are stored.
fn root_over_all_traces(
    registry: &Chain,
) -> Result<(demur_core::hash::Digest, Whole<1, 9_007_199_254_740_991>), CommandError> {
    let head = registry.head().ok_or_else(|| CommandError::bug(&"the registry has no events"))?;
    let length = registry.next().number().try_into()?;
    let leaf = TraceLeaf { head: head.hash, length, trace: registry.trace() }.hash()?;
    Ok((merkle::root(Scheme::DEMUR, &[leaf]), 1.try_into()?))
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
