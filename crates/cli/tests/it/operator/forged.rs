//! Lies told with every key of the data folder: one event is changed or added in the database, and everything after it is chained,
//! committed and signed anew (`liar.py`). A server starts on that store and exports it; the verifiers read what was done. Without
//! a change of meaning such a rewriting passes, and only what somebody kept from before tells: that is the first row of each table.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use crate::{
    independent::verify_alone,
    plan::{Planned, with},
    run::example,
    sandbox::Sandbox,
};

/// A store in a folder called `data`, with one trace, at rest.
struct Honest {
    sandbox: Sandbox,
    trace: String,
    /// What the verdict is asked for beside `--strict`.
    more: &'static [&'static str],
}

impl Honest {
    fn new(sandbox: Sandbox, more: &'static [&'static str]) -> Self {
        let trace = sandbox.trace();
        sandbox.run(&["export", &trace, "--out", "honest.jsonl"]).expect_code(0);
        sandbox.rest();
        Self { sandbox, trace, more }
    }

    /// Lies in a copy of the store; the export of what came of it is in `lie.jsonl`.
    fn lie(&self, lie: &Value) {
        let (data, folder) = (self.sandbox.data(), self.sandbox.path("lie"));
        let _ = std::fs::remove_dir_all(&folder);
        assert!(Command::new("cp").arg("-a").args([&data, &folder]).status().unwrap().success());
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut python = Command::new(std::env::var_os("DEMUR_PYTHON").expect("run `cargo xtask test`"));
        python.arg(root.join("tests/it/operator/liar.py")).arg(root.join("../../examples/agents/python"));
        let told = python.arg(&folder).args([&self.trace, &lie.to_string()]).output().unwrap();
        assert!(told.status.success(), "{lie}: {}", String::from_utf8_lossy(&told.stderr));
        let export = ["export", &self.trace, "--data", "lie", "--out", "lie.jsonl", "--force"];
        self.sandbox.run(&export).expect_code(0);
    }

    fn strict(&self) -> Value {
        let verify = [&["verify", "--strict", "lie.jsonl", "--json"], self.more].concat();
        serde_json::from_str(&self.sandbox.run(&verify).stdout).unwrap()
    }

    /// Expects that a rewriting that changes no meaning is found by what was kept from before, and each lie by what it means.
    fn expect(&self, harmless: &Value, lies: &[(&str, Value)]) {
        self.lie(harmless);
        assert_ne!(self.strict()["verdict"], "fail", "{harmless}: {}", self.strict());
        let both = self.sandbox.run(&["verify", "--strict", "honest.jsonl", "lie.jsonl"]);
        assert!(both.expect_code(1).stdout.contains("EQUIVOCATION"), "{both}");
        self.sandbox.run(&["stop", "--data", "lie"]).expect_code(0);
        for (code, lie) in lies {
            self.lie(lie);
            let strict = self.strict();
            assert_eq!(
                (&strict["verdict"], &strict["code"]),
                (&json!("fail"), &json!(code)),
                "{lie}: {strict}"
            );
            let checked = self.sandbox.run(&["store", "check", "--data", "lie"]);
            assert_eq!(checked.code, Some(1), "{code}: {checked}");
            self.sandbox.run(&["stop", "--data", "lie"]).expect_code(0);
            // It leaves papers out.
            if *code != "PAPER_INVALID" {
                let (_, alone) = verify_alone(&self.sandbox.path("lie.jsonl"));
                assert_eq!(alone["code"], *code, "{lie}: {alone}");
            }
        }
    }
}

