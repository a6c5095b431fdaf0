//! The name of whoever holds a key, as people type it.

use std::str::FromStr;

use demur_desk::{key_directory::DESK, name::NameFlaw};

/// A name of 1 to 64 characters that shows what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HolderName(String);

impl HolderName {
    /// Returns the name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HolderName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let found = name.chars().count();
        if !(1..=MAX_CHARACTERS).contains(&found) {
            return Err(NameError::Length { found });
        }
        if let Some(flaw) = NameFlaw::of(name) {
            return Err(NameError::Flaw(flaw));
        }
        if name == DESK {
            return Err(NameError::Desk);
        }
        Ok(Self(name.to_owned()))
    }
}

/// A name that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    /// Too short or too long.
    #[error("expected 1 to {MAX_CHARACTERS} characters, found {found}")]
    Length {
        /// How many there are.
        found: usize,
    },
    /// It does not show all of itself.
    #[error(transparent)]
    Flaw(NameFlaw),
    /// The desk's own name.
    #[error("this name is the desk's own: choose another")]
    Desk,
}

const MAX_CHARACTERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str) -> Option<NameError> {
        name.parse::<HolderName>().err()
    }

    #[test]
    fn takes_one_to_sixty_four_characters_of_any_script() {
        for name in ["a", "Zoë", "王小明", "release bot 7", &"é".repeat(64)] {
            assert_eq!(name.parse::<HolderName>().unwrap().as_str(), name);
        }
        assert_eq!(refusal(""), Some(NameError::Length { found: 0 }));
        assert_eq!(refusal(&"é".repeat(65)), Some(NameError::Length { found: 65 }));
    }

    #[test]
    fn refuses_what_cannot_be_seen() {
        let flaw = |flaw| Some(NameError::Flaw(flaw));
        assert_eq!(refusal("a\u{7}b"), flaw(NameFlaw::Unseen('\u{7}')));
        assert_eq!(refusal("a\u{202e}b"), flaw(NameFlaw::Unseen('\u{202e}')));
        assert_eq!(refusal("two\nlines"), flaw(NameFlaw::Unseen('\n')));
        assert_eq!(refusal(" alice"), flaw(NameFlaw::BlankEnd));
        assert_eq!(refusal("?!"), flaw(NameFlaw::Blank));
    }

    #[test]
    fn refuses_the_name_of_the_desk() {
        assert_eq!(refusal("desk"), Some(NameError::Desk));
    }
}
