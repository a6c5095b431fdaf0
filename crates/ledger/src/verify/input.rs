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
    /// Whole lines, and after the last of them whatever was here before.
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

    /// Returns how many lines the chunk holds.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns how many bytes the lines have, with their line feeds.
    pub(super) fn length(&self) -> u64 {
        self.whole() as u64
    }

    /// Returns where the lines end.
    fn whole(&self) -> usize {
        self.ends.last().map_or(0, |end| end + 1)
    }

    /// Empties the chunk and puts the beginning of a line into it.
    fn begin(&mut self, first: u64, begun: &[u8]) {
        self.first = first;
        self.ends.clear();
        self.end = None;
        if self.bytes.len() > 2 * GREATEST_CHUNK {
            // One long line must not cost its memory for good.
            self.bytes = Vec::new();
        }
        if self.bytes.len() < begun.len() {
            self.bytes.resize(begun.len(), 0);
        }
        self.bytes[..begun.len()].copy_from_slice(begun);
    }

    /// Finds the ends of lines in a part of the bytes.
    fn find_lines(&mut self, from: usize, to: usize) {
        let found = memchr::memchr_iter(b'\n', &self.bytes[from..to]);
        self.ends.extend(found.map(|place| from + place));
    }
}

/// Returns why no more lines come after the last whole one, if so; `begun` is how much of another one was read.
fn ending(begun: usize, whole_file: bool) -> Option<End> {
    match (begun, whole_file) {
        (0, true) => Some(End::Whole),
        (..=LIMIT, true) => Some(End::Inside),
        (_, true) | (TOO_LONG.., false) => Some(End::TooLong),
        (_, false) => None,
    }
}

/// Reads chunks and keeps the digest of all bytes before the checkpoint line.
pub(super) struct Input<R> {
    reader: R,
    line: u64,
    digest: Hasher,
    before_checkpoint: Option<Digest>,
    /// The beginning of a line that the last chunk had no room for.
    begun: Vec<u8>,
    /// How many bytes the chunks so far had.
    taken: usize,
    /// How many bytes a chunk has at most, long lines aside.
    greatest: usize,
}

