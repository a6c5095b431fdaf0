//! A set of events of one trace, one bit each.

use serde::{Deserialize, Serialize};

use crate::name::Sequence;

/// A set of sequences, dense: a million events take 125 kB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SequenceSet {
    words: Vec<u64>,
}

impl SequenceSet {
    /// Returns the empty set.
    pub(crate) const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// Adds an event. Only called with the sequence of an event that was just folded in, so the set never
    /// grows beyond the trace.
    pub(crate) fn insert(&mut self, sequence: Sequence) {
        let Some((word, bit)) = place(sequence) else { return };
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= bit;
    }

    /// Returns the events in the set, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Sequence> {
        let numbered = self.words.iter().zip((0_u64..).step_by(64)).filter(|(word, _)| **word != 0);
        let numbers = numbered.flat_map(|(word, first)| {
            (0..64).filter(move |bit| (*word >> bit) & 1 == 1).map(move |bit| first + bit)
        });
        numbers.filter_map(|number| Sequence::try_from(number).ok())
    }

    /// Returns whether the event is in the set.
    pub(crate) fn contains(&self, sequence: Sequence) -> bool {
        place(sequence).is_some_and(|(word, bit)| self.words.get(word).is_some_and(|found| found & bit != 0))
    }
}

fn place(sequence: Sequence) -> Option<(usize, u64)> {
    let number = sequence.number();
    Some((usize::try_from(number / 64).ok()?, 1 << (number % 64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_exactly_what_was_inserted() {
        let mut set = SequenceSet::new();
        for number in [0_u32, 1, 63, 64, 1000] {
            set.insert(number.into());
        }
        let held: Vec<u32> = (0..2000).filter(|number| set.contains((*number).into())).collect();
        assert_eq!(held, [0, 1, 63, 64, 1000]);
        assert!(!set.contains(Sequence::try_from(1_u64 << 50).unwrap()));
        let all: Vec<_> = set.iter().map(Sequence::number).collect();
        assert_eq!(all, [0, 1, 63, 64, 1000]);
    }

    #[test]
    fn takes_one_bit_for_an_event() {
        let mut set = SequenceSet::new();
        for (number, words) in [(0_u32, 1), (63, 1), (64, 2), (1000, 16)] {
            set.insert(number.into());
            assert_eq!(set.words.len(), words, "up to event {number}");
        }
    }
}
