//! Tables of text: columns as wide as their widest cell, nothing clipped, nothing drawn.

use super::Paint;

/// A table with a head.
#[derive(Debug)]
pub(crate) struct Table<const COLUMNS: usize> {
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// Returns a table with this head and no rows.
    pub(crate) fn new(head: [&str; COLUMNS]) -> Self {
        Self { rows: vec![head.map(str::to_owned)] }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: [String; COLUMNS]) {
        self.rows.push(row);
    }

    /// Returns the table, line by line.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<String> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
        let line = |row: &[String; COLUMNS]| {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        if let Some(head) = lines.first_mut() {
            *head = paint.strong(head);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let mut table = Table::new(["NAME", "ROLE"]);
        table.add(["Zoë".to_owned(), "critic".to_owned()]);
        table.add(["somebody".to_owned(), String::new()]);
        assert_eq!(table.lines(Paint::new(false)), ["NAME      ROLE", "Zoë       critic", "somebody"]);
    }
}
