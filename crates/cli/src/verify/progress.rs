//! Progress on long files: a line on the terminal that goes away again, nothing in a pipe.

use std::{
    io::{self, Write as _},
    time::{Duration, Instant},
};

/// The line that tells how far the reading is.
#[derive(Debug)]
pub(super) struct Progress {
    total: Option<u64>,
    watched: bool,
    begun: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Returns the progress of reading this many bytes, if that is known, and if somebody watches.
    pub(super) fn of(total: Option<u64>, watched: bool) -> Self {
        Self { total: total.filter(|total| *total > 0), watched, begun: Instant::now(), shown: None }
    }

    /// Tells how many bytes were read; silent for the first second, then a few times per second.
    pub(super) fn tell(&mut self, bytes: u64) {
        let now = Instant::now();
        let early = now.duration_since(self.begun) < FIRST;
        if !self.watched || early || self.shown.is_some_and(|shown| now.duration_since(shown) < AGAIN) {
            return;
        }
        self.shown = Some(now);
        // Progress that cannot be shown is no reason to stop.
        let _ = io::stderr().lock().write_all(line(bytes, self.total).as_bytes());
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if self.shown.is_some() {
            let _ = io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }
}

fn line(bytes: u64, total: Option<u64>) -> String {
    let megabytes = bytes / 1_000_000;
    match total {
        // A file may grow while it is read.
        Some(total) => format!("\r{megabytes} MB read, {} %", bytes.min(total) * 100 / total),
        None => format!("\r{megabytes} MB read"),
    }
}

const FIRST: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_never_passes_the_end() {
        assert_eq!(line(1_500_000, Some(3_000_000)), "\r1 MB read, 50 %");
        assert_eq!(line(9_000_000, Some(3_000_000)), "\r9 MB read, 100 %");
        assert_eq!(line(9_000_000, None), "\r9 MB read");
    }
}
