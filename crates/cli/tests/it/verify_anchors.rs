//! `demur verify` with what the reader knows from elsewhere: receipts, pins, known events, a second file.

use insta::assert_snapshot;

use crate::{
    corpus::Case,
    sandbox::{Ran, Sandbox, conformance, golden, golden_path, redact},
};

fn file(name: &str) -> String {
    conformance("attacks/files").join(name).to_str().unwrap().to_owned()
}

/// Returns the hash of the last event of the golden file and the key of its desk.
fn known() -> (String, String) {
    let text = String::from_utf8(golden()).unwrap();
    let checkpoint: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let member = |pointer: &str| checkpoint.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    (member("/checkpoint/document/head/hash"), member("/checkpoint/proof/key"))
}

/// Returns the lines after "Side by side".
fn side_by_side(ran: &Ran) -> String {
    ran.stdout.split_once("Side by side\n\n").unwrap().1.to_owned()
}

#[test]
fn anchor_can_be_required() {
    let sandbox = Sandbox::new();
    let (hash, desk) = known();
    let golden = golden_path();
    let calls: [(&[&str], i32); 6] = [
        (&[], 1),
        (&["--against", &hash], 0),
        (&["--against", &format!("17:{hash}")], 0),
        (&["--against", &format!("16:{hash}")], 1),
        (&["--pin", &format!("desk={desk}")], 0),
        (&["--pin", &format!("desk={hash}")], 1),
    ];
    for (options, code) in calls {
        let ran = sandbox.run(&[&["verify", &golden, "--require-anchor"], options].concat());
        ran.expect_code(code);
        assert!(!ran.stdout.contains("origin and completeness not established"), "{ran}");
    }
    let words = sandbox.run(&["verify", &golden, "--pin", &format!("desk={desk}")]).stdout;
    assert!(words.contains("consistent, and anchored by the pinned key of desk"), "{words}");
}

