//! `demur export` and `demur trace export`.

use std::fs;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, redact};

/// ONE-04: what leaves the store is one file that verifies without it.
#[test]
fn export_of_the_last_trace_goes_through_a_pipe() {
    let sandbox = Sandbox::with_run();
    let export = sandbox.run(&["export", "last"]);
    assert_eq!(export.expect_code(0).stderr, "");
    let ran = sandbox.feed(&["verify", "-"], export.stdout.as_bytes());
    assert!(ran.expect_code(0).stdout.contains("25 events, 10 registry events"), "{ran}");
}

#[test]
fn both_spellings_and_all_names_mean_the_same_trace() {
    let sandbox = Sandbox::with_run();
    let trace = sandbox.trace();
    // All but the last line, which has the time of the export and what follows from it.
    let body = |arguments: &[&str]| {
        let text = sandbox.run(arguments).expect_code(0).stdout.clone();
        text.trim_end().rsplit_once('\n').unwrap().0.to_owned()
    };
    let whole = body(&["export", "last"]);
    assert_eq!(body(&["export", &trace]), whole);
    assert_eq!(body(&["trace", "export", "last"]), whole);
    assert_eq!(body(&["trace", "export", &trace]), whole);
    assert_eq!(body(&["export", "last", "--out", "-"]), whole);
    assert_ne!(body(&["export", "registry"]), whole);
}

#[test]
fn file_is_told_and_never_overwritten_unasked() {
    let sandbox = Sandbox::with_run();
    assert_snapshot!(sandbox.run(&["export", "last", "--out", "run.jsonl"]), @r"
    exit 0
    --- stdout
    Exported: 25 events of trace [ULID] to run.jsonl
    Check it: demur verify run.jsonl
    ");
    let first = fs::read(sandbox.path("run.jsonl")).unwrap();
    assert_snapshot!(sandbox.run(&["export", "registry", "--out", "run.jsonl"]), @r"
    exit 2
    --- stderr
    error: cannot write the export run.jsonl: File exists (os error 17)
    hint: nothing is overwritten: name a new file, or say --force
    ");
    assert_eq!(fs::read(sandbox.path("run.jsonl")).unwrap(), first);
    let reply = sandbox.json(&["export", "registry", "--out", "run.jsonl", "--force"]);
    assert_eq!((&reply["events"], &reply["file"]), (&10.into(), &"run.jsonl".into()));
    sandbox.run(&["verify", "run.jsonl"]).expect_code(0);
    assert_ne!(fs::read(sandbox.path("run.jsonl")).unwrap(), first);
}

#[test]
fn place_that_cannot_be_written_is_told_and_stays_empty() {
    let sandbox = Sandbox::with_run();
    fs::create_dir(sandbox.path("folder")).unwrap();
    let calls: [&[&str]; 3] = [
        &["export", "last", "--out", "nowhere/run.jsonl"],
        &["export", "last", "--out", "folder", "--force"],
        &["export", "last", "--json"],
    ];
    let told: String = calls.iter().map(|call| sandbox.run(call).to_string()).collect();
    assert_snapshot!(told, @r#"
    exit 2
    --- stderr
    error: cannot write the export nowhere/run.jsonl: No such file or directory (os error 2)
    hint: `ls .` shows what is there
    exit 2
    --- stderr
    error: expected a file, found something else: folder
    exit 2
    --- stderr
    {"error":{"code":"USAGE","hint":"the export is JSON already, one object per line","message":"expected --out FILE with --json: without it the export itself goes to standard output"}}
    "#);
    sandbox.json_error(&["export", "last", "--force"], 2);
}

#[test]
fn failed_export_leaves_no_file() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper("UPDATE events SET bytes = x'00' WHERE sequence = 12 AND trace = 2");
    let error = sandbox.json_error(&["export", "last", "--out", "run.jsonl"], 2);
    assert_eq!(error["code"], "RECORD_DAMAGED");
    let left: Vec<_> =
        fs::read_dir(sandbox.path("")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["data"]);
}

#[test]
fn what_is_no_trace_is_told() {
    let sandbox = Sandbox::with_keys();
    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let calls = [["export", "last"], ["export", unknown], ["export", "01ARZ3"], ["export", ""]];
    let told: String = calls.iter().map(|call| sandbox.run(call).to_string()).collect();
    assert_snapshot!(redact(&told), @r#"
    exit 2
    --- stderr
    error: expected a trace in [DIR]/data, found only the registry
    hint: `demur demo` shows how one comes about; `demur export registry` gives the registry
    exit 2
    --- stderr
    error: expected a trace of this data folder, found none whose id begins with "[ULID]"
    hint: `demur trace list` shows the ids
    exit 2
    --- stderr
    error: expected a trace of this data folder, found none whose id begins with "01ARZ3"
    hint: `demur trace list` shows the ids
    exit 2
    --- stderr
    error: expected at least 6 characters of the id of a trace, found ""
    hint: `demur trace list` shows the ids
    "#);
    let nowhere = Sandbox::new();
    assert_eq!(nowhere.json_error(&["export", "last", "--out", "x"], 2)["code"], "NO_KEYS");
    assert!(!nowhere.data().exists());
}

#[test]
fn export_needs_the_key_of_the_desk() {
    let sandbox = Sandbox::with_run();
    fs::remove_file(sandbox.key_file("desk")).unwrap();
    sandbox.rest();
    assert_snapshot!(sandbox.run(&["export", "last"]), @r"
    exit 2
    --- stderr
    error: cannot read [DIR]/data/keys/[FINGERPRINT].key: No such file or directory (os error 2)
    hint: the desk signs every change: restore its key from a backup of [DIR]/data/keys
    ");
    // The list of traces is signed by nobody.
    sandbox.run(&["trace", "list"]).expect_code(0);
}

#[test]
fn reader_that_leaves_half_way_ends_the_export_quietly() {
    let sandbox = Sandbox::with_run();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child =
        sandbox.command(&["export", "last"]).stdout(writer).stderr(std::process::Stdio::piped()).spawn();
    let ran = sandbox.ran(child.unwrap().wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
