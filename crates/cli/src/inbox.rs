//! `demur inbox`: what waits for an answer, and a prompt to answer at. A number once given to a question stays its number,
//! and nothing is ever printed into what is being typed.

mod editor;
mod face;
mod key;
mod line;
mod list;
mod news;
mod numbers;
mod operations;
mod plain;
mod screen;
mod session;
mod words;

use std::io::{self, IsTerminal as _};

use face::Face;
use news::Bell;
use numbers::Numbers;
use plain::Plain;
use rustix::fs::FileType;
use screen::Screen;
use session::Session;
use zeroize::Zeroizing;

use crate::{
    arguments::Inbox,
    client::Client,
    context::{Context, NO_DATA},
    failure::Failure,
    lookup::QuestionNumbers,
    output::wants_escapes,
};

/// Shows what waits, and takes answers where somebody sits at a terminal.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Inbox) -> Result<(), Failure> {
    let somebody = io::stdin().is_terminal() && io::stdout().is_terminal();
    if arguments.list || !somebody || context.output.is_json() {
        let listed = match Client::of_existing(context) {
            Err(error) if error.code() == NO_DATA => list::nothing(context, &error),
            client => list::run(context, &client?, arguments.all),
        };
        if listed.is_ok() && !arguments.list && is_fed() {
            context.output.notice(UNREAD);
        }
        return listed;
    }
    // Somebody may sit here before the first question is asked.
    let client = Client::open(context)?;
    let numbers = Numbers::new(QuestionNumbers::of(&context.data()?));
    let (ringer, bell) = Bell::new().map_err(trouble)?;
    let news = news::follow(client.another()?, ringer.another().map_err(trouble)?);
    let face = if wants_escapes() {
        Face::Screen(Screen::open(context.output, bell, &ringer)?)
    } else {
        Face::Plain(Plain { output: context.output, _bell: bell })
    };
    Session::new(client, face, news, numbers).run()
}

/// Asks at the terminal for a secret that nobody sees; none if whoever types thinks better of it.
pub(crate) fn secret(context: &mut Context<'_>) -> Result<Option<Zeroizing<String>>, Failure> {
    context.output.notice("What you type now is not shown. Enter alone leaves the question open.");
    let (ringer, bell) = Bell::new().map_err(trouble)?;
    let face = if context.output.is_live() && wants_escapes() {
        Face::Screen(Screen::open(context.output, bell, &ringer)?)
    } else {
        Face::Plain(Plain { output: context.output, _bell: bell })
    };
    { face }.secret(SECRET)
}

fn trouble(error: io::Error) -> Failure {
    Failure::internal("TERMINAL_TROUBLE", error)
}

/// Returns whether standard input is a pipe or a file, out of which somebody may expect answers to be read.
fn is_fed() -> bool {
    let kind = rustix::fs::fstat(rustix::stdio::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(kind, Ok(FileType::Fifo | FileType::RegularFile))
}

const UNREAD: &str = "Standard input was not read: answers are typed at a terminal, or given with \
                      `demur answer QUESTION ANSWER`.";
/// What stands before a secret that is typed.
const SECRET: &str = "secret> ";
