//! What is kept of a question, in whichever order this is told of it.

use std::sync::Arc;

use demur_api::question::Ask;
use demur_ledger::role::Role;

use super::*;
use crate::{data::DataFolder, owner::Owner, question};

/// Keeps what it is told.
#[derive(Default)]
struct Told(Mutex<Vec<(TraceId, Entry)>>);

impl Listener for Told {
    fn recorded(&self, trace: TraceId, entries: &[Entry]) {
        self.0.lock().unwrap().extend(entries.iter().map(|entry| (trace, entry.clone())));
    }
}

/// Returns a question with the event that asks it.
fn asked() -> (QuestionId, Entry) {
    let folder = tempfile::tempdir().unwrap();
    let (mut owner, _) = Owner::open_or_create(&DataFolder::at(folder.path().to_owned())).unwrap();
    let told = Arc::<Told>::default();
    owner.listen(Arc::clone(&told) as _);
    let asker = owner.find_or_enrol("asker", Role::Agent).unwrap();
    let words: Ask = serde_json::from_str(r#"{"question": "Which?"}"#).unwrap();
    let id = question::ask(&owner, &asker, &words, None).unwrap().id;
    let mut told = told.0.lock().unwrap();
    let at = told.iter().position(|(trace, _)| *trace == id.trace).unwrap();
    (id, told.remove(at).1)
}

#[test]
fn question_that_was_answered_elsewhere_before_this_heard_of_it_is_not_kept() {
    let (id, entry) = asked();
    let in_order = QuestionCache::default();
    in_order.recorded(id.trace, std::slice::from_ref(&entry));
    assert!(in_order.find(id).is_some());
    in_order.forget(id);
    assert!(in_order.find(id).is_none());
    let too_late = QuestionCache::default();
    too_late.forget(id);
    too_late.recorded(id.trace, &[entry]);
    assert!(too_late.find(id).is_none());
}

#[test]
fn what_came_too_late_is_remembered_within_bounds() {
    let cache = QuestionCache::default();
    let (id, _) = asked();
    let ids =
        (0..MAX_MISSED_QUESTIONS as u64 + 9).map(|number| format!("{}.{number}", id.trace).parse().unwrap());
    ids.for_each(|id: QuestionId| {
        cache.forget(id);
        cache.forget(id);
    });
    let kept = cache.kept();
    assert_eq!((kept.missed.len(), kept.missed_order.len()), (MAX_MISSED_QUESTIONS, MAX_MISSED_QUESTIONS));
}
