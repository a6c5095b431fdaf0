//! A store that several owners share is a store.

use std::{ops::RangeInclusive, sync::Arc};

use demur_core::{hash::Digest, key::Fingerprint, time::Timestamp};
use demur_ledger::{
    entry::Address,
    event_type::TraceKind,
    name::{CommandId, Position, Sequence, TraceId},
    question::OutcomeKind,
};

use super::{
    Append, Cursor, Failure, Outcome, Performed, QuestionFilter, QuestionSummary, Snapshot, Store,
    StoreError, StoreProblem, StoreProgress, Stored, TraceSummary,
};

impl<S: Store + ?Sized> Store for Arc<S> {
    fn append(&self, appends: &[Append]) -> Result<Vec<Outcome>, StoreError> {
        (**self).append(appends)
    }

    fn check(&self, progress: &mut dyn FnMut(StoreProgress)) -> Result<Vec<StoreProblem>, StoreError> {
        (**self).check(progress)
    }

    fn trace(&self, trace: TraceId) -> Result<Option<TraceSummary>, StoreError> {
        (**self).trace(trace)
    }

    fn traces(&self, after: Option<TraceId>, limit: usize) -> Result<Vec<TraceSummary>, StoreError> {
        (**self).traces(after, limit)
    }

    fn traces_between(
        &self,
        ids: &RangeInclusive<TraceId>,
        limit: usize,
    ) -> Result<Vec<(TraceId, TraceKind)>, StoreError> {
        (**self).traces_between(ids, limit)
    }

    fn newest(&self) -> Result<Option<TraceId>, StoreError> {
        (**self).newest()
    }

    fn registry(&self) -> Result<Option<TraceId>, StoreError> {
        (**self).registry()
    }

    fn events(&self, trace: TraceId, from: Sequence, limit: usize) -> Result<Vec<Stored>, StoreError> {
        (**self).events(trace, from, limit)
    }

    fn hash(&self, trace: TraceId, sequence: Sequence) -> Result<Option<Digest>, StoreError> {
        (**self).hash(trace, sequence)
    }

    fn command(&self, key: &Fingerprint, command: CommandId) -> Result<Option<Performed>, StoreError> {
        (**self).command(key, command)
    }

    fn command_beginning(
        &self,
        key: &Fingerprint,
        beginning: u64,
    ) -> Result<Option<(CommandId, Performed)>, StoreError> {
        (**self).command_beginning(key, beginning)
    }

    fn questions(
        &self,
        filter: &QuestionFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<QuestionSummary>, StoreError> {
        (**self).questions(filter, after, limit)
    }

    fn question(&self, trace: TraceId, sequence: Sequence) -> Result<Option<QuestionSummary>, StoreError> {
        (**self).question(trace, sequence)
    }

    fn question_counts(&self) -> Result<Vec<(OutcomeKind, u64)>, StoreError> {
        (**self).question_counts()
    }

    fn due_questions(&self, now: Timestamp, limit: usize) -> Result<Vec<QuestionSummary>, StoreError> {
        (**self).due_questions(now, limit)
    }

    fn next_deadline(&self) -> Result<Option<Timestamp>, StoreError> {
        (**self).next_deadline()
    }

    fn heads_at(&self, cursor: Cursor) -> Result<Vec<(TraceId, Position)>, StoreError> {
        (**self).heads_at(cursor)
    }

    fn end(&self) -> Result<Cursor, StoreError> {
        (**self).end()
    }

    fn changes(&self, after: Cursor, limit: usize) -> Result<Vec<(Cursor, Stored)>, StoreError> {
        (**self).changes(after, limit)
    }

    fn put_artifact(&self, bytes: &[u8]) -> Result<Address, StoreError> {
        (**self).put_artifact(bytes)
    }

    fn artifact(&self, address: &Address) -> Result<Option<Vec<u8>>, StoreError> {
        (**self).artifact(address)
    }

    fn snapshot(&self, trace: TraceId) -> Result<Option<Snapshot>, StoreError> {
        (**self).snapshot(trace)
    }

    fn mark_failed(&self, trace: TraceId, failure: &Failure) -> Result<(), StoreError> {
        (**self).mark_failed(trace, failure)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        (**self).note(name)
    }

    fn set_note(&self, name: &str, value: &[u8]) -> Result<(), StoreError> {
        (**self).set_note(name, value)
    }

    fn notes(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        (**self).notes(prefix)
    }

    fn keep_secret(&self, trace: TraceId, sequence: Sequence, value: &[u8]) -> Result<(), StoreError> {
        (**self).keep_secret(trace, sequence, value)
    }

    fn secret(&self, trace: TraceId, sequence: Sequence) -> Result<Option<Vec<u8>>, StoreError> {
        (**self).secret(trace, sequence)
    }

    fn forget_secret(&self, trace: TraceId, sequence: Sequence) -> Result<(), StoreError> {
        (**self).forget_secret(trace, sequence)
    }
}
