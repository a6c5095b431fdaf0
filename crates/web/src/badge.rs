//! What was found of an event, as a word with a sign and a class of its own: what is missing never looks or reads like what
//! does not hold, and nothing is said by colour alone.

use demur_api::trace::{Line, Standing};

use crate::words::ENGLISH;

/// A word about one part of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    /// The word.
    pub text: &'static str,
    /// What it says in general, for the stylesheet.
    pub class: &'static str,
    /// A sign that readers of the word can pass over.
    pub sign: &'static str,
}

impl Badge {
    const fn new(standing: Standing, text: &'static str) -> Self {
        let (class, sign) = match standing {
            Standing::Good => ("good", "\u{2713}"),
            Standing::Bad => ("failed", "\u{2715}"),
            Standing::Missing => ("missing", "?"),
            Standing::Erased => ("erased", "\u{2300}"),
            Standing::None => ("none", "\u{2013}"),
            Standing::Unchecked => ("unchecked", "\u{2026}"),
        };
        Self { text, class, sign }
    }
}

/// Returns the words about an event: its signature, its place, its content, its artifact.
pub fn badges(line: &Line) -> [Badge; 4] {
    [signature(line.signature), chain(line.chain), content(line.words), artifact(line.artifact)]
}

const fn signature(standing: Standing) -> Badge {
    let text = match standing {
        Standing::Good => ENGLISH.signature_good,
        Standing::None => ENGLISH.signature_none,
        _ => ENGLISH.signature_bad,
    };
    Badge::new(standing, text)
}

const fn chain(standing: Standing) -> Badge {
    let good = matches!(standing, Standing::Good);
    Badge::new(standing, if good { ENGLISH.chain_good } else { ENGLISH.chain_bad })
}

const fn content(standing: Standing) -> Badge {
    let text = match standing {
        Standing::Good => ENGLISH.content_here,
        Standing::Missing => ENGLISH.content_missing,
        Standing::Erased => ENGLISH.content_erased,
        Standing::None => ENGLISH.content_none,
        Standing::Bad | Standing::Unchecked => ENGLISH.content_bad,
    };
    Badge::new(standing, text)
}

/// Returns the word about an artifact.
pub const fn artifact(standing: Standing) -> Badge {
    let text = match standing {
        Standing::Good => ENGLISH.artifact_here,
        Standing::Missing => ENGLISH.artifact_missing,
        Standing::Erased => ENGLISH.artifact_erased,
        Standing::None => ENGLISH.artifact_none,
        Standing::Bad => ENGLISH.artifact_bad,
        Standing::Unchecked => ENGLISH.artifact_unchecked,
    };
    Badge::new(standing, text)
}
