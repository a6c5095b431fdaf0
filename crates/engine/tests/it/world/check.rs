//! What holds for every decision, whatever was asked.

use demur_engine::{Decision, Reply, refusal::RuleRefusal, state::State};
use demur_ledger::{event_type::Facts, facts::RefusalCode};
use serde_json::Value;

use super::{To, World};
use crate::codes::PINNED;

impl World {
    /// Checks a decision after its events were applied.
    pub(super) fn check(&mut self, before: &State, to: To, decision: &Decision) {
        let after = &self.log(to).state;
        match &decision.reply {
            Reply::Recorded(position) => {
                let (Some(first), Some(last)) = (decision.events.first(), decision.events.last()) else {
                    panic!("{decision:?}")
                };
                assert_eq!(first.event.position(), *position);
                assert_eq!(after.tip().head(), Some(last.event.position()));
            }
            Reply::Repeated { .. } | Reply::Moved => assert_eq!(before, after),
            Reply::Refused(refusal) => {
                check_unchanged(before, after, decision, refusal);
                self.check_refusal(refusal);
            }
        }
    }

    /// Checks that a refusal says what it must, and remembers its code.
    pub(super) fn check_refusal(&mut self, refusal: &RuleRefusal) {
        assert!(RefusalCode::try_from(refusal.code.to_owned()).is_ok(), "{refusal}");
        assert!(PINNED.contains(&refusal.code), "{refusal}");
        assert!(!refusal.message.is_empty() && !refusal.cure.is_empty(), "{refusal}");
        self.refused.insert(refusal.code);
    }
}

/// A refusal changes nothing but the end of the trace, and that only by saying so.
fn check_unchanged(before: &State, after: &State, decision: &Decision, refusal: &RuleRefusal) {
    assert_eq!(before.phase(), after.phase());
    assert_eq!(domain(before), domain(after));
    match decision.events.as_slice() {
        [] => assert_eq!(before, after),
        [entry] => {
            let Facts::CommandRefused(facts) = entry.event.said().unwrap().facts else {
                panic!("a refusal recorded something else: {entry:?}");
            };
            assert_eq!(facts.code.as_str(), refusal.code);
        }
        more => panic!("a refusal recorded {} events", more.len()),
    }
}

/// Returns what is open in a trace, without its end.
fn domain(state: &State) -> Option<Value> {
    let mut value = match (state.run(), state.work()) {
        (Some(run), _) => serde_json::to_value(run).unwrap(),
        (_, Some(work)) => serde_json::to_value(work).unwrap(),
        _ => return None,
    };
    value.as_object_mut().unwrap().remove("head").unwrap();
    Some(value)
}
