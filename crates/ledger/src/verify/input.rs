//! The file as chunks of whole lines: bounded memory, whatever comes in.

use std::io::{self, BufRead, Read as _};

use demur_core::{
    hash::{Digest, Hasher, Purpose},
    limit::Limits,
};

/// Some lines of the file, in order.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// The number of the first line, from 1.
    pub(super) first: u64,
    bytes: Vec<u8>,
    /// Where each line ends, without its line feed.
    ends: Vec<usize>,
    /// What cut the reading short, after these lines.
    pub(super) end: Option<End>,
}

/// Why there are no more lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The file ended after a whole line.
    Whole,
    /// The file ended inside a line.
    Inside,
    /// A line is longer than a line may be.
    TooLong,
}

impl Chunk {
    /// Returns the lines without their line feeds.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + 1));
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }

    /// Returns how many bytes the chunk holds.
    pub(super) const fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Reads chunks and keeps the digest of all bytes before the checkpoint line.
pub(super) struct Input<R> {
    reader: R,
    line: u64,
    digest: Hasher,
    before_checkpoint: Option<Digest>,
}

impl<R: BufRead> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, line: 1, digest: Hasher::new(Purpose::Export), before_checkpoint: None }
    }

    /// Returns the digest of all bytes before the checkpoint line, once that line was read.
    pub(super) const fn before_checkpoint(&self) -> Option<Digest> {
        self.before_checkpoint
    }

    /// Returns the first line alone: it must be a header, and a header is short.
    pub(super) fn first_line(&mut self) -> io::Result<Chunk> {
        let mut chunk = Chunk { first: 1, ..Chunk::default() };
        self.read_line(&mut chunk, HEADER_LIMIT)?;
        Ok(chunk)
    }

    /// Returns the next line alone.
    pub(super) fn next_line(&mut self) -> io::Result<Chunk> {
        let mut chunk = Chunk { first: self.line, ..Chunk::default() };
        self.read_line(&mut chunk, Limits::LINE.bytes)?;
        Ok(chunk)
    }

    /// Returns about as many lines as fit into a chunk, at least one.
    pub(super) fn next_chunk(&mut self) -> io::Result<Chunk> {
        let mut chunk = Chunk { first: self.line, ..Chunk::default() };
        chunk.bytes.reserve(CHUNK_BYTES + CHUNK_BYTES / 8);
        while chunk.end.is_none() && chunk.bytes.len() < CHUNK_BYTES {
            self.read_line(&mut chunk, Limits::LINE.bytes)?;
        }
        Ok(chunk)
    }

    fn read_line(&mut self, chunk: &mut Chunk, limit: usize) -> io::Result<()> {
        let start = chunk.bytes.len();
        // One byte for the line feed, one to notice that the line goes on.
        let length = self.reader.by_ref().take(limit as u64 + 2).read_until(b'\n', &mut chunk.bytes)?;
        let line = &chunk.bytes[start..];
        if !line.ends_with(b"\n") {
            chunk.end = Some(match length {
                0 => End::Whole,
                length if length > limit => End::TooLong,
                _ => End::Inside,
            });
            chunk.bytes.truncate(start);
            return Ok(());
        }
        if line.starts_with(CHECKPOINT) && self.before_checkpoint.is_none() {
            self.before_checkpoint = Some(self.digest.clone().finish());
        }
        self.digest.update(line);
        chunk.ends.push(chunk.bytes.len() - 1);
        self.line += 1;
        Ok(())
    }
}

/// How a checkpoint line begins; no other line does.
const CHECKPOINT: &[u8] = br#"{"checkpoint":"#;
/// The longest header that can be of this format is well below this.
const HEADER_LIMIT: usize = 4096;
/// How much one worker gets at a time: about a thousand events.
const CHUNK_BYTES: usize = 1 << 20;
