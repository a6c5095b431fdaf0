//! `demur rules`: what rule packs say, and why a plan has the gaps it has (CLR-16). Reads only.

mod check;
mod explain;
mod keep;
mod tables;

use std::path::Path;

use demur_api::code::Code;
use demur_rules::Plan;

pub(crate) use demur_desk::rules::{RulesCache, load};

use crate::{arguments::RulesCommand, context::Context, failure::Failure, input::Input};

/// Runs one of the `rules` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &RulesCommand) -> Result<(), Failure> {
    match command {
        RulesCommand::Check(arguments) => check::run(context, arguments),
        RulesCommand::Use(arguments) => keep::run(context, arguments),
        RulesCommand::Explain(arguments) => explain::run(context, arguments),
    }
}

/// Returns the plan in a file; `-` is standard input.
pub(crate) fn read_plan(path: &Path) -> Result<Plan, Failure> {
    let input = Input::read(path, MAX_PLAN_BYTES)?;
    Plan::read(&input.bytes).map_err(|error| {
        let message = format!("{}: {error}", input.shown);
        Failure::of(Code::PlanMalformed, message)
            .with_hint("a plan is one JSON object; nothing was recorded; `demur check --help` has examples")
    })
}

/// How long a plan is at most, in bytes.
const MAX_PLAN_BYTES: usize = 256 << 10;
