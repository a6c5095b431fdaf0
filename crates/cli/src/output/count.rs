//! Counts in words: "1 file", "2 files".

/// Returns a count with its noun, which has an s where it is not one.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    counted_as(count as u64, noun, &format!("{noun}s"))
}

/// Returns a count with the form of its noun that fits.
pub(crate) fn counted_as(count: u64, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_none_is_many() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "file")), ["0 files", "1 file", "2 files"]);
        assert_eq!(counted_as(1, "gap was", "gaps were"), "1 gap was");
    }
}
