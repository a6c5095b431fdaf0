//! What every agent needs: the key file, standard input and output, the clock and randomness.

use std::{
    error::Error,
    fs,
    io::{StdinLock, Stdout, stdin, stdout},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use demur_core::{random::Random, time::Timestamp};
use demur_run::{agent::Agent, key_file::KeyFile};

/// An agent on standard input and output.
pub(crate) type Connected = Agent<StdinLock<'static>, Stdout, System, fn() -> Timestamp>;

/// Returns the agent that signs with the key in this file, once the desk has greeted it.
pub(crate) fn connect(key_file: &str) -> Result<Connected, Box<dyn Error>> {
    let author = KeyFile::parse(&fs::read(key_file)?)?.into_author();
    // Ask once where it may still fail.
    getrandom::fill(&mut [0; 32])?;
    let clock: fn() -> Timestamp = now;
    Ok(Agent::connect(stdin().lock(), stdout(), author, System, clock)?)
}

/// Returns how the process ends, and says why if the agent could not go on.
pub(crate) fn exit_code(name: &str, played: Result<(), Box<dyn Error>>) -> ExitCode {
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The system's randomness: salts must come from nowhere else.
pub(crate) struct System;

impl Random for System {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the system's randomness answered before");
    }
}

/// Returns the system's time. A clock that is wrong reads as the earliest time; the agent then goes by the desk's.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or_default();
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MIN)
}
