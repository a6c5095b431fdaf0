//! `demur erase`: the words of one event are gone for good, and the record says so.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use demur_api::{
    call::ApiRequest,
    operation::{EraseEvent as Operation, OfEvent},
    trace::{EraseEvent, ErasedEvent},
};

use crate::{
    arguments::Erase,
    client::Client,
    context::Context,
    failure::Failure,
    lookup,
    output::{Paint, Reply},
    reader::Reader,
};

/// Erases, once whoever typed it has said yes.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Erase) -> Result<(), Failure> {
    let data = context.data()?;
    let reader = Reader::open(data)?;
    let (trace, sequence) = lookup::event(&reader, &arguments.event)?;
    if !arguments.yes {
        let kind = reader.kind(trace, sequence)?.map_or_else(String::new, |kind| format!(" ({kind})"));
        confirm(context, &format!("{trace}.{sequence}{kind}"))?;
    }
    let body = EraseEvent { why: arguments.why.clone() };
    let request = ApiRequest::<Operation>::send(OfEvent { trace, sequence }, body);
    let erased = Client::of_store(context)?.call(request)?;
    context.output.reply(&erased)
}

/// Says what is about to happen, and asks.
fn confirm(context: &mut Context<'_>, event: &str) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !context.output.is_live() {
        let message = "nothing was erased: nobody is here to be asked";
        return Err(Failure::input("CONFIRMATION_NEEDED", message).with_hint("--yes erases without asking"));
    }
    context.output.tell(&format!(
        "The words of event {event}, its artifact and every paper that quotes it will be gone for good.\n\
         Backups and exports that were made before keep them."
    ))?;
    let mut line = String::new();
    let asked = io::stdout().write_all(b"Erase them? [y/N] ").and_then(|()| io::stdout().flush());
    let read = asked.and_then(|()| io::stdin().lock().read_line(&mut line));
    read.map_err(|error| Failure::internal("TERMINAL_TROUBLE", error))?;
    if ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(Failure::refused("NOT_CONFIRMED", "nothing was erased: you did not say yes"))
}

impl Reply for ErasedEvent {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let Self { trace, event, kind, papers, recorded } = self;
        let Some(recorded) = recorded else {
            return vec![format!("The words of {trace}.{event} ({kind}) had been erased before.")];
        };
        let mut lines = vec![format!("{} {trace}.{event} ({kind}).", paint.good("Erased the words of"))];
        if !papers.is_empty() {
            let papers: Vec<_> = papers.iter().map(|paper| format!("#{paper}")).collect();
            lines.push(format!("  with them    the papers that quoted them: {}", papers.join(", ")));
        }
        lines.push(format!("  recorded     as event {recorded}, with your reason"));
        lines.push(
            "Backups and exports that were made before keep them: docs/erasure.md says what to do."
                .to_owned(),
        );
        lines
    }
}
