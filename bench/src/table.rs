//! Tables as `docs/benchmarks.md` has them, so that what a run prints can be put there as it is.

use std::io::{self, Write};

/// Rows under their headings.
#[derive(Debug)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table without rows.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { headings: headings.map(str::to_owned).into(), rows: Vec::new() }
    }

    /// Adds a row. Cells that are missing at its end are empty.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        let mut cells = Vec::from(cells);
        cells.resize(self.headings.len().max(N), String::new());
        self.rows.push(cells);
    }

    /// Writes the table after an empty line; one without rows is left out.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        write_row(&self.headings, out)?;
        writeln!(out, "|{}", "---|".repeat(self.headings.len()))?;
        self.rows.iter().try_for_each(|row| write_row(row, out))?;
        out.flush()
    }
}

fn write_row(cells: &[String], out: &mut impl Write) -> io::Result<()> {
    for cell in cells {
        // An empty one takes no second blank, as in the page.
        write!(out, "| {cell}{}", if cell.is_empty() { "" } else { " " })?;
    }
    writeln!(out, "|")
}

/// Returns a number as people read it: whole, in groups of three digits.
pub fn whole(number: f64) -> String {
    grouped(&format!("{number:.0}"))
}

/// Returns a count in groups of three digits.
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digit.is_ascii_digit() && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns whether a bar is met, in the words of the page.
pub const fn met(is_met: bool) -> &'static str {
    if is_met { "yes" } else { "**no**" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_the_markdown_of_the_page() {
        let mut table = Table::new(["", "per s", "bar"]);
        table.row(["ours".to_owned(), whole(12_715.4), met(true).to_owned()]);
        table.row(["theirs".to_owned(), whole(241.0)]);
        let mut written = Vec::new();
        table.write(&mut written).unwrap();
        let text = "\n| | per s | bar |\n|---|---|---|\n| ours | 12,715 | yes |\n| theirs | 241 | |\n";
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    #[test]
    fn table_without_rows_is_left_out() {
        let mut written = Vec::new();
        Table::new(["a"]).write(&mut written).unwrap();
        assert!(written.is_empty());
    }

    #[test]
    fn digits_come_in_groups_of_three() {
        let found = [0.0, 999.0, 1_000.0, 123_456.0, 1_234_567.0].map(whole);
        assert_eq!(found, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
