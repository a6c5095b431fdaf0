//! The commit: each write is checked against the database, and done only if there is no conflict.
//!
//! What an append touches: the last page of `events`, the page of their index where its trace ends, and the page
//! of `commands` where its author stands. That does not depend on how long the trace or how large the store is.

use demur_core::{hash::Digest, key::Fingerprint};
use demur_ledger::{
    entry::Entry,
    erasure::is_erasure,
    event_type::TraceKind,
    name::{Position, Sequence},
    state::Phase,
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, Transaction, params};

use super::{
    column::{self, number, ulid},
    confirmation, erase, participant, question, stream,
};
use crate::{
    contract::{
        Append, Conflict, LeaseId, RecordValue, Snapshot, StoreError, Swap, Version, Write, WriteOutcome,
    },
    derived,
    sqlite::trouble,
};

/// Conflicts of a write that are known without the database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precheck {
    /// Its lease is dead.
    pub(super) dead: bool,
    /// Its events do not follow each other.
    pub(super) broken: bool,
    /// It names bytes that are not there.
    pub(super) missing: bool,
}

/// One transaction, in which writes are checked and done one after the other.
pub(super) struct Judging<'a> {
    transaction: &'a Transaction<'a>,
    registry: Option<Registry>,
    /// The last older registry event that was looked up: appends of one moment share it.
    pinned: Option<Position>,
}

/// The registry as of this point of the transaction.
#[derive(Clone, Copy)]
struct Registry {
    trace: i64,
    head: Position,
}

/// A trace that is there already.
struct KnownTrace {
    id: i64,
    kind: TraceKind,
    head: Position,
    phase: Option<Phase>,
}

/// An append with what is known of its trace.
struct Prepared<'a> {
    append: &'a Append,
    trace: Option<KnownTrace>,
    kind: TraceKind,
}

impl<'a> Judging<'a> {
    pub(super) fn begin(transaction: &'a Transaction<'a>) -> Result<Self> {
        let mut statement = transaction.prepare_cached(
            "SELECT e.trace, e.sequence, e.hash FROM traces t JOIN events e ON e.trace = t.id
             WHERE t.kind = 'registry' ORDER BY e.sequence DESC LIMIT 1",
        )?;
        let registry = |row: &Row<'_>| Ok(Registry { trace: row.get(0)?, head: column::position(row, 1)? });
        let registry = statement.query_row([], registry).optional()?;
        Ok(Self { transaction, registry, pinned: None })
    }

    /// Checks a write, and does it if there is no conflict.
    pub(super) fn commit(&mut self, write: &Write, precheck: Precheck) -> Result<WriteOutcome, StoreError> {
        if precheck.dead {
            return Ok(WriteOutcome::Refused(Conflict::Lease));
        }
        let Write { writer, append, swaps, posts, acknowledged } = write;
        let append = append.as_ref().map(|append| self.prepare(append)).transpose()?;
        let conflict = append.as_ref().map_or(Ok(None), |append| self.judge(append, precheck));
        if let Some(conflict) = conflict.map_err(trouble::of("append"))? {
            return Ok(WriteOutcome::Refused(conflict));
        }
        if !hold(self.transaction, swaps).map_err(trouble::of("look at records"))? {
            return Ok(WriteOutcome::Refused(Conflict::Record));
        }
        if !stream::are_new(self.transaction, posts).map_err(trouble::of("look at posts"))? {
            return Ok(WriteOutcome::Refused(Conflict::Post));
        }
        append.map_or(Ok(()), |append| self.write(append, *writer)).map_err(trouble::of("append"))?;
        swap(self.transaction, swaps).map_err(trouble::of("change records"))?;
        stream::post(self.transaction, posts).map_err(trouble::of("post"))?;
        stream::acknowledge(self.transaction, acknowledged).map_err(trouble::of("acknowledge posts"))?;
        Ok(WriteOutcome::Done)
    }

