//! `demur trace show`.

use std::fs;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, conformance, golden, golden_path, redact};

#[test]
fn golden_file_reads_as_a_timeline() {
    assert_snapshot!(Sandbox::new().run(&["trace", "show", &golden_path()]), @r"
    exit 0
    --- stdout
    trace    [ULID]
    verdict  internally consistent; origin and completeness not established: through sequence 15; later events may exist

    #0 somebody (planner) opens the run for 4 participants
        “count the words”
        session_initialized at [TIME]

    #1 somebody (planner) proposes
        “count the words”
        proposal_created at [TIME]

    #2 somebody (critic) approves proposal #1
        “fine”
        proposal_reviewed at [TIME], refers to #1

    #3 somebody (executor) intends to run wc at low risk for proposal #1
        “to count”
        tool_intent_signed at [TIME], refers to #1

    #4 somebody (executor) records words (text/plain, 5 bytes)
        artifact_recorded at [TIME]

    #5 somebody (executor) starts intent #3
        tool_execution_started at [TIME], refers to #3 #4

    #6 somebody (executor) records words (text/plain, 5 bytes)
        artifact_recorded at [TIME]

    #7 somebody (executor) completes execution #5
        tool_execution_completed at [TIME], refers to #5 #6

    #8 somebody (executor) claims
        “five words (90 % sure)”
        claim_issued at [TIME], refers to #6 #7

    #9 somebody (critic) challenges claim #8
        “because”
        claim_challenged at [TIME], refers to #8

    #10 somebody (executor) records words (text/plain, 5 bytes)
        artifact_recorded at [TIME]

    #11 somebody (executor) claims, in place of #8
        “five words (90 % sure)”
        claim_revised at [TIME], refers to #8 #6 #10 #7

    #12 somebody (critic) closes challenge #9
        “because”
        claim_resolved at [TIME], refers to #9

    #13 somebody (executor) signs the final statement over 1 claims
        “done”
        final_statement_signed at [TIME], refers to #11

    #14 somebody (auditor) begins to verify
        verification_run_started at [TIME]

    #15 somebody (auditor) verified: pass
        “passed”
        verification_run_completed at [TIME], refers to #14
    ");
}

#[test]
fn events_without_a_key_are_marked() {
    let sandbox = Sandbox::new();
    sandbox.run(&["demo", "--keep", "kept"]).expect_code(0);
    let told = sandbox.run(&["trace", "show", "kept/demo.jsonl"]).stdout;
    let marked: Vec<&str> = told.lines().filter(|line| line.contains("desk's word")).collect();
    assert_eq!(marked, ["#5 the desk refused a command: APPROVAL_MISSING (desk's word)"]);
    assert!(told.contains("#2 cleo (critic) approves on conditions proposal #1"), "{told}");
}

#[test]
fn damaged_file_shows_what_holds_and_marks_the_rest() {
    let sandbox = Sandbox::new();
    sandbox.golden_with("bad.jsonl", "five words", "nine words");
    let ran = sandbox.run(&["trace", "show", "bad.jsonl"]);
    let told: Vec<&str> =
        ran.expect_code(1).stdout.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_snapshot!(redact(&told.join("\n")), @r"
    trace    [ULID]
    verdict  fail: something in this file does not hold (through sequence 15; later events may exist)
    Do not rely on anything after event #7: `demur verify` says why.

    #0 somebody (planner) opens the run for 4 participants

    #1 somebody (planner) proposes

    #2 somebody (critic) approves proposal #1

    #3 somebody (executor) intends to run wc at low risk for proposal #1

    #4 somebody (executor) records words (text/plain, 5 bytes)

    #5 somebody (executor) starts intent #3

    #6 somebody (executor) records words (text/plain, 5 bytes)

    #7 somebody (executor) completes execution #5

    ? #8 somebody (executor) claims

    ? #9 somebody (critic) challenges claim #8

    ? #10 somebody (executor) records words (text/plain, 5 bytes)

    ? #11 somebody (executor) claims, in place of #8

    ? #12 somebody (critic) closes challenge #9

    ? #13 somebody (executor) signs the final statement over 1 claims

    ? #14 somebody (auditor) begins to verify

    ? #15 somebody (auditor) verified: pass
    ");
}

#[test]
fn half_a_file_shows_the_part_before_the_cut() {
    let sandbox = Sandbox::new();
    let bytes = golden();
    fs::write(sandbox.path("half"), &bytes[..bytes.len() / 2]).unwrap();
    let ran = sandbox.run(&["trace", "show", "half"]);
    let told = &ran.expect_code(1).stdout;
    assert!(told.contains("Do not rely on anything"), "{told}");
    assert!(told.contains("#0 ") && !told.contains("#15 "), "{told}");
}

#[test]
fn broken_registry_leaves_nothing_to_rely_on() {
    let sandbox = Sandbox::new();
    sandbox.golden_with("bad.jsonl", "\"name\":\"somebody\"", "\"name\":\"somebodx\"");
    let ran = sandbox.run(&["trace", "show", "bad.jsonl"]);
    let told = &ran.expect_code(1).stdout;
    assert!(told.contains("Do not rely on anything in this file"), "{told}");
    let events = told.lines().filter(|line| line.contains('#') && !line.starts_with("    "));
    assert!(events.clone().count() == 16 && events.clone().all(|line| line.starts_with("? #")), "{told}");
}

#[test]
fn withheld_content_is_said_not_to_be_checked() {
    let sandbox = Sandbox::new();
    let file = conformance("attacks/files/valid-content-withheld.jsonl");
    let ran = sandbox.run(&["trace", "show", file.to_str().unwrap()]);
    assert!(ran.expect_code(0).stdout.contains("Not everything here could be checked"), "{ran}");
}

#[test]
fn programs_get_entries_and_report() {
    let reply = Sandbox::new().json(&["trace", "show", &golden_path()]);
    assert_eq!(reply["entries"].as_array().unwrap().len(), 16);
    assert_eq!(
        (&reply["entries"][2]["role"], &reply["report"]["verdict"]),
        (&"critic".into(), &"pass".into())
    );
}

#[test]
fn what_is_no_export_is_told() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("text"), "hello\n").unwrap();
    let told: Vec<String> =
        ["none", ".", "text"].iter().map(|file| sandbox.run(&["trace", "show", file]).to_string()).collect();
    assert_snapshot!(told.join(""), @r"
    exit 2
    --- stderr
    error: cannot read none: No such file or directory (os error 2)
    hint: expected is a file, the id of a trace as `demur trace list` shows it, `last` or `registry`
    exit 2
    --- stderr
    error: expected a file, found something else: .
    hint: the file is read twice: save it to the disk first
    exit 2
    --- stderr
    error: text: this is not a demur export: expected a line of a demur export in canonical JSON: expected a value, found byte 0x68 at byte 0
    hint: expected is a file that demur exported; a receipt is given after it, or with --receipt
    ");
}

#[test]
fn hidden_characters_are_shown_not_obeyed() {
    let sandbox = Sandbox::new();
    // The words do not hold any more; they are shown all the same, and must not reach the terminal as they are.
    sandbox.golden_with("bad.jsonl", "five words", "five\u{202e} words");
    let told = sandbox.run(&["trace", "show", "bad.jsonl"]).stdout;
    assert!(told.contains("five\\u{202e} words") && !told.contains('\u{202e}'), "{told}");
}

#[test]
fn trace_of_the_store_reads_like_its_export() {
    let sandbox = Sandbox::with_run();
    let file = sandbox.run(&["trace", "show", "data/demo.jsonl"]).expect_code(0).stdout.clone();
    let trace = sandbox.trace();
    for name in ["last", &trace] {
        assert_eq!(sandbox.run(&["trace", "show", name]).expect_code(0).stdout, file, "{name}");
    }
    let registry = sandbox.run(&["trace", "show", "registry"]);
    assert!(registry.expect_code(0).stdout.contains("#5 "), "{registry}");
    let spooled = fs::read_dir(sandbox.path("")).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(spooled.collect::<Vec<_>>(), ["data"]);
}

#[test]
fn name_of_a_trace_wins_over_a_file_of_that_name() {
    let sandbox = Sandbox::with_keys();
    fs::write(sandbox.path("last"), golden()).unwrap();
    assert_eq!(sandbox.json_error(&["trace", "show", "last"], 2)["code"], "NO_TRACE");
    sandbox.run(&["trace", "show", "./last"]).expect_code(0);
    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert_eq!(sandbox.json_error(&["trace", "show", unknown], 2)["code"], "TRACE_UNKNOWN");
    // What is neither is taken for a file.
    assert_eq!(sandbox.json_error(&["trace", "show", &unknown[1..]], 2)["code"], "FILE_UNREADABLE");
}
