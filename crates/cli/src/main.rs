//! The `demur` command. It decides almost nothing: it reads what was typed, lets the ledger decide, and says
//! what came of it. For Unix systems: secrets rest on file modes, ownership on file locks.
//!
//! | part | module |
//! |---|---|
//! | command line and help | `arguments` |
//! | exit codes, failures, output | `exit`, `failure`, `hints`, `output` |
//! | times in the reader's zone | `clock` |
//! | files to read as a whole | `input` |
//! | ids that somebody typed, mistakes on the command line | `lookup`, `usage` |
//! | a data folder that a command reads, through its server or from its files | `reader` |
//! | commands | `keys`, `run`, `verify`, `trace`, `export`, `checkpoint`, `store`, `rules`, `plan`, `identity`, `demo`, `completions` |
//! | questions and their server | `ask`, `wait`, `inbox`, `question`, `confirm`, `watch`, `mcp`, `serve`, `log`, `token`, `people`, `open`, `doctor`, `client` |
//! | programs in which agents run | `setup`, `hook` |

mod arguments;
mod ask;
mod checkpoint;
mod client;
mod clock;
mod completions;
mod confirm;
mod context;
mod demo;
mod doctor;
mod erase;
mod exit;
mod export;
mod failure;
mod hints;
mod holder_name;
mod hook;
mod identity;
mod inbox;
mod input;
mod keys;
mod log;
mod lookup;
mod mcp;
mod open;
mod output;
mod passkey;
mod people;
mod plan;
mod question;
mod reader;
mod rules;
mod run;
mod sandbox;
mod serve;
mod setup;
mod store;
mod token;
mod trace;
mod usage;
mod user;
mod verify;
mod wait;
mod watch;

use std::{ffi::OsString, panic, process::ExitCode};

use clap::{CommandFactory as _, Parser as _, error::ErrorKind};

use crate::{
    arguments::{Arguments, Command, suggest},
    context::Context,
    exit::Exit,
    failure::Failure,
    output::Output,
};

/// A call over MCP takes a sixth less of the processor than with the allocator of the system (note 001).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A bug must not look like a failed verification or bad input, whatever the runtime's exit code is.
    panic::catch_unwind(run).unwrap_or(Exit::Internal).into()
}

fn run() -> Exit {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(exit) = sandbox::stage(&words) {
        return exit;
    }
    let mut output = Output::of_process(arguments::asks_for_json(&words));
    let ended = match Arguments::try_parse_from(&words) {
        Ok(arguments) => perform(&arguments, &mut output).map_err(|error| {
            let hint = arguments.folder_of_hints().zip(error.hint());
            match hint.map(|(folder, hint)| hints::in_folder(hint, folder)) {
                Some(hint) => error.with_hint(hint),
                None => error,
            }
        }),
        Err(stop) => explain(&suggest(stop, &words, &Arguments::command()), &words, &mut output),
    };
    ended.unwrap_or_else(|error| {
        output.error(&error);
        error.exit()
    })
}

fn perform(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut context = Context { data: arguments.data.as_deref(), output };
    match &arguments.command {
        Command::Ask(arguments) => return ask::run(&mut context, arguments),
        Command::Wait(arguments) => return wait::run(&mut context, arguments),
        Command::Inbox(arguments) => inbox::run(&mut context, arguments)?,
        Command::Show(arguments) => question::show(&mut context, arguments)?,
        Command::Answer(arguments) => return question::answer(&mut context, arguments),
        Command::Decline(arguments) => return question::decline(&mut context, arguments),
        Command::Extend(arguments) => return question::extend(&mut context, arguments),
        Command::Pass(arguments) => return question::pass(&mut context, arguments),
        Command::Cancel(arguments) => return question::cancel(&mut context, arguments),
        Command::Confirm(command) => return confirm::run(&mut context, command),
        Command::Watch(arguments) => watch::run(&mut context, arguments)?,
        Command::Mcp(arguments) => mcp::run(&context, arguments)?,
        Command::Serve(arguments) => serve::run(&mut context, arguments)?,
        Command::Status => serve::status(&mut context)?,
        Command::Open(arguments) => open::run(&mut context, arguments)?,
        Command::Stop(arguments) => serve::stop(&mut context, arguments)?,
        Command::Doctor(arguments) => return doctor::run(&mut context, arguments),
        Command::Setup(arguments) => setup::run(&mut context, arguments)?,
        Command::Hook(command) => return hook::run(&mut context, command),
        Command::Token(command) => token::run(&mut context, command)?,
        Command::People(command) => people::run(&mut context, command)?,
        Command::Passkey(command) => passkey::run(&mut context, command)?,
        Command::Keys(command) => keys::run(&mut context, command)?,
        Command::Verify(arguments) => return verify::run(&mut context, arguments),
        Command::Trace(command) => return trace::run(&mut context, command),
        Command::Export(arguments) => export::run(&mut context, arguments)?,
        Command::Erase(arguments) => erase::run(&mut context, arguments)?,
        Command::Checkpoint => checkpoint::run(&mut context)?,
        Command::Check(arguments) => return plan::check(&mut context, arguments),
        Command::Plan(command) => return plan::run(&mut context, command),
        Command::Audit(arguments) => return plan::audit(&mut context, arguments),
        Command::HandOff(arguments) => return plan::hand_off(&mut context, arguments),
        Command::Run(arguments) => return run::run(&mut context, arguments),
        Command::Store(command) => return store::run(&mut context, command),
        Command::Demo(arguments) => demo::run(&mut context, arguments)?,
        Command::Rules(command) => rules::run(&mut context, command)?,
        Command::Identity(command) => return identity::run(&mut context, command),
        Command::Completions(arguments) => completions::run(&mut context, arguments.shell)?,
    }
    Ok(Exit::Success)
}

/// Shows what the command line stopped at: help that was asked for, or a mistake.
fn explain(stop: &clap::Error, words: &[OsString], output: &mut Output) -> Result<Exit, Failure> {
    let text = stop.render();
    if !stop.use_stderr() {
        let text = if output.paint().is_on() { text.ansi().to_string() } else { text.to_string() };
        return output.write(text.as_bytes()).map(|()| Exit::Success);
    }
    // Nothing was typed after a command that has others: a person is shown them.
    if stop.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !output.is_json() {
        output.error_text(&text.to_string(), &text.ansi().to_string());
        return Ok(Exit::BadInput);
    }
    Err(usage::error(stop, words))
}
