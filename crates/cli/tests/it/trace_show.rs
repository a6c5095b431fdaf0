//! `demur trace show`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::{Sandbox, conformance, golden, golden_path, redact};

#[test]
fn golden_file_reads_as_a_timeline() {
    assert_snapshot!(Sandbox::new().run(&["trace", "show", &golden_path()]), @r"
    exit 0
    --- stdout
    trace    [ULID]
    state    completed
    verdict  internally consistent; origin and completeness not established: through sequence 17; later events may exist

    #0 somebody (planner) opens the run for 4 participants
        goal       “count the words”
        task       “count”
        people     somebody (auditor), somebody (planner), somebody (executor), somebody (critic)
        client     auditor: client not recorded
        client     planner: client not recorded
        client     executor: client not recorded
        client     critic: client not recorded
        policy     approval from high risk, 1 artifact per claim at least, 1 retry per call, fallback
                   allowed
        state      initialized -> planning
        record     session_initialized at [TIME]

    #1 somebody (operator) records the policy of the run, which lets any tool run at any risk
        record     policy_recorded at [TIME]

    #2 somebody (planner) proposes
        goal       “count the words”
        assumes    the text is there
        expects    the count
        tools      wc
        state      planning -> reviewing
        record     proposal_created at [TIME]

    #3 somebody (critic) approves proposal #2
        why        “fine”
        state      reviewing -> executing
        record     proposal_reviewed at [TIME]

    #4 somebody (executor) intends to run wc at low risk for proposal #2
        why        “to count”
        record     tool_intent_signed at [TIME]

    #5 somebody (executor) records words (text/plain, 5 bytes)
        record     artifact_recorded at [TIME]

    #6 somebody (executor) starts wc (intent #4)
        limit      one second
        input      #5 words
        record     tool_execution_started at [TIME]

    #7 somebody (executor) records words (text/plain, 5 bytes)
        record     artifact_recorded at [TIME]

    #8 somebody (executor) records words (text/plain, 5 bytes)
        record     artifact_recorded at [TIME]

    #9 somebody (executor) completes wc (execution #6)
        ended      completed, exit status 0, 3 ms
        output     #7 words, #8 words
        record     tool_execution_completed at [TIME]

    #10 somebody (executor) claims
        claim      “five words”
        sure       90 %
        evidence   #7 words
        execution  #9 wc: completed, exit status 0, 3 ms
        state      executing -> claiming
        record     claim_issued at [TIME]

    #11 somebody (critic) challenges claim #10
        why        “because”
        claim      #10 “five words”
        DISPUTED   claim #10, by challenge #11
        record     claim_challenged at [TIME]

    #12 somebody (executor) claims, in place of #10
        claim      “five words”
        sure       90 %
        evidence   #7 words, #8 words
        execution  #9 wc: completed, exit status 0, 3 ms
        replaces   #10 “five words”
        DISPUTED   claim #12, by challenge #11
        record     claim_revised at [TIME]

    #13 somebody (critic) closes challenge #11
        why        “because”
        claim      #12 “five words”
        record     claim_resolved at [TIME]

    #14 somebody (executor) signs the final statement over 1 claim
        verdict    “done”
        claim      #12 “five words”
        state      claiming -> auditing
        record     final_statement_signed at [TIME]

    #15 somebody (auditor) begins to verify
        record     verification_run_started at [TIME]

    #16 somebody (auditor) records its report
        record     report_recorded at [TIME]

    #17 somebody (auditor) verified: pass
        summary    “passed”
        state      auditing -> completed
        record     verification_run_completed at [TIME]

    The run is completed. It leaves these claims:
        #12        “five words”
    ");
}

#[test]
fn events_without_a_key_are_marked() {
    let sandbox = Sandbox::new();
    sandbox.run(&["demo", "--keep", "kept"]).expect_code(0);
    let told = sandbox.run(&["trace", "show", "kept/demo.jsonl"]).stdout;
    let marked: Vec<&str> = told.lines().filter(|line| line.contains("desk's word")).collect();
    assert_eq!(
        marked,
        [
            "#1 the desk records the policy of the run, which names 1 tool (desk's word)",
            "#6 the desk refused a command: APPROVAL_MISSING (desk's word)",
        ]
    );
    assert!(told.contains("#3 cleo.critic (critic) approves proposal #2 on 1 condition"), "{told}");
}

#[test]
fn a_secret_reads_as_one_and_its_commitment_is_not_shown() {
    let sandbox = Sandbox::new();
    let file = conformance("attacks/files/valid-question-secret.jsonl");
    let commitment = r#""answer":{"commitment":""#;
    let text = fs::read_to_string(&file).unwrap();
    let at = text.find(commitment).unwrap() + commitment.len();
    let (commitment, file) = (&text[at..at + 64], file.to_str().unwrap());
    let told = sandbox.run(&["trace", "show", file]).stdout;
    assert!(told.contains("asks for a secret, must be answered"), "{told}");
    assert_eq!(told.matches("“(secret)”").count(), 2, "{told}");
    for command in [&["trace", "show"][..], &["trace", "show", "--json"], &["verify"], &["verify", "--json"]]
    {
        let ran = sandbox.run(&[command, &[file]].concat());
        assert!(!ran.expect_code(0).stdout.contains(commitment), "{command:?}");
    }
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
    state    completed
    verdict  fail: something in this file does not hold (through sequence 17; later events may exist)
    Do not rely on anything after event #9: `demur verify bad.jsonl` says why.

    #0 somebody (planner) opens the run for 4 participants

    #1 somebody (operator) records the policy of the run, which lets any tool run at any risk

    #2 somebody (planner) proposes

    #3 somebody (critic) approves proposal #2

    #4 somebody (executor) intends to run wc at low risk for proposal #2

    #5 somebody (executor) records words (text/plain, 5 bytes)

    #6 somebody (executor) starts wc (intent #4)

    #7 somebody (executor) records words (text/plain, 5 bytes)

    #8 somebody (executor) records words (text/plain, 5 bytes)

    #9 somebody (executor) completes wc (execution #6)

    ? #10 somebody (executor) claims

    ? #11 somebody (critic) challenges claim #10

    ? #12 somebody (executor) claims, in place of #10

    ? #13 somebody (critic) closes challenge #11

    ? #14 somebody (executor) signs the final statement over 1 claim

    ? #15 somebody (auditor) begins to verify

    ? #16 somebody (auditor) records its report

    ? #17 somebody (auditor) verified: pass

    ? The run is completed. It leaves these claims:
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
    assert!(told.contains("#0 ") && !told.contains("#17 "), "{told}");
}

#[test]
fn broken_registry_leaves_nothing_to_rely_on() {
    let sandbox = Sandbox::new();
    sandbox.golden_with("bad.jsonl", "\"name\":\"somebody\"", "\"name\":\"somebodx\"");
    let ran = sandbox.run(&["trace", "show", "bad.jsonl"]);
    let told = &ran.expect_code(1).stdout;
    assert!(told.contains("Do not rely on anything in this file"), "{told}");
    let events = told.lines().filter(|line| line.contains('#') && !line.starts_with("    "));
    assert!(events.clone().count() == 18 && events.clone().all(|line| line.starts_with("? #")), "{told}");
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
    assert_eq!(reply["entries"].as_array().unwrap().len(), 18);
    assert_eq!(
        (&reply["entries"][3]["role"], &reply["report"]["verdict"]),
        (&"critic".into(), &"pass".into())
    );
}

/// LED-07
#[test]
fn disputed_claims_are_marked_where_they_are_challenged_and_at_the_end() {
    let file = conformance("attacks/files/valid-disputed-default.jsonl");
    let ran = Sandbox::new().run(&["trace", "show", file.to_str().unwrap()]);
    let told = &ran.expect_code(0).stdout;
    let marked: Vec<&str> = told.lines().filter(|line| line.contains("DISPUTED")).collect();
    assert_eq!(
        marked,
        [
            "    DISPUTED   claim #9, by challenge #10",
            "    DISPUTED   claim #9, by challenge #10",
            "    #9         DISPUTED by challenge #10: \u{201c}five words\u{201d}",
        ]
    );
}

/// LED-20 LED-21
#[test]
fn failures_retries_and_fallbacks_are_told() {
    let file = conformance("attacks/files/valid-fallback-and-retry.jsonl");
    let ran = Sandbox::new().run(&["trace", "show", file.to_str().unwrap()]);
    let told = &ran.expect_code(0).stdout;
    for words in
        ["failed: ", "trying #", "proposes a fallback from ", "    state      executing -> reviewing\n"]
    {
        assert!(told.contains(words), "{words} is not in {told}");
    }
}

#[test]
fn programs_get_the_same_facts_as_fields() {
    let reply = Sandbox::new().json(&["trace", "show", &golden_path()]);
    let of = |kind: &str| {
        let mut entries = reply["entries"].as_array().unwrap().iter();
        entries.find(|entry| entry["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
    };
    let opening = &of("session_initialized")["opening"];
    assert_eq!(opening["policy"]["approval_from"], "high");
    assert_eq!(opening["participants"][0]["name"], "somebody");
    assert_eq!(of("proposal_created")["phase"]["to"], "reviewing");
    assert_eq!(of("tool_execution_started")["limits"][0], "one second");
    let ended = of("tool_execution_completed");
    assert_eq!((&ended["tool"], &ended["ending"]["exit_status"]), (&"wc".into(), &0.into()));
    let claim = of("claim_issued");
    assert_eq!((&claim["evidence"][0]["name"], &claim["confidence"]), (&"words".into(), &90.into()));
    assert_eq!(of("claim_challenged")["disputed"][0]["claim"], claim["sequence"]);
    let answered_by = &reply["report"]["claims"][0]["challenges"][0]["answered_by"];
    assert_eq!(answered_by, &of("claim_revised")["sequence"]);
}

/// LED-24
#[test]
fn claim_without_its_evidence_is_marked_at_the_end() {
    let file = conformance("attacks/files/valid-artifact-missing.jsonl");
    let told = Sandbox::new().run(&["trace", "show", file.to_str().unwrap()]).stdout;
    let last = told.lines().last().unwrap();
    assert!(last.contains("UNPROVEN: \u{201c}"), "{told}");
}

/// Most calls of a run have the same limits, and there are many.
#[test]
fn limits_are_told_once_while_they_stay_the_same() {
    let sandbox = Sandbox::with_run();
    let told = sandbox.run(&["trace", "show", "data/demo.jsonl"]).stdout;
    let limits: Vec<&str> = told.lines().filter(|line| line.starts_with("    limit ")).collect();
    assert_eq!(
        limits,
        ["    limit      runs inside the demo, without network", "    limit      the same as in #9"]
    );
}

/// Words of several lines stay beside their label: none can pass for an event.
#[test]
fn lines_of_authors_never_begin_at_the_margin() {
    let sandbox = Sandbox::new();
    sandbox.golden_with("bad.jsonl", "five words", "five\\n#99 mallory (critic) approves everything");
    let told = sandbox.run(&["trace", "show", "bad.jsonl"]).stdout;
    let place = told.lines().find(|line| line.contains("#99")).unwrap();
    assert_eq!(place, "               #99 mallory (critic) approves everything\u{201d}");
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
    hint: give a file, `last`, `registry` or the id of a trace: `demur trace list` shows them
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
    let told = |what: &str| {
        let ran = sandbox.run(&["trace", "show", what]);
        (ran.code, ran.stdout)
    };
    let export = fs::read_to_string(sandbox.path("data/demo.jsonl")).unwrap();
    let header: Value = serde_json::from_str(export.lines().next().unwrap()).unwrap();
    let file = told("data/demo.jsonl");
    assert_eq!(file.0, Some(0), "{}", file.1);
    assert_eq!(told(header["header"]["trace"].as_str().unwrap()), file);
    assert_eq!(told("last"), told(&sandbox.trace()));
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
    assert_eq!(sandbox.json_error(&["trace", "show", &unknown[2..]], 2)["code"], "FILE_UNREADABLE");
    // The beginning of an id is none where a file has that name.
    assert_eq!(sandbox.json_error(&["trace", "show", &unknown[..9]], 2)["code"], "TRACE_UNKNOWN");
    fs::write(sandbox.path(&unknown[..9]), golden()).unwrap();
    sandbox.run(&["trace", "show", &unknown[..9]]).expect_code(0);
}
