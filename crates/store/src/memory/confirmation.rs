//! The list of confirmations of a store in memory.

use std::collections::BTreeMap;

use demur_core::time::Timestamp;
use demur_ledger::{
    confirmation::ConfirmationStanding,
    name::{Sequence, TraceId},
};

use crate::contract::{ConfirmationFilter, ConfirmationRow, ConfirmationSummary, Cursor};

/// Every confirmation, in the order of asking.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfirmationList {
    confirmations: BTreeMap<Cursor, ConfirmationSummary>,
    cursors: BTreeMap<(TraceId, Sequence), Cursor>,
}

impl ConfirmationList {
    /// Notes how a confirmation stands. A new one was asked there and then.
    pub(super) fn put(
        &mut self,
        (trace, sequence): (TraceId, Sequence),
        row: ConfirmationRow,
        place: impl FnOnce() -> Option<(Cursor, Timestamp)>,
    ) {
        if let Some(cursor) = self.cursors.get(&(trace, sequence)) {
            self.confirmations.entry(*cursor).and_modify(|confirmation| confirmation.row = row);
        } else if let Some((cursor, asked)) = place() {
            self.cursors.insert((trace, sequence), cursor);
            let summary = ConfirmationSummary { cursor, trace, sequence, asked, row };
            self.confirmations.insert(cursor, summary);
        }
    }

    pub(super) fn page(
        &self,
        filter: &ConfirmationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Vec<ConfirmationSummary> {
        let behind = |found: &&ConfirmationSummary| match after {
            None => true,
            Some(after) if filter.newest_first => found.cursor < after,
            Some(after) => found.cursor > after,
        };
        let admitted = |found: &&ConfirmationSummary| behind(found) && filter.admits(found);
        if filter.newest_first {
            self.confirmations.values().rev().filter(admitted).take(limit).copied().collect()
        } else {
            self.confirmations.values().filter(admitted).take(limit).copied().collect()
        }
    }

    pub(super) fn find(&self, trace: TraceId, sequence: Sequence) -> Option<ConfirmationSummary> {
        self.confirmations.get(self.cursors.get(&(trace, sequence))?).copied()
    }

    /// Returns the open confirmations that have a deadline and whose trace can go on, by deadline.
    pub(super) fn by_deadline(
        &self,
        goes_on: impl Fn(TraceId) -> bool,
    ) -> impl Iterator<Item = (Timestamp, ConfirmationSummary)> {
        let open = self.confirmations.values();
        let mut waiting: Vec<_> = open
            .filter(|found| found.row.outcome == ConfirmationStanding::Open && goes_on(found.trace))
            .filter_map(|found| Some((found.row.deadline?, *found)))
            .collect();
        waiting.sort_unstable_by_key(|(deadline, found)| (*deadline, found.cursor));
        waiting.into_iter()
    }
}
