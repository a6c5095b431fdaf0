//! What `demur verify` answers, as people read it.

use demur_desk::verification::{Comparison, Difference, Verification};
use demur_ledger::verify::{Code, Report};

use super::no_guess;
use crate::output::{Paint, Reply};

impl Reply for Verification {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = text(&self.report);
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
    }
}

fn parting(difference: &Difference) -> Vec<String> {
    let at = difference.sequence;
    let mut lines = if difference.equivocation {
        let (code, cure) = (Code::Equivocation, Code::Equivocation.cure());
        vec![format!("{code}: the desk signed two histories, which part at event {at}; {cure}.")]
    } else {
        vec![
            format!("The two files part at event {at}, which proves nothing against the desk:"),
            "one of them does not hold, or signatures were not checked.".to_owned(),
        ]
    };
    lines.push(format!("  first   {}", difference.first));
    lines.push(format!("  second  {}", difference.second));
    lines
}
