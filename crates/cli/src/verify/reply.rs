//! What `demur verify` answers, as people read it.

use demur_core::words::counted;
use demur_desk::verification::{Comparison, Difference, Verification};
use demur_ledger::verify::{Code, Report};

use super::no_guess;
use crate::output::{Paint, Reply};

/// Returns the page: the report with the verdict over everything, and what else was looked at.
pub(super) fn page(verification: &Verification) -> String {
    let plain = Paint::new(false);
    let comparison = verification.comparison.as_ref();
    let compared = comparison.map(|comparison| ("Side by side", side_by_side(comparison)));
    let second = verification.second.as_ref().map(|second| ("The second file", text(second)));
    let guesses = verification.no_guess.as_ref();
    let guesses = guesses.map(|guesses| ("Guesses", no_guess::lines(guesses, plain)));
    let beside: Vec<_> = compared.into_iter().chain(second).chain(guesses).collect();
    verification.report.to_html_beside(verification.verdict, &beside)
}

impl Reply for Verification {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = text(&self.report);
        if self.verdict != self.report.verdict {
            // What stands above is about the file alone.
            let word = Report::verdict_word(self.verdict);
            lines.insert(0, format!("verdict  {word} over everything that was asked; of the file alone:"));
        }
        if let Some(second) = &self.second {
            lines.extend([String::new(), paint.strong("The second file"), String::new()]);
            lines.extend(text(second));
        }
        if let Some(comparison) = &self.comparison {
            lines.extend([String::new(), paint.strong("Side by side"), String::new()]);
            lines.extend(side_by_side(comparison));
        }
        if let Some(guesses) = &self.no_guess {
            lines.extend([String::new(), paint.strong("Guesses"), String::new()]);
            lines.extend(no_guess::lines(guesses, paint));
        }
        lines
    }
}

fn text(report: &Report) -> Vec<String> {
    report.to_text().trim_end().lines().map(str::to_owned).collect()
}

fn side_by_side(comparison: &Comparison) -> Vec<String> {
    match comparison {
        Comparison::Agree => vec!["The two files agree wherever both have an event.".to_owned()],
        Comparison::Incomparable(unsaid) => {
            vec![format!("Not established: the two files were not compared: {}.", unsaid.reason)]
        }
        Comparison::Differ(difference) => parting(difference),
        Comparison::Abandoned(left) => vec![
            format!("{}: {}.", Code::HistoryAbandoned, Code::HistoryAbandoned.meaning()),
            format!("  only in the first file: {}", counted(left.only_first, "event")),
            format!("  only in the second file: {}", counted(left.only_second, "event")),
            format!("  {}.", Code::HistoryAbandoned.cure()),
        ],
    }
}

fn parting(difference: &Difference) -> Vec<String> {
    let line = if difference.in_registry { "registry event" } else { "event" };
    let at = format!("{line} {}", difference.sequence);
    let mut lines = if difference.equivocation {
        let (code, cure) = (Code::Equivocation, Code::Equivocation.cure());
        vec![format!("{code}: the desk signed two histories, which part at {at}; {cure}.")]
    } else {
        vec![
            format!("The two files part at {at}, which proves nothing against the desk:"),
            "one of them does not hold, or signatures were not checked.".to_owned(),
        ]
    };
    lines.push(format!("  first   {}", difference.first));
    lines.push(format!("  second  {}", difference.second));
    lines
}
