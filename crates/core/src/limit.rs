//! Limits on everything that comes from outside: lengths, counts, ranges, depth. Section "Bytes" of the
//! format; the figures of single fields stand with the types that use them.

mod list;
mod text;
mod whole;

use thiserror::Error;

pub use list::List;
pub use text::Text;
pub use whole::Whole;

/// How large and how deep a JSON text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole text.
    pub bytes: usize,
    /// Arrays and objects inside one another; never more than [`Limits::DEEPEST`].
    pub depth: usize,
    /// Members of one array or object.
    pub members: usize,
    /// Bytes of one string as it is written, without its quotes.
    pub text: usize,
}

impl Limits {
    /// The depth that no limit can raise: the scanner keeps one frame for each level.
    pub const DEEPEST: usize = 120;

    /// For a statement, an envelope or another signed document.
    pub const EVENT: Self = Self { bytes: 64 << 10, depth: 16, members: 1024, text: 32 << 10 };

    /// For the content beside an event.
    pub const CONTENT: Self = Self { bytes: 1 << 20, depth: 32, members: 16_384, text: 1 << 20 };

    /// For one line of an export, which may carry an artifact.
    pub const LINE: Self = Self { bytes: 64 << 20, depth: 40, members: 65_536, text: 64 << 20 };
}

/// A value outside the limits of its type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LimitError {
    /// A text is too short or too long.
    #[error("expected {min} to {max} code points, found {found}")]
    Text {
        /// The fewest allowed.
        min: usize,
        /// The most allowed.
        max: usize,
        /// How many there were.
        found: usize,
    },
    /// A list has too few or too many entries.
    #[error("expected {min} to {max} entries, found {found}")]
    List {
        /// The fewest allowed.
        min: usize,
        /// The most allowed.
        max: usize,
        /// How many there were; one past the most where reading stopped there.
        found: usize,
    },
    /// A number is out of range.
    #[error("expected a whole number from {min} to {max}, found {found}")]
    Whole {
        /// The least allowed.
        min: u64,
        /// The greatest allowed.
        max: u64,
        /// What was found.
        found: u64,
    },
}
