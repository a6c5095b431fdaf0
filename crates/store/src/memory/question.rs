//! The list of questions of a store in memory.

use std::collections::{BTreeMap, BTreeSet};

use demur_core::time::Timestamp;
use demur_ledger::{
    name::{PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};

use crate::contract::{Cursor, QuestionFilter, QuestionRow, QuestionSummary};

/// Every question, in the order of asking.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    questions: BTreeMap<Cursor, QuestionSummary>,
    cursors: BTreeMap<(TraceId, Sequence), Cursor>,
}

impl List {
    /// Notes how a question stands, or that it is no longer there. A new one was asked there and then.
    pub(super) fn put(
        &mut self,
        (trace, sequence): (TraceId, Sequence),
        row: Option<QuestionRow>,
        place: impl FnOnce() -> Option<(Cursor, Timestamp)>,
    ) {
        let known = self.cursors.get(&(trace, sequence)).copied();
        match (row, known) {
            (Some(row), Some(cursor)) => {
                self.questions.entry(cursor).and_modify(|question| question.row = row);
            }
            (Some(row), None) => {
                let Some((cursor, asked)) = place() else { return };
                self.cursors.insert((trace, sequence), cursor);
                self.questions.insert(cursor, QuestionSummary { cursor, trace, sequence, asked, row });
            }
            (None, Some(cursor)) => {
                self.cursors.remove(&(trace, sequence));
                self.questions.remove(&cursor);
            }
            (None, None) => {}
        }
    }

    pub(super) fn page(
        &self,
        filter: &QuestionFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Vec<QuestionSummary> {
        let behind = |question: &&QuestionSummary| match after {
            None => true,
            Some(after) if filter.newest_first => question.cursor < after,
            Some(after) => question.cursor > after,
        };
        let admitted = |question: &&QuestionSummary| behind(question) && filter.admits(question);
        if filter.newest_first {
            self.questions.values().rev().filter(admitted).take(limit).copied().collect()
        } else {
            self.questions.values().filter(admitted).take(limit).copied().collect()
        }
    }

    pub(super) fn open_holders(&self) -> Vec<PrincipalId> {
        let open = self.questions.values().filter(|question| question.row.outcome == OutcomeKind::Open);
        open.map(|question| question.row.holder()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(super) fn find(&self, trace: TraceId, sequence: Sequence) -> Option<QuestionSummary> {
        self.questions.get(self.cursors.get(&(trace, sequence))?).copied()
    }

    pub(super) fn counts(&self) -> Vec<(OutcomeKind, u64)> {
        let mut counts: BTreeMap<OutcomeKind, u64> = BTreeMap::new();
        for question in self.questions.values() {
            *counts.entry(question.row.outcome).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    /// Returns the open questions that have a deadline and whose trace can go on, by deadline.
    pub(super) fn by_deadline(
        &self,
        goes_on: impl Fn(TraceId) -> bool,
    ) -> impl Iterator<Item = (Timestamp, QuestionSummary)> {
        let open = self.questions.values().filter(|question| question.row.outcome == OutcomeKind::Open);
        let mut waiting: Vec<_> = open
            .filter(|question| goes_on(question.trace))
            .filter_map(|question| Some((question.row.deadline?, *question)))
            .collect();
        waiting.sort_unstable_by_key(|(deadline, question)| (*deadline, question.cursor));
        waiting.into_iter()
    }
}
