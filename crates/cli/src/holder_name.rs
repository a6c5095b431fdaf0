//! The name of whoever holds a key, as people type it.

use std::str::FromStr;

use demur_core::visible::deceives;

use crate::roster::DESK;

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
        if !(1..=LONGEST).contains(&found) {
            return Err(NameError::Length { found });
        }
        if let Some(character) = name.chars().find(|character| deceives(*character)) {
            return Err(NameError::Character { found: u32::from(character) });
        }
        if name.trim() != name {
            return Err(NameError::Blank);
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
    #[error("expected 1 to {LONGEST} characters, found {found}")]
    Length {
        /// How many there are.
        found: usize,
    },
    /// A character that cannot be seen, or moves what can.
    #[error("expected characters that can be seen, found U+{found:04X}")]
    Character {
        /// Its code point.
        found: u32,
    },
    /// A blank at an end.
    #[error("expected no blank at the beginning or end")]
    Blank,
    /// The desk's own name.
    #[error("this name is the desk's own: choose another")]
    Desk,
}

const LONGEST: usize = 64;

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
        assert_eq!(refusal("a\u{7}b"), Some(NameError::Character { found: 7 }));
        assert_eq!(refusal("a\u{202e}b"), Some(NameError::Character { found: 0x202e }));
        assert_eq!(refusal("two\nlines"), Some(NameError::Character { found: 10 }));
        assert_eq!(refusal(" alice"), Some(NameError::Blank));
    }

    #[test]
    fn refuses_the_name_of_the_desk() {
        assert_eq!(refusal("desk"), Some(NameError::Desk));
    }
}
