//! `demur verify`: the report, its verdicts and its forms.

use std::fs;

use insta::assert_snapshot;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::sandbox::{Sandbox, conformance, golden, golden_path};

/// An answer with its report as it was written.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    report: &'a RawValue,
    verdict: &'a str,
}

#[test]
fn golden_file_passes() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["verify", &golden_path()]), @r"
    exit 0
    --- stdout
    trace    [ULID]
    store    [FINGERPRINT]
    scope    18 events, 6 registry events, profile default, written by “demur test”
    head     17 [FINGERPRINT]
    state    completed, exported [TIME] by the desk's clock
    policy   any tool may run, at any risk: it names none
    verdict  PASS
             internally consistent; origin and completeness not established: through sequence 17; later events may exist

    Not proven by this report
      who made this file: nothing you know from elsewhere was given (--pin, --receipt, --against)
      that the trace ends at sequence 17: later events may exist
      that every key here still counts: keys may have been revoked after registry event 5
      that what was claimed is true: only who said it, and what it was said to rest on

    Roles
      planner: client not recorded
      executor: client not recorded
      critic: client not recorded
      auditor: client not recorded

    Proven by a key
      [KEY] operator, 1 statement, active, first key of its principal; the desk calls it “somebody”
      [KEY] planner, 2 statements, active, first key of its principal; the desk calls it “somebody”
      [KEY] auditor, 3 statements, active, first key of its principal; the desk calls it “somebody”
      [KEY] critic, 3 statements, active, first key of its principal; the desk calls it “somebody”
      [KEY] executor, 9 statements, active, first key of its principal; the desk calls it “somebody”

    The desk's word
      the order of events that no author had seen when it signed, and the times of all events
      the names of key holders, unless you pinned their keys
      that nothing happened which is not in the trace

    Claims
      #12 “five words”
        standing   evidence is there as recorded; no challenge is open
        checks     words only
        sure       90 %
        key        [KEY]
        replaces   #10
        evidence   #7 “words”
        evidence   #8 “words”
        execution  #9 “wc”: completed, exit status 0, 3 ms
        challenge  #11 against #10: “because”; answered by #12; closed by #13: “because”

    Operations
      #6 “wc” ([FINGERPRINT]), no confirmation behind it, begun by the key of [ULID]

    Checks (none: there was nothing to check, or it was not reached)
      ok    the file is an export, whole and in order
      ok    every object has the fields of its type
      ok    envelope and statement tell one story, and the author knew what it cites
      ok    events follow each other by number, hash and time
      ok    the registry obeys its rules, and events pin it properly
      ok    every key may speak where and as what it speaks
      ok    every signature holds
      ok    disclosed content opens its commitment and fits its type
      ok    artifacts are there and open their commitments
      ok    no command stands twice
      ok    only the right roles and participants speak
      ok    the state machine and its guards allow every step
      ok    every claim rests on evidence that is there, and is not disputed
      ok    what was done is what was approved, claimed and demanded
      ok    the run was verified and closed
      ok    the desk signed the heads
      none  inclusion proofs hold
      ok    the checkpoint binds the whole file
      none  receipts, pinned keys and known heads agree with the file
      none  two files do not contradict each other
    ");
}

