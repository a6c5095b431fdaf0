//! The log of a server, on standard error. A line is written by a thread of its own: a disk that is full loses lines, and a
//! reader that is gone or does not read holds nobody up.

use std::{
    io::{self, Write},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

/// Begins the log. What is returned is kept for as long as the server runs.
pub(crate) fn begin() -> LogEnd {
    let (lines, written) = sync_channel(MAX_WAITING_LINES);
    thread::spawn(move || write_lines(&written, &mut io::stderr()));
    let writer = LogWriter(lines.clone());
    let log = fmt().json().flatten_event(true).with_target(false).with_writer(move || writer.clone());
    let level = level();
    // It would say on standard error that standard error cannot be written, and panic over it.
    log.log_internal_errors(false).with_max_level(level).finish().with(heard(level)).init();
    LogEnd(lines)
}

/// What is to be written.
enum Line {
    Text(Vec<u8>),
    /// Tells whoever waits that all lines before are written.
    Mark(SyncSender<()>),
}

/// Takes lines for as long as there is room for them; the others are lost.
#[derive(Clone)]
struct LogWriter(SyncSender<Line>);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // One event is one call. A line too many is lost, and nobody waits for it.
        let _ = self.0.try_send(Line::Text(bytes.to_vec()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lets the last lines be written when the server ends.
pub(crate) struct LogEnd(SyncSender<Line>);

impl Drop for LogEnd {
    fn drop(&mut self) {
        let (mark, marked) = sync_channel(1);
        if self.0.try_send(Line::Mark(mark)).is_ok() {
            // A reader that does not read is not waited for any longer.
            let _ = marked.recv_timeout(LAST_LINES_TIMEOUT);
        }
    }
}

fn write_lines(lines: &Receiver<Line>, to: &mut dyn Write) {
    for line in lines {
        match line {
            // What cannot be written is lost: there is nowhere else to say so.
            Line::Text(text) => drop(to.write_all(&text)),
            Line::Mark(mark) => {
                // The server may have stopped waiting.
                let _ = mark.send(());
            }
        }
    }
}

fn level() -> LevelFilter {
    std::env::var("DEMUR_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or(LEVEL)
}

/// Returns who is heard in the log. The library that speaks MCP logs whole messages, with questions and answers in them,
/// and an error for every client that hangs up: what a client does wrong it is told itself, and no log is filled with it.
fn heard(level: LevelFilter) -> Targets {
    Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF)
}

const LEVEL: LevelFilter = LevelFilter::INFO;
/// How many lines are kept for a reader that is slow.
const MAX_WAITING_LINES: usize = 1024;
/// How long the last lines may take.
const LAST_LINES_TIMEOUT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::sync::mpsc::TrySendError;

    use super::*;

    #[test]
    fn a_log_that_nobody_reads_takes_so_many_lines_and_holds_nobody_up() {
        let (lines, _unread) = sync_channel(2);
        let mut writer = LogWriter(lines.clone());
        for _ in 0..100 {
            assert_eq!(writer.write(b"line\n").unwrap(), 5);
        }
        assert!(matches!(lines.try_send(Line::Text(Vec::new())), Err(TrySendError::Full(_))));
    }

    #[test]
    fn a_line_that_cannot_be_written_does_not_keep_the_next_one() {
        struct FullOnce(bool, Vec<u8>);
        impl Write for FullOnce {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if std::mem::take(&mut self.0) {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.1.write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (lines, written) = sync_channel(2);
        let mut writer = LogWriter(lines);
        writer.write_all(b"first\n").unwrap();
        writer.write_all(b"second\n").unwrap();
        drop(writer);
        let mut disk = FullOnce(true, Vec::new());
        write_lines(&written, &mut disk);
        assert_eq!(disk.1, b"second\n");
    }
}
