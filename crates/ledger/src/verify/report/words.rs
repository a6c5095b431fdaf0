//! The words of the verdict (`docs/format.md`): never more than was checked.

use demur_core::words::counted_as;

use super::{Anchors, Scope, Verdict};
use crate::{
    content::PolicySandbox,
    name::Sequence,
    state::{RecordedPolicy, ToolRules},
};

/// What rests on the desk in every file.
pub(super) const DESK_WORD: &[&str] = &[
    "the order of events that no author had seen when it signed, and the times of all events",
    "the names of key holders, unless you pinned their keys",
    "that nothing happened which is not in the trace",
];

/// Returns the verdict as a sentence.
pub(super) fn verdict(scope: &Scope, verdict: Verdict, anchors: &Anchors, lacks_anchor_only: bool) -> String {
    let through = match scope.through {
        Some(through) => format!("through sequence {}; later events may exist", through.sequence),
        None => "no event could be checked".to_owned(),
    };
    match verdict {
        Verdict::Fail if lacks_anchor_only => {
            format!("fail: an anchor was demanded and none was given; nothing else failed ({through})")
        }
        Verdict::Fail => format!("fail: something in this file does not hold ({through})"),
        Verdict::NotEstablished => {
            format!("not established: nothing failed, but not everything could be checked ({through})")
        }
        Verdict::Pass | Verdict::PassWithWarnings => {
            let warnings = if verdict == Verdict::Pass { "" } else { ", with warnings" };
            let standing = if anchors.is_empty() {
                "internally consistent; origin and completeness not established".to_owned()
            } else {
                format!("consistent, and anchored by {}", anchored_by(anchors))
            };
            format!("{standing}{warnings}: {through}")
        }
    }
}

/// Returns what the policy of a run says of tools and clients; of the latter also, in these words, what came of it.
pub(super) fn policy(policy: &RecordedPolicy, distinct: impl FnOnce() -> String) -> String {
    let tools = match &policy.tools {
        ToolRules::Unknown => "not disclosed".to_owned(),
        ToolRules::Any => "any tool may run, at any risk: it names none".to_owned(),
        ToolRules::Named(tools) => {
            let least = if tools.len() == 1 { "at its least risk" } else { "each at its least risk" };
            let tools = counted_as(tools.len() as u64, "tool", "tools");
            format!("{tools} may run, {least} or above")
        }
    };
    let clients = (policy.distinct_clients == Some(true))
        .then(|| format!("no client may both do the work and judge it ({})", distinct()));
    let sandbox = policy.sandbox.map(PolicySandbox::words).unwrap_or_default();
    [tools.as_str()].into_iter().chain(clients.as_deref()).chain(sandbox).collect::<Vec<_>>().join("; ")
}

fn anchored_by(anchors: &Anchors) -> String {
    let count = |number: u64, one: &str, many: &str| match number {
        0 => None,
        1 => Some(one.to_owned()),
        number => Some(format!("{number} {many}")),
    };
    let pins = anchors.pins.iter().filter_map(|pin| {
        let through = pin.through?;
        Some(format!("the pinned key of {} through sequence {through}", pin.name))
    });
    let known = count(anchors.heads, "a head you know", "heads you know");
    let receipts = count(anchors.receipts, "a receipt", "receipts");
    pins.chain(known).chain(receipts).collect::<Vec<_>>().join(", ")
}

/// Returns what the verdict does not mean.
pub(super) fn not_proven(
    scope: &Scope,
    verdict: Verdict,
    anchors: &Anchors,
    newest: Option<Sequence>,
) -> Vec<String> {
    let mut lines = Vec::new();
    if anchors.is_empty() {
        let given = if anchors.pins.is_empty() {
            "nothing you know from elsewhere was given (--pin, --receipt, --against)"
        } else {
            "no key that you pinned signed what ties it to somebody"
        };
        lines.push(format!("who made this file: {given}"));
    }
    if let Some(through) = scope.through {
        lines.push(format!("that the trace ends at sequence {}: later events may exist", through.sequence));
    }
    let last = scope.registry_events.checked_sub(1).and_then(|last| Sequence::try_from(last).ok());
    if let Some(last) = last.max(newest) {
        let given = if newest == Some(last) { ", the newest you gave" } else { "" };
        lines.push(format!(
            "that every key here still counts: keys may have been revoked after registry event {last}{given}"
        ));
    }
    lines.push("that what was claimed is true: only who said it, and what it was said to rest on".to_owned());
    if !scope.signatures {
        lines.push("any signature: only hashes were checked".to_owned());
    }
    if verdict == Verdict::Fail {
        lines.push("anything after the first event that does not hold".to_owned());
    }
    lines
}