/// LED-36 LED-38 LED-39 LED-40 LED-42: the run of the example, as somebody with the keys of all four roles would have it.
#[test]
fn run_that_was_rewritten_with_every_key_does_not_pass() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "--task", &example("passes")]).expect_code(0);
    let nothing = "00".repeat(32);
    let set = |event: u64, pointer: &str, value: Value| json!({"event": event, "set": {pointer: value}});
    let lies = [
        ("POLICY_MISMATCH", set(0, "/facts/policy/retry_limit", json!(9))),
        ("TOOL_NOT_ALLOWED", set(1, "/content/document/tools", json!({}))),
        ("RISK_UNDERSTATED", set(1, "/content/document/tools/grep/risk", json!("critical"))),
        ("OPERATION_UNCONFIRMED", set(1, "/content/document/tools/grep/confirm", json!(true))),
        ("TOOL_NOT_PROPOSED", set(2, "/content/required_tools", json!([]))),
        ("INPUT_MISMATCH", set(5, "/content/input_hash", json!(nothing))),
        ("CONDITION_UNSHOWN", set(6, "/content/value", json!("typed"))),
        ("EVIDENCE_WEAK", set(10, "/facts/evidence", json!([4]))),
        ("CHECK_FAILED", set(11, "/content/value", json!(99))),
        ("BUNDLE_DIFFERS", set(24, "/content/claims/0/text", json!("The text has a million lines."))),
        ("REPORT_MISMATCH", set(27, "/content/report", json!(nothing))),
    ];
    let harmless = set(2, "/content/objective", json!("to count, in other words"));
    Honest::new(sandbox, &[]).expect(&harmless, &lies);
}

/// ONE-07 ONE-09: a confirmation that was given, and the operation on it.
#[test]
fn confirmation_that_was_rewritten_with_every_key_does_not_pass() {
    let sandbox = Sandbox::new();
    let operation = r#"{"amount":10,"to":"mallory"}"#;
    let ask = ["confirm", "ask", "Send 10 to mallory", "--operation", operation, "--no-wait"];
    let id = sandbox.run(&ask).expect_code(0).stdout.trim_end().to_owned();
    sandbox.run(&["confirm", "give", &id]).expect_code(0);
    sandbox.run(&["confirm", "start", &id, "--operation", operation]).expect_code(0);
    let set = |event: u64, pointer: &str, value: Value| json!({"event": event, "set": {pointer: value}});
    let refused = json!({"/type": "confirmation_refused", "/content/instead": null});
    let lies = [
        ("CONFIRMATION_MISMATCH", set(1, "/content/digest", json!("00".repeat(32)))),
        (
            "CONFIRMATION_MISMATCH",
            set(2, "/content/operation", json!({"amount": 1_000_000, "to": "mallory"})),
        ),
        ("OPERATION_UNCONFIRMED", json!({"event": 1, "set": refused})),
        ("CONFIRMATION_SPENT", json!({"like": 2, "set": {}})),
        ("ASSURANCE_OVERSTATED", set(1, "/facts/assurance", json!("signed_in"))),
        ("ASSURANCE_OVERSTATED", set(1, "/facts/attribution", Value::Null)),
        ("OWN_CLIENT", set(1, "/facts/attribution/own", json!(true))),
    ];
    Honest::new(sandbox, &[]).expect(&set(0, "/content/action", json!("Pay the bill")), &lies);
}

/// CLR-24 CLR-52: a plan that was confirmed, with everything demur signed about it.
#[test]
fn plan_that_was_rewritten_with_every_key_does_not_pass() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    planned.run("confirm", &[]).expect_code(0);
    let set = |event: u64, pointer: &str, value: Value| json!({"event": event, "set": {pointer: value}});
    let lies = [
        ("PAPER_INVALID", set(5, "/content/answer", json!("/etc"))),
        ("PAPER_INVALID", set(5, "/content/by", json!("the board"))),
        ("PAPER_INVALID", set(6, "/content/paper/round/answer", json!("/etc"))),
        ("PAPER_INVALID", set(6, "/content/paper/approved_by", json!("the board"))),
        ("PAPER_INVALID", set(6, "/content/paper/record/approved_by", json!("the board"))),
        ("PAPER_INVALID", set(7, "/content/paper/record/all_resolved", json!(false))),
        ("PAPER_INVALID", set(8, "/content/plan/output_path", json!("/etc"))),
        ("PAPER_INVALID", set(9, "/content/paper/attestation/approved_by", json!("the board"))),
    ];
    // A plan that the same user answered is a warning at best.
    Honest::new(planned.sandbox, &["--no-guess"]).expect(&set(4, "/content/channel", json!("a page")), &lies);
}
