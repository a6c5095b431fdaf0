//! Lines of an export in memory, cut into chunks as the verifier cuts them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use demur_core::key::{Fingerprint, PublicKey};
use demur_ledger::event_type::Facts;
use demur_ledger::export::Line;

/// The trace of an export, or the first part of it.
pub(super) struct Lines {
    /// Whole lines, up to about a mebibyte each time.
    pub(super) chunks: Vec<Vec<u8>>,
    /// How many events they hold.
    pub(super) events: u64,
    /// The keys of the registry before them.
    pub(super) keys: BTreeMap<Fingerprint, PublicKey>,
}

impl Lines {
    /// Returns the lines after the registry, up to this many bytes.
    pub(super) fn load(path: &Path, limit: usize) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let mut reader = BufReader::new(file);
        let mut lines = Self { chunks: Vec::new(), events: 0, keys: read_keys(&mut reader)? };
        let mut loaded: usize = 0;
        loop {
            let size = (loaded / 4).clamp(LEAST_CHUNK, GREATEST_CHUNK);
            let mut chunk = Vec::with_capacity(size + size / 8);
            while chunk.len() < size && loaded + chunk.len() < limit {
                let start = chunk.len();
                if reader.read_until(b'\n', &mut chunk)? == 0 {
                    break;
                }
                lines.events += u64::from(chunk[start..].starts_with(EVENT));
            }
            if chunk.is_empty() {
                return Ok(lines);
            }
            loaded += chunk.len();
            lines.chunks.push(chunk);
        }
    }
}

/// Returns the lines of a chunk without their line feeds, found as fast as the verifier finds them.
pub(super) fn lines_of(chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', chunk).map(move |end| &chunk[std::mem::replace(&mut start, end + 1)..end])
}

/// Reads header and registry up to the registry's head.
fn read_keys(reader: &mut BufReader<File>) -> Result<BTreeMap<Fingerprint, PublicKey>> {
    let mut keys = BTreeMap::new();
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        match Line::parse(line.trim_ascii_end())? {
            Line::Head(_) => break,
            Line::Event(line) => {
                if let Facts::KeyRegistered(facts) = line.event()?.said()?.facts {
                    keys.insert(facts.key.fingerprint(), facts.key);
                }
            }
            _ => {}
        }
        line.clear();
    }
    Ok(keys)
}

/// As much as the verifier gives one of its threads at a time: little at first, then more.
const LEAST_CHUNK: usize = 128 << 10;
const GREATEST_CHUNK: usize = 1 << 20;
const EVENT: &[u8] = br#"{"event":"#;
