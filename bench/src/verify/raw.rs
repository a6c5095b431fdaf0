//! The raw limit: canonical form and typed fields by the verifier's own cut, hashes, commitments, batches of signatures and the digest of the
//! file, on lines that lie in memory. No chain, no keys' standing, no contents' meaning, no state, no report.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, anyhow, ensure};
use demur_core::commitment::Commitment;
use demur_core::hash::{Hasher, Purpose, sha256};
use demur_core::key::Batch;
use demur_ledger::export::cut::{self, CutEvent};
use demur_ledger::export::{ArtifactLine, Line};
use demur_ledger::proof::Proof;

use super::lines::{Lines, lines_of};

/// Returns how many events were checked.
pub(super) fn check(lines: &Lines, threads: usize, signatures: bool) -> Result<u64> {
    if threads == 1 {
        digest(lines);
        lines.chunks.iter().try_for_each(|chunk| check_chunk(chunk, lines, signatures))?;
    } else {
        check_on(threads, lines, signatures)?;
    }
    Ok(lines.events)
}

/// The digest goes from the first byte to the last, so it takes a thread beside those that share the chunks.
fn check_on(threads: usize, lines: &Lines, signatures: bool) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(chunk) = lines.chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
            check_chunk(chunk, lines, signatures)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        digest(lines);
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

fn digest(lines: &Lines) {
    let mut hasher = Hasher::new(Purpose::Export);
    lines.chunks.iter().for_each(|chunk| hasher.update(chunk));
    black_box(hasher.finish());
}

fn check_chunk(chunk: &[u8], lines: &Lines, signatures: bool) -> Result<()> {
    let mut batch = Batch::new();
    for line in lines_of(chunk) {
        if let Some(event) = cut::event_line(line) {
            check_event(&event, lines, signatures, &mut batch)?;
        } else if let Some(artifact) = cut::artifact_line(line) {
            commit(&artifact)?;
        } else {
            // The fixture has no event or artifact that cannot be cut.
            ensure!(!matches!(Line::parse(line)?, Line::Event(_) | Line::Artifact(_)), "a line was not cut");
        }
    }
    batch.verify().map_err(|bad| anyhow!("{} signatures do not hold", bad.len()))
}

fn check_event(event: &CutEvent<'_>, lines: &Lines, signatures: bool, batch: &mut Batch) -> Result<()> {
    let hash = black_box(event.hash());
    if let (Some(commitment), Some(salt), Some(content)) = (event.envelope.content, event.salt, event.content)
    {
        ensure!(commitment.opens_content(&salt, content.as_bytes()), "a commitment does not open");
    }
    if signatures
        && let (Proof::Ed25519(proof), Some(statement)) = (&event.envelope.proof, event.statement)
        && let Some(key) = lines.keys.get(&proof.key)
    {
        batch.push_within(&hash, key, Purpose::Statement, statement, &proof.signature);
    }
    Ok(())
}

/// The event on the line before says what the commitment must be; who compares them knows both lines.
fn commit(line: &ArtifactLine<'_>) -> Result<()> {
    if let (Some(bytes), Some(salt)) = (line.bytes()?, line.salt) {
        black_box(Commitment::to_artifact(&salt, &bytes));
        // What intents name their input by.
        black_box(sha256(&bytes));
    }
    Ok(())
}
