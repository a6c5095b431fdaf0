//! `demur trace list`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{asker::asked, sandbox::Sandbox};

#[test]
fn empty_store_says_what_to_do_next() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["trace", "list"]), @r"
    exit 0
    --- stdout
    No traces in [DIR]/data: there is no data folder there yet.
    Watch how one comes about: demur demo
    ");
    assert!(!sandbox.data().exists());
    let reply = Sandbox::with_keys().json(&["trace", "list"]);
    assert_eq!((&reply["traces"], &reply["next"]), (&json!([]), &Value::Null));
}

#[test]
fn trace_has_its_phase_events_and_times() {
    let sandbox = Sandbox::with_run();
    assert_snapshot!(sandbox.run(&["trace", "list"]), @r"
    exit 0
    --- stdout
    TRACE                       PHASE      EVENTS  OPENED                   LAST CHANGE              DAMAGE      SUBJECT
    [ULID]  completed  25      [TIME]  [TIME]  none known  count a text
    ");
    let reply = sandbox.json(&["trace", "list"]);
    let trace = &reply["traces"][0];
    assert_eq!(
        (&trace["events"], &trace["phase"], &trace["failed"]),
        (&25.into(), &"completed".into(), &Value::Null)
    );
    let known = sandbox.json(&["verify", "data/demo.jsonl"]);
    assert_eq!(trace["head"], known["report"]["scope"]["through"]);
}

#[test]
fn listing_traces_changes_nothing() {
    let sandbox = Sandbox::with_run();
    sandbox.start_server();
    let before = sandbox.contents();
    sandbox.run(&["trace", "list"]).expect_code(0);
    sandbox.run(&["trace", "show", "last"]).expect_code(0);
    sandbox.run(&["export", "last"]).expect_code(0);
    assert_eq!(sandbox.contents(), before);
}

/// Opens traces as somebody else would: copies of one run under other ids, which the list does not verify.
fn with_traces(count: u32) -> Sandbox {
    let sandbox = Sandbox::with_run();
    for number in 0..count {
        sandbox.tamper(&format!(
            "INSERT INTO traces (trace, kind, opened) SELECT randomblob(16), kind, opened + {number} FROM traces
                 WHERE id = 2;
             INSERT INTO events (trace, sequence, hash, time, writer, bytes)
                 SELECT (SELECT max(id) FROM traces), 0, randomblob(32), time, writer, bytes FROM events
                 WHERE trace = 2 AND sequence = 0"
        ));
    }
    sandbox
}

#[test]
fn pages_follow_each_other_without_gap_or_overlap() {
    let sandbox = with_traces(6);
    let id = |trace: &Value| trace["trace"].as_str().unwrap().to_owned();
    let all = sandbox.json(&["trace", "list"]);
    let expected: Vec<String> = all["traces"].as_array().unwrap().iter().map(id).collect();
    assert_eq!((expected.len(), &all["next"]), (7, &Value::Null));
    let mut found = Vec::new();
    let mut page = sandbox.json(&["trace", "list", "--limit", "3"]);
    loop {
        found.extend(page["traces"].as_array().unwrap().iter().map(id));
        let Some(next) = page["next"].as_str() else { break };
        page = sandbox.json(&["trace", "list", "--limit", "3", "--after", next]);
    }
    assert_eq!(found, expected);
    let told = sandbox.run(&["trace", "list", "--limit", "1"]).stdout;
    assert!(told.contains(&format!("There are more: demur trace list --after {}", expected[0])), "{told}");
    let told = sandbox.run(&["trace", "list", "--after", &expected[6]]).stdout;
    assert_eq!(told, "No traces older than that one.\n");
}

#[test]
fn bad_limits_and_ids_are_told() {
    let sandbox = Sandbox::with_run();
    for limit in ["0", "-1", "x", "100001"] {
        sandbox.json_error(&["trace", "list", "--limit", limit], 2);
    }
    assert_eq!(sandbox.json_error(&["trace", "list", "--after", "01ARZ"], 2)["code"], "ID_TOO_SHORT");
    let unknown = ["trace", "list", "--after", "01ARZ3NDEKTSV4RRFFQ69G5FAV"];
    assert_eq!(sandbox.json_error(&unknown, 2)["code"], "TRACE_UNKNOWN");
}

/// LED-18: a trace that was marked says so in the same place, whether it is a run or a question.
#[test]
fn trace_that_was_marked_as_failed_says_so() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Which?"]);
    sandbox.rest();
    sandbox.tamper("UPDATE events SET content_salt = randomblob(32) WHERE trace = 2 AND sequence = 0");
    sandbox.run(&["store", "check"]).expect_code(1);
    let listed = sandbox.run(&["trace", "list"]).expect_code(0).stdout.clone();
    assert!(listed.contains("  failed  ") && !listed.contains("  work  "), "{listed}");
    assert!(sandbox.json(&["trace", "list"])["traces"][0]["failed"]["code"].is_string());
}
