//! `demur rules`: what rule packs say, and why a plan has the gaps it has (CLR-16). Reads only; every command that needs
//! rules loads them here.

mod check;
mod explain;
mod folder;
mod shelf;
mod tables;

use std::path::{Path, PathBuf};

use demur_rules::{Pack, PackError, Plan, Rules, builtin};

pub(crate) use shelf::Shelf;

use crate::{
    arguments::RulesCommand, context::Context, error::CommandError, input::Input, visible::visible_path,
};

/// Runs one of the `rules` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &RulesCommand) -> Result<(), CommandError> {
    match command {
        RulesCommand::Check(arguments) => check::run(context, arguments),
        RulesCommand::Explain(arguments) => explain::run(context, arguments),
    }
}

/// Returns the rules of the packs in these folders, the lowest first; below them the built-in pack, unless `only` them.
pub(crate) fn load(folders: &[PathBuf], only: bool) -> Result<Rules, CommandError> {
    if only && folders.is_empty() {
        let message =
            "expected a rule pack instead of the built-in one, found none: without rules no plan has gaps";
        return Err(CommandError::input("NO_RULES", message)
            .with_hint("name the folder of a pack, or leave --only out"));
    }
    let mut packs: Vec<Pack> = Vec::new();
    if !only {
        packs.push(builtin::pack().map_err(|error| CommandError::bug(&error))?);
    }
    for path in folders {
        packs.push(folder::read(path)?);
    }
    // A mistake that shows only between layers names its file; one without a place is of the topmost pack.
    let topmost = folders.last().map_or(Path::new(""), PathBuf::as_path);
    Rules::layer(&packs).map_err(|error| pack_error(topmost, &error))
}

/// Returns the plan in a file; `-` is standard input.
pub(crate) fn read_plan(path: &Path) -> Result<Plan, CommandError> {
    let input = Input::read(path, LONGEST)?;
    Plan::read(&input.bytes).map_err(|error| {
        let message = format!("{}: {error}", input.shown);
        CommandError::input("PLAN_MALFORMED", message)
            .with_hint("a plan is one JSON object; nothing was recorded")
    })
}

/// Returns the error of a pack as people and programs see it: the place, what was expected and found, and the cure.
fn pack_error(folder: &Path, error: &PackError) -> CommandError {
    let has_folder = error.file.contains('/') || folder.as_os_str().is_empty();
    let mut place = if has_folder { error.file.clone() } else { visible_path(&folder.join(&error.file)) };
    for number in [error.line, error.column].into_iter().flatten() {
        place = format!("{place}:{number}");
    }
    let message = format!("{place}: expected {}, found {}", error.expected, error.found);
    let hint = error
        .cure
        .as_deref()
        .unwrap_or("correct the file; docs/rules.md describes every table and condition");
    CommandError::input(MALFORMED, message).with_hint(hint)
}

/// The code of a rule pack that cannot be used.
const MALFORMED: &str = "RULES_MALFORMED";

/// How long a plan is at most, in bytes.
const LONGEST: usize = 256 << 10;
