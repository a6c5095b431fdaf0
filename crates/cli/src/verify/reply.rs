//! What `demur verify` answers: the report, which is the same for the same file, and apart from it the run.

use std::time::Duration;

use demur_core::hash::Digest;
use demur_ledger::{
    name::Sequence,
    verify::{Check, Code, Equivocation, Report, Severity, Verdict},
};
use serde::Serialize;

use super::no_guess::Guesses;
use crate::output::{Paint, Reply};

/// A second file and how it compares with the first.
#[derive(Debug)]
pub(super) struct Second {
    pub(super) report: Report,
    pub(super) comparison: Result<Option<Equivocation>, &'static str>,
}

/// The answer.
#[derive(Serialize)]
pub(super) struct Verification {
    /// The code of the first failure.
    code: Option<Code>,
    /// How two files compare.
    comparison: Option<Comparison>,
    /// What `--no-guess` found.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_guess: Option<Guesses>,
    /// The file's report.
    report: Report,
    run: Run,
    /// The second file's report.
    second: Option<Report>,
    /// The verdict over everything.
    verdict: Verdict,
}

/// How the run went: the only part that differs from one run to the next.
#[derive(Serialize)]
struct Run {
    elapsed_ms: u64,
}

/// How two files compare.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Comparison {
    /// They agree wherever both have an event.
    Agree,
    /// They part at one event.
    Differ(Difference),
    /// They cannot be compared.
    Incomparable { reason: &'static str },
}

/// Where two files part.
#[derive(Serialize)]
struct Difference {
    /// Whether both files hold: then the desk signed two histories.
    equivocation: bool,
    first: Digest,
    second: Digest,
    sequence: Sequence,
}

impl Verification {
    pub(super) fn new(
        report: Report,
        second: Option<Second>,
        no_guess: Option<Guesses>,
        elapsed: Duration,
    ) -> Self {
        let comparison = second.as_ref().map(|second| Comparison::of(&report, second));
        let second = second.map(|second| second.report);
        let both = match &comparison {
            Some(Comparison::Differ(difference)) => Some(difference.equivocation),
            _ => None,
        };
        let worst = second.iter().map(|report| report.verdict).fold(report.verdict, Verdict::max);
        let later = second.as_ref().and_then(Report::code);
        Self {
            code: if both == Some(true) { Some(Code::Equivocation) } else { report.code().or(later) },
            verdict: if both.is_some() { Verdict::Fail } else { worst },
            comparison,
            no_guess,
            report,
            run: Run { elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX >> 11) },
            second,
        }
    }

    /// Returns the verdict over everything.
    pub(super) const fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl Comparison {
    fn of(first: &Report, second: &Second) -> Self {
        match second.comparison {
            Err(reason) => Self::Incomparable { reason },
            Ok(_) if first.hashes().is_empty() || second.report.hashes().is_empty() => {
                Self::Incomparable { reason: "one of the two files has no event that could be read" }
            }
            Ok(None) => Self::Agree,
            Ok(Some(found)) => Self::Differ(Difference {
                equivocation: [first, &second.report].into_iter().all(is_signed_history),
                first: found.first,
                second: found.second,
                sequence: found.sequence,
            }),
        }
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Self::Agree => vec!["The two files agree wherever both have an event.".to_owned()],
            Self::Incomparable { reason } => vec![format!("The two files were not compared: {reason}.")],
            Self::Differ(difference) => difference.lines(),
        }
    }
}

impl Difference {
    fn lines(&self) -> Vec<String> {
        let at = self.sequence;
        let mut lines = if self.equivocation {
            let (code, cure) = (Code::Equivocation, Code::Equivocation.cure());
            vec![format!("{code}: the desk signed two histories, which part at event {at}; {cure}.")]
        } else {
            vec![
                format!("The two files part at event {at}, which proves nothing against the desk:"),
                "one of them does not hold, or signatures were not checked.".to_owned(),
            ]
        };
        lines.push(format!("  first   {}", self.first));
        lines.push(format!("  second  {}", self.second));
        lines
    }
}

impl Reply for Verification {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = text(&self.report);
        if let Some(second) = &self.second {
            lines.extend([String::new(), paint.strong("The second file"), String::new()]);
            lines.extend(text(second));
        }
        if let Some(comparison) = &self.comparison {
            lines.extend([String::new(), paint.strong("Side by side"), String::new()]);
            lines.extend(comparison.lines());
        }
        if let Some(guesses) = &self.no_guess {
            lines.extend([String::new(), paint.strong("Guesses"), String::new()]);
            lines.extend(guesses.lines(paint));
        }
        lines
    }
}

/// Returns whether the desk's signature stands behind every event of a file, whatever else is wrong with it: a
/// run that broke its rules, or what the reader knows from elsewhere, takes nothing from that.
fn is_signed_history(report: &Report) -> bool {
    let beside =
        [Check::Artifact, Check::Role, Check::Order, Check::Claim, Check::Finalization, Check::Anchor];
    let holds =
        |check: Check, worst: Option<Severity>| worst != Some(Severity::Failure) || beside.contains(&check);
    report.scope.signatures && report.checks.iter().all(|check| holds(check.check, check.worst))
}

fn text(report: &Report) -> Vec<String> {
    report.to_text().trim_end().lines().map(str::to_owned).collect()
}
