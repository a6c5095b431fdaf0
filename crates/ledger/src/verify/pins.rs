//! What a pinned key anchors: how far, and by which of its words. A key that is silent in the file, or was revoked, ties
//! nothing to it; another key of the same holder is another key.

use std::collections::BTreeSet;

use demur_core::key::Fingerprint;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Code, Options,
    finding::Found,
    report::{passkey_standing, standing},
    walk::Walk,
};
use crate::{
    name::Sequence,
    registry::{PasskeyOrigin, Registry},
};

/// A key the reader pinned, and what it ties to the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "VerificationPin")]
pub struct PinReport {
    /// The reader's name for it.
    pub name: String,
    /// The key.
    pub fingerprint: Fingerprint,
    /// How many statements of the trace it signed itself.
    pub statements: u64,
    /// Whether it signed the checkpoint.
    pub signed_checkpoint: bool,
    /// What became of it by the end of the registry in the file.
    pub standing: &'static str,
    /// The last event that it, or a key that follows from it by rotation, stands behind; none if it anchors nothing.
    pub through: Option<Sequence>,
}

impl PinReport {
    /// Returns it in words, but for the name.
    pub(super) fn words(&self) -> String {
        let said = match (self.signed_checkpoint, self.statements) {
            (true, _) => "signed the file".to_owned(),
            (false, 0) => "says nothing in this file".to_owned(),
            (false, 1) => "signed 1 statement".to_owned(),
            (false, count) => format!("signed {count} statements"),
        };
        let far = match self.through {
            Some(through) => format!("anchors the trace through sequence {through}"),
            None => "anchors nothing".to_owned(),
        };
        let standing = self.standing;
        format!("{} {said}, is {standing}, {far}", self.fingerprint.short())
    }
}

/// Returns what the pins anchor, and what is wrong with them.
pub(super) fn check(walk: &Walk<'_>, options: &Options) -> (Vec<PinReport>, Vec<Found>) {
    let (mut reports, mut found) = (Vec::new(), Vec::new());
    let mut linked = BTreeSet::new();
    for pin in &options.pins {
        // The desk's key is pinned as the desk's, and nobody else's as that.
        let key = walk.registry.key(&pin.fingerprint);
        let fits = key.filter(|record| (pin.name == DESK) == (record.principal == walk.registry.desk()));
        let passkey = walk.registry.passkey(&pin.fingerprint).filter(|_| pin.name != DESK);
        let found_as = fits.map(standing).or(passkey.map(passkey_standing));
        let Some(standing) = found_as else {
            let message = format!("the key pinned as {} is not in the registry as that", pin.name);
            found.push(Found::new(Code::PinMismatch, message));
            continue;
        };
        let keys = follows(walk.registry, &pin.fingerprint);
        let through = keys.iter().filter_map(|key| walk.through(key)).max();
        let spoken = walk.speakers.get(&pin.fingerprint);
        reports.push(PinReport {
            name: pin.name.clone(),
            fingerprint: pin.fingerprint,
            statements: spoken.map_or(0, |spoken| spoken.statements),
            signed_checkpoint: walk.signer() == Some(pin.fingerprint),
            standing,
            through,
        });
        linked.extend(keys);
    }
    if !options.pins.is_empty() {
        let signers = walk.speakers.keys().copied().chain(walk.signer()).collect::<BTreeSet<_>>();
        for key in signers.difference(&linked) {
            let message = format!(
                "neither a rotation nor a passkey that vouches links the key {} to a key you pinned",
                key.short()
            );
            found.push(Found::new(Code::KeyUnlinked, message));
        }
    }
    (reports, found)
}

/// Returns a key with those that it, or its recovery key, named after it, and those that it took over from; a passkey with those
/// that it vouches for. A key that was
/// revoked vouches for no other: whoever stole it may have named one.
fn follows(registry: &Registry, pinned: &Fingerprint) -> BTreeSet<Fingerprint> {
    let mut found = BTreeSet::from([*pinned]);
    let is_revoked = |key: &Fingerprint| registry.key(key).is_none_or(|record| record.revoked.is_some());
    loop {
        let before = found.len();
        for (key, record) in registry.keys() {
            let Some(old) = record.replaces else { continue };
            if found.contains(&old) && !is_revoked(&old) {
                found.insert(*key);
            }
            if found.contains(key) && !is_revoked(key) {
                found.insert(old);
            }
        }
        for (key, record) in registry.passkeys() {
            let is_removed =
                |by: &Fingerprint| registry.passkey(by).is_none_or(|record| record.ended.is_some());
            if let PasskeyOrigin::Vouched { by } = record.origin
                && found.contains(&by)
                && !is_removed(&by)
            {
                found.insert(*key);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The name under which the desk's key is pinned.
const DESK: &str = "desk";
