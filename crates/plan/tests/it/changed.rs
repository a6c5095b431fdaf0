//! Answers that are replaced or taken back: the plan is as if they had never been given, and the rules are asked again.

use demur_clarify::{keys::KeyHistory, status::PlanStatus};
use demur_plan::{act::Judged, no_guess::NoGuess};
use serde_json::json;

use crate::{
    lifecycle::{open, with},
    office::{Office, Who},
};

/// CLR-04
#[test]
fn an_answer_that_is_replaced_or_taken_back_leaves_the_plan() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    office.answer(Who::Person, "gap-001", "dist");
    assert_eq!(office.session().plan().as_value()["output_path"], "dist");
    assert!(matches!(office.replace(Who::Person, "gap-001", "out").unwrap(), Judged::Resolved));
    assert_eq!(office.session().plan().as_value()["output_path"], "out");
    office.revoke(Who::Person, "gap-001").unwrap();
    let session = office.session();
    assert_eq!(session.plan(), session.submitted());
    assert_eq!(open(&office), ["output_path"]);
    // The record still verifies, and says that something is open.
    let record = session.audit().unwrap();
    record.verify(&KeyHistory::single(&office.signer()), &[]).unwrap();
    assert_eq!((record.total_rounds.as_u64(), record.all_resolved), (3, false));
}

/// CLR-50: the round of an answer that is taken back is never changed; the one after it says that the gap is open, and by which
/// event it was settled until then. Once it is answered again, it reads as settled again.
#[test]
fn an_answer_that_is_taken_back_reads_as_not_resolved_in_the_record() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    office.answer(Who::Person, "gap-001", "dist");
    let session = office.session();
    let (before, answer) =
        (session.audit().unwrap(), session.answer_to(session.gap("gap-001").unwrap()).unwrap());
    assert!(before.chain[0].is_resolved() && before.all_resolved);
    office.revoke(Who::Person, "gap-001").unwrap();
    let record = office.session().audit().unwrap();
    assert_eq!(record.chain[0], before.chain[0]);
    let last = &record.chain[1];
    assert_eq!(last.answer().as_str(), format!("the answer of event {answer} is taken back"));
    assert!(!last.is_resolved() && !record.all_resolved && record.withdrawn_gaps.is_none());
    office.answer(Who::Person, "gap-001", "out");
    let record = office.session().audit().unwrap();
    assert!(record.chain[2].is_resolved() && record.all_resolved);
    record.verify(&KeyHistory::single(&office.signer()), &[]).unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
}

/// CLR-52
#[test]
fn a_plan_whose_answers_were_changed_is_finished_like_any_other() {
    let mut office = Office::with(&json!({"description": "a status page", "operation": "add"}));
    office.answer(Who::Person, "gap-001", "webpart-react");
    let uncovered = open(&office);
    assert_eq!(uncovered.len(), 2, "{uncovered:?}");
    // What the answer uncovered goes with it.
    office.revoke(Who::Person, "gap-001").unwrap();
    assert_eq!(open(&office), ["component_type"]);
    office.answer(Who::Person, "gap-001", "webpart-react");
    let gaps: Vec<_> = office.session().open_gaps().map(|gap| (gap.id.clone(), gap.field.clone())).collect();
    for (id, field) in gaps {
        let value = if field.as_str() == "api_choice" { "rest" } else { "properties" };
        office.answer(Who::Person, id.as_str(), value);
    }
    assert_eq!(office.session().standing(), PlanStatus::ReadyToProceed);
    office.confirm().unwrap();
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.holds(), "{report:?}");
}

#[test]
fn a_new_answer_that_settles_nothing_puts_the_gap_again() {
    let mut office = Office::with(&json!({"description": "a status page", "operation": "add"}));
    office.answer(Who::Person, "gap-001", "webpart-react");
    let judged = office.replace(Who::Person, "gap-001", "the usual one").unwrap();
    assert!(matches!(judged, Judged::Escalated(_)));
    assert_eq!(open(&office), ["component_type"], "and what the first one uncovered is withdrawn");
    let report = NoGuess::check(office.events.clone()).unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
}

#[test]
fn nothing_is_changed_after_the_plan_is_confirmed() {
    let mut office = Office::with(&with(&json!({"real_build": true})));
    office.answer(Who::Person, "gap-001", "dist");
    office.confirm().unwrap();
    assert!(office.replace(Who::Person, "gap-001", "out").is_err());
    assert!(office.revoke(Who::Person, "gap-001").is_err());
    assert_eq!(office.session().plan().as_value()["output_path"], "dist");
}
