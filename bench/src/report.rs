//! The table of figures.

use std::io::{self, Write};

use demur_bench::{
    measure::Comparison,
    table::{Table, met},
};

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
        let mut table = Table::new(["", "ours", "reference", "ratio", "bar", "met"]);
        for Row { name, unit, comparison, bar } in &self.rows {
            let (wanted, reached) = match bar {
                None => (String::new(), ""),
                Some(bar) => (words(*bar), met(bar.is_met(comparison))),
            };
            let rate = |rate: f64| format!("{}{unit}", short(rate));
            let (ours, reference) = (rate(comparison.ours), rate(comparison.reference));
            let ratio = format!("{:.2}", comparison.ratio);
            table.row([name.clone(), ours, reference, ratio, wanted, reached.to_owned()]);
        }
        table.write(out)
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
