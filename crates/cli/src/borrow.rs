//! The data folder for a command that has to own it: taken where it is free, borrowed from the server where one runs. The
//! server takes it back when the command is done; whoever waits for an answer goes on waiting meanwhile.

use std::{
    thread,
    time::{Duration, Instant},
};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{LendFolder, NoArguments, Nothing},
};

use crate::{
    client::{Call, Client},
    data::DataFolder,
    failure::Failure,
    owner::Owner,
};

/// Takes a data folder that has a registry.
pub(crate) fn open(data: &DataFolder) -> Result<Owner, Failure> {
    borrowed(data, || Ok(Owner::open(data)?))
}

/// Takes a data folder, and returns whether its registry had to be created.
pub(crate) fn open_or_create(data: &DataFolder) -> Result<(Owner, bool), Failure> {
    borrowed(data, || Ok(Owner::open_or_create(data)?))
}

/// Does something that needs the lock of a folder, with the lock borrowed from the server if it has it.
pub(crate) fn borrowed<T>(
    data: &DataFolder,
    mut take: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let client = Client::to_running(data.clone())?;
    let (begin, mut asked) = (Instant::now(), false);
    loop {
        let in_use = match take() {
            Err(error) if error.is(Code::FolderInUse) => error,
            taken => return taken,
        };
        // A server that is asked lets the folder go; somebody else may take it first, then it is asked again.
        let request = ApiRequest::<LendFolder>::get(NoArguments {}, Nothing {});
        match client.ask_so(&request, Call::once) {
            Ok(Nothing {}) => asked = true,
            Err(error) if matches!(&error, Failure::Refused(refusal) if is_gone(refusal.code)) => {}
            Err(error) => return Err(error),
        }
        // Without a server it is another command that has the folder, or a server that is about to end.
        if begin.elapsed() > if asked { PATIENCE } else { ENDING } {
            return Err(in_use);
        }
        thread::sleep(MOMENT);
    }
}

/// Returns whether no server has the folder, as far as one can tell.
const fn is_gone(code: Code) -> bool {
    matches!(code, Code::NoServer | Code::Stopping | Code::ConnectionLost)
}

/// How long a folder that was just lent may be taken by somebody else who was faster.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a server may take to end.
const ENDING: Duration = Duration::from_millis(500);
const MOMENT: Duration = Duration::from_millis(5);
