//! `demur inbox`: what waits for an answer, and a prompt to answer at. A number once given to a question stays its number,
//! and nothing is ever printed into what is being typed.

mod editor;
mod face;
mod key;
mod line;
mod list;
mod news;
mod numbers;
mod plain;
mod screen;
mod session;
mod words;

use std::io::{self, IsTerminal as _};

use face::Face;
use news::Bell;
use numbers::Numbers;
use plain::Plain;
use screen::Screen;
use session::Session;

use crate::{
    arguments::Inbox,
    client::Client,
    context::{Context, NO_DATA},
    error::CommandError,
    lookup::QuestionNumbers,
    output::wants_escapes,
};

/// Shows what waits, and takes answers where somebody sits at a terminal.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Inbox) -> Result<(), CommandError> {
    let somebody = io::stdin().is_terminal() && io::stdout().is_terminal();
    if arguments.list || !somebody || context.output.is_json() {
        return match Client::of_existing(context) {
            Err(error) if error.code() == NO_DATA => list::nothing(context, &error),
            client => list::run(context, &client?, arguments.all),
        };
    }
    // Somebody may sit here before the first question is asked.
    let client = Client::open(context)?;
    let numbers = Numbers::new(QuestionNumbers::of(&context.data()?));
    let trouble = |error: io::Error| CommandError::internal("TERMINAL_TROUBLE", error);
    let (ringer, bell) = Bell::new().map_err(trouble)?;
    let news = news::follow(client.another()?, ringer.another().map_err(trouble)?);
    let face = if wants_escapes() {
        Face::Screen(Screen::open(context.output, bell, &ringer)?)
    } else {
        Face::Plain(Plain { output: context.output, _bell: bell })
    };
    Session::new(client, face, news, numbers).run()
}
