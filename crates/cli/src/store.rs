//! `demur store`: care for the files of a store. Nothing here changes an event.

mod backup;
mod check;
mod exclusive;
mod lost;
mod rebuild;
mod restore;

use demur_api::store::StoreSize;
use demur_store::contract::{StoreProgress, StoreStep};

use crate::{
    arguments::StoreCommand,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Progress, counted, percent},
};

/// Runs one of the `store` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &StoreCommand) -> Result<Exit, Failure> {
    match command {
        StoreCommand::Check => return check::run(context),
        StoreCommand::Backup(arguments) => return backup::run(context, arguments),
        StoreCommand::Rebuild => rebuild::run(context)?,
        StoreCommand::Restore(arguments) => restore::run(context, arguments)?,
    }
    Ok(Exit::Success)
}

/// Returns how much a store has, in words.
fn words(StoreSize { events, traces }: StoreSize) -> String {
    format!("{} with {}", counted(traces, "trace"), counted(events, "event"))
}

/// Tells how far the store is with a long job.
fn tell(progress: &mut Progress, step: StoreProgress) {
    let part = match step.step {
        StoreStep::Structure => "looking at the structure of the database",
        StoreStep::Events => "looking at events",
        StoreStep::Copy => "copying the database",
        StoreStep::Artifacts => "copying artifacts",
    };
    progress.tell(|| format!("{part}, {} %", percent(step.done, step.total)));
}
