//! Dice that fall alike in every run of a test.

use demur_core::random::{Random as _, Seeded};

/// A set of dice.
pub(super) struct Dice(Seeded);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Seeded::from_number(seed))
    }

    /// Returns a number below `sides`.
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % sides
    }

    /// Returns an index into a list of this length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.roll(length as u64)).unwrap()
    }
}
