//! Marks for what other processes record in a shared store. The follower hears of it a moment later and out of line with what
//! this process records, so nothing is taken away here before the ledger was looked at.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use demur_api::{question::QuestionId, refusal::Refusal};
use demur_ledger::{
    entry::Entry,
    event_type::Facts,
    name::TraceId,
    question::{OutcomeKind, touched},
};
use demur_sequencer::Listener as _;
use demur_store::contract::Store;

use super::{Marks, OPEN, seen};

impl Marks {
    /// Marks what others asked, and takes away the marks of what they settled.
    pub(crate) fn hear(&self, store: &dyn Store, changes: Vec<(TraceId, Entry)>) -> Result<(), Refusal> {
        changes.iter().for_each(|(trace, entry)| seen::renew(&self.folder, *trace, entry));
        if self.kept().askers.is_empty() {
            return Ok(());
        }
        let mut opening = BTreeMap::<_, Vec<_>>::new();
        let mut settled = Vec::new();
        for (trace, entry) in changes {
            if opens(&entry) {
                opening.entry(trace).or_default().push(entry);
            } else {
                settled.extend(touched(&entry.event).map(|sequence| QuestionId { trace, sequence }));
            }
        }
        for (trace, entries) in &opening {
            self.recorded(*trace, entries);
        }
        settled.into_iter().try_for_each(|id| self.hear_settled(store, id))
    }

    /// Takes a mark away, unless the question stops somebody again by now.
    fn hear_settled(&self, store: &dyn Store, id: QuestionId) -> Result<(), Refusal> {
        if !self.folder.join(OPEN).join(id.to_string()).exists() {
            return Ok(());
        }
        let made = self.made.load(Ordering::Relaxed);
        let outcome = store.question(id.trace, id.sequence)?.map(|summary| summary.row.outcome);
        let stops = [None, Some(OutcomeKind::Open), Some(OutcomeKind::Declined), Some(OutcomeKind::Expired)];
        let _kept = self.kept();
        // What was marked since may be this one. A mark too many goes with the next look of a hook.
        if !stops.contains(&outcome) && made == self.made.load(Ordering::Relaxed) {
            self.unmark(id.trace, id.sequence);
        }
        Ok(())
    }
}

/// Returns whether an event may make a question stop somebody, or says whose questions follow.
fn opens(entry: &Entry) -> bool {
    entry.event.said().is_ok_and(|said| {
        matches!(
            said.facts,
            Facts::PlanSubmitted(_)
                | Facts::QuestionAsked(_)
                | Facts::GapFound(_)
                | Facts::AnswerRevoked(_)
                | Facts::QuestionEscalated(_)
        )
    })
}
