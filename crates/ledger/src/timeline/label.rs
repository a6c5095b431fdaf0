//! A name as it is cited. Most are short and take no memory of their own: a verifier keeps and forgets one for almost
//! every event.

use demur_core::words::{ELLIPSIS, clipped};

/// A name, clipped to 128 characters: one claim may cite hundreds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// The first `length` bytes are the name.
    Short {
        length: u8,
        bytes: [u8; SHORT],
    },
    Long(Box<str>),
}

impl Label {
    /// Returns the label of a name.
    pub(crate) fn new(name: &str) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(name.as_bytes());
                Self::Short { length, bytes }
            }
            _ => Self::Long(clipped(name, LONG, ELLIPSIS).into()),
        }
    }

    /// Returns the name.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            // The bytes are those of a name: they are always text.
            Self::Short { length, bytes } => bytes
                .get(..usize::from(*length))
                .and_then(|bytes| str::from_utf8(bytes).ok())
                .unwrap_or_default(),
            Self::Long(name) => name,
        }
    }
}

/// With the tag and the length no more than the long form takes.
const SHORT: usize = 22;
/// How many characters of a name are kept.
const LONG: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_length_come_back_as_they_were_up_to_the_limit() {
        for length in 0..=LONG {
            let name = "ï".repeat(length);
            assert_eq!(Label::new(&name).as_str(), name);
        }
        assert_eq!(Label::new(&"ï".repeat(LONG + 1)).as_str(), "ï".repeat(LONG) + "…");
    }

    #[test]
    fn short_names_take_no_more_room_than_long_ones() {
        assert_eq!((size_of::<Label>(), size_of::<Box<str>>()), (24, 16));
        assert!(matches!(Label::new(&"n".repeat(SHORT)), Label::Short { .. }));
        assert!(matches!(Label::new(&"n".repeat(SHORT + 1)), Label::Long(_)));
    }
}
