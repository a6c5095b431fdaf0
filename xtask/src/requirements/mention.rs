//! Finding ids in a text: `LED-05`, ranges such as `LED-01..03`, and `led_05` in the name of a function.

/// Returns the ids that a comment names. An id of an unknown group counts only in a line of nothing but ids, so
/// that prose may speak of UTF-16 while a misspelt `LDE-05` is still found.
pub(crate) fn ids_in_comment(text: &str, groups: &[&str]) -> Vec<String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || ",;:()`".contains(c)).collect();
    let words: Vec<&str> =
        words.into_iter().map(|word| word.trim_matches('.')).filter(|word| !word.is_empty()).collect();
    let parsed: Vec<Option<Mention<'_>>> = words.iter().map(|word| Mention::parse(word)).collect();
    let only_ids = parsed.iter().all(Option::is_some);
    let mentions = parsed.into_iter().flatten();
    mentions.filter(|mention| only_ids || groups.contains(&mention.group)).flat_map(Mention::ids).collect()
}

/// Returns the ids in a function's name: `led_05` between its words.
pub(crate) fn ids_in_name(name: &str, groups: &[&str]) -> Vec<String> {
    let words: Vec<&str> = name.split('_').collect();
    let pairs = words.windows(2).map(|pair| (pair[0].to_ascii_uppercase(), pair[1]));
    pairs
        .filter(|(group, number)| groups.contains(&group.as_str()) && is_number(number))
        .map(|(group, number)| format!("{group}-{number}"))
        .collect()
}

/// One word of the form `LED-05`, `LED-01..03` or `LED-01..LED-03`.
struct Mention<'a> {
    word: &'a str,
    group: &'a str,
    first: &'a str,
    last: &'a str,
}

impl<'a> Mention<'a> {
    fn parse(word: &'a str) -> Option<Self> {
        let (from, to) = word.split_once("..").unwrap_or((word, ""));
        let (group, first) = from.split_once('-')?;
        let is_group = group.len() == GROUP_LENGTH && group.chars().all(|c| c.is_ascii_uppercase());
        let last = to.strip_prefix(group).and_then(|rest| rest.strip_prefix('-')).unwrap_or(to);
        let last = if last.is_empty() { first } else { last };
        (is_group && is_number(first) && is_number(last)).then_some(Self { word, group, first, last })
    }

    /// Returns every id of a range, both ends included. A range that runs backwards comes back as it is written:
    /// no requirement has such an id, so it is reported with its place.
    fn ids(self) -> Vec<String> {
        let width = self.first.len();
        let (Ok(first), Ok(last)) = (self.first.parse::<u32>(), self.last.parse::<u32>()) else {
            return Vec::new();
        };
        if first > last || self.last.len() != width {
            return vec![self.word.to_owned()];
        }
        (first..=last).map(|number| format!("{}-{number:0width$}", self.group)).collect()
    }
}

fn is_number(word: &str) -> bool {
    (1..=NUMBER_LENGTH_LIMIT).contains(&word.len()) && word.chars().all(|c| c.is_ascii_digit())
}

const GROUP_LENGTH: usize = 3;
/// Keeps a mistyped range from growing without bounds.
const NUMBER_LENGTH_LIMIT: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: [&str; 2] = ["LED", "CLR"];

    #[test]
    fn finds_ids_in_comments() {
        for (text, expected) in [
            (" LED-05", vec!["LED-05"]),
            (" LED-05, CLR-04", vec!["LED-05", "CLR-04"]),
            (" LED-05: events are chained (CLR-04).", vec!["LED-05", "CLR-04"]),
            (" Shows `LED-05`.", vec!["LED-05"]),
            (" Nothing at all, BLED-05 or LED-x", vec![]),
        ] {
            assert_eq!(ids_in_comment(text, &GROUPS), expected, "{text}");
        }
    }

    #[test]
    fn expands_ranges() {
        let expected = ["LED-08", "LED-09", "LED-10"];
        assert_eq!(ids_in_comment("LED-08..10", &GROUPS), expected);
        assert_eq!(ids_in_comment("LED-08..LED-10.", &GROUPS), expected);
        assert_eq!(ids_in_comment("LED-08..08", &GROUPS), ["LED-08"]);
    }

    #[test]
    fn range_that_runs_backwards_is_kept_as_written() {
        assert_eq!(ids_in_comment("LED-03..01", &GROUPS), ["LED-03..01"]);
    }

    #[test]
    fn malformed_number_is_still_an_id() {
        assert_eq!(ids_in_comment("as LED-5 says", &GROUPS), ["LED-5"]);
    }

    #[test]
    fn unknown_group_counts_only_in_a_line_of_ids() {
        assert_eq!(ids_in_comment(" LDE-05", &GROUPS), ["LDE-05"]);
        assert_eq!(ids_in_comment(" keeps UTF-16 order, LED-05", &GROUPS), ["LED-05"]);
    }

    #[test]
    fn finds_ids_in_names() {
        assert_eq!(ids_in_name("led_05_events_are_chained", &GROUPS), ["LED-05"]);
        assert_eq!(ids_in_name("chains_clr_04_and_led_05", &GROUPS), ["CLR-04", "LED-05"]);
        assert!(ids_in_name("sha_25_called_05_led", &GROUPS).is_empty());
    }
}
