//! The table of figures.

use std::io::{self, Write};

use demur_bench::measure::Comparison;

/// The rows measured so far.
pub(crate) struct Report {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    unit: &'static str,
    comparison: Comparison,
    bar: Option<Bar>,
}

/// What a figure has to reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bar {
    /// At least this many times the reference.
    Ratio(f64),
    /// At least this rate.
    Rate(f64),
}

impl Bar {
    fn is_met(self, comparison: &Comparison) -> bool {
        match self {
            Self::Ratio(least) => comparison.ratio >= least,
            Self::Rate(least) => comparison.ours >= least,
        }
    }
}

impl Report {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new() }
    }

    /// Adds a row; one without a bar is there for information.
    pub(crate) fn add(&mut self, name: &str, unit: &'static str, comparison: Comparison, bar: Option<Bar>) {
        self.rows.push(Row { name: name.to_owned(), unit, comparison, bar });
    }

    /// Writes the table; without rows there is none.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "{:<52} {:>11} {:>11} {:>6}  {:<9} met", "name", "rate", "reference", "ratio", "bar")?;
        for Row { name, unit, comparison, bar } in &self.rows {
            let (wanted, met) = match bar {
                None => (String::from("-"), "-"),
                Some(bar) => (words(*bar), if bar.is_met(comparison) { "yes" } else { "no" }),
            };
            let rate = format!("{} {unit}", short(comparison.ours));
            let reference = format!("{} {unit}", short(comparison.reference));
            writeln!(
                out,
                "{name:<52} {rate:>11} {reference:>11} {:>6.2}  {wanted:<9} {met}",
                comparison.ratio
            )?;
        }
        Ok(())
    }
}

fn words(bar: Bar) -> String {
    match bar {
        Bar::Ratio(least) => format!("{least} x"),
        Bar::Rate(least) => short(least),
    }
}

/// Returns a rate in three or four digits.
fn short(rate: f64) -> String {
    match rate {
        1e9.. => format!("{:.2} G", rate / 1e9),
        1e6.. => format!("{:.2} M", rate / 1e6),
        1e3.. => format!("{:.1} k", rate / 1e3),
        _ => format!("{rate:.1}"),
    }
}
