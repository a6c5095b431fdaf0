//! Choices that nobody can tell apart are refused when they are asked: a person who picks one would not know which.

use std::collections::HashSet;

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{limit::Text, visible::visible};

use super::Ask;

/// Refuses a question of whose choices two look alike: blanks around them do not show.
pub(super) fn check(ask: &Ask) -> Result<(), Refusal> {
    let values = ask.choices.iter().map(|choice| choice.value.as_str());
    let labels = ask.choices.iter().map(|choice| choice.label.as_str());
    let suggested = ask.suggestions.iter().map(Text::as_str);
    match twice(values).or_else(|| twice(labels)).or_else(|| twice(suggested)) {
        Some(text) => {
            let message = format!("expected choices that differ, found \"{}\" twice", visible(text));
            Err(Refusal::new(Code::ChoicesAlike, message)
                .with_cure("blanks at the ends do not count: give each choice words of its own"))
        }
        None => Ok(()),
    }
}

/// Returns a text that is there twice, blanks around it aside.
fn twice<'a>(texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut known = HashSet::new();
    texts.map(str::trim).find(|text| !known.insert(*text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_the_ends_make_no_difference_and_others_do() {
        assert_eq!(twice(["yes", "no", "yes \u{a0}"].into_iter()), Some("yes"));
        assert_eq!(twice(["yes", "Yes", "y es", "ye s"].into_iter()), None);
    }
}
