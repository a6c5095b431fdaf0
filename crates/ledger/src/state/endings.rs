//! The executions that have ended, with what each was given and what it produced: a few bytes each, because a long run
//! has a hundred thousand and every claim may be about any of them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::name::Sequence;

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) completed: bool,
    pub(super) input: Option<Sequence>,
    /// Ascending.
    pub(super) outputs: Vec<Sequence>,
}

/// The ended executions by their completed or failed event, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Endings {
    chunks: Vec<Chunk>,
}

/// Some endings in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Chunk {
    /// The first of them.
    first: Sequence,
    last: Sequence,
    count: usize,
    /// Of each: how far it is from the one before it, doubled, and one more if it failed; how far back its input is, or 0
    /// for none; how many outputs; how far back each is from the one after it.
    #[serde(serialize_with = "write_bytes", deserialize_with = "read_bytes")]
    bytes: Vec<u8>,
}

impl Endings {
    /// Returns none.
    pub(super) const fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Adds the end of an execution. Everything it names came before it, and it comes after all the others.
    pub(super) fn push(&mut self, at: Sequence, ending: &Ending) {
        if self.chunks.last().is_none_or(|chunk| chunk.count >= CHUNK) {
            self.chunks.push(Chunk { first: at, last: at, count: 0, bytes: Vec::new() });
        }
        let Some(chunk) = self.chunks.last_mut() else { return };
        let back = |from: Sequence, to: Sequence| from.number().saturating_sub(to.number());
        write(&mut chunk.bytes, back(at, chunk.last) * 2 + u64::from(!ending.completed));
        write(&mut chunk.bytes, ending.input.map_or(0, |input| back(at, input)));
        write(&mut chunk.bytes, ending.outputs.len() as u64);
        let mut after = at;
        for output in ending.outputs.iter().rev() {
            write(&mut chunk.bytes, back(after, *output));
            after = *output;
        }
        chunk.last = at;
        chunk.count += 1;
    }

    /// Returns the end of an execution by its event.
    pub(super) fn find(&self, at: Sequence) -> Option<Ending> {
        let index = self.chunks.partition_point(|chunk| chunk.last < at);
        let chunk = self.chunks.get(index).filter(|chunk| chunk.first <= at)?;
        let mut bytes = chunk.bytes.as_slice();
        let mut here = chunk.first;
        while !bytes.is_empty() {
            let head = read(&mut bytes)?;
            here = Sequence::try_from(here.number().checked_add(head / 2)?).ok()?;
            let ending = read_ending(&mut bytes, here, head % 2 == 0)?;
            if here == at {
                return Some(ending);
            }
        }
        None
    }
}

fn read_ending(bytes: &mut &[u8], at: Sequence, completed: bool) -> Option<Ending> {
    let before = |from: Sequence, back| Sequence::try_from(from.number().checked_sub(back)?).ok();
    let input = match read(bytes)? {
        0 => None,
        back => Some(before(at, back)?),
    };
    let (mut outputs, mut after) = (Vec::new(), at);
    for _ in 0..read(bytes)? {
        after = before(after, read(bytes)?)?;
        outputs.push(after);
    }
    outputs.reverse();
    Some(Ending { completed, input, outputs })
}

/// Writes a number in groups of seven bits, the lowest first; all but the last have the high bit.
fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn write_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn read_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// How many endings are looked through for one.
const CHUNK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> Sequence {
        Sequence::try_from(number).unwrap()
    }

    fn ending(number: u64) -> Ending {
        let outputs = (0..number % 4).map(|back| at(number * 10 - 1 - back)).rev().collect();
        let input = (!number.is_multiple_of(3)).then(|| at(number * 10 - number));
        Ending { completed: !number.is_multiple_of(5), input, outputs }
    }

    #[test]
    fn every_ending_comes_back_as_it_was() {
        let mut endings = Endings::new();
        for number in 1..1000 {
            endings.push(at(number * 10), &ending(number));
        }
        let text = serde_json::to_string(&endings).unwrap();
        let read: Endings = serde_json::from_str(&text).unwrap();
        assert_eq!(read, endings);
        for number in 1..1000 {
            assert_eq!(read.find(at(number * 10)), Some(ending(number)), "event {}", number * 10);
            assert_eq!(read.find(at(number * 10 + 1)), None);
        }
        assert_eq!((read.find(at(0)), read.find(at(1 << 50))), (None, None));
    }

    #[test]
    fn ending_takes_a_few_bytes() {
        let mut endings = Endings::new();
        for number in 1..=100_000 {
            let (input, outputs) = (Some(at(number * 7 - 3)), vec![at(number * 7 - 1)]);
            endings.push(at(number * 7), &Ending { completed: true, input, outputs });
        }
        let bytes: usize = endings.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        assert_eq!(bytes, 400_000);
    }
}
