//! What the tool writes, in bounded memory.

use std::{
    fs::File,
    io::{self, Read as _},
    os::fd::OwnedFd,
};

use rustix::fs::{OFlags, fcntl_setfl};

use crate::supervise::tool::is_passing;

/// Standard output and standard error of the tool.
pub(super) struct Capture {
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    /// How many bytes both may still have together.
    room: u64,
    is_over: bool,
}

/// One of them.
pub(super) struct Stream {
    /// None after its end.
    pub(super) pipe: Option<File>,
    bytes: Vec<u8>,
}

impl Capture {
    /// Returns what reads from these pipes, up to `room` bytes from both together.
    pub(super) fn new(stdout: Option<OwnedFd>, stderr: Option<OwnedFd>, room: u64) -> io::Result<Self> {
        Ok(Self { stdout: Stream::new(stdout)?, stderr: Stream::new(stderr)?, room, is_over: false })
    }

    /// Reads what is there now; returns whether there is more than there may be.
    pub(super) fn read(&mut self) -> io::Result<bool> {
        for stream in [&mut self.stdout, &mut self.stderr] {
            self.is_over |= stream.read(&mut self.room)?;
        }
        Ok(self.is_over)
    }

    /// Reads what is left after everybody who could write has ended; returns whether there is more than there
    /// may be.
    pub(super) fn drain(&mut self) -> io::Result<bool> {
        for stream in [&mut self.stdout, &mut self.stderr] {
            while !self.is_over && stream.pipe.is_some() {
                let before = self.room;
                self.is_over |= stream.read(&mut self.room)?;
                if self.room == before {
                    break;
                }
            }
        }
        Ok(self.is_over)
    }

    /// Returns both.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<u8>) {
        (self.stdout.bytes, self.stderr.bytes)
    }
}

impl Stream {
    fn new(pipe: Option<OwnedFd>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            fcntl_setfl(pipe, OFlags::NONBLOCK)?;
        }
        Ok(Self { pipe: pipe.map(File::from), bytes: Vec::new() })
    }

    /// Reads once and takes what was read from the room; returns whether there was more.
    fn read(&mut self, room: &mut u64) -> io::Result<bool> {
        let Some(pipe) = &mut self.pipe else { return Ok(false) };
        let mut bytes = [0; CHUNK];
        match pipe.read(&mut bytes) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                let fits = count.min(usize::try_from(*room).unwrap_or(usize::MAX));
                self.bytes.extend_from_slice(&bytes[..fits]);
                *room -= fits as u64;
                return Ok(fits < count);
            }
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(false)
    }
}

/// How much is read at a time.
const CHUNK: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Returns a capture with this room, and the ends to write to.
    fn capture(room: u64) -> (Capture, io::PipeWriter, io::PipeWriter) {
        let ((stdout, first), (stderr, second)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let capture = Capture::new(Some(stdout.into()), Some(stderr.into()), room).unwrap();
        (capture, first, second)
    }

    #[test]
    fn both_streams_share_the_room() {
        let (mut capture, mut stdout, mut stderr) = capture(5);
        stdout.write_all(b"abc").unwrap();
        stderr.write_all(b"de").unwrap();
        assert!(!capture.read().unwrap());
        stderr.write_all(b"f").unwrap();
        assert!(capture.read().unwrap());
        assert_eq!(capture.into_parts(), (b"abc".to_vec(), b"de".to_vec()));
    }

    #[test]
    fn nothing_to_read_does_not_block() {
        let (mut capture, stdout, _stderr) = capture(5);
        assert!(!capture.drain().unwrap());
        drop(stdout);
        assert!(!capture.drain().unwrap());
        assert!(capture.stdout.pipe.is_none());
        assert!(capture.stderr.pipe.is_some());
    }
}
