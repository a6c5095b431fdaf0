//! `demur store check` and `demur store rebuild`.

use std::{fs, process::Command};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[test]
fn sound_store_holds() {
    let sandbox = Sandbox::with_run();
    assert_snapshot!(sandbox.run(&["store", "check"]), @r"
    exit 0
    --- stdout
    All of it holds: 2 traces with 35 events, files and signatures.
    ");
    let reply = sandbox.json(&["store", "check"]);
    assert_eq!((&reply["problems"], &reply["size"]), (&json!([]), &json!({"events": 35, "traces": 2})));
}

#[test]
fn checking_changes_nothing() {
    let sandbox = Sandbox::with_run();
    sandbox.start_server();
    let before = sandbox.contents();
    sandbox.run(&["store", "check"]).expect_code(0);
    assert_eq!(sandbox.contents(), before);
}

/// LED-18: a trace whose events do not verify is marked, stays readable, and the others go on.
#[test]
fn trace_that_does_not_verify_is_marked_as_failed() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper(
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"claim_issued\"', '\"claim_revised\"') AS BLOB)
         WHERE trace = 2 AND sequence = 12",
    );
    assert_snapshot!(sandbox.run(&["store", "check"]), @r"
    exit 1
    --- stdout
    EVENT_DAMAGED event 12 of trace [ULID]: its bytes do not have its hash
        cure: keep these files, and restore a backup with `demur store restore`
    EVENT_DAMAGED event 12 of trace [ULID]: its bytes are not an event: expected another shape (missing field `replaces` at line 1 column 57) at byte 57
        cure: keep these files, and restore a backup with `demur store restore`
    EVENT_DAMAGED event 13 of trace [ULID]: expected event 12 of the trace, found 13
        cure: keep these files, and restore a backup with `demur store restore`
    DERIVED_DIFFERS the table commands lacks 0 rows and has 1 that do not follow from the events
        cure: see to the events first: this follows from them
    DERIVED_DIFFERS the table runs lacks 0 rows and has 1 that do not follow from the events
        cure: see to the events first: this follows from them
    Trace [ULID] is marked as failed: nothing is added to it any more.
    5 problems among 2 traces with 35 events.
    ");
    let listed = sandbox.run(&["trace", "list"]).stdout;
    assert!(listed.contains("at event 12") && listed.contains("  failed  "), "{listed}");
    let trace = sandbox.json(&["trace", "list"])["traces"][0].clone();
    assert_eq!((&trace["failed"]["sequence"], &trace["phase"]), (&12.into(), &"failed".into()));
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    // The mark stays, and so does the finding.
    sandbox.run(&["store", "check"]).expect_code(1);
}

/// An export carries a new signature of the desk, so only the check sees that the stored one does not hold.
#[test]
fn damaged_signature_of_the_desk_is_told() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper(
        "UPDATE events SET head =
             CAST(substr(head, 1, length(head) - 1) || iif(substr(head, -1) = x'00', x'01', x'00') AS BLOB)
         WHERE ordinal = (SELECT max(ordinal) FROM events WHERE trace = 2)",
    );
    let ran = sandbox.run(&["store", "check"]);
    assert!(ran.expect_code(1).stdout.starts_with("HEAD_INVALID"), "{ran}");
}

#[test]
fn damaged_trace_is_shown_as_far_as_it_holds() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper("UPDATE events SET content_salt = randomblob(32) WHERE trace = 2 AND sequence = 10");
    let ran = sandbox.run(&["trace", "show", "last"]);
    assert!(ran.expect_code(1).stdout.contains("Do not rely on anything after event #9"), "{ran}");
}

#[test]
fn artifact_that_was_exchanged_or_lost_is_told() {
    let sandbox = Sandbox::with_run();
    let artifact = sandbox
        .files()
        .into_iter()
        .find(|(path, (_, bytes))| path.starts_with(sandbox.data().join("artifacts")) && bytes.is_some());
    let (path, (_, bytes)) = artifact.unwrap();
    fs::write(&path, "other bytes").unwrap();
    let exchanged = sandbox.run(&["store", "check"]);
    assert!(exchanged.expect_code(1).stdout.contains("holds other bytes"), "{exchanged}");
    fs::write(&path, bytes.unwrap()).unwrap();
    let again = sandbox.run(&["store", "check"]);
    // The bytes are back, but a mark is never taken away by a check.
    assert!(again.expect_code(1).stdout.contains("was found damaged before"), "{again}");
    fs::remove_file(&path).unwrap();
    let lost = sandbox.run(&["store", "check"]);
    assert!(lost.expect_code(1).stdout.contains("the file of its artifact is missing"), "{lost}");
}

