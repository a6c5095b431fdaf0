//! The table in `docs/benchmarks.md`, which is made from a run.

use std::path::Path;
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};

/// Holds the page against the table, or writes it there.
pub(crate) fn hold(table: &str) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/benchmarks.md");
    let text = fs::read_to_string(&path).context("cannot read docs/benchmarks.md")?;
    let made = with(&text, table).context("docs/benchmarks.md has no place for the table of Cedar")?;
    if env::var_os("DEMUR_BLESS").is_some() {
        return fs::write(&path, made).context("cannot write docs/benchmarks.md");
    }
    ensure!(text == made, "docs/benchmarks.md has another table: run this with DEMUR_BLESS=1 and look");
    Ok(())
}

/// Returns the page with the table in its place.
fn with(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

/// Returns a number in groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const BEGIN: &str = "<!-- cedar: begin -->";
const END: &str = "<!-- cedar: end -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_stands_in_its_place_and_nothing_else_changes() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let made = format!("before\n{BEGIN}\n| new |\n{END}\nafter\n");
        assert_eq!(with(&page, "| new |\n"), Some(made));
        assert_eq!(with("no place", "| new |\n"), None);
    }

    #[test]
    fn digits_come_in_groups_of_three() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
