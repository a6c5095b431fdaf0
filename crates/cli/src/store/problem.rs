//! Something that is wrong with a store: where, what, and what to do about it.

use demur_core::visible::visible;
use demur_ledger::{
    name::{Sequence, TraceId},
    verify::Finding,
};
use demur_sequencer::SequencerError;
use demur_store::contract::{self, StoreError, StoreProblem as Found};
use serde::Serialize;

use crate::failure::Failure;

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) cause: String,
    pub(super) code: String,
    pub(super) cure: String,
    pub(super) sequence: Option<Sequence>,
    pub(super) trace: Option<TraceId>,
}

impl Problem {
    /// Returns what the store found in its own files.
    pub(super) fn all_of_files(found: &[Found]) -> Vec<Self> {
        let events_hold = found.iter().all(Found::is_derived);
        found.iter().map(|problem| Self::of_files(problem, events_hold)).collect()
    }

    fn of_files(found: &Found, events_hold: bool) -> Self {
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
        Self { cause, code: code.to_owned(), cure: cure.to_owned(), sequence, trace }
    }

    /// Returns what the verifier found in the export of a trace.
    pub(super) fn of_trace(trace: TraceId, finding: &Finding) -> Self {
        let place = finding.sequence.map_or(String::new(), |sequence| format!("event {sequence} of "));
        let cause = format!("{place}trace {trace}: {}", visible(&finding.message));
        let (code, cure) = (finding.code.as_str().to_owned(), RESTORE.to_owned());
        Self { cause, code, cure, sequence: finding.sequence, trace: Some(trace) }
    }

    /// Returns why a trace could not even be exported, if that is damage and not trouble of another kind.
    pub(super) fn of_export(trace: TraceId, error: SequencerError) -> Result<Self, Failure> {
        let (sequence, code, cure) = match &error {
            SequencerError::Damaged { sequence, code, .. } => (Some(*sequence), *code, RESTORE),
            SequencerError::Store(StoreError::Corrupt { .. }) => (None, "STORE_DAMAGED", RESTORE),
            SequencerError::Store(StoreError::TraceNewer { sequence, .. }) => {
                (Some(*sequence), TRACE_NEWER, NEWER)
            }
            _ => return Err(error.into()),
        };
        let cause = format!("trace {trace}: {}", visible(&error.to_string()));
        Ok(Self { cause, code: code.to_owned(), cure: cure.to_owned(), sequence, trace: Some(trace) })
    }

    /// Returns a mark that an earlier check left on a trace.
    pub(super) fn of_mark(trace: TraceId, failure: &contract::Failure) -> Self {
        let cause = format!("trace {trace} was found damaged before: {}", visible(&failure.code));
        let code = failure.code.clone();
        Self { cause, code, cure: RESTORE.to_owned(), sequence: failure.sequence, trace: Some(trace) }
    }

    /// Returns why the registry cannot be used.
    pub(super) fn of_opening(error: &Failure) -> Self {
        let cure = error.hint().unwrap_or(RESTORE).to_owned();
        Self { cause: error.to_string(), code: error.code().to_owned(), cure, sequence: None, trace: None }
    }

    /// Returns whether nothing is wrong, and this version only cannot tell.
    pub(super) fn is_newer(&self) -> bool {
        [TRACE_NEWER, "STORE_NEWER"].contains(&self.code.as_str())
    }

    /// Returns the mark for a trace that this problem ends.
    pub(super) fn failure(&self) -> contract::Failure {
        contract::Failure { sequence: self.sequence, code: self.code.clone() }
    }

    /// Returns whether another problem is about the same event.
    pub(super) fn is_about(&self, other: &Self) -> bool {
        self.trace.is_some() && (self.trace, self.sequence) == (other.trace, other.sequence)
    }
}

const TRACE_NEWER: &str = "TRACE_NEWER";
const NEWER: &str = "use a newer version of demur; `demur --version` shows which one this is";
const RESTORE: &str = "keep these files, and restore a backup with `demur store restore`";
