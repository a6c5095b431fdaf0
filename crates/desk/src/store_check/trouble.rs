//! Something that is wrong with a store: where, what, and what to do about it.

use demur_api::{refusal::Refusal, store::StoreTrouble};
use demur_core::visible::visible;
use demur_ledger::{name::TraceId, verify::Finding};
use demur_sequencer::{RootMismatch, SequencerError};
use demur_store::contract::{Failure, StoreError, StoreProblem as Found};

/// Returns what the store found in its own files.
pub fn of_files(found: &[Found]) -> Vec<StoreTrouble> {
    let events_hold = found.iter().all(Found::is_derived);
    found.iter().map(|problem| of_file(problem, events_hold)).collect()
}

fn of_file(found: &Found, events_hold: bool) -> StoreTrouble {
    let (code, cure) = match found {
        Found::Derived { .. } if events_hold => ("DERIVED_DIFFERS", "run `demur store rebuild`"),
        Found::Derived { .. } => ("DERIVED_DIFFERS", "see to the events first: this follows from them"),
        Found::Event { .. } => ("EVENT_DAMAGED", RESTORE),
        Found::Newer { .. } => (TRACE_NEWER, NEWER),
        Found::Database { .. } if events_hold => ("DATABASE_DAMAGED", "run `demur store rebuild`"),
        Found::Database { .. } => ("DATABASE_DAMAGED", RESTORE),
    };
    let (trace, sequence) = match found {
        Found::Event { trace, sequence, .. } | Found::Newer { trace, sequence, .. } => {
            (Some(*trace), Some(*sequence))
        }
        Found::Database { .. } | Found::Derived { .. } => (None, None),
    };
    let cause = visible(&found.to_string()).into_owned();
    StoreTrouble { cause, code: code.to_owned(), cure: cure.to_owned(), sequence, trace }
}

/// Returns what the verifier found in the export of a trace.
pub(super) fn of_trace(trace: TraceId, finding: &Finding) -> StoreTrouble {
    let place = finding.sequence.map_or(String::new(), |sequence| format!("event {sequence} of "));
    let cause = format!("{place}trace {trace}: {}", visible(&finding.message));
    let (code, cure) = (finding.code.as_str().to_owned(), RESTORE.to_owned());
    StoreTrouble { cause, code, cure, sequence: finding.sequence, trace: Some(trace) }
}

/// Returns why a trace could not even be exported, if that is damage and not trouble of another kind.
pub(super) fn of_export(trace: TraceId, error: SequencerError) -> Result<StoreTrouble, Refusal> {
    let (sequence, code, cure) = match &error {
        SequencerError::Damaged { sequence, code, .. } => (Some(*sequence), *code, RESTORE),
        SequencerError::Store(StoreError::Corrupt { .. }) => (None, "STORE_DAMAGED", RESTORE),
        SequencerError::Store(StoreError::TraceNewer { sequence, .. }) => {
            (Some(*sequence), TRACE_NEWER, NEWER)
        }
        _ => return Err(error.into()),
    };
    let cause = format!("trace {trace}: {}", visible(&error.to_string()));
    Ok(StoreTrouble { cause, code: code.to_owned(), cure: cure.to_owned(), sequence, trace: Some(trace) })
}

/// Returns a recorded root that the traces in the store do not have.
pub(super) fn of_root(registry: TraceId, root: &RootMismatch) -> StoreTrouble {
    let RootMismatch { recorded, traces, found } = root;
    let found = match found {
        Some(found) if found == traces => "the same number of traces, and not the same events".to_owned(),
        Some(found) => format!("{found} of that time"),
        None => "no record of which those were".to_owned(),
    };
    let cause =
        format!("registry event {recorded}: expected the {traces} traces it is a root over, found {found}");
    let (code, cure) = ("ROOT_DIFFERS".to_owned(), RESTORE.to_owned());
    StoreTrouble { cause, code, cure, sequence: Some(*recorded), trace: Some(registry) }
}

/// Returns a mark that an earlier check left on a trace.
pub(super) fn of_mark(trace: TraceId, failure: &Failure) -> StoreTrouble {
    let cause = format!("trace {trace} was found damaged before: {}", visible(&failure.code));
    let code = failure.code.clone();
    StoreTrouble { cause, code, cure: RESTORE.to_owned(), sequence: failure.sequence, trace: Some(trace) }
}

/// Returns why the store, or its registry, cannot be used.
pub fn of_opening(error: &Refusal) -> StoreTrouble {
    let cure = error.cure.as_deref().unwrap_or(RESTORE).to_owned();
    let (cause, code) = (error.to_string(), error.code.as_str().to_owned());
    StoreTrouble { cause, code, cure, sequence: None, trace: None }
}

/// Returns whether nothing is wrong, and this version only cannot tell.
pub fn is_newer(trouble: &StoreTrouble) -> bool {
    [TRACE_NEWER, "STORE_NEWER"].contains(&trouble.code.as_str())
}

/// Returns whether another problem is about the same event.
pub(super) fn is_about(one: &StoreTrouble, other: &StoreTrouble) -> bool {
    one.trace.is_some() && (one.trace, one.sequence) == (other.trace, other.sequence)
}

const TRACE_NEWER: &str = "TRACE_NEWER";
const NEWER: &str = "use a newer version of demur; `demur --version` shows which one this is";
const RESTORE: &str = "keep these files, and restore a backup with `demur store restore`";
