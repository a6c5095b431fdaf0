//! One line after another from a pipe, none longer than a message may be: of a longer one only the beginning is kept.

use std::mem;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The lines that come through a pipe.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    /// What is there of the line that is being read. A wait that is broken off loses nothing of it.
    line: Vec<u8>,
    /// Whether the rest of a line is thrown away.
    skips: bool,
}

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// As it came.
    Whole(Vec<u8>),
    /// Longer than a message may be: how it begins. It is told as soon as that shows, for it may never end.
    TooLong(Vec<u8>),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new(), skips: false }
    }

    /// Returns the next line; none once the other side has hung up.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            let there = match self.reader.fill_buf().await {
                Ok(there) if !there.is_empty() => there,
                Ok(_) => return None,
                Err(error) => {
                    tracing::error!(%error, "the client's messages cannot be read");
                    return None;
                }
            };
            let end = there.iter().position(|byte| *byte == b'\n');
            let part = &there[..end.unwrap_or(there.len())];
            let is_too_long = !self.skips && self.line.len() + part.len() > MAX_MESSAGE_BYTES;
            if !self.skips {
                let room = if is_too_long { KEPT_BYTES.saturating_sub(self.line.len()) } else { part.len() };
                self.line.extend_from_slice(&part[..room.min(part.len())]);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if is_too_long {
                self.skips = end.is_none();
                let mut beginning = mem::take(&mut self.line);
                beginning.truncate(KEPT_BYTES);
                beginning.shrink_to_fit();
                return Some(Line::TooLong(beginning));
            }
            if end.is_some() && !mem::take(&mut self.skips) {
                return Some(Line::Whole(mem::take(&mut self.line)));
            }
        }
    }
}

/// How long one message may be.
pub(super) const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// How much is kept of a longer one.
const KEPT_BYTES: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(bytes);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut found = Vec::new();
            while let Some(line) = lines.next().await {
                assert!(lines.line.capacity() <= MAX_MESSAGE_BYTES * 2, "what is kept is bounded");
                found.push(line);
            }
            found
        })
    }

    #[test]
    fn line_of_the_longest_length_comes_whole_and_a_longer_one_as_its_beginning() {
        let (longest, longer) = (vec![b'a'; MAX_MESSAGE_BYTES], vec![b'b'; MAX_MESSAGE_BYTES * 3 + 1]);
        let bytes = [&longest[..], b"\n", &longer, b"\nnext\n\nunfinished"].concat();
        let found = lines(&bytes);
        let expected = [
            Line::Whole(longest),
            Line::TooLong(vec![b'b'; KEPT_BYTES]),
            Line::Whole(b"next".to_vec()),
            Line::Whole(Vec::new()),
        ];
        assert!(found == expected, "{} lines", found.len());
    }

    #[test]
    fn line_that_never_ends_is_told_once() {
        let found = lines(&vec![b'x'; MAX_MESSAGE_BYTES * 4]);
        assert_eq!(found, [Line::TooLong(vec![b'x'; KEPT_BYTES])]);
    }
}
