//! `--no-guess`: reads a file that holds once more and shows that nothing in its plan was guessed (CLR-52). The rules
//! that travel in the file are asked again.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
};

use demur_core::{hash::Digest, limit::Limits, visible::visible};
use demur_ledger::{
    envelope::Event,
    event_type::Content,
    export::Line,
    name::TraceId,
    verify::{Report, Verdict},
};
use demur_plan::no_guess::NoGuess;
use serde::Serialize;

use crate::{error::CommandError, output::Paint};

/// What can be said about guesses.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Guesses {
    /// The file does not hold, so neither does anything it tells.
    NotEstablished {
        /// Why.
        reason: String,
    },
    /// The rules were asked again.
    Checked {
        /// Whether they are the rules that the reader named.
        known: bool,
        /// What they show.
        #[serde(flatten)]
        shows: NoGuess,
    },
}

impl Guesses {
    /// Returns what the file at this path shows, given the report over it.
    pub(crate) fn of(path: &Path, report: &Report, rules: Option<Digest>) -> Result<Self, CommandError> {
        if !matches!(report.verdict, Verdict::Pass | Verdict::PassWithWarnings) {
            let reason = "the file does not hold".to_owned();
            return Ok(Self::NotEstablished { reason });
        }
        Ok(match NoGuess::check(events(path, report.scope.trace)?) {
            Ok(shows) if rules.is_some() && shows.rules != rules => {
                let found = shows.rules.map_or_else(|| "none".to_owned(), |hash| hash.to_string());
                Self::NotEstablished { reason: format!("the file has other rules than you named: {found}") }
            }
            Ok(shows) => Self::Checked { known: rules.is_some(), shows },
            Err(error) => Self::NotEstablished { reason: error.to_string() },
        })
    }

    /// Returns whether nothing was guessed.
    pub(crate) const fn holds(&self) -> bool {
        match self {
            Self::NotEstablished { .. } => false,
            Self::Checked { shows, .. } => shows.holds(),
        }
    }

    const fn is_known(&self) -> bool {
        matches!(self, Self::Checked { known: true, .. })
    }

    /// Returns it as people read it.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<String> {
        let checked = match self {
            Self::NotEstablished { reason } => {
                return vec![format!("{} {}", paint.bad("Not established:"), visible(reason))];
            }
            Self::Checked { shows, .. } => shows,
        };
        let mut lines = vec![headline(checked, paint)];
        let packs: Vec<_> = checked.packs.iter().map(|pack| visible(pack).into_owned()).collect();
        let hash = checked.rules.map_or_else(|| "none".to_owned(), |hash| hash.to_string());
        let known =
            if self.is_known() { "the rules you named" } else { "compare the hash with rules you know" };
        lines.push(format!("  rules {} (SHA-256 {hash}): {known}", packs.join(", ")));
        for gap in &checked.gaps {
            let event = gap.event.map_or_else(String::new, |event| format!(" in #{event}"));
            let by = gap.by.map_or_else(String::new, |by| format!(" by {by}"));
            lines.push(format!("  {} {}: {}{event}{by}", gap.id, visible(&gap.field), gap.outcome));
        }
        for value in &checked.values {
            lines.push(format!("  value {} from #{}: {}", visible(&value.field), value.source, value.origin));
        }
        for problem in &checked.problems {
            let message = visible(&problem.message);
            lines.push(format!("  {} #{}: {message}", paint.bad(problem.code), problem.event));
        }
        lines
    }
}

fn headline(checked: &NoGuess, paint: Paint) -> String {
    let gaps = checked.gaps.len();
    if checked.holds() {
        let told = format!(
            "{gaps} gaps were asked as the rules in the file find them, and settled; the plan has no other"
        );
        format!("{} {told}", paint.good("No guess:"))
    } else if checked.confirmed {
        format!("{} {} problems", paint.bad("Guessed, or not as the rules say:"), checked.problems.len())
    } else {
        format!("{} the plan is not confirmed", paint.bad("Not established:"))
    }
}

/// Returns the events of a trace in a file that was found to hold, each with its content.
fn events(path: &Path, trace: TraceId) -> Result<Vec<(Event, Option<Content>)>, CommandError> {
    let unreadable = |error| CommandError::unreadable(path, &error);
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
        if events.len() == MOST {
            let message = format!("expected the trace of a plan with at most {MOST} events, found more");
            return Err(CommandError::input("TRACE_TOO_LONG", message));
        }
        let kind = event.said().ok().and_then(|said| said.facts.event_type());
        let content = kind.zip(bytes).and_then(|(kind, bytes)| Content::parse(kind, bytes).ok());
        events.push((event, content));
    }
}

/// More than the trace of a plan can need: it has at most 4,096 questions.
const MOST: usize = 65_536;
