//! The data folder for a command that has to own it: taken where it is free, borrowed from the server where one runs. The
//! server takes it back when the command is done; whoever waits for an answer goes on waiting meanwhile.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    client::{Call, Client},
    data::DataFolder,
    error::CommandError,
    owner::Owner,
};

/// Takes a data folder that has a registry.
pub(crate) fn open(data: &DataFolder) -> Result<Owner, CommandError> {
    borrowed(data, || Owner::open(data))
}

/// Takes a data folder, and returns whether its registry had to be created.
pub(crate) fn open_or_create(data: &DataFolder) -> Result<(Owner, bool), CommandError> {
    borrowed(data, || Owner::open_or_create(data))
}

/// Does something that needs the lock of a folder, with the lock borrowed from the server if it has it.
pub(crate) fn borrowed<T>(
    data: &DataFolder,
    mut take: impl FnMut() -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let in_use = match take() {
        Err(error) if error.code() == "FOLDER_IN_USE" => error,
        taken => return taken,
    };
    // Without a server it is another command that has the folder.
    if Client::to_running(data.clone())?.send(&Call::post("/v1/server/lend", &())?.once()).is_err() {
        return Err(in_use);
    }
    let until = Instant::now() + PATIENCE;
    loop {
        match take() {
            Err(error) if error.code() == "FOLDER_IN_USE" && Instant::now() < until => thread::sleep(MOMENT),
            taken => return taken,
        }
    }
}

/// How long a folder that was just lent may be taken by somebody else who was faster.
const PATIENCE: Duration = Duration::from_secs(5);
const MOMENT: Duration = Duration::from_millis(5);
