//! `--no-guess`: reads a file that holds once more and shows that nothing in its plan was guessed (CLR-52). The rules
//! that travel in the file are asked again.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
};

use demur_core::{hash::Digest, limit::Limits, visible::visible};
use demur_desk::verification::Guesses;
use demur_ledger::{envelope::Event, event_type::Content, export::Line, name::TraceId, verify::Report};
use demur_plan::no_guess::NoGuess;

use crate::{
    failure::Failure,
    output::{Paint, counted, counted_as},
};

/// Returns what the file at this path shows, given the report over it.
pub(crate) fn guesses(path: &Path, report: &Report, rules: Option<Digest>) -> Result<Guesses, Failure> {
    Guesses::of(report, rules, || events(path, report.scope.trace))
}

/// Returns it as people read it.
pub(crate) fn lines(guesses: &Guesses, paint: Paint) -> Vec<String> {
    let checked = match guesses {
        Guesses::NotEstablished(unsaid) => {
            return vec![format!("{} {}", paint.bad("Not established:"), visible(&unsaid.reason))];
        }
        Guesses::Checked(checked) => checked,
    };
    let shows = &checked.shows;
    let mut lines = vec![headline(shows, paint)];
    let packs: Vec<_> = shows.packs.iter().map(|pack| visible(pack).into_owned()).collect();
    let hash = shows.rules.map_or_else(|| "none".to_owned(), |hash| hash.to_string());
    let known = if checked.known { "the rules you named" } else { "compare the hash with rules you know" };
    lines.push(format!("  rules {} (SHA-256 {hash}): {known}", packs.join(", ")));
    for gap in &shows.gaps {
        let event = gap.event.map_or_else(String::new, |event| format!(" in #{event}"));
        let by = gap.by.map_or_else(String::new, |by| format!(" by {by}"));
        lines.push(format!("  {} {}: {}{event}{by}", gap.id, visible(&gap.field), gap.outcome));
    }
    for value in &shows.values {
        lines.push(format!("  value {} from #{}: {}", visible(&value.field), value.source, value.origin));
    }
    for problem in &shows.problems {
        let message = visible(&problem.message);
        lines.push(format!("  {} #{}: {message}", paint.bad(problem.code), problem.event));
    }
    lines
}

fn headline(checked: &NoGuess, paint: Paint) -> String {
    if checked.holds() {
        let gaps = counted_as(checked.gaps.len() as u64, "gap was", "gaps were");
        let told =
            format!("{gaps} asked as the rules in the file find them, and settled; the plan has no other");
        format!("{} {told}", paint.good("No guess:"))
    } else if checked.confirmed {
        let problems = counted(checked.problems.len(), "problem");
        format!("{} {problems}", paint.bad("Guessed, or not as the rules say:"))
    } else {
        format!("{} the plan is not confirmed", paint.bad("Not established:"))
    }
}

/// Returns the events of a trace in a file that was found to hold, each with its content.
fn events(path: &Path, trace: TraceId) -> Result<Vec<(Event, Option<Content>)>, Failure> {
    let unreadable = |error| Failure::unreadable(path, &error);
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut events = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(Limits::LINE.bytes as u64 + 1).read_until(b'\n', &mut line);
        read.map_err(unreadable)?;
        let Some(whole) = line.strip_suffix(b"\n") else { return Ok(events) };
        let Ok(Line::Event(found)) = Line::parse(whole) else { continue };
        let (Ok(event), Ok(bytes)) = (found.event(), found.content()) else { continue };
        if event.envelope().trace != trace {
            continue;
        }
        if events.len() == MAX_EVENTS {
            let message =
                format!("expected the trace of a plan with at most {MAX_EVENTS} events, found more");
            return Err(Failure::input("TRACE_TOO_LONG", message));
        }
        let kind = event.said().ok().and_then(|said| said.facts.event_type());
        let content = kind.zip(bytes).and_then(|(kind, bytes)| Content::parse(kind, bytes).ok());
        events.push((event, content));
    }
}

/// More than the trace of a plan can need: it has at most 4,096 questions.
const MAX_EVENTS: usize = 65_536;
