//! Which deadlines are fired where some cannot be.

use std::thread;

use demur_ledger::question::OutcomeKind;

use super::*;
use crate::question::{tests::Shared, view};

#[test]
fn deadline_fires_behind_any_number_that_cannot_be_recorded() {
    let shared = Shared::new();
    let owner = &shared.owner;
    for number in 0..=DEADLINES_PER_LOOK {
        let stuck = shared.ask(&format!("Number {number}?"));
        shared.visit(stuck, OutcomeKind::Open);
    }
    let last = shared.ask("The last?");
    let deadline = view(owner, last).unwrap().deadline.unwrap();
    let now = loop {
        match owner.system().now().unwrap() {
            now if now < deadline => thread::yield_now(),
            now => break now,
        }
    };
    let mut passed = Passed::default();
    assert_eq!(fire(owner, now, &mut passed).unwrap(), Duration::ZERO, "there are others behind them");
    assert_eq!(passed.questions.len(), DEADLINES_PER_LOOK);
    assert!(passed.questions.values().all(|code| *code == Code::TraceNewer), "{:?}", passed.questions);
    assert_eq!(fire(owner, now, &mut passed).unwrap(), RETRY_DELAY, "and then no more");
    assert_eq!(view(owner, last).unwrap().state, OutcomeKind::Expired);
    assert_eq!(passed.questions.len(), DEADLINES_PER_LOOK + 1);
}
