//! `demur erase`: words are gone from every file and every view, and the rest still verifies.

mod outside;

use std::{fs, path::Path};

use rusqlite::Connection;
use serde_json::Value;

use crate::{asker, independent::verify_alone, sandbox::Sandbox};

/// Returns a sandbox in which a question with these words was answered with others, and its trace.
fn answered(asked: &str, answer: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let id = asker::asked(&sandbox, &[asked]);
    sandbox.run(&["answer", &id, answer]).expect_code(0);
    let trace = sandbox.trace();
    (sandbox, trace)
}

/// Returns the files below a folder that hold these words.
fn holding(folder: &Path, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is = |path: &Path| path.symlink_metadata().unwrap().file_type();
        if is(&path).is_dir() {
            found.extend(holding(&path, words));
        } else if is(&path).is_file()
            && fs::read(&path).unwrap().windows(words.len()).any(|part| part == words.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// ONE-04 ONE-12
#[test]
fn erased_words_are_nowhere_and_the_rest_still_verifies() {
    let (sandbox, trace) = answered("Is it still swordfish?", "No, marlin");
    assert!(!holding(&sandbox.data(), "swordfish").is_empty());
    let (asked, answer) = (format!("{trace}.0"), format!("{trace}.1"));
    let erased = sandbox.json(&["erase", &asked, "--why", "a password was in it", "--yes"]);
    assert_eq!((&erased["event"], &erased["recorded"]), (&0.into(), &2.into()), "{erased}");
    assert_eq!(holding(&sandbox.data(), "swordfish"), Vec::<String>::new());
    let last = sandbox.run(&["erase", "last.1", "--why", "it quoted it", "--yes"]);
    last.expect_code(0);
    for words in ["swordfish", "marlin"] {
        assert_eq!(holding(&sandbox.data(), words), Vec::<String>::new());
    }
    // No view has them, and every view says so.
    for view in
        [&["show", &asked][..], &["trace", "show", "last"], &["trace", "list"], &["inbox", "--list", "--all"]]
    {
        let ran = sandbox.run(view);
        assert!(!ran.stdout.contains("swordfish") && !ran.stdout.contains("marlin"), "{view:?}: {ran}");
    }
    let shown = sandbox.run(&["trace", "show", "last"]).stdout;
    assert!(shown.contains("erased what #0 said") && shown.contains("a password was in it"), "{shown}");
    // A second time nothing is recorded.
    let again = sandbox.json(&["erase", &answer, "--why", "again", "--yes"]);
    assert_eq!(again["recorded"], Value::Null);
    sandbox.run(&["export", "last", "--out", "after.jsonl"]).expect_code(0);
    let file = fs::read_to_string(sandbox.path("after.jsonl")).unwrap();
    assert!(!file.contains("swordfish") && !file.contains("marlin"));
    let report = sandbox.run(&["verify", "after.jsonl"]);
    report.expect_code(1);
    assert!(report.stdout.contains("NOT ESTABLISHED"), "{report}");
    assert!(report.stdout.contains("#0 was erased on "), "{report}");
    assert!(
        report.stdout.contains("because \u{201c}a password was in it\u{201d}, recorded by demur in #2"),
        "{report}"
    );
    let strict = sandbox.run(&["verify", "--strict", "after.jsonl"]);
    assert!(strict.stdout.contains("NOT ESTABLISHED"), "{strict}");
    let (code, said) = verify_alone(&sandbox.path("after.jsonl"));
    assert_eq!(
        (code, &said["verdict"], &said["code"]),
        (Some(1), &"not_established".into(), &"NOT_DISCLOSED".into())
    );
    sandbox.run(&["store", "check"]).expect_code(0);
}

/// ONE-04: a secret that its asker has not taken goes with the answer.
#[test]
fn secret_that_waits_is_erased_with_its_answer() {
    let sandbox = Sandbox::new();
    let id = asker::asked(&sandbox, &["Password?", "--secret"]);
    sandbox.feed(&["answer", &id, "-"], b"swordfish").expect_code(0);
    // What waits is sealed: no file has its words.
    let waiting = || {
        let secrets = Connection::open(sandbox.data().join("secrets.db")).unwrap();
        secrets.query_row("SELECT count(*) FROM secrets", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(waiting(), 1);
    sandbox.run(&["erase", "last.1", "--why", "typed by mistake", "--yes"]).expect_code(0);
    assert_eq!(waiting(), 0);
}

#[test]
fn what_cannot_be_erased_is_refused_with_what_to_do() {
    let (sandbox, trace) = answered("Which colour?", "blue");
    let refused = |event: &str, exit: i32| {
        let error = sandbox.json_error(&["erase", event, "--why", "w", "--yes"], exit);
        (error["code"].as_str().unwrap().to_owned(), error["hint"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(refused("last", 2).0, "EVENT_MALFORMED");
    assert_eq!(refused("last.x", 2).0, "EVENT_MALFORMED");
    assert_eq!(refused("ZZZZZZ.0", 2).0, "TRACE_UNKNOWN");
    assert_eq!(refused(&format!("{trace}.99"), 2).0, "EVENT_UNKNOWN");
    let id = asker::asked(&sandbox, &["Which size?"]);
    let (code, hint) = refused(&id, 3);
    assert_eq!(code, "SETTLE_FIRST");
    assert!(hint.contains(&format!("demur decline {id}")), "{hint}");
    sandbox.run(&["decline", &id, "--reason", "no"]).expect_code(0);
    sandbox.run(&["erase", &id, "--why", "w", "--yes"]).expect_code(0);
    // Nobody is asked in a pipe.
    let error = sandbox.json_error(&["erase", &format!("{trace}.0"), "--why", "w"], 2);
    assert_eq!(error["code"], "CONFIRMATION_NEEDED");
}

/// ONE-13: words that somebody removed by hand are not called erased.
#[test]
fn words_removed_behind_the_record_are_found() {
    let (sandbox, _) = answered("Which colour?", "blue");
    sandbox.rest();
    sandbox.tamper("UPDATE events SET content = x'', content_salt = x'' WHERE content LIKE '%Which colour%'");
    let check = sandbox.run(&["store", "check"]);
    check.expect_code(1);
    assert!(check.stdout.contains("no event says by whom and why"), "{check}");
    sandbox.run(&["export", "last", "--out", "after.jsonl"]).expect_code(0);
    let report = sandbox.run(&["verify", "after.jsonl"]);
    report.expect_code(1);
    assert!(report.stdout.contains("ERASURE_UNRECORDED"), "{report}");
    assert_eq!(verify_alone(&sandbox.path("after.jsonl")).1["code"], "ERASURE_UNRECORDED");
}

/// Whatever is erased of a run, both verifiers find everything else whole.
#[test]
fn every_event_of_a_run_can_be_erased_after_its_end() {
    let sandbox = Sandbox::with_run();
    let events = sandbox.json(&["trace", "list"])["traces"][0]["events"].as_u64().unwrap();
    let mut erased = 0;
    for number in 0..events {
        let ran = sandbox.run(&["erase", &format!("last.{number}"), "--why", "asked to", "--yes", "--json"]);
        if !ran.stderr.contains("NOTHING_TO_ERASE") {
            ran.expect_code(0);
            erased += 1;
        }
    }
    assert!(erased > 10, "{erased} of {events}");
    sandbox.run(&["export", "last", "--out", "after.jsonl"]).expect_code(0);
    let report = sandbox.run(&["verify", "after.jsonl"]);
    assert!(report.stdout.contains("NOT ESTABLISHED"), "{report}");
    assert_eq!(verify_alone(&sandbox.path("after.jsonl")).1["verdict"], "not_established");
    assert_eq!(
        fs::read_dir(sandbox.data().join("artifacts"))
            .unwrap()
            .flatten()
            .map(|folder| fs::read_dir(folder.path()).unwrap().count())
            .sum::<usize>(),
        0
    );
    sandbox.run(&["store", "check"]).expect_code(0);
}