/// ONE-12: what is no regular file is told and not opened, so that no check hangs on a pipe or reads a device.
#[test]
fn pipe_or_link_in_the_place_of_an_artifact_is_not_opened() {
    let kinds: [(&str, &[&str]); 2] = [("pipe", &["mkfifo"]), ("link", &["ln", "-s", "/dev/zero"])];
    for (kind, words) in kinds {
        let sandbox = Sandbox::with_run();
        let is_artifact = |path: &std::path::Path| path.starts_with(sandbox.data().join("artifacts"));
        let mut files = sandbox.files().into_iter();
        let (path, _) = files.find(|(path, (_, bytes))| is_artifact(path) && bytes.is_some()).unwrap();
        sandbox.rest();
        fs::remove_file(&path).unwrap();
        assert!(Command::new(words[0]).args(&words[1..]).arg(&path).status().unwrap().success());
        let checked = sandbox.run(&["store", "check"]);
        assert!(checked.expect_code(1).stdout.contains("artifact"), "{kind}: {checked}");
        let exported = sandbox.run(&["export", "last", "--out", "last.jsonl"]);
        if exported.code == Some(0) {
            let strict = sandbox.run(&["verify", "--strict", "last.jsonl"]);
            strict.expect_code(1);
        }
    }
}

#[test]
fn words_of_the_registry_that_do_not_hold_are_told_once() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper("UPDATE events SET content_salt = randomblob(32) WHERE trace = 1 AND sequence = 1");
    let ran = sandbox.run(&["store", "check", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(1).stdout).unwrap();
    assert_eq!(reply["problems"].as_array().unwrap().len(), 1, "{reply}");
    // The run is not marked for what is wrong with the registry.
    assert_eq!(sandbox.json(&["trace", "list"])["traces"][0]["failed"], Value::Null);
}

