//! `demur keys`: who may speak. Every change is a signed event of the registry (`docs/format.md` 7).

mod list;
mod new;
mod revoke;
mod rotate;
mod select;
mod show;

pub(crate) use demur_api::key::{KeyEntry, Moment, reason_word};
pub(crate) use list::listed;
pub(crate) use select::select;

pub(crate) use crate::clock::clock;

use demur_api::key::Spent;
use demur_core::visible::visible;

use crate::{arguments::KeysCommand, context::Context, failure::Failure};

/// Runs one of the `keys` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &KeysCommand) -> Result<(), Failure> {
    match command {
        KeysCommand::New(arguments) => new::run(context, arguments),
        KeysCommand::List => list::run(context),
        KeysCommand::Show(arguments) => show::run(context, arguments),
        KeysCommand::Rotate(arguments) => rotate::run(context, arguments),
        KeysCommand::Revoke(arguments) => revoke::run(context, arguments),
    }
}

/// Returns a line for each key that was retired because its time had come.
fn retired_lines(retired: &[Spent]) -> impl Iterator<Item = String> {
    retired.iter().map(|spent| {
        let (name, key) = (visible(&spent.name), spent.fingerprint.short());
        format!("Also retired the earlier key {key} of {name}. {}", spent.secret.sentence())
    })
}
