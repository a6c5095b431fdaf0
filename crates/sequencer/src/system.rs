//! The clock and the randomness a sequencer works with: parameters, so that tests can choose them.

use demur_core::{random::Random, time::Timestamp};

/// Where time and randomness come from.
pub trait System: Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Fills the bytes with randomness fit for salts.
    fn fill(&self, bytes: &mut [u8]);
}

/// The randomness of a system.
pub(super) struct Draw<'a>(pub(super) &'a dyn System);

impl Random for Draw<'_> {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}
