//! `demur watch`: every event as it is recorded, one line each.

use demur_server::routes::feed::Notice;
use serde::Serialize;

use crate::{
    arguments::Watch,
    client::{Client, Follow},
    context::Context,
    error::CommandError,
    keys::clock,
    output::{Paint, Reply},
};

/// Prints events until whoever reads has left.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Watch) -> Result<(), CommandError> {
    let client = Client::open(context)?;
    let mut follow = Follow::new(&client, arguments.after);
    follow.connect()?;
    context.output.remark("Watching. Ctrl-C ends it.");
    while !context.output.is_deserted() {
        let notice = follow.next()?;
        context.output.reply(&Happened(notice))?;
    }
    Ok(())
}

#[derive(Serialize)]
#[serde(transparent)]
struct Happened(Notice);

impl Reply for Happened {
    fn lines(&self, _: Paint) -> Vec<String> {
        let Notice { trace, sequence, kind, time, questions, .. } = &self.0;
        let about: Vec<_> = questions.iter().map(ToString::to_string).collect();
        let about = if about.is_empty() { String::new() } else { format!("  about {}", about.join(", ")) };
        vec![format!("{}  {trace} {sequence}  {kind}{about}", clock(*time))]
    }
}
