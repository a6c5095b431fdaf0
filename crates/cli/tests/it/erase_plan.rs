//! Erasure in plans: every part goes with the papers that quote it, whatever became of the plan, and never from under a question.

use std::fs;

use serde_json::{Value, json};

use crate::{
    independent::verify_alone,
    plan::{Planned, with},
    sandbox::Sandbox,
};

fn gappy(description: &str) -> Value {
    with(&json!({"real_build": true, "description": description}))
}

/// Returns the numbers of the events of the newest trace by their types.
fn events(sandbox: &Sandbox, kind: &str) -> Vec<u64> {
    let shown = sandbox.json(&["trace", "show", "last"]);
    let events = shown["entries"].as_array().unwrap();
    let of_kind = events.iter().filter(|event| event["kind"] == kind);
    of_kind.map(|event| event["sequence"].as_u64().unwrap()).collect()
}

fn erase(sandbox: &Sandbox, event: u64) -> Value {
    sandbox.json(&["erase", &format!("last.{event}"), "--why", "asked to", "--yes"])
}

/// Returns the words of an export, which both verifiers find whole but for what is gone.
fn exported(sandbox: &Sandbox) -> String {
    sandbox.run(&["export", "last", "--out", "after.jsonl"]).expect_code(0);
    let report = sandbox.run(&["verify", "after.jsonl"]);
    assert!(report.expect_code(1).stdout.contains("NOT ESTABLISHED"), "{report}");
    assert_eq!(verify_alone(&sandbox.path("after.jsonl")).1["verdict"], "not_established");
    let words = fs::read_to_string(sandbox.path("after.jsonl")).unwrap();
    fs::remove_file(sandbox.path("after.jsonl")).unwrap();
    words
}

/// ONE-04: what an amendment says stands in every paper after it too.
#[test]
fn an_amendment_goes_with_every_paper_that_quotes_it() {
    let planned = Planned::new(&gappy("a page"));
    let amended = gappy("a page for swordfish");
    fs::write(planned.sandbox.path("new.json"), amended.to_string()).unwrap();
    planned.run("amend", &["new.json"]).expect_code(3);
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    planned.run("confirm", &[]).expect_code(0);
    let [amendment] = events(&planned.sandbox, "plan_amended")[..] else { panic!("one amendment") };
    let [confirmed] = events(&planned.sandbox, "plan_confirmed")[..] else { panic!("one confirmation") };
    let gone = erase(&planned.sandbox, amendment);
    assert!(gone["papers"].as_array().unwrap().len() >= 2, "{gone}");
    erase(&planned.sandbox, confirmed);
    assert!(!exported(&planned.sandbox).contains("swordfish"));
}

/// ONE-12
#[test]
fn a_plan_that_was_withdrawn_can_be_erased() {
    let planned = Planned::new(&gappy("swordfish"));
    planned.run("withdraw", &[]).expect_code(0);
    erase(&planned.sandbox, 0);
    assert!(!exported(&planned.sandbox).contains("swordfish"));
    planned.sandbox.run(&["store", "check"]).expect_code(0);
}

/// What is left to ask is told from the plan, its amendments and its papers: without them nobody could answer.
#[test]
fn no_part_of_a_plan_goes_while_one_of_its_questions_is_open() {
    let planned = Planned::new(&gappy("a page"));
    fs::write(planned.sandbox.path("new.json"), gappy("another page").to_string()).unwrap();
    planned.run("amend", &["new.json"]).expect_code(3);
    for kind in ["plan_submitted", "rules_recorded", "gap_found", "plan_amended", "paper_recorded"] {
        for event in events(&planned.sandbox, kind) {
            let event = format!("last.{event}");
            let error = planned.sandbox.json_error(&["erase", &event, "--why", "w", "--yes"], 3);
            assert_eq!(error["code"], "SETTLE_FIRST", "{kind}: {error}");
        }
    }
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    planned.run("confirm", &[]).expect_code(0);
}

/// The page of a report holds words of others, and none of them is markup.
#[test]
fn a_reason_for_erasing_is_no_markup_in_the_page_of_a_report() {
    let planned = Planned::new(&gappy("a page"));
    planned.run("withdraw", &[]).expect_code(0);
    let why = "<img src=x onerror=alert(1)>";
    planned.sandbox.run(&["erase", "last.0", "--why", why, "--yes"]).expect_code(0);
    planned.sandbox.run(&["export", "last", "--out", "after.jsonl"]).expect_code(0);
    planned.sandbox.run(&["verify", "after.jsonl", "--html", "report.html"]);
    let page = fs::read_to_string(planned.sandbox.path("report.html")).unwrap();
    assert!(page.contains("&lt;img src=x"), "{page}");
    assert!(!page.contains("<img"), "{page}");
}
