//! `--no-guess`: reads a file that holds once more and shows that nothing in its plan was guessed (CLR-52). The rules
//! that travel in the file are asked again.

use demur_api::code::Code;
use demur_core::{hash::Digest, quote::quoted, visible::visible};
use demur_desk::verification::{Guesses, PlanEvents, PlanEventsError};
use demur_ledger::verify::{Report, VerifyError};
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

/// Returns the events of the trace that the report is about, read once more.
fn events(source: &mut Source, report: &Report) -> Result<PlanEvents, Failure> {
    let shown = source.shown().to_owned();
    let Some(reader) = source.again()? else {
        return Ok(PlanEvents::TooMany(
            "it is too long to be read twice: save it to a file first".to_owned(),
        ));
    };
    PlanEvents::read(reader, report).map_err(|error| match error {
        PlanEventsError::Read(error) => unreadable(&shown, &VerifyError::Read(error)),
        PlanEventsError::Changed => Failure::of(Code::FileUnreadable, format!("{shown}: {error}"))
            .with_hint("verify a copy that nobody writes to"),
    })
}
