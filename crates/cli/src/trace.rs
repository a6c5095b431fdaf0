//! `demur trace`: what happened in the traces of a store, or in an export from anywhere.

mod list;
mod show;
mod spool;
mod words;

pub(crate) use show::{in_store, verifying};
pub(crate) use words::short;

use crate::{arguments::TraceCommand, context::Context, exit::Exit, export, failure::Failure};

/// Runs one of the `trace` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &TraceCommand) -> Result<Exit, Failure> {
    match command {
        TraceCommand::List(arguments) => list::run(context, arguments).map(|()| Exit::Success),
        TraceCommand::Show(arguments) => show::run(context, arguments),
        TraceCommand::Export(arguments) => export::run(context, arguments).map(|()| Exit::Success),
    }
}