#[test]
fn pins_and_heads_that_cannot_be_read_are_mistakes() {
    let sandbox = Sandbox::new();
    let golden = golden_path();
    let (hash, _) = known();
    let long = format!("15:{hash}0");
    let calls: [[&str; 2]; 7] = [
        ["--pin", "desk"],
        ["--pin", "desk=123"],
        ["--pin", &format!("={hash}")],
        ["--against", "123"],
        ["--against", &long],
        ["--against", &format!("last:{hash}")],
        ["--profile", "kind"],
    ];
    let told: Vec<String> = calls
        .iter()
        .map(|call| {
            let error = sandbox.json_error(&[&["verify", &golden], &call[..]].concat(), 2);
            format!("{}: {}", error["code"].as_str().unwrap(), error["message"].as_str().unwrap())
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    USAGE: --pin: expected NAME=FINGERPRINT, found no =
    USAGE: --pin: fingerprint: expected 64 lower-case hex digits, found 3 bytes; `demur keys show desk` shows the whole of it
    USAGE: --pin: expected a name before the =, found none
    USAGE: --against: hash: expected 64 lower-case hex digits, found 3 bytes
    USAGE: --against: hash: expected 64 lower-case hex digits, found 65 bytes
    USAGE: --against: expected a whole number before the colon
    USAGE: --profile: expected one of strict, default, lenient, found "kind"
    "#);
}

#[test]
fn receipt_can_stand_as_the_second_file() {
    let sandbox = Sandbox::new();
    let (export, receipt) = (file("valid-receipt.jsonl"), file("valid-receipt.receipt.json"));
    for call in
        [vec![export.as_str(), receipt.as_str()], vec![export.as_str(), "--receipt", receipt.as_str()]]
    {
        let reply = sandbox.json(&[&["verify", "--require-anchor"], call.as_slice()].concat());
        assert_eq!(reply["report"]["anchors"]["receipts"], 1);
        assert_eq!((&reply["second"], &reply["comparison"]), (&().into(), &().into()));
    }
    let case = Case::with_code("RECEIPT_MISMATCH");
    let [_, receipt] = case.options.as_slice() else { panic!("more options than a receipt") };
    let [export, receipt] = [&case.file, receipt].map(|name| conformance("attacks").join(name));
    let ran = sandbox.run(&["verify", export.to_str().unwrap(), receipt.to_str().unwrap()]);
    assert!(ran.expect_code(1).stdout.contains("RECEIPT_MISMATCH"), "{ran}");
}

#[test]
fn receipt_that_cannot_be_read_is_a_mistake() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("cut"), r#"{"document":{"epoch":1,"#).unwrap();
    for call in [["cut"].as_slice(), &["--receipt", "cut"], &["--receipt", "none"]] {
        sandbox.json_error(&[&["verify", &golden_path()], call].concat(), 2);
    }
    assert_snapshot!(sandbox.run(&["verify", &golden_path(), "cut"]), @r"
    exit 2
    --- stderr
    error: cut: expected a receipt: expected a key in quotes, found the end at byte 23
    hint: give the receipt as the desk gave it
    ");
    // The other way round.
    let receipt = file("valid-receipt.receipt.json");
    let error = sandbox.json_error(&["verify", &receipt, &golden_path()], 2);
    assert!(error["hint"].as_str().unwrap().contains("a receipt is given after it"), "{error}");
}

#[test]
fn two_histories_of_one_desk_are_an_equivocation() {
    let sandbox = Sandbox::new();
    let case = Case::with_code("EQUIVOCATION");
    let [one, other] = [case.file, case.second.unwrap()]
        .map(|name| conformance("attacks").join(name).to_str().unwrap().to_owned());
    let ran = sandbox.run(&["verify", &one, &other]);
    assert_snapshot!(redact(&side_by_side(ran.expect_code(1))), @r"
    EQUIVOCATION: the desk signed two histories, which part at event 3; keep both files: together they prove it.
      first   [FINGERPRINT]
      second  [FINGERPRINT]
    ");
    // Without signatures nothing is proven against the desk.
    let ran = sandbox.run(&["verify", &one, &other, "--hash-only"]);
    assert!(side_by_side(ran.expect_code(1)).contains("proves nothing against the desk"));
}

#[test]
fn history_that_was_tampered_with_accuses_nobody() {
    let sandbox = Sandbox::new();
    // The desk's own envelope of the last event: no signature of an author covers its time.
    sandbox.golden_with("late.jsonl", "00:00:00.160Z", "00:00:00.170Z");
    let ran = sandbox.run(&["verify", &golden_path(), "late.jsonl"]);
    assert!(side_by_side(ran.expect_code(1)).contains("proves nothing against the desk"), "{ran}");
    let reply: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["verify", "--json", &golden_path(), "late.jsonl"]).stdout)
            .unwrap();
    assert_eq!(reply["comparison"]["differ"]["equivocation"], false);
    assert_ne!(reply["code"], "EQUIVOCATION");
}

/// ONE-12
#[test]
fn same_file_twice_agrees_and_other_traces_are_not_compared() {
    let sandbox = Sandbox::new();
    let golden = golden_path();
    let ran = sandbox.run(&["verify", &golden, &golden]);
    assert_eq!(side_by_side(ran.expect_code(0)), "The two files agree wherever both have an event.\n");
    let (one, other) = (file("anchor-other-trace.jsonl"), file("anchor-other-trace.second.jsonl"));
    let ran = sandbox.run(&["verify", &one, &other]);
    let not_compared = "Not established: the two files were not compared: ";
    assert!(side_by_side(ran.expect_code(1)).starts_with(not_compared), "{ran}");
    let ran = sandbox.run(&["verify", &one, &other, "--json"]);
    let reply: serde_json::Value = serde_json::from_str(&ran.expect_code(1).stdout).unwrap();
    assert_eq!(
        (&reply["verdict"], &reply["report"]["verdict"]),
        (&"not_established".into(), &"pass_with_warnings".into())
    );
    sandbox.golden_with("cut.jsonl", "\"store_created\"", "\"store_creeted\"");
    let ran = sandbox.run(&["verify", &golden, "cut.jsonl"]);
    assert!(side_by_side(ran.expect_code(1)).starts_with(not_compared), "{ran}");
}