#[test]
fn damaged_file_fails_with_cause_and_cure() {
    let sandbox = Sandbox::new();
    sandbox.golden_with("bad.jsonl", "five words", "nine words");
    assert_snapshot!(sandbox.run(&["verify", "bad.jsonl"]), @r"
    exit 1
    --- stdout
    trace    [ULID]
    store    [FINGERPRINT]
    scope    18 events, 6 registry events, profile default, written by “demur test”
    head     17 [FINGERPRINT]
    state    completed, exported [TIME] by the desk's clock
    policy   any tool may run, at any risk: it names none
    verdict  FAIL
             fail: something in this file does not hold (through sequence 17; later events may exist)
             first bad event: 10
             last trusted event: 9

    Failures
      COMMITMENT_MISMATCH trace event 10, line 22: content and salt do not open the commitment
        why: the content is not what the author committed to
        do:  the content was exchanged: ask the author for theirs
      CHECKPOINT_INVALID file, line 32: the bytes before the checkpoint are not those the desk signed
        why: the checkpoint does not bind this file
        do:  the file was changed after the desk made it

    Not proven by this report
      who made this file: nothing you know from elsewhere was given (--pin, --receipt, --against)
      that the trace ends at sequence 17: later events may exist
      that every key here still counts: keys may have been revoked after registry event 5
      that what was claimed is true: only who said it, and what it was said to rest on
      anything after the first event that does not hold

    Roles
      planner: client not recorded
      executor: client not recorded
      critic: client not recorded
      auditor: client not recorded

    Proven by a key
      [KEY] operator, 1 statement, active, first key of its principal; the desk calls it “somebody”
      [KEY] planner, 2 statements, active, first key of its principal; the desk calls it “somebody”
      [KEY] auditor, 3 statements, active, first key of its principal; the desk calls it “somebody”
      [KEY] critic, 3 statements, active, first key of its principal; the desk calls it “somebody”
      [KEY] executor, 9 statements, active, first key of its principal; the desk calls it “somebody”

    The desk's word
      the order of events that no author had seen when it signed, and the times of all events
      the names of key holders, unless you pinned their keys
      that nothing happened which is not in the trace

    Claims
      #12 “five words”
        standing   evidence is there as recorded; no challenge is open
        checks     words only
        sure       90 %
        key        [KEY]
        replaces   #10
        evidence   #7 “words”
        evidence   #8 “words”
        execution  #9 “wc”: completed, exit status 0, 3 ms
        challenge  #11 against #10: “because”; answered by #12; closed by #13: “because”

    Operations
      #6 “wc” ([FINGERPRINT]), no confirmation behind it, begun by the key of [ULID]

    Checks (none: there was nothing to check, or it was not reached)
      ok    the file is an export, whole and in order
      ok    every object has the fields of its type
      ok    envelope and statement tell one story, and the author knew what it cites
      ok    events follow each other by number, hash and time
      ok    the registry obeys its rules, and events pin it properly
      ok    every key may speak where and as what it speaks
      ok    every signature holds
      FAIL  disclosed content opens its commitment and fits its type (1)
      ok    artifacts are there and open their commitments
      ok    no command stands twice
      ok    only the right roles and participants speak
      ok    the state machine and its guards allow every step
      ok    every claim rests on evidence that is there, and is not disputed
      ok    what was done is what was approved, claimed and demanded
      ok    the run was verified and closed
      ok    the desk signed the heads
      none  inclusion proofs hold
      FAIL  the checkpoint binds the whole file (1)
      none  receipts, pinned keys and known heads agree with the file
      none  two files do not contradict each other
    ");
}

#[test]
fn report_is_the_same_bytes_every_time_and_from_every_source() {
    let sandbox = Sandbox::new();
    let runs = [
        sandbox.run(&["verify", "--json", &golden_path()]),
        sandbox.run(&["verify", "--json", &golden_path()]),
        sandbox.feed(&["verify", "--json", "-"], &golden()),
    ];
    let answers = runs.each_ref().map(|ran| serde_json::from_str::<Answer<'_>>(&ran.stdout).unwrap());
    assert_eq!(answers[0].verdict, "pass");
    assert_eq!(answers[0].report.get(), answers[1].report.get());
    assert_eq!(answers[0].report.get(), answers[2].report.get());
}

#[test]
fn nothing_but_the_file_is_needed_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["verify", &golden_path()]);
    command.env_clear().env("HOME", "/nonexistent");
    sandbox.ran(command.output().unwrap()).expect_code(0);
    assert_eq!(fs::read_dir(sandbox.path("")).unwrap().count(), 0);
}

#[test]
fn hashes_alone_are_never_a_pass() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["verify", "--hash-only", "--json", &golden_path()]);
    ran.expect_code(1);
    assert_eq!(serde_json::from_str::<Answer<'_>>(&ran.stdout).unwrap().verdict, "not_established");
}

/// CLAIM_DISPUTED is a warning by default, a failure under strict.
#[test]
fn profile_and_warnings_decide_over_an_open_dispute() {
    let sandbox = Sandbox::new();
    let file = conformance("attacks/files/valid-disputed-default.jsonl");
    let file = file.to_str().unwrap();
    let calls: [(&[&str], i32); 7] = [
        (&[], 0),
        (&["--lenient"], 0),
        (&["--profile", "lenient"], 0),
        (&["--warnings-as-errors"], 1),
        (&["--strict"], 1),
        (&["--profile", "strict"], 1),
        (&["--strict", "--profile", "lenient"], 2),
    ];
    for (options, code) in calls {
        sandbox.run(&[&["verify", file], options].concat()).expect_code(code);
    }
}

#[test]
fn page_is_written_to_a_new_file_only() {
    let sandbox = Sandbox::new();
    sandbox.golden_with("bad.jsonl", "five words", "<script>x</script>");
    let ran = sandbox.run(&["verify", "bad.jsonl", "--html", "report.html"]);
    assert_eq!(ran.expect_code(1).stderr, "The report was written to report.html.\n");
    let page = fs::read_to_string(sandbox.path("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(!page.to_lowercase().contains("<script") && !page.contains("src=") && !page.contains("href="));
    assert!(page.contains("COMMITMENT_MISMATCH"));
    assert_snapshot!(sandbox.run(&["verify", "bad.jsonl", "--html", "report.html"]), @r"
    exit 2
    --- stderr
    error: cannot write the page report.html: File exists (os error 17)
    hint: nothing is overwritten: choose a path where no file is yet
    ");
    assert_eq!(fs::read_to_string(sandbox.path("report.html")).unwrap(), page);
}

#[test]
fn page_of_a_file_that_is_no_export_is_not_left_behind() {
    let sandbox = Sandbox::new();
    sandbox.feed(&["verify", "-", "--html", "report.html"], b"nothing\n").expect_code(2);
    assert!(!sandbox.path("report.html").exists());
    sandbox.json_error(&["verify", &golden_path(), "--html", "no/folder/report.html"], 2);
}
