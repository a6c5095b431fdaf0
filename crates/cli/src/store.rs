//! `demur store`: care for the files of a store. Nothing here changes an event.

mod backup;
mod check;
mod problem;
mod rebuild;
mod restore;

use demur_store::contract::{Store, StoreError, StoreProgress, StoreStep};

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
        StoreCommand::Rebuild => rebuild::run(context)?,
        StoreCommand::Backup(arguments) => backup::run(context, arguments)?,
        StoreCommand::Restore(arguments) => restore::run(context, arguments)?,
    }
    Ok(Exit::Success)
}

/// How many traces and events there are, the registry included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
struct Size {
    events: u64,
    traces: u64,
}

impl Size {
    fn of(store: &dyn Store) -> Result<Self, StoreError> {
        let heads = store.heads()?;
        let events = heads.iter().map(|(_, head)| head.sequence.next().number()).sum();
        Ok(Self { events, traces: heads.len() as u64 })
    }

    fn words(self) -> String {
        let Self { events, traces } = self;
        format!("{} with {}", counted(traces, "trace"), counted(events, "event"))
    }
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
