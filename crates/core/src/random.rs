//! The seam for randomness: whoever needs random bytes takes a [`Random`]. Section "Bytes" of the format
//! asks for a fresh salt each time; where it comes from is the caller's business.

use crate::hash::Hasher;

/// A source of random bytes.
///
/// Salts and keys must come from the system's source; see [`Seeded`] for what must not.
pub trait Random {
    /// Fills `bytes` completely.
    fn fill(&mut self, bytes: &mut [u8]);
}

impl<R: Random + ?Sized> Random for &mut R {
    fn fill(&mut self, bytes: &mut [u8]) {
        (**self).fill(bytes);
    }
}

/// A stream of bytes that its seed determines: SHA-256 over the seed and a counter.
///
/// **Not a source of secrets.** It serves tests, fixtures, and coefficients that must follow from their
/// input. Whoever knows the seed knows every byte.
#[derive(Debug, Clone)]
pub struct Seeded {
    seed: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Seeded {
    /// Returns the stream of this seed.
    pub const fn new(seed: [u8; 32]) -> Self {
        Self { seed, counter: 0, block: [0; 32], used: 32 }
    }

    /// Returns the stream of this number.
    pub fn from_number(number: u64) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        Self::new(seed)
    }

    fn refill(&mut self) {
        let mut hasher = Hasher::with_prefix(PREFIX);
        hasher.update(&self.seed);
        hasher.update(&self.counter.to_le_bytes());
        self.block = *hasher.finish().as_bytes();
        self.counter = self.counter.wrapping_add(1);
        self.used = 0;
    }
}

impl Random for Seeded {
    fn fill(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            if self.used == self.block.len() {
                self.refill();
            }
            let count = bytes.len().min(self.block.len() - self.used);
            let (now, later) = bytes.split_at_mut(count);
            now.copy_from_slice(&self.block[self.used..self.used + count]);
            self.used += count;
            bytes = later;
        }
    }
}

/// Keeps the stream apart from everything that has a purpose. Short, so that a block is one compression.
const PREFIX: &[u8] = b"demur/seeded\0";

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(random: &mut dyn Random, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        random.fill(&mut bytes);
        bytes
    }

    #[test]
    fn the_same_seed_gives_the_same_stream_however_it_is_cut() {
        let whole = draw(&mut Seeded::from_number(7), 300);
        for cut in [1, 5, 31, 32, 33, 64, 299] {
            let mut stream = Seeded::from_number(7);
            let mut parts = draw(&mut stream, cut);
            parts.extend(draw(&mut stream, 300 - cut));
            assert_eq!(parts, whole, "cut at {cut}");
        }
    }

    #[test]
    fn other_seeds_give_other_streams() {
        assert_ne!(draw(&mut Seeded::from_number(7), 32), draw(&mut Seeded::from_number(8), 32));
        assert_ne!(draw(&mut Seeded::new([7; 32]), 32), draw(&mut Seeded::from_number(7), 32));
    }

    #[test]
    fn blocks_do_not_repeat() {
        let bytes = draw(&mut Seeded::from_number(1), 64);
        assert_ne!(bytes[..32], bytes[32..]);
    }
}
