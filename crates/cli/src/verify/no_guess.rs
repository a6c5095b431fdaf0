//! `--no-guess`: reads a file that holds once more and shows that nothing in its plan was guessed (CLR-52). The rules
//! that travel in the file are asked again.

use std::io::{BufRead as _, Read as _};

use demur_api::code::Code;
use demur_core::{hash::Digest, limit::Limits, quote::quoted, visible::visible};
use demur_desk::verification::{Guesses, PlanEvents};
use demur_ledger::{
    event_type::Content,
    export::Line,
    verify::{Report, VerifyError},
};
use demur_plan::no_guess::NoGuess;

use super::{source::Source, unreadable};
use crate::{
    failure::Failure,
    output::{Paint, counted, counted_as},
};

/// Returns what a source shows, given the report over it.
pub(super) fn guesses(
    source: &mut Source,
    report: &Report,
    rules: Option<Digest>,
) -> Result<Guesses, Failure> {
    Guesses::of(report, rules, || events(source, report))
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
    let hash = shows.rules.map_or_else(|| "none".to_owned(), |hash| hash.to_string());
    let known = if checked.known { "the rules you named" } else { "compare the hash with rules you know" };
    lines.push(format!("  rules SHA-256 {hash}: {known}"));
    lines.extend(shows.packs.iter().map(|pack| format!("  pack {}", quoted(pack))));
    for change in &shows.changed {
        lines.push(format!("  {} {}", paint.bad("changed:"), visible(change)));
    }
    for gap in &shows.gaps {
        let event = gap.event.map_or_else(String::new, |event| format!(" in #{event}"));
        let by = gap.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        lines.push(format!("  {} {}: {}{event}{by}", gap.id, quoted(&gap.field), gap.outcome));
    }
    for value in &shows.values {
        lines.push(format!("  value {} from #{}: {}", quoted(&value.field), value.source, value.origin));
    }
    for problem in &shows.problems {
        let message = visible(&problem.message);
        lines.push(format!("  {} #{}: {message}", paint.bad(problem.code), problem.event));
    }
    for (word, list) in [("warning", &shows.warnings), ("remark", &shows.remarks)] {
        for problem in list {
            let message = visible(&problem.message);
            lines.push(format!("  {word} {} #{}: {message}", problem.code, problem.event));
        }
    }
    lines
}

fn headline(checked: &NoGuess, paint: Paint) -> String {
    if checked.holds() {
        let counts = checked.counts.words();
        let gaps = counted_as(checked.gaps.len() as u64, "gap was", "gaps were");
        let asked = format!("{gaps} asked as the rules in the file find them, and settled");
        format!("{} {counts}; {asked}, and they demand nothing more", paint.good("No guess by these rules:"))
    } else if checked.confirmed {
        let problems = counted(checked.problems.len(), "problem");
        format!("{} {problems}", paint.bad("Guessed, or not as the rules say:"))
    } else {
        format!("{} the plan is not confirmed", paint.bad("Not established:"))
    }
}

/// Returns the events of the trace that the report is about, each with its content. Every one is held against the hash
/// that was verified: the file may have changed since.
fn events(source: &mut Source, report: &Report) -> Result<PlanEvents, Failure> {
    let shown = source.shown().to_owned();
    let Some(mut reader) = source.again()? else {
        return Ok(PlanEvents::TooMany(
            "it is too long to be read twice: save it to a file first".to_owned(),
        ));
    };
    let (mut events, mut line, mut bytes) = (Vec::new(), Vec::new(), 0);
    loop {
        line.clear();
        let read = reader.by_ref().take(Limits::LINE.bytes as u64 + 1).read_until(b'\n', &mut line);
        read.map_err(|error| unreadable(&shown, &VerifyError::Read(error)))?;
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        let Ok(Line::Event(found)) = Line::parse(whole) else { continue };
        let (Ok(event), Ok(content)) = (found.event(), found.content()) else { continue };
        if event.envelope().trace != report.scope.trace {
            continue;
        }
        bytes += whole.len();
        if events.len() == MAX_EVENTS || bytes > MAX_BYTES {
            let reason =
                format!("the trace has more than {MAX_EVENTS} events, or more than {MAX_BYTES} bytes");
            return Ok(PlanEvents::TooMany(reason));
        }
        let opened = match (event.envelope().content, &found.salt, content) {
            (Some(commitment), Some(salt), Some(content)) => commitment.opens_content(salt, content),
            _ => true,
        };
        if report.hashes().get(events.len()) != Some(event.hash()) || !opened {
            return Err(changed(&shown));
        }
        let kind = event.said().ok().and_then(|said| said.facts.event_type());
        let content = kind.zip(content).and_then(|(kind, bytes)| Content::parse(kind, bytes).ok());
        events.push((event, content));
    }
    let bytes = bytes as u64;
    if events.len() == report.hashes().len() {
        Ok(PlanEvents::Read { events, bytes })
    } else {
        Err(changed(&shown))
    }
}

fn changed(shown: &str) -> Failure {
    let message =
        format!("{shown}: expected the bytes that were verified, found others: the file changed meanwhile");
    Failure::of(Code::FileUnreadable, message).with_hint("verify a copy that nobody writes to")
}

/// More than the trace of a plan can need: it has at most 4,096 questions.
const MAX_EVENTS: usize = 65_536;

/// How many bytes of the trace are held in memory at once.
const MAX_BYTES: usize = 256 << 20;
