//! Why a file is left alone.

use super::malformed::Malformed;

/// Why a file cannot be changed safely.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsafe {
    /// The file is not what its client reads.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Somebody else's entry has the name.
    #[error("expected no `{name}`, found one that setup did not write")]
    Taken { name: String },
    /// The file is written in a way that leaves no place.
    #[error("`{name}` cannot be added or taken out without changing the rest of the file")]
    Shape { name: String },
}

impl Unsafe {
    /// Returns that somebody else's entry has the name.
    pub(super) fn taken(name: &str) -> Self {
        Self::Taken { name: name.to_owned() }
    }

    /// Returns that the file leaves no place.
    pub(super) fn shape(name: &str) -> Self {
        Self::Shape { name: name.to_owned() }
    }
}
