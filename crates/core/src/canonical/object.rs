//! Objects in the making: members are appended as they come and put in order at the end, if they need it.

use std::ops::Range;

use super::error::WriteError;
use super::order::{Key, compare};

/// Where the members of one object stand in the output.
///
/// Types that declare their fields in order pay one comparison for each key and nothing at the end.
pub(super) struct Members {
    /// Where in the writer's list the members of this object begin.
    base: usize,
    sorted: bool,
}

impl Members {
    /// Returns the empty object; `list` is shared by all objects that are open.
    pub(super) fn new(list: &[Key]) -> Self {
        Self { base: list.len(), sorted: true }
    }

    /// Returns whether no member has come yet.
    pub(super) fn is_empty(&self, list: &[Key]) -> bool {
        list.len() == self.base
    }

    /// Takes note of the key that was just written.
    pub(super) fn add(&mut self, key: Key, list: &mut Vec<Key>, out: &[u8]) {
        if self.sorted
            && let Some(&last) = list[self.base..].last()
        {
            self.sorted = compare(out, last, key).is_lt();
        }
        list.push(key);
    }

    /// Puts the members in order; the last value ends where `out` ends.
    pub(super) fn finish(self, list: &mut Vec<Key>, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let sorted = if self.sorted { Ok(()) } else { sort(&list[self.base..], out) };
        list.truncate(self.base);
        sorted
    }
}

#[cold]
fn sort(keys: &[Key], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let ends = keys[1..].iter().map(|next| next.start - 2).chain([out.len()]);
    let mut members: Vec<(Key, Range<usize>)> =
        keys.iter().zip(ends).map(|(&key, end)| (key, key.start - 1..end)).collect();
    members.sort_by(|(left, _), (right, _)| compare(out, *left, *right));
    if let Some(pair) = members.windows(2).find(|pair| compare(out, pair[0].0, pair[1].0).is_eq()) {
        let key = String::from_utf8_lossy(pair[0].0.raw(out));
        return Err(WriteError::DuplicateKey { key: format!("\"{key}\"") });
    }
    let start = keys[0].start - 1;
    let mut ordered = Vec::with_capacity(out.len() - start);
    for (_, member) in members {
        if !ordered.is_empty() {
            ordered.push(b',');
        }
        ordered.extend_from_slice(&out[member]);
    }
    out.truncate(start);
    out.extend_from_slice(&ordered);
    Ok(())
}
