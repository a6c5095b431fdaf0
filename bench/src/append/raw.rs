//! The raw limit: the same signatures made and checked, the same JSON written, the same rows in SQLite with the same
//! tables, and nothing else: no decisions, no queues, no state.

use std::{
    path::Path,
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use demur_core::{
    canonical,
    hash::Purpose,
    key::{PublicKey, SecretKey},
};
use demur_ledger::{
    content::Opening,
    envelope::{Event, event_hash},
    proof::{KeySignature, Proof},
    signed::{Head, Signed},
};
use demur_store::contract::{Kept, Stored};
use rusqlite::{Connection, config::DbConfig, params};

/// One event with everything that is written beside it.
pub(crate) struct Row {
    /// The number of its trace, ascending with creation.
    trace: i64,
    event: Event,
    opening: Opening,
    head: Head,
}

impl Row {
    /// Returns the row of a stored event that has content.
    pub(crate) fn new(stored: &Stored, head: &Head, trace: i64) -> Result<Option<Self>> {
        let event = Event::parse(&stored.bytes)?;
        let Kept::Here(opening) = &stored.content else { return Ok(None) };
        Ok(Some(Self { trace, event, opening: opening.clone(), head: head.clone() }))
    }
}

/// The signatures and the JSON of one append: the author's statement, the door, the envelope, the desk's head.
fn compute(row: &Row, author: &SecretKey, public: &PublicKey, desk: &SecretKey) -> Result<Signed<Head>> {
    let envelope = row.event.envelope();
    if let Some(statement) = &envelope.statement {
        let statement = canonical::to_vec(statement)?;
        let proof = KeySignature::sign(author, Purpose::Statement, &statement);
        proof.admit(public, Purpose::Statement, &statement)?;
    }
    std::hint::black_box(event_hash(&canonical::to_vec(envelope)?));
    Ok(Signed::new(row.head.clone(), desk)?)
}

/// Returns how long it took to write all rows one per commit on one thread, signatures included.
pub(crate) fn one_by_one(folder: &Path, rows: &[Row], keys: &(SecretKey, SecretKey)) -> Result<Duration> {
    let database = Database::create(&folder.join("raw.db"))?;
    let public = keys.0.public();
    let begin = Instant::now();
    for row in rows {
        let head = compute(row, &keys.0, &public, &keys.1)?;
        database.commit(&[(row, head)])?;
    }
    Ok(begin.elapsed())
}

/// Returns how long it took to write all rows in commits of up to `group`, signatures on all cores.
pub(crate) fn grouped(
    folder: &Path,
    rows: &[Row],
    keys: &(SecretKey, SecretKey),
    group: usize,
) -> Result<Duration> {
    let database = Database::create(&folder.join("raw.db"))?;
    let cores = thread::available_parallelism().context("cannot count the cores")?.get();
    let begin = Instant::now();
    thread::scope(|scope| {
        let (give, take) = sync_channel(4 * group);
        for part in rows.chunks(rows.len().div_ceil(cores)) {
            let give = give.clone();
            scope.spawn(move || {
                let public = keys.0.public();
                for row in part {
                    let Ok(head) = compute(row, &keys.0, &public, &keys.1) else { return };
                    if give.send((row, head)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(give);
        drain(&database, &take, group)
    })?;
    Ok(begin.elapsed())
}

fn drain(database: &Database, take: &Receiver<(&Row, Signed<Head>)>, group: usize) -> Result<()> {
    while let Ok(first) = take.recv() {
        let mut batch = vec![first];
        batch.extend(take.try_iter().take(group - 1));
        database.commit(&batch)?;
    }
    Ok(())
}

struct Database(Connection);

impl Database {
    fn create(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        connection.execute_batch(include_str!("../../../crates/store/src/sqlite/schema.sql"))?;
        connection.execute_batch("PRAGMA foreign_keys = OFF;")?;
        // As the store does: without it SQLite prepares a statement anew for almost every row.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self(connection))
    }

    fn commit(&self, batch: &[(&Row, Signed<Head>)]) -> Result<()> {
        let transaction = self.0.unchecked_transaction()?;
        for (row, head) in batch {
            let envelope = row.event.envelope();
            let mut head_bytes = head.document.registry.hash.as_bytes().to_vec();
            head_bytes.extend(head.document.store.as_digest().as_bytes());
            head_bytes.extend(head.proof.key.as_digest().as_bytes());
            head_bytes.extend(head.proof.signature.as_bytes());
            let ordinal = transaction
                .prepare_cached(
                    "INSERT INTO events (trace, sequence, hash, time, writer, head, content_salt, bytes, content)
                     VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8)",
                )?
                .insert(params![
                    row.trace,
                    i64::try_from(envelope.sequence.number())?,
                    row.event.hash().as_bytes(),
                    i64::try_from(envelope.time.as_millis())?,
                    head_bytes,
                    row.opening.salt.as_bytes(),
                    row.event.bytes(),
                    row.opening.bytes,
                ])?;
            let (Some(statement), Proof::Ed25519(proof)) = (&envelope.statement, &envelope.proof) else {
                continue;
            };
            transaction
                .prepare_cached("INSERT INTO commands (key, command, event) VALUES (?1, ?2, ?3)")?
                .execute(params![
                    proof.key.as_digest().as_bytes(),
                    statement.command.as_ulid().as_u128().to_be_bytes(),
                    ordinal
                ])?;
        }
        Ok(transaction.commit()?)
    }
}
