//! The data folder for a command that mends it, and needs it for itself: a server that a command has started ends for it, and
//! the next command starts another. A server that somebody runs on purpose is left alone.

use std::{
    thread,
    time::{Duration, Instant},
};

use demur_api::code::Code;
use demur_desk::data::DataFolder;

use crate::{
    client::{Client, FolderUser},
    failure::Failure,
};

/// Does something that needs the lock of a folder.
pub(super) fn exclusive<T>(
    data: &DataFolder,
    mut take: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let until = Instant::now() + TIMEOUT;
    loop {
        let in_use = match take() {
            Err(error) if error.is(Code::FolderInUse) => error,
            taken => return taken,
        };
        match FolderUser::find(data.path()) {
            Some(user) if user.serves && !user.detached => return Err(in_use),
            Some(user) if user.serves => {
                // Somebody who waits for an answer may start the next one at once: then that one is ended, too.
                let _ = Client::to_running(data.clone())?.stop(TIMEOUT, false);
            }
            _ => {}
        }
        if Instant::now() > until {
            return Err(in_use);
        }
        thread::sleep(RETRY_INTERVAL);
    }
}

/// How long the folder is tried for.
const TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_INTERVAL: Duration = Duration::from_millis(5);