impl<R: BufRead> Input<R> {
    /// Returns an input that has read nothing; `batches` says whether large chunks pay.
    pub(super) fn new(reader: R, batches: bool) -> Self {
        let digest = Hasher::new(Purpose::Export);
        let greatest = if batches { GREATEST_CHUNK } else { LEAST_CHUNK };
        Self { reader, line: 1, digest, before_checkpoint: None, begun: Vec::new(), taken: 0, greatest }
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

    /// Fills the chunk with the whole lines that it has room for, at least one as long as there are any.
    pub(super) fn next_chunk(&mut self, chunk: &mut Chunk) -> io::Result<()> {
        self.read_chunk(chunk)?;
        self.digest(chunk);
        Ok(())
    }

    /// Does the same and leaves the digest to the caller.
    pub(super) fn read_chunk(&mut self, chunk: &mut Chunk) -> io::Result<()> {
        let usual = (self.taken / 4).clamp(LEAST_CHUNK, self.greatest);
        chunk.begin(self.line, &self.begun);
        let mut filled = self.begun.len();
        let mut room = usual.max(filled * 2);
        while chunk.ends.is_empty() && chunk.end.is_none() {
            room = room.min(TOO_LONG);
            let searched = filled;
            let whole_file = self.fill(chunk, &mut filled, room)?;
            chunk.find_lines(searched, filled);
            chunk.end = ending(filled - chunk.whole(), whole_file);
            // Not even one line: then it is a long one.
            room *= 2;
        }
        self.begun.clear();
        // Nothing follows an end: a line that is too long is not kept.
        if chunk.end.is_none() {
            self.begun.extend_from_slice(&chunk.bytes[chunk.whole()..filled]);
        }
        self.line += chunk.ends.len() as u64;
        self.taken += chunk.whole();
        Ok(())
    }

    /// Reads up to `room` bytes in all; returns whether the file ended before.
    fn fill(&mut self, chunk: &mut Chunk, filled: &mut usize, room: usize) -> io::Result<bool> {
        if chunk.bytes.len() < room {
            chunk.bytes.resize(room, 0);
        }
        while *filled < room {
            match self.reader.read(&mut chunk.bytes[*filled..room]) {
                Ok(0) => return Ok(true),
                Ok(length) => *filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Takes the lines of a chunk into the digest, up to the checkpoint; each chunk once, in the order of the file.
    pub(super) fn digest(&mut self, chunk: &Chunk) {
        if self.before_checkpoint.is_some() {
            return;
        }
        let mut start = 0;
        for end in &chunk.ends {
            if chunk.bytes[start..*end].starts_with(CHECKPOINT) {
                self.digest.update(&chunk.bytes[..start]);
                self.before_checkpoint = Some(self.digest.clone().finish());
                return;
            }
            start = end + 1;
        }
        self.digest.update(&chunk.bytes[..start]);
    }

    fn read_line(&mut self, chunk: &mut Chunk, limit: usize) -> io::Result<()> {
        let start = chunk.bytes.len();
        // One byte for the line feed, one to notice that the line goes on.
        let most = limit + 2;
        let first = most.min(LONG);
        let mut length = self.reader.by_ref().take(first as u64).read_until(b'\n', &mut chunk.bytes)?;
        if length == LONG && !chunk.bytes.ends_with(b"\n") {
            chunk.bytes.reserve_exact(most - LONG);
            let rest = (most - LONG) as u64;
            length += self.reader.by_ref().take(rest).read_until(b'\n', &mut chunk.bytes)?;
        }
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
/// From how many bytes on a line that is read alone gets all the room that it may need, and no more.
const LONG: usize = 4 << 20;
/// How many bytes a line may have, without its line feed.
const LIMIT: usize = Limits::LINE.bytes;
/// How much is read at most before a line is too long: one byte more than it may have, one for a line feed.
const TOO_LONG: usize = LIMIT + 2;
/// How much one worker gets at a time. Little at first, so that a short file has something for every worker; then
/// more and more up to about six hundred events, because signatures are cheaper in large batches. Without signatures
/// little is best throughout: it is still in the cache when the next one looks at it.
const LEAST_CHUNK: usize = 128 << 10;
const GREATEST_CHUNK: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use demur_core::hash::digest;

    use super::*;

    /// Gives out a few bytes at a time, a different number each time.
    struct Trickle<'a> {
        rest: &'a [u8],
        step: usize,
    }

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.step = self.step * 7 % 65_537 + 1;
            let length = self.step.min(self.rest.len()).min(buffer.len());
            let (now, rest) = self.rest.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.rest = rest;
            Ok(length)
        }
    }

    /// Returns all lines with their numbers, why they ended, and the digest before the checkpoint.
    fn read_all(file: &[u8], batches: bool) -> (Vec<Vec<u8>>, End, Option<Digest>) {
        let mut input = Input::new(BufReader::with_capacity(999, Trickle { rest: file, step: 1 }), batches);
        let mut chunk = Chunk::default();
        let mut lines = Vec::new();
        loop {
            input.next_chunk(&mut chunk).unwrap();
            assert_eq!(chunk.first, lines.len() as u64 + 1);
            assert_eq!(chunk.length(), chunk.lines().map(|line| line.len() as u64 + 1).sum::<u64>());
            lines.extend(chunk.lines().map(<[u8]>::to_vec));
            if let Some(end) = chunk.end {
                return (lines, end, input.before_checkpoint());
            }
            assert!(chunk.count() > 0, "a chunk without a line that is not the last one");
        }
    }

    #[test]
    fn chunks_hold_all_lines_whatever_their_lengths() {
        let lengths = (0..900).map(|number: usize| match number % 100 {
            50 => LEAST_CHUNK * 3,
            51 => LEAST_CHUNK - 1,
            52 => 0,
            number => number * 37 % 2999,
        });
        let lines: Vec<Vec<u8>> = lengths.map(|length| vec![b'a'; length]).collect();
        let mut file = lines.join(&b'\n');
        assert!(file.len() > 2 * GREATEST_CHUNK, "too short to reach the greatest chunks");
        for batches in [true, false] {
            let (read, end, _) = read_all(&file, batches);
            assert!(read == lines[..899] && end == End::Inside, "the last line has no end");
        }
        file.push(b'\n');
        for batches in [true, false] {
            let (read, end, before) = read_all(&file, batches);
            assert!(read == lines && (end, before) == (End::Whole, None), "every line has an end");
        }
    }

    #[test]
    fn digest_is_of_all_before_the_first_checkpoint() {
        let checkpoint = [CHECKPOINT, b"1}\n"].concat();
        for lines in [0, 1, 300] {
            let before = b"{\"event\":1}\n".repeat(lines * 100);
            let file = [&before[..], &checkpoint, b"x\n", &checkpoint].concat();
            let (_, _, found) = read_all(&file, true);
            assert_eq!(found, Some(digest(Purpose::Export, &[&before])));
        }
    }

    #[test]
    fn line_without_end_is_too_long_beyond_the_limit() {
        for (length, end) in [(LIMIT, End::Inside), (LIMIT + 1, End::TooLong), (LIMIT + 9, End::TooLong)] {
            let mut input = Input::new(BufReader::new(io::repeat(b'a').take(length as u64)), true);
            let mut chunk = Chunk::default();
            input.next_chunk(&mut chunk).unwrap();
            assert_eq!((chunk.count(), chunk.end), (0, Some(end)), "{length} bytes");
        }
    }
}
