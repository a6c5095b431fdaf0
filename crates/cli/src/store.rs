//! `demur store`: care for the files of a store. Nothing here changes an event.

mod backup;
mod check;
mod problem;
mod rebuild;
mod restore;

use demur_store::{
    contract::{Store, StoreError},
    sqlite::{Progress as Step, Step as Part},
};

use crate::{
    arguments::StoreCommand,
    context::Context,
    error::CommandError,
    exit::Exit,
    output::{Progress, percent},
};

/// Runs one of the `store` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &StoreCommand) -> Result<Exit, CommandError> {
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
    fn of(store: &impl Store) -> Result<Self, StoreError> {
        let heads = store.heads()?;
        let events = heads.iter().map(|(_, head)| head.sequence.next().number()).sum();
        Ok(Self { events, traces: heads.len() as u64 })
    }

    fn words(self) -> String {
        let Self { events, traces } = self;
        let traces = if traces == 1 { "1 trace".to_owned() } else { format!("{traces} traces") };
        format!("{traces} with {events} event{}", if events == 1 { "" } else { "s" })
    }
}

/// Tells how far the store is with a long job.
fn tell(progress: &mut Progress, step: Step) {
    let part = match step.step {
        Part::Structure => "looking at the structure of the database",
        Part::Events => "looking at events",
        Part::Copy => "copying the database",
        Part::Artifacts => "copying artifacts",
    };
    progress.tell(|| format!("{part}, {} %", percent(step.done, step.total)));
}
