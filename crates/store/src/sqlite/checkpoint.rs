//! The thread that moves the write-ahead log into the database, off the path of appends.
//!
//! Most of a checkpoint runs beside the writer. Under steady load the log would still never come to an end at
//! which it can begin anew, so the last few pages are moved while the writer waits. The file keeps its size:
//! overwriting blocks that are there syncs faster than growing (`docs/benchmarks.md` has the figures).

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use rusqlite::{Connection, ErrorCode, MAIN_DB, Result as SqlResult, wal::CheckpointMode};

use super::{connection, trouble};
use crate::contract::StoreError;

/// The checkpointer of an open store. Dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Checkpointer {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

/// What the writer rings after a commit.
#[derive(Debug)]
struct Bell {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Pages in the log after the last commit.
    pages: i32,
    /// From how many pages on a checkpoint is due.
    due: i32,
    stopped: bool,
}

impl Checkpointer {
    /// Starts the thread for this database and has its writer ring.
    pub(super) fn start(path: &Path, writer: &Arc<Mutex<Connection>>) -> SqlResult<Self> {
        let bell = Arc::new(Bell {
            state: Mutex::new(State { pages: 0, due: LOG_PAGES, stopped: false }),
            changed: Condvar::new(),
        });
        let rung = Arc::clone(&bell);
        let hook = move |_: &mut rusqlite::hooks::Wal, pages| {
            rung.ring(pages);
            Ok(())
        };
        writer.lock().unwrap_or_else(PoisonError::into_inner).wal_hook(Some(hook))?;
        let connection = connection::writer(path)?;
        let (heard, writer) = (Arc::clone(&bell), Arc::clone(writer));
        let thread = thread::spawn(move || heard.serve(&connection, &writer));
        Ok(Self { bell, thread: Some(thread) })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.bell.lock().stopped = true;
        self.bell.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to say: the log is whole without it.
            let _ = thread.join();
        }
    }
}

impl Bell {
    fn ring(&self, pages: i32) {
        let mut state = self.lock();
        state.pages = pages;
        if pages >= state.due {
            self.changed.notify_all();
        }
    }

    fn serve(&self, connection: &Connection, writer: &Mutex<Connection>) {
        while self.wait() {
            let left = checkpoint(connection, writer);
            let mut state = self.lock();
            // What a reader or a full disk holds back is tried again when the log has grown further.
            state.due = left.unwrap_or(state.pages).saturating_add(LOG_PAGES);
            // The count is of the log as it was; the next commit tells anew.
            state.pages = 0;
        }
    }

    /// Waits until a checkpoint is due; returns false when there will be none any more.
    fn wait(&self) -> bool {
        let state = self.lock();
        let idle = |state: &mut State| !state.stopped && state.pages < state.due;
        let state = self.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
        !state.stopped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Three numbers are whole whatever happened to their last user.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Moves the log into the database; returns how many pages of it must stay.
fn checkpoint(connection: &Connection, writer: &Mutex<Connection>) -> SqlResult<i32> {
    connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE)?;
    // Even when all of it was moved: a transaction that began before has written behind the end, or will. Only one
    // that begins after a whole checkpoint starts the log anew.
    let waiting = writer.lock().unwrap_or_else(PoisonError::into_inner);
    let (pages, moved) = connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE)?;
    drop(waiting);
    Ok(if moved >= pages { 0 } else { pages })
}

/// Moves all of the log into the database and leaves it empty: it holds pages as they were before something was erased.
/// Readers are waited for.
pub(super) fn empty_log(writer: &Connection) -> Result<(), StoreError> {
    let emptying = || trouble::of("empty the log of the database");
    for _ in 1..LOG_ATTEMPTS {
        match writer.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::TRUNCATE) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            emptied => return emptied.map(|_| ()).map_err(emptying()),
        }
    }
    let emptied = writer.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::TRUNCATE);
    emptied.map(|_| ()).map_err(emptying())
}

/// How often readers are waited for, each time as long as a connection waits for others.
const LOG_ATTEMPTS: usize = 2;

/// When the log is worth moving: 8 MiB. Until then its file grows, and growing syncs slowly.
const LOG_PAGES: i32 = 2048;