#[test]
fn broken_registry_or_missing_key_is_a_problem_among_others() {
    let sandbox = Sandbox::with_run();
    let key = sandbox.key_file("desk");
    sandbox.rest();
    let secret = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    assert_snapshot!(sandbox.run(&["store", "check"]), @r"
    exit 1
    --- stdout
    FILE_UNREADABLE cannot read [DIR]/data/keys/[FINGERPRINT].key: No such file or directory (os error 2)
        cure: the desk signs every change: restore its key from a backup of [DIR]/data/keys
    1 problem among 2 traces with 35 events.
    ");
    fs::write(&key, secret).unwrap();
    sandbox.tamper("UPDATE events SET head = NULL WHERE trace = 1");
    sandbox.run(&["store", "check"]).expect_code(1);
}

#[test]
fn database_that_does_not_open_is_a_problem_with_a_cure() {
    let sandbox = Sandbox::with_run();
    sandbox.rest();
    let mut bytes = fs::read(sandbox.database()).unwrap();
    bytes[100..8192].fill(0xff);
    fs::write(sandbox.database(), &bytes).unwrap();
    let ran = sandbox.run(&["store", "check"]);
    assert!(ran.expect_code(1).stdout.contains("demur store restore"), "{ran}");
    assert_eq!(fs::read(sandbox.database()).unwrap(), bytes);
}

#[test]
fn empty_folder_has_nothing_to_check() {
    let sandbox = Sandbox::new();
    for command in ["check", "rebuild"] {
        assert_eq!(sandbox.json_error(&["store", command], 2)["code"], "NO_KEYS");
    }
    assert!(!sandbox.data().exists());
}

#[test]
fn tables_that_differ_are_told_and_rebuilt() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper("DELETE FROM commands WHERE event > 20; UPDATE runs SET phase = 'planning'");
    assert_snapshot!(sandbox.run(&["store", "check"]), @r"
    exit 1
    --- stdout
    DERIVED_DIFFERS the table commands lacks 15 rows and has 0 that do not follow from the events
        cure: run `demur store rebuild`
    DERIVED_DIFFERS the table runs lacks 1 rows and has 1 that do not follow from the events
        cure: run `demur store rebuild`
    2 problems among 2 traces with 35 events.
    ");
    assert_snapshot!(sandbox.run(&["store", "rebuild"]), @r"
    exit 0
    --- stdout
    Rebuilt: index, commands, changes of keys and phases of runs were made again from 2 traces with 35 events.
      commands: rows added 15, rows removed 0
      runs: rows added 1, rows removed 1
    ");
    sandbox.run(&["store", "check"]).expect_code(0);
    assert_eq!(sandbox.json(&["trace", "list"])["traces"][0]["phase"], "completed");
    assert_eq!(sandbox.json(&["store", "rebuild"])["repaired"], json!([]));
}

#[test]
fn damaged_events_are_not_rebuilt_from() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper("UPDATE events SET bytes = x'00' WHERE trace = 2 AND sequence = 3");
    let before = sandbox.contents();
    assert_eq!(sandbox.json_error(&["store", "rebuild"], 2)["code"], "STORE_DAMAGED");
    assert_eq!(sandbox.contents(), before);
}

/// Takes a trace out of the database so that nothing in it refers to the trace any more.
pub(crate) fn removal(trace: u32) -> String {
    let of_trace = ["questions", "participants", "snapshots", "runs", "events"];
    let of_trace = of_trace.map(|table| format!("DELETE FROM {table} WHERE trace = {trace};")).concat();
    format!(
        "DELETE FROM commands WHERE event IN (SELECT ordinal FROM events WHERE trace = {trace});
         {of_trace} DELETE FROM traces WHERE id = {trace}; {CLOSE_UP}"
    )
}

/// Lets the events and what refers to them close up after some were taken out.
pub(crate) const CLOSE_UP: &str = "
    UPDATE commands SET event = (SELECT count(*) FROM events AS before WHERE before.ordinal <= commands.event);
    UPDATE questions SET ordinal = (SELECT count(*) FROM events AS before WHERE before.ordinal <= questions.ordinal);
    UPDATE events SET ordinal = (SELECT count(*) FROM events AS before WHERE before.ordinal <= events.ordinal);";

/// ONE-13
#[test]
fn trace_that_was_taken_away_changes_the_recorded_root() {
    let sandbox = Sandbox::with_run();
    sandbox.run(&["checkpoint"]).expect_code(0);
    sandbox.run(&["store", "check"]).expect_code(0);
    sandbox.tamper(&removal(2));
    let ran = sandbox.run(&["store", "check"]);
    assert!(ran.expect_code(1).stdout.contains("ROOT_DIFFERS registry event"), "{ran}");
}

/// ONE-13
#[test]
fn registry_from_which_an_event_was_taken_is_found_at_the_next_start() {
    let sandbox = Sandbox::with_run();
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    sandbox.tamper(
        "DELETE FROM commands WHERE event = (SELECT max(ordinal) FROM events WHERE trace = 1);
         DELETE FROM key_changes WHERE sequence = (SELECT max(sequence) FROM events WHERE trace = 1);
         DELETE FROM snapshots WHERE trace = 1;
         DELETE FROM events WHERE ordinal = (SELECT max(ordinal) FROM events WHERE trace = 1);",
    );
    let ran = sandbox.run(&["keys", "new", "dave", "--role", "critic"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("registry-head.json"), "{ran}");
    let checked = sandbox.run(&["store", "check"]);
    assert!(checked.expect_code(1).stdout.contains("registry-head.json"), "{checked}");
}

/// ONE-13: whoever takes events away cannot put another head beside them.
#[test]
fn kept_head_that_the_desk_did_not_sign_is_found_at_the_next_start() {
    let sandbox = Sandbox::with_run();
    sandbox.rest();
    let path = sandbox.data().join("registry-head.json");
    let text = fs::read_to_string(&path).unwrap();
    let (before, signature) = text.split_once("\"signature\":\"").unwrap();
    let (signature, after) = signature.split_once('"').unwrap();
    let forged = signature.chars().rev().collect::<String>();
    fs::write(&path, format!("{before}\"signature\":\"{forged}\"{after}")).unwrap();
    let ran = sandbox.run(&["keys", "new", "dave", "--role", "critic"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("a document that demur signed"), "{ran}");
}
