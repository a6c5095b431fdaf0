//! Progress of long work: a line on the terminal that goes away again, nothing in a pipe.

use std::{
    io::{self, Write as _},
    time::{Duration, Instant},
};

/// The line that tells how far the work is.
#[derive(Debug)]
pub(crate) struct Progress {
    watched: bool,
    begun: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Returns the progress of work that begins now, told only if somebody watches.
    pub(crate) fn new(watched: bool) -> Self {
        Self { watched, begun: Instant::now(), shown: None }
    }

    /// Tells how far the work is; silent for the first second, then a few times per second.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if !self.watched {
            return;
        }
        let now = Instant::now();
        let early = now.duration_since(self.begun) < FIRST_DELAY;
        if early || self.shown.is_some_and(|shown| now.duration_since(shown) < SHOW_INTERVAL) {
            return;
        }
        self.shown = Some(now);
        // Progress that cannot be shown is no reason to stop.
        let _ = io::stderr().lock().write_all(format!("\r\x1b[K{}", line()).as_bytes());
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if self.shown.is_some() {
            let _ = io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }
}

/// Returns how much is done, in percent; what grows meanwhile never passes the end.
pub(crate) const fn percent(done: u64, total: u64) -> u64 {
    let done = if done < total { done } else { total };
    match done.saturating_mul(100).checked_div(total) {
        Some(percent) => percent,
        None => 100,
    }
}

const FIRST_DELAY: Duration = Duration::from_secs(1);
const SHOW_INTERVAL: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_never_passes_the_end() {
        assert_eq!((percent(1, 2), percent(9, 3), percent(0, 0)), (50, 100, 100));
    }

    #[test]
    fn nothing_is_told_in_the_first_second_or_where_nobody_watches() {
        for watched in [true, false] {
            let mut progress = Progress::new(watched);
            progress.tell(|| unreachable!("it is too early, or nobody watches"));
            assert!(progress.shown.is_none());
        }
    }
}
