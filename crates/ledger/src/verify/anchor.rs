//! What ties a file to the world outside it: receipts, pinned keys, known heads, a second file.

use demur_core::hash::Digest;

use super::{
    Code, Options, Report,
    finding::{Findings, Found, Section},
    report::Anchors,
    trail::{Trail, check_desk},
    walk::Walk,
};
use crate::{
    name::{Position, Sequence},
    signed::{Receipt, Signed},
};

/// Checks everything the reader knows from elsewhere.
pub(super) fn check(walk: &Walk<'_>, options: &Options, findings: &mut Findings) -> Anchors {
    let mut anchors = Anchors::default();
    let mut report = |found: Found, at: Option<Sequence>| findings.add(Section::File, None, at, found);
    for receipt in &options.receipts {
        match check_receipt(walk, receipt, options.signatures) {
            Ok(()) => anchors.receipts += 1,
            Err(message) => {
                let at = receipt.document.event.sequence;
                report(Found::new(Code::ReceiptMismatch, message), Some(at));
            }
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
    for pin in &options.pins {
        let record = walk.registry.key(&pin.fingerprint);
        // The desk's key is pinned as the desk's, and nobody else's as that.
        let fits =
            record.is_some_and(|record| (pin.name == DESK) == (record.principal == walk.registry.desk()));
        if fits {
            anchors.pins.push(pin.name.clone());
        } else {
            let message = format!("the key pinned as {} is not in the registry as that", pin.name);
            report(Found::new(Code::PinMismatch, message), None);
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

/// The hashes of the exported trace.
fn hashes<'a>(walk: &'a Walk<'_>) -> &'a [Digest] {
    exported(walk).hashes()
}

fn check_receipt(walk: &Walk<'_>, signed: &Signed<Receipt>, signatures: bool) -> Result<(), String> {
    let receipt = &signed.document;
    if receipt.store != walk.registry.store() || receipt.trace != walk.trail.trace() {
        return Err("the receipt is for another store or trace".to_owned());
    }
    check_desk(signed, &receipt.registry, receipt.epoch, walk.registry, signatures)
        .map_err(|message| format!("the receipt {message}"))?;
    let at = receipt.event.sequence;
    let exported = exported(walk);
    match at.index().and_then(|index| hashes(walk).get(index)) {
        Some(hash) if *hash == receipt.event.hash => {
            let recorded = exported.receipted(at);
            if recorded.is_none_or(|(statement, _)| statement != receipt.statement) {
                Err(format!("the receipt is for another statement than the one in event {at}"))
            } else if recorded.is_none_or(|(_, time)| time != receipt.time) {
                Err(format!("the receipt has another time than event {at}"))
            } else {
                Ok(())
            }
        }
        Some(_) => Err(format!("the desk gave a receipt for another event {at} than the one in the file")),
        None => Err(format!("the desk gave a receipt for event {at}, and the file ends before it")),
    }
}

/// Two histories of one trace that the desk signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equivocation {
    /// The first event they disagree about.
    pub sequence: Sequence,
    /// What the first file has there.
    pub first: Digest,
    /// What the second file has there.
    pub second: Digest,
}

/// Returns the first event that two verified files of one trace disagree about, or why they cannot be compared.
pub fn compare(first: &Report, second: &Report) -> Result<Option<Equivocation>, &'static str> {
    if first.scope.store != second.scope.store || first.scope.trace != second.scope.trace {
        return Err("the two files are of different stores or traces: there is nothing to compare");
    }
    let pairs = first.hashes().iter().zip(second.hashes()).enumerate();
    let mut differing = pairs.filter(|(_, (first, second))| first != second);
    Ok(differing.next().map(|(index, (first, second))| Equivocation {
        sequence: Sequence::at(index),
        first: *first,
        second: *second,
    }))
}

/// The name under which the desk's key is pinned.
const DESK: &str = "desk";
