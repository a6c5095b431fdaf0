//! Tables of text: columns as wide as their widest cell, nothing clipped, nothing drawn.

use super::{NARROW, Paint, columns};

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

    /// Returns the table, line by line. On a narrow terminal that it does not fit, a row is a block of lines.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<String> {
        self.lines_within(columns().filter(|columns| *columns < NARROW), paint)
    }

    fn lines_within(&self, columns: Option<usize>, paint: Paint) -> Vec<String> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
        let whole = widths.iter().sum::<usize>() + 2 * COLUMNS.saturating_sub(1);
        if columns.is_some_and(|columns| whole > columns) {
            return self.blocks(paint);
        }
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

    /// Returns each row as lines of a name and a value, with an empty line between two rows.
    fn blocks(&self, paint: Paint) -> Vec<String> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let label = head.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut lines = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                lines.push(String::new());
            }
            let line = |(name, cell): (&String, &String)| {
                let gap = " ".repeat(label + 2 - name.chars().count());
                format!("{}{gap}{cell}", paint.strong(name)).trim_end().to_owned()
            };
            lines.extend(head.iter().zip(row).map(line));
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
        assert_eq!(
            table.lines_within(None, Paint::new(false)),
            ["NAME      ROLE", "Zoë       critic", "somebody"]
        );
        assert_eq!(table.lines_within(Some(16), Paint::new(false)).len(), 3);
        let blocks = ["NAME  Zoë", "ROLE  critic", "", "NAME  somebody", "ROLE"];
        assert_eq!(table.lines_within(Some(15), Paint::new(false)), blocks);
    }
}
