//! The newest messages, for whoever is slow or comes back.

use std::{collections::VecDeque, sync::Arc};

use demur_store::contract::Cursor;

use super::QuestionChange;

/// The newest messages, by the place of their event.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Everything after this place is here.
    after: Cursor,
    changes: VecDeque<Arc<QuestionChange>>,
}

impl Ring {
    /// Begins anew after a place.
    pub(super) fn begin(&mut self, place: Cursor) {
        self.changes.clear();
        self.after = place;
    }

    /// Keeps a message; the oldest goes where there are too many.
    pub(super) fn push(&mut self, change: Arc<QuestionChange>) {
        self.changes.push_back(change);
        if self.changes.len() > MAX_KEPT_CHANGES
            && let Some(dropped) = self.changes.pop_front()
        {
            self.after = dropped.at;
        }
    }

    /// Returns what was said after a place, a part at a time; none where some of it is gone.
    pub(super) fn since(&self, place: Cursor) -> Option<Vec<Arc<QuestionChange>>> {
        if place < self.after {
            return None;
        }
        let first = self.changes.partition_point(|known| known.at <= place);
        Some(self.changes.range(first..).take(CHANGES_PER_PART).cloned().collect())
    }
}

/// How many messages are kept; each takes about 400 bytes.
const MAX_KEPT_CHANGES: usize = 1024;
/// How many messages go out together.
const CHANGES_PER_PART: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: usize) -> Cursor {
        Cursor::from_bytes((number as u128).to_be_bytes())
    }

    fn filled(count: usize) -> Ring {
        let mut ring = Ring::default();
        ring.begin(at(10));
        for number in 0..count {
            ring.push(Arc::new(QuestionChange::new(at(11 + number), Vec::new(), None)));
        }
        ring
    }

    fn places(ring: &Ring, after: usize) -> Option<Vec<Cursor>> {
        ring.since(at(after)).map(|found| found.iter().map(|change| change.at).collect())
    }

    #[test]
    fn whoever_comes_back_gets_what_came_after() {
        let ring = filled(3);
        assert_eq!(places(&ring, 10), Some(vec![at(11), at(12), at(13)]));
        assert_eq!(places(&ring, 12), Some(vec![at(13)]));
        assert_eq!(places(&ring, 13), Some(Vec::new()));
        assert_eq!(places(&ring, 9), None, "what came before the beginning is not known");
    }

    #[test]
    fn what_is_dropped_is_known_to_be_gone() {
        let ring = filled(MAX_KEPT_CHANGES + 2);
        assert_eq!(places(&ring, 11), None);
        assert_eq!(places(&ring, 12).unwrap().last(), Some(&at(12 + CHANGES_PER_PART)), "a part at a time");
        assert_eq!(ring.changes.len(), MAX_KEPT_CHANGES);
    }
}
