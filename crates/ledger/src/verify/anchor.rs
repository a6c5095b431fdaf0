//! What ties a file to the world outside it: receipts, pinned keys, known heads, a second file.

use demur_core::key::Fingerprint;

use super::{
    Code, Options,
    finding::{Findings, Found, Section},
    pins,
    report::Anchors,
    trail::{Trail, check_desk},
    walk::Walk,
};
use crate::{
    facts::VerificationProfile,
    name::{Position, Sequence},
    registry::Registry,
    signed::{Receipt, Signed},
};

/// Checks everything the reader knows from elsewhere.
pub(super) fn check(walk: &Walk<'_>, options: &Options, findings: &mut Findings) -> Anchors {
    let mut anchors = Anchors::default();
    let mut report = |found: Found, at: Option<Sequence>| findings.add(Section::File, None, at, found);
    for receipt in &options.receipts {
        match check_receipt(walk, receipt, options) {
            Ok(()) => anchors.receipts += 1,
            Err(found) => report(found, Some(receipt.document.event.sequence)),
        }
    }
    for known in &options.against {
        // A place in the registry counts too: so a file whose registry was cut is told from a whole one.
        let trails = [Some(&walk.trail), walk.registry_trail.as_ref()].into_iter().flatten();
        let held = { trails }.any(|trail| match known.sequence {
            Some(sequence) => trail.holds(&Position::new(sequence, known.hash)),
            None => trail.hashes().contains(&known.hash),
        });
        if held {
            anchors.heads += 1;
        } else {
            let message = format!("neither trace nor registry has the event {}", known.hash);
            report(Found::new(Code::AgainstMismatch, message), known.sequence);
        }
    }
    let (pins, found) = pins::check(walk, options);
    anchors.pins = pins;
    // That a key is linked to none of the pins is a point against the file for who asks for everything.
    let is_strict = options.profile == VerificationProfile::Strict;
    for finding in found {
        if is_strict || finding.code != Code::KeyUnlinked {
            report(finding, None);
        }
    }
    if let Some(newest) = &options.registry {
        for finding in check_newest(walk, newest) {
            report(finding, None);
        }
    }
    if options.require_anchor && anchors.is_empty() {
        report(Found::new(Code::AnchorMissing, "nothing ties this file to what you know"), None);
    }
    anchors
}

/// The exported trace.
fn exported<'a>(walk: &'a Walk<'_>) -> &'a Trail {
    match &walk.registry_trail {
        Some(trail) if walk.trail.trace() == walk.registry.trace() => trail,
        _ => &walk.trail,
    }
}

fn check_receipt(walk: &Walk<'_>, signed: &Signed<Receipt>, options: &Options) -> Result<(), Found> {
    let receipt = &signed.document;
    let mismatch = |message: String| Found::new(Code::ReceiptMismatch, message);
    if receipt.store != walk.registry.store() || receipt.trace != walk.trail.trace() {
        return Err(mismatch("the receipt is for another store or trace".to_owned()));
    }
    check_receipted(walk, receipt).map_err(mismatch)?;
    // The desk signs a receipt when it is asked for: its key may have come after the file.
    let newest = options.registry.as_ref().filter(|newest| newest.holds(&walk.registry.head()));
    let registry = newest.unwrap_or(walk.registry);
    if receipt.registry.sequence > registry.head().sequence {
        let (pinned, last) = (receipt.registry.sequence, registry.head().sequence);
        let message =
            format!("the receipt pins registry event {pinned}, the registry at hand ends with {last}");
        return Err(Found::new(Code::ReceiptNewer, message));
    }
    check_desk(signed, &receipt.registry, receipt.epoch, registry, options.signatures)
        .map_err(|message| mismatch(format!("the receipt {message}")))
}

/// Checks that the file has the event of a receipt, as the receipt has it.
fn check_receipted(walk: &Walk<'_>, receipt: &Receipt) -> Result<(), String> {
    let at = receipt.event.sequence;
    let exported = exported(walk);
    match at.index().and_then(|index| exported.hashes().get(index)) {
        Some(hash) if *hash == receipt.event.hash => {}
        Some(_) => {
            return Err(format!("the desk gave a receipt for another event {at} than the one in the file"));
        }
        None => return Err(format!("the desk gave a receipt for event {at}, and the file ends before it")),
    }
    let recorded = exported.receipted(at);
    if recorded.is_none_or(|(statement, _)| statement != receipt.statement) {
        return Err(format!("the receipt is for another statement than the one in event {at}"));
    }
    if recorded.is_none_or(|(_, time)| time != receipt.time) {
        return Err(format!("the receipt has another time than event {at}"));
    }
    Ok(())
}

/// Checks the file against a newer registry of its store: the one in the file must be its beginning, and the key that
/// signed the file must not have been revoked since.
fn check_newest(walk: &Walk<'_>, newest: &Registry) -> Vec<Found> {
    if newest.store() != walk.registry.store() {
        let message = "the registry you gave is of another store";
        return vec![Found::new(Code::AgainstMismatch, message)];
    }
    let (ours, theirs) = (walk.registry.hashes(), newest.hashes());
    if let Some(at) = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs) {
        let restored = [walk.registry, newest].iter().any(|registry| registry.is_restoration(at));
        let (code, why) = if restored {
            (Code::HistoryAbandoned, "one of them began again from a backup there")
        } else {
            (Code::Equivocation, "no restoration explains it")
        };
        let message =
            format!("the registry in the file and the one you gave part at registry event {at}: {why}");
        return vec![Found::new(code, message)];
    }
    let end = walk.registry.head().sequence;
    let revoked =
        |key: &Fingerprint| newest.key(key).and_then(|record| record.revoked).filter(|at| *at > end);
    let mut found = Vec::new();
    if let Some(signer) = walk.signer()
        && let Some(at) = revoked(&signer)
    {
        let message = format!("the desk's key {} was revoked in registry event {at}", signer.short());
        found.push(Found::new(Code::RevokedSince, message));
    }
    for key in walk.speakers.keys() {
        if let Some(at) = revoked(key) {
            let message = format!("the key {} was revoked later, in registry event {at}", key.short());
            found.push(Found::new(Code::OrderRestsOnDesk, message));
        }
    }
    found
}