    fn prepare<'b>(&self, append: &'b Append) -> Result<Prepared<'b>, StoreError> {
        let trace = self.known(append).map_err(trouble::of("append"))?;
        let kind = match &trace {
            Some(trace) => trace.kind,
            None => opened_kind(append)?,
        };
        Ok(Prepared { append, trace, kind })
    }

    fn known(&self, append: &Append) -> Result<Option<KnownTrace>> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT t.id, t.kind, e.sequence, e.hash, r.phase
             FROM traces t
             JOIN events e ON e.trace = t.id
             LEFT JOIN runs r ON r.trace = t.id
             WHERE t.trace = ?1 ORDER BY e.sequence DESC LIMIT 1",
        )?;
        let known = |row: &Row<'_>| {
            Ok(KnownTrace {
                id: row.get(0)?,
                kind: column::kind(row, 1)?,
                head: column::position(row, 2)?,
                phase: column::phase(row, 4)?,
            })
        };
        statement.query_row([ulid(append.trace.as_ulid())], known).optional()
    }

    /// Returns the conflict of an append, if there is one. Nothing is written before.
    fn judge(
        &mut self,
        &Prepared { append, ref trace, kind }: &Prepared<'_>,
        precheck: Precheck,
    ) -> Result<Option<Conflict>> {
        let second_registry = trace.is_none() && kind == TraceKind::Registry && self.registry.is_some();
        let head = trace.as_ref().map(|trace| trace.head);
        if head != append.expected || precheck.broken || second_registry {
            return Ok(Some(Conflict::Head));
        }
        if precheck.missing {
            return Ok(Some(Conflict::Artifact));
        }
        // The registry's own events follow each other; its head says it all.
        if kind != TraceKind::Registry && self.registry_moved(append)? {
            return Ok(Some(Conflict::Registry));
        }
        if self.command_used(append)? {
            return Ok(Some(Conflict::Command));
        }
        Ok(None)
    }

    /// Returns whether an author's key, or the desk's, changed after the registry event that was gone by, or
    /// whether that event is not one of this store.
    fn registry_moved(&mut self, append: &Append) -> Result<bool> {
        let Some(registry) = self.registry else { return Ok(true) };
        for (pin, key) in derived::pins(append) {
            let moved = match pin {
                Some(pin) if pin == registry.head => false,
                Some(pin) if pin.sequence < registry.head.sequence => {
                    !self.pins(registry, pin)? || self.changed_after(pin.sequence, key)?
                }
                _ => true,
            };
            if moved {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether this is an older event of the registry.
    fn pins(&mut self, registry: Registry, pin: Position) -> Result<bool> {
        if self.pinned == Some(pin) {
            return Ok(true);
        }
        let mut statement =
            self.transaction.prepare_cached("SELECT hash FROM events WHERE trace = ?1 AND sequence = ?2")?;
        let parameters = params![registry.trace, number(pin.sequence.number())];
        let hash: Option<Digest> =
            statement.query_row(parameters, |row| column::digest(row, 0)).optional()?;
        if hash != Some(pin.hash) {
            return Ok(false);
        }
        self.pinned = Some(pin);
        Ok(true)
    }

    fn changed_after(&self, sequence: Sequence, key: Option<Fingerprint>) -> Result<bool> {
        let Some(key) = key else { return Ok(false) };
        let mut statement = self
            .transaction
            .prepare_cached("SELECT 1 FROM key_changes WHERE fingerprint = ?1 AND sequence > ?2")?;
        statement.exists(params![key.as_digest().as_bytes(), number(sequence.number())])
    }

    fn command_used(&self, append: &Append) -> Result<bool> {
        let mut statement =
            self.transaction.prepare_cached("SELECT 1 FROM commands WHERE key = ?1 AND command = ?2")?;
        let mut earlier = Vec::new();
        for (key, command) in append.entries.iter().filter_map(|entry| derived::command(&entry.event)) {
            let used = statement.exists(params![key.as_digest().as_bytes(), ulid(command.as_ulid())])?;
            if used || earlier.contains(&(key, command)) {
                return Ok(true);
            }
            earlier.push((key, command));
        }
        Ok(false)
    }

    fn write(&mut self, Prepared { append, trace, kind }: Prepared<'_>, writer: LeaseId) -> Result<()> {
        let (trace, phase) = match trace {
            Some(trace) => (trace.id, trace.phase),
            None => (self.open(append, kind)?, None),
        };
        let last = append.entries.len() - 1;
        for (index, entry) in append.entries.iter().enumerate() {
            let head = (index == last).then(|| column::compact_head(&append.head));
            self.write_entry(trace, entry, writer, head.as_ref().map(AsRef::as_ref))?;
            if kind == TraceKind::Registry {
                self.write_key_changes(entry)?;
            }
        }
        if kind == TraceKind::Registry {
            self.registry = Some(Registry { trace, head: append.head.document.head });
        }
        if let Some(new) = append.phase.filter(|new| Some(*new) != phase) {
            write_phase(self.transaction, trace, new)?;
        }
        for (at, row) in &append.questions {
            question::put(self.transaction, trace, *at, row.as_ref())?;
        }
        for (at, row) in &append.confirmations {
            confirmation::put(self.transaction, trace, *at, row)?;
        }
        append.snapshot.as_ref().map_or(Ok(()), |snapshot| self.write_snapshot(trace, snapshot))?;
        if append.entries.iter().any(|entry| is_erasure(&entry.event)) {
            erase::take_out(self.transaction, trace)?;
        }
        Ok(())
    }

    fn open(&self, append: &Append, kind: TraceKind) -> Result<i64> {
        let opened = append.entries[0].event.envelope().time;
        let mut statement = self
            .transaction
            .prepare_cached("INSERT INTO traces (trace, kind, opened) VALUES (?1, ?2, ?3)")?;
        let opening = params![ulid(append.trace.as_ulid()), kind.as_str(), number(opened.as_millis())];
        let trace = statement.insert(opening)?;
        for participant in derived::participants(&append.entries[0].event) {
            participant::put(self.transaction, "main", trace, participant)?;
        }
        Ok(trace)
    }

    fn write_entry(&self, trace: i64, entry: &Entry, writer: LeaseId, head: Option<&[u8]>) -> Result<()> {
        let event = &entry.event;
        let envelope = event.envelope();
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO events (trace, sequence, hash, time, writer, head,
                                 artifact, artifact_salt, content_salt, bytes, content)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        let (place, opening) = (entry.artifact.as_ref(), entry.opening.as_ref());
        let ordinal = statement.insert(params![
            trace,
            number(envelope.sequence.number()),
            event.hash().as_bytes(),
            number(envelope.time.as_millis()),
            number(writer.number()),
            head,
            place.map(|place| place.address.as_digest().as_bytes()),
            place.map(|place| place.salt.as_bytes()),
            opening.map(|opening| opening.salt.as_bytes()),
            event.bytes(),
            opening.map(|opening| &opening.bytes),
        ])?;
        if let Some((key, command)) = derived::command(event) {
            self.transaction
                .prepare_cached("INSERT INTO commands (key, command, event) VALUES (?1, ?2, ?3)")?
                .execute(params![key.as_digest().as_bytes(), ulid(command.as_ulid()), ordinal])?;
        }
        Ok(())
    }

    fn write_key_changes(&self, entry: &Entry) -> Result<()> {
        let sequence = number(entry.event.envelope().sequence.number());
        for key in derived::changed_keys(&entry.event) {
            self.transaction
                .prepare_cached("INSERT OR REPLACE INTO key_changes (fingerprint, sequence) VALUES (?1, ?2)")?
                .execute(params![key.as_digest().as_bytes(), sequence])?;
        }
        Ok(())
    }

    fn write_snapshot(&self, trace: i64, snapshot: &Snapshot) -> Result<()> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT OR REPLACE INTO snapshots (trace, sequence, hash, version, bytes)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let Position { sequence, hash } = snapshot.head;
        let parameters =
            params![trace, number(sequence.number()), hash.as_bytes(), snapshot.version, snapshot.bytes];
        statement.execute(parameters).map(|_| ())
    }
}

/// Returns whether every record is what it was.
fn hold(connection: &Connection, swaps: &[Swap]) -> Result<bool> {
    for Swap { key, was, .. } in swaps {
        let mut statement = connection.prepare_cached("SELECT version FROM records WHERE key = ?1")?;
        let version = statement.query_row([key.as_str()], |row| column::unsigned(row, 0)).optional()?;
        if version.map_or(Version::ABSENT, Version::new) != *was {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Changes records that hold. A changed one gets a version that none ever had.
fn swap(connection: &Connection, swaps: &[Swap]) -> Result<()> {
    for Swap { key, next, .. } in swaps {
        match next {
            None => {
                connection.prepare_cached("DELETE FROM records WHERE key = ?1")?.execute([key.as_str()])?
            }
            Some(RecordValue { bytes, expires }) => connection
                .prepare_cached("INSERT OR REPLACE INTO records (key, value, expires) VALUES (?1, ?2, ?3)")?
                .execute(params![key.as_str(), bytes, expires.map(|expires| number(expires.as_millis()))])?,
        };
    }
    Ok(())
}

fn write_phase(transaction: &Transaction<'_>, trace: i64, phase: Phase) -> Result<()> {
    transaction
        .prepare_cached("INSERT OR REPLACE INTO runs (trace, phase) VALUES (?1, ?2)")?
        .execute(params![trace, phase.as_str()])
        .map(|_| ())
}

fn opened_kind(append: &Append) -> Result<TraceKind, StoreError> {
    let first = append.entries.first().map(|entry| &entry.event);
    // An append that expects a head is refused for it; its kind does not matter.
    match first.and_then(derived::opened_kind) {
        Some(kind) => Ok(kind),
        None if append.expected.is_some() => Ok(TraceKind::Run),
        None => Err(StoreError::Misuse { what: "the first event of a trace does not open one" }),
    }
}
