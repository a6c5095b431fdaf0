//! JSON values made to be awkward: keys on both sides of the surrogates, control characters, numbers of every
//! magnitude. Fast and seeded, so that a million of them take a minute and a failure can be repeated.

use demur_core::random::{Random, Seeded};
use serde_json::{Map, Number, Value};

/// A stream of awkward values.
pub(crate) struct Generator {
    random: Seeded,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Seeded::from_number(seed) }
    }

    /// Returns a value of at most this depth.
    pub(crate) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 | 3 => self.number(),
            4 | 5 => Value::String(self.text()),
            6 | 7 => (0..self.below(6)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.object(depth - 1)),
        }
    }

    /// Returns an object whose values have at most this depth.
    pub(crate) fn object(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.below(8)).map(|_| (self.text(), self.value(depth))).collect()
    }

    /// Returns a number that every reader keeps.
    pub(crate) fn number(&mut self) -> Value {
        let bits = u64::from_le_bytes(self.bytes());
        let number = match self.below(7) {
            0 => f64::from_bits(bits),
            1 => return Value::from(bits >> 11),
            2 => return Value::from(-i64::try_from(bits >> 11).expect("53 bits fit")),
            3 => return Value::from(bits % 1000),
            4 => {
                MAGNITUDES[self.below(MAGNITUDES.len())]
                    * f64::from(u8::try_from(bits % 100).expect("below 100"))
            }
            // Around 2^50 and 10^22 two decimals can be equally close.
            5 => self.tie(),
            _ => f64::from(u32::try_from(bits >> 32).expect("32 bits fit")) / 1000.0,
        };
        let kept = !(9_007_199_254_740_992.0..1e21).contains(&number.abs());
        Number::from_f64(number).filter(|_| kept).map_or(Value::Null, Value::Number)
    }

    /// Returns a number whose binary digits end in the range where ties between decimals occur.
    pub(crate) fn tie(&mut self) -> f64 {
        let bits = u64::from_le_bytes(self.bytes());
        let exponent = 1023 + 46 + bits % 33;
        let mantissa = bits >> 12 & !((1 << (bits >> 8 & 15)) - 1);
        f64::from_bits(exponent << 52 | mantissa)
    }

    /// Returns a text of a few characters from all corners of Unicode.
    pub(crate) fn text(&mut self) -> String {
        (0..self.below(9)).map(|_| self.character()).collect()
    }

    /// Returns a number below `bound`, which is small.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        u16::from_le_bytes(self.bytes()) as usize % bound
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.random.fill(&mut bytes);
        bytes
    }

    fn character(&mut self) -> char {
        let (start, end) = RANGES[self.below(RANGES.len())];
        let offset = u32::from_le_bytes(self.bytes()) % (end - start + 1);
        char::from_u32(start + offset).unwrap_or('\u{fffd}')
    }
}

/// Where characters come from; several ranges lie beside the surrogates, where UTF-8 and UTF-16 sort
/// differently.
const RANGES: [(u32, u32); 13] = [
    (0x61, 0x63),
    (0x61, 0x7a),
    (0x30, 0x39),
    (0x20, 0x7e),
    (0x00, 0x1f),
    (0x22, 0x22),
    (0x5c, 0x5c),
    (0x7f, 0xff),
    (0x0100, 0x07ff),
    (0xd7f0, 0xd7ff),
    (0xe000, 0xffff),
    (0x1_0000, 0x1_0010),
    (0x1_0000, 0x10_ffff),
];

const MAGNITUDES: [f64; 12] = [5e-324, 1e-300, 1e-27, 1e-7, 1e-6, 0.1, 1.0, 1e9, 1e13, 1e21, 1e22, 1e300];
