//! `demur check`, `demur plan`, `demur audit`, `demur handoff` and `demur verify --no-guess`.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// CLR-01 CLR-13 AEP-17
#[test]
fn a_check_tells_a_person_what_is_missing_and_records_nothing() {
    let sandbox = Sandbox::new();
    write(&sandbox, "plan.json", &seed());
    assert_snapshot!(sandbox.run(&["check", "plan.json"]), @r"
    exit 3
    --- stdout
    Needs clarification: 1 must be answered, 0 to confirm, 0 settled

    gap-001 compliance.jurisdiction (must be answered)
      JSP 440 (UK MOD) selected but deployment target is USWDS (USA). Which jurisdiction applies?
      Compliance overlap: JSP 440 ↔ NATO STANAG. Possible UK/NATO deployment vs US system.
      choose one of: jsp-440-only, uswds-only, both-with-nato-stanag
      until then this waits: planner, developer, build
    ");
    assert!(!sandbox.data().exists());
    write(&sandbox, "whole.json", &with(&json!({})));
    assert_snapshot!(sandbox.run(&["check", "whole.json"]), @r"
    exit 0
    --- stdout
    Ready to proceed: 0 must be answered, 0 to confirm, 0 settled
    ");
}

/// CLR-16
#[test]
fn a_watched_check_says_it_again_when_the_plan_or_a_pack_changes() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("pack")).unwrap();
    let pack = |text: &str| {
        replace(&sandbox, "pack/pack.toml", &format!("[pack]\nname = \"own\"\nversion = \"1\"\n{text}"));
    };
    pack("");
    replace(&sandbox, "plan.json", &with(&json!({})).to_string());
    let mut command = sandbox.command(&["check", "plan.json", "--rules", "pack", "--watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let first = next();
    assert_eq!(first["status"], "ready_to_proceed");
    replace(&sandbox, "plan.json", &with(&json!({"real_build": true})).to_string());
    let second = next();
    assert_eq!((&second["status"], &second["rules"]), (&json!("needs_clarification"), &first["rules"]));
    pack(
        "\n[[required]]\nid = \"owner\"\nfield = \"owner\"\nquestion = \"owner is not given. Who owns it?\"\nkinds = [\"text\"]\n",
    );
    let third = next();
    assert_ne!(third["rules"], first["rules"]);
    assert_eq!(third["blocking_count"], 2);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Writes a file at once, so that nobody reads half of it.
fn replace(sandbox: &Sandbox, name: &str, text: &str) {
    fs::write(sandbox.path("new"), text).unwrap();
    fs::rename(sandbox.path("new"), sandbox.path(name)).unwrap();
}

/// CLR-20 CLR-23
#[test]
fn a_check_for_programs_has_the_signed_document() {
    let sandbox = Planned::sandbox();
    write(&sandbox, "plan.json", &seed());
    let ran = sandbox.run(&["check", "plan.json", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(3).stdout).unwrap();
    assert_eq!(reply["status"], "needs_clarification");
    assert_eq!((&reply["blocking_count"], &reply["warning_count"]), (&json!(1), &json!(0)));
    assert_eq!(reply["document"]["gaps"], reply["gaps"]);
    let submitted = sandbox.run(&["plan", "submit", "plan.json", "--json"]);
    let submitted: Value = serde_json::from_str(&submitted.expect_code(3).stdout).unwrap();
    assert_eq!(submitted["gaps"], reply["gaps"], "a check and a submission ask the same");
    assert!(reply["document"]["signature"].as_str().unwrap().starts_with("ed25519:"));
}

/// CLR-23
#[test]
fn the_document_of_the_seeds_example_verifies_with_another_library() {
    let sandbox = Planned::sandbox();
    write(&sandbox, "plan.json", &seed());
    let ran = sandbox.run(&["plan", "submit", "plan.json", "--json"]);
    let interpreter = std::env::var_os("DEMUR_PYTHON");
    let mut python = Command::new(interpreter.expect("DEMUR_PYTHON is not set: run `cargo xtask test`"));
    let python = python.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().unwrap();
    child.stdin.take().unwrap().write_all(ran.expect_code(3).stdout.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "holds\nforged: refused\n");
}

/// Checks the document with `cryptography`, then a changed one. The document has ASCII keys and no fractions, so Python's
/// sorted form without spaces is its canonical form.
const SCRIPT: &str = r#"
import json, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
document = json.load(sys.stdin)["document"]
signature = bytes.fromhex(document.pop("signature").removeprefix("ed25519:"))
key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(document["agent_public_key"].removeprefix("ed25519:")))
form = lambda: json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
key.verify(signature, form())
print("holds")
document["gaps"][0]["severity"] = "WARN"
try:
    key.verify(signature, form())
except InvalidSignature:
    print("forged: refused")
"#;

/// CLR-03 CLR-30 CLR-31 CLR-44 CLR-61 CLR-62
#[test]
fn a_plan_goes_from_refusal_to_attestation() {
    let planned = Planned::new(&with(&json!({"real_build": true, "standards_selected": ["gdpr"]})));
    let sandbox = &planned.sandbox;
    assert_eq!(planned.open(), ["compliance.overlaps.gdpr.lgpd", "output_path"]);
    assert_eq!(planned.error("begin", &["build"]), "OPERATION_BLOCKED");
    assert_eq!(planned.error("confirm", &[]), "QUESTIONS_OPEN");
    let refused = planned.run("confirm", &[]);
    assert!(
        refused.stderr.contains("gap-001 (compliance.overlaps.gdpr.lgpd), gap-002 (output_path)"),
        "{refused}"
    );
    planned.run("attest", &["--output", "dist"]).expect_code(2);
    fs::create_dir_all(sandbox.path("dist/css")).unwrap();
    fs::write(sandbox.path("dist/index.html"), "<p>").unwrap();
    fs::write(sandbox.path("dist/css/a.css"), "p {}").unwrap();
    assert_eq!(planned.error("attest", &["--output", "dist"]), "OUT_OF_PLAN");

    let vague = planned.json("resolve", &["gap-002", "the usual one"], 3);
    assert_eq!((&vague["status"], &vague["accepted_answer"]), (&json!("escalated"), &Value::Null));
    let settled = planned.json("resolve", &["gap-002", "dist", "--as", "bot"], 0);
    assert_eq!((&settled["status"], &settled["accepted_answer"]), (&json!("resolved"), &json!("dist")));
    // CLR-04: the same answer of the same answerer gets the first outcome and records nothing; others are refused.
    let events = |planned: &Planned| planned.sandbox.run(&["export", "last"]).stdout.lines().count();
    let before = events(&planned);
    assert_eq!(planned.json("resolve", &["gap-002", "dist", "--as", "bot"], 0), settled);
    assert_eq!(events(&planned), before);
    assert_eq!(planned.error("resolve", &["gap-002", "out", "--as", "bot"]), "ALREADY_ANSWERED");
    assert_eq!(planned.error("resolve", &["gap-002", "out"]), "ALREADY_ANSWERED");
    assert_eq!(events(&planned), before + 2, "both refusals are recorded");
    planned.run("resolve", &["gap-001", "--accept", "--note", "LGPD does not apply"]).expect_code(0);
    assert_eq!(planned.json("confirm", &[], 0)["status"], "plan_accepted");
    planned.run("begin", &["build"]).expect_code(0);
    let attested = planned.json("attest", &["--output", "dist"], 0);
    assert_eq!(attested["files"], 2);
    assert_eq!(planned.json("attest", &["--output", "dist"], 0), attested, "the same again is told");
    let inputs = &attested["attestation"]["inputs"];
    assert_eq!((&inputs["clarification_rounds"], &inputs["output_path"]), (&json!(3), &json!("dist")));
    assert_eq!(planned.json("show", &[], 0)["status"], "attested");

    let record = sandbox.json(&["audit", &planned.session]);
    assert_eq!((&record["total_rounds"], &record["all_resolved"]), (&json!(3), &json!(true)));
    let package: Value =
        serde_json::from_str(&sandbox.run(&["handoff", &planned.session, "--task", "publish"]).stdout)
            .unwrap();
    assert_eq!(package["context"]["clarification_chain"], record);
    assert_eq!(package["context"]["attestation"], attested["attestation"]);
}

/// CLR-04
#[test]
fn the_same_session_and_plan_get_the_same_bytes_and_another_plan_is_refused() {
    let sandbox = Planned::sandbox();
    write(&sandbox, "plan.json", &seed());
    let submit = |file: &str| sandbox.run(&["plan", "submit", file, "--session", SESSION, "--json"]);
    let first = submit("plan.json").expect_code(3).stdout.clone();
    assert_eq!(submit("plan.json").expect_code(3).stdout, first);
    write(&sandbox, "other.json", &with(&json!({})));
    let again = |rest: &[&str]| {
        error(&sandbox, &[&["plan", "submit", "plan.json", "--session", SESSION], rest].concat())
    };
    assert_eq!(error(&sandbox, &["plan", "submit", "other.json", "--session", SESSION]), "SESSION_CONFLICT");
    let travel = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/rules/travel");
    assert_eq!(again(&["--rules", travel]), "SESSION_CONFLICT", "other rules");
    assert_eq!(again(&["--as", "ghost"]), "KEY_UNKNOWN");
    sandbox.run(&["keys", "new", "mallory", "--role", "agent"]).expect_code(0);
    assert_eq!(again(&["--as", "mallory"]), "SESSION_CONFLICT", "another agent");
}

/// CLR-52 ONE-08 ONE-12
#[test]
fn the_export_shows_that_nothing_was_guessed() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    sandbox.run(&["export", "last", "--out", "open.jsonl"]).expect_code(0);
    sandbox.run(&["verify", "open.jsonl"]).expect_code(0);
    let open = sandbox.run(&["verify", "open.jsonl", "--no-guess", "--html", "open.html"]);
    assert!(open.expect_code(1).stdout.starts_with("verdict  NOT ESTABLISHED over everything"), "{open}");
    let page = fs::read_to_string(sandbox.path("open.html")).unwrap();
    assert!(page.contains("<strong>NOT ESTABLISHED</strong>") && page.contains("<h2>Guesses</h2>"), "{page}");
    let said = sandbox.run(&["verify", "open.jsonl", "--no-guess", "--json"]);
    let said: Value = serde_json::from_str(&said.expect_code(1).stdout).unwrap();
    assert_eq!(said["verdict"], "not_established");
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    planned.run("confirm", &[]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "whole.jsonl"]).expect_code(0);
    let ran = sandbox.run(&["verify", "whole.jsonl", "--no-guess"]);
    assert!(ran.expect_code(0).stdout.contains("; 1 gap was asked as the rules"), "{ran}");
    let by = "a person: same user, recorded by demur; perhaps the asker";
    assert!(ran.stdout.contains(&format!("value “output_path” from #5: answered by {by}")), "{ran}");
    assert!(ran.stdout.contains("remark SAME_USER #5:"), "{ran}");
    assert!(ran.stdout.contains("(same user, recorded by demur)"), "the report says it, too: {ran}");
    let strict = sandbox.run(&["verify", "whole.jsonl", "--no-guess", "--strict", "--json"]);
    let strict: Value = serde_json::from_str(&strict.stdout).unwrap();
    assert_eq!(strict["no_guess"]["checked"]["remarks"][0]["code"], "SAME_USER");
    assert_ne!(strict["verdict"], "pass", "perhaps the asker has answered: {strict}");
    let hash = planned.json("show", &[], 0)["rules"].as_str().unwrap().to_owned();
    let known = sandbox.run(&["verify", "whole.jsonl", "--no-guess", "--rules-hash", &hash]);
    assert!(known.expect_code(0).stdout.contains(&format!("rules SHA-256 {hash}: the rules you named")));
    let other = sandbox.run(&["verify", "whole.jsonl", "--no-guess", "--rules-hash", &"0".repeat(64)]);
    assert!(other.expect_code(1).stdout.contains("other rules than you named"), "{other}");
    let report = sandbox.json(&["verify", "whole.jsonl", "--no-guess"]);
    assert_eq!(report["no_guess"]["checked"]["problems"], json!([]));
    sandbox.feed(&["verify", "-", "--no-guess"], b"").expect_code(2);
    // A stream is kept, so that what is looked at again is what was verified.
    let whole = fs::read(sandbox.path("whole.jsonl")).unwrap();
    sandbox.feed(&["verify", "-", "--no-guess"], &whole).expect_code(0);
    // A file that does not hold shows nothing about guesses.
    let text = fs::read_to_string(sandbox.path("whole.jsonl")).unwrap().replace("\"dist\"", "\"/\"");
    fs::write(sandbox.path("forged.jsonl"), text).unwrap();
    let ran = sandbox.run(&["verify", "forged.jsonl", "--no-guess"]);
    assert!(ran.expect_code(1).stdout.contains("Not established: the file does not hold"), "{ran}");
}

#[test]
fn one_of_something_is_told_in_the_singular() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    sandbox.run(&["export", "last", "--out", "open.jsonl"]).expect_code(0);
    let report = sandbox.run(&["verify", "open.jsonl"]);
    assert!(report.expect_code(0).stdout.contains("1 question is not settled"), "{report}");
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    planned.run("confirm", &[]).expect_code(0);
    fs::create_dir(sandbox.path("dist")).unwrap();
    fs::write(sandbox.path("dist/one"), "one").unwrap();
    let attested = planned.run("attest", &["--output", "dist"]);
    let words = "Attested: 1 file after 1 round of clarification";
    assert!(attested.expect_code(0).stdout.starts_with(words), "{attested}");
    let audited = sandbox.run(&["audit", &planned.session]);
    assert!(audited.expect_code(0).stdout.contains(": 1 round, every gap is settled"), "{audited}");
}

/// CLR-16
#[test]
fn a_pack_of_the_users_own_finds_gaps_without_rebuilding_and_its_hash_is_recorded() {
    let sandbox = Planned::sandbox();
    write(&sandbox, "trip.json", &json!({"destination": "Lisbon"}));
    let travel = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/rules/travel");
    let ran = sandbox.run(&["plan", "submit", "trip.json", "--rules", travel, "--only", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(3).stdout).unwrap();
    assert!(reply["blocking_count"].as_u64().unwrap() > 0);
    let hash = reply["rules"].as_str().unwrap();
    let export = sandbox.run(&["export", "last"]).stdout.clone();
    let recorded = export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let recorded: Vec<_> =
        recorded.filter(|line| line["event"]["event"]["record"]["type"] == "rules_recorded").collect();
    assert_eq!(recorded[0]["event"]["content"]["hash"], hash);
}

/// ONE-07
#[test]
fn a_rule_that_demands_more_than_a_key_refuses_the_key() {
    let sandbox = Planned::sandbox();
    fs::create_dir(sandbox.path("pack")).unwrap();
    fs::write(sandbox.path("pack/pack.toml"), "[pack]\nname = \"strict\"\nversion = \"1\"\n").unwrap();
    let policy = "@id(\"who\")\n@severity(\"BLOCK\")\n@field(\"approver\")\n@question(\"Who approves it?\")\n\
                  @assurance(\"terminal\")\n@kinds(\"text\")\n@blocks(\"build\")\n\
                  forbid (principal, action, resource) when { context.approver == \"\" };\n";
    fs::write(sandbox.path("pack/who.cedar"), policy).unwrap();
    write(&sandbox, "plan.json", &with(&json!({})));
    let submit = ["plan", "submit", "plan.json", "--session", SESSION, "--rules", "pack"];
    sandbox.run(&submit).expect_code(3);
    let resolve = ["plan", "resolve", SESSION, "gap-001", "me", "--as", "bot"];
    assert_eq!(error(&sandbox, &resolve), "ASSURANCE_TOO_LOW");
    sandbox.run(&["plan", "resolve", SESSION, "gap-001", "me"]).expect_code(0);
}

#[test]
fn asker_and_answerer_get_receipts_that_hold_the_export_to_them() {
    let sandbox = Planned::sandbox();
    write(&sandbox, "plan.json", &with(&json!({"real_build": true})));
    let submit = ["plan", "submit", "plan.json", "--session", SESSION, "--receipt", "asked.json"];
    sandbox.run(&submit).expect_code(3);
    sandbox.run(&["export", "last", "--out", "early.jsonl"]).expect_code(0);
    let resolve =
        ["plan", "resolve", SESSION, "gap-001", "dist", "--as", "bot", "--receipt", "answered.json"];
    sandbox.run(&resolve).expect_code(0);
    sandbox.run(&["plan", "confirm", SESSION, "--receipt", "confirmed.json"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "whole.jsonl"]).expect_code(0);
    for receipt in ["asked.json", "answered.json", "confirmed.json"] {
        let ran = sandbox.run(&["verify", "whole.jsonl", "--receipt", receipt, "--require-anchor"]);
        ran.expect_code(0);
    }
    // A file that ends before the answer cannot hold its receipt.
    let ran = sandbox.run(&["verify", "early.jsonl", "--receipt", "answered.json"]);
    assert!(ran.expect_code(1).stdout.contains("RECEIPT_MISMATCH"), "{ran}");
    // What the desk says for a person has no receipt.
    sandbox.run(&["plan", "resolve", SESSION, "gap-001", "x", "--receipt", "y.json"]).expect_code(2);
    sandbox.run(&submit).expect_code(2);
}

#[test]
fn the_store_checks_rebuilds_and_lists_a_plan_like_a_run() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    sandbox.run(&["store", "check"]).expect_code(0);
    sandbox.run(&["store", "rebuild"]).expect_code(0);
    sandbox.run(&["store", "check"]).expect_code(0);
    let listed = &sandbox.json(&["trace", "list"])["traces"][0];
    assert_eq!((&listed["kind"], &listed["phase"]), (&json!("work"), &Value::Null));
    assert!(sandbox.run(&["trace", "list"]).stdout.contains(" work "));
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    sandbox.run(&["store", "check"]).expect_code(0);
}

#[test]
fn another_agent_does_not_go_on_with_somebody_elses_plan() {
    let planned = Planned::new(&with(&json!({})));
    planned.sandbox.run(&["keys", "new", "mallory", "--role", "agent"]).expect_code(0);
    assert_eq!(planned.error("confirm", &["--as", "mallory"]), "NOT_PARTICIPANT");
    assert_eq!(planned.error("begin", &["read", "--as", "mallory"]), "NOT_PARTICIPANT");
    planned.run("confirm", &[]).expect_code(0);
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    assert_eq!(planned.error("resolve", &["gap-009", "dist"]), "GAP_UNKNOWN");
    assert_eq!(planned.error("resolve", &["gap-001", &"x".repeat(20_000)]), "ANSWER_INVALID");
    assert_eq!(planned.error("resolve", &["gap-001", "dist", "--as", "agent"]), "KEY_UNKNOWN");
    assert_eq!(planned.error("resolve", &["gap-001", "--accept"]), "MUST_BE_ANSWERED");
    let other = "0196bb7c-0000-7000-8000-00000000ffff";
    assert_eq!(error(sandbox, &["plan", "show", other]), "SESSION_UNKNOWN");
    assert_eq!(error(sandbox, &["audit", other]), "SESSION_UNKNOWN");
    sandbox.run(&["plan", "show", "no-uuid"]).expect_code(2);
    for (name, bytes) in [("list.json", "[]"), ("cut.json", "{\"a\""), ("twice.json", "{\"a\":1,\"a\":2}")] {
        fs::write(sandbox.path(name), bytes).unwrap();
        assert_eq!(error(sandbox, &["plan", "submit", name]), "PLAN_MALFORMED");
        assert_eq!(error(sandbox, &["check", name]), "PLAN_MALFORMED");
    }
    assert_eq!(error(sandbox, &["check", "nowhere.json"]), "FILE_UNREADABLE");
    let list = sandbox.json(&["trace", "list"]);
    assert_eq!(list["traces"].as_array().unwrap().len(), 1, "nothing else was recorded");
}

#[test]
fn a_run_is_no_session() {
    let sandbox = Sandbox::with_run();
    let trace: demur_ledger::name::TraceId = sandbox.trace().parse().unwrap();
    // The same bits as a UUID, made one of version 7 by hand where the trace's own bits allow it.
    let digits = format!("{:032x}", trace.as_ulid().as_u128());
    let uuid = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]).join("-");
    let code = error(&sandbox, &["plan", "show", &uuid]);
    assert!(["SESSION_UNKNOWN", "USAGE"].contains(&code.as_str()), "{code}");
}

/// A sandbox with a session.
pub(crate) struct Planned {
    pub(crate) sandbox: Sandbox,
    pub(crate) session: String,
}

impl Planned {
    /// Returns a sandbox with an agent and a bot that answers.
    fn sandbox() -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
        sandbox.run(&["keys", "new", "bot", "--role", "answerer"]).expect_code(0);
        sandbox
    }

    pub(crate) fn new(plan: &Value) -> Self {
        let sandbox = Self::sandbox();
        write(&sandbox, "plan.json", plan);
        let ran = sandbox.run(&["plan", "submit", "plan.json", "--json"]);
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        Self { sandbox, session: reply["session_id"].as_str().unwrap().to_owned() }
    }

    pub(crate) fn run(&self, command: &str, rest: &[&str]) -> Ran {
        self.sandbox.run(&[&["plan", command, &self.session], rest].concat())
    }

    pub(crate) fn json(&self, command: &str, rest: &[&str], code: i32) -> Value {
        let ran = self.run(command, &[rest, &["--json"]].concat());
        serde_json::from_str(&ran.expect_code(code).stdout).unwrap()
    }

    fn error(&self, command: &str, rest: &[&str]) -> String {
        error(&self.sandbox, &[&["plan", command, &self.session], rest].concat())
    }

    fn open(&self) -> Vec<String> {
        let reply = self.json("show", &[], 0);
        let gaps = reply["gaps"].as_array().unwrap().iter();
        gaps.map(|gap| gap["field"].as_str().unwrap().to_owned()).collect()
    }
}

/// Returns the code with which a call is refused.
fn error(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ran = sandbox.run(&[arguments, &["--json"]].concat());
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|_| panic!("{ran}"));
    error["error"]["code"].as_str().unwrap().to_owned()
}

fn write(sandbox: &Sandbox, name: &str, plan: &Value) {
    fs::write(sandbox.path(name), plan.to_string()).unwrap();
}

fn seed() -> Value {
    with(&json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"}))
}

/// Returns a plan that lacks nothing, with these members.
pub(crate) fn with(members: &Value) -> Value {
    let mut plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
    });
    plan.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    plan
}

const SESSION: &str = "0196bb7c-0000-7000-8000-000000000001";

/// CLR-31, CLR-62: the ledger counts questions, people know gaps.
#[test]
fn what_is_in_the_way_is_named_as_the_plan_names_it() {
    let sandbox = Sandbox::new();
    write(&sandbox, "plan.json", &seed());
    let error = sandbox.json_error(&["plan", "submit", "plan.json"], 2);
    assert_eq!(error["hint"], "`demur keys new agent --role agent` makes the key of the agent");
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    sandbox.run(&["plan", "submit", "plan.json"]).expect_code(3);
    let gap = "gap-001 (compliance.jurisdiction)";
    let confirm = sandbox.json_error(&["plan", "confirm", "last"], 3);
    assert_eq!(confirm["message"], format!("expected every gap to be settled, still open: {gap}"));
    let begin = sandbox.json_error(&["plan", "begin", "last", "build"], 3);
    assert_eq!(begin["message"], format!("build is blocked until this is settled: {gap}"));
    let question = sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned();
    for error in [confirm, begin] {
        let hint = error["hint"].as_str().unwrap();
        assert!(
            hint.contains(" gap-001 ANSWER` settles gap-001, which is question ") && hint.contains(&question)
        );
    }
}

/// CLR-34: a hint names a command that works: a gap that nobody is asked about is put again first.
#[test]
fn hint_about_a_gap_names_a_command_that_works() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    let gap = sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned();
    sandbox.run(&["decline", &gap]).expect_code(0);
    for words in [&["begin", "last", "build"][..], &["confirm", "last"]] {
        let hint = sandbox.json_error(&[&["plan"], words].concat(), 3)["hint"].as_str().unwrap().to_owned();
        assert!(hint.contains("nobody is asked about gap-001 now: `demur plan ask-again "), "{hint}");
    }
    let hint =
        sandbox.json_error(&["plan", "begin", "last", "build"], 3)["hint"].as_str().unwrap().to_owned();
    let command: Vec<&str> = hint.split('`').nth(1).unwrap().split(' ').skip(1).collect();
    sandbox.run(&command);
    let hint =
        sandbox.json_error(&["plan", "begin", "last", "build"], 3)["hint"].as_str().unwrap().to_owned();
    let command = hint.split('`').nth(1).unwrap().replace("ANSWER", "dist");
    sandbox.run(&command.split(' ').skip(1).collect::<Vec<_>>()).expect_code(0);
    sandbox.run(&["plan", "begin", "last", "build"]).expect_code(0);
}

/// CLR-50: an answer that is taken back reads so in the record, which still holds; everything about plans takes the session.
#[test]
fn answer_that_is_taken_back_is_not_resolved_in_the_audit_record() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    let gap = sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned();
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    sandbox.run(&["answer", &gap, "--revoke"]).expect_code(0);
    let record = sandbox.json(&["audit", "last"]);
    let rounds = record["chain"].as_array().unwrap();
    let last = rounds.last().unwrap();
    assert_eq!((&rounds[0]["resolved"], &last["resolved"]), (&json!(true), &json!(false)), "{record}");
    assert!(last["answer"].as_str().unwrap().starts_with("the answer of event "), "{record}");
    assert_eq!(record["all_resolved"], false);
    let told = sandbox.run(&["audit", "last"]).expect_code(0).stdout.clone();
    assert!(told.contains(" is taken back (does not settle it)"), "{told}");
    for session in [planned.session.as_str(), &planned.session[..13]] {
        sandbox.run(&["export", session, "--out", "plan.jsonl"]).expect_code(0);
        sandbox.run(&["verify", "plan.jsonl"]).expect_code(0);
        let guessed = sandbox.run(&["verify", "plan.jsonl", "--no-guess"]);
        assert!(!guessed.to_string().contains("PAPER"), "{guessed}");
        fs::remove_file(sandbox.path("plan.jsonl")).unwrap();
    }
    sandbox.run(&["trace", "show", &planned.session]).expect_code(0);
}

/// What nobody asks about any more is no answer, and is not counted as one.
#[test]
fn gap_that_the_rules_no_longer_find_is_not_counted_as_settled() {
    let planned = Planned::new(&json!({"description": "a status page", "operation": "add"}));
    let sandbox = &planned.sandbox;
    let gap = sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned();
    planned.run("resolve", &["gap-001", "webpart-react"]).expect_code(0);
    // What the answer uncovered goes with it.
    sandbox.run(&["answer", &gap, "--revoke"]).expect_code(0);
    let told = planned.run("show", &[]).expect_code(0).stdout.clone();
    assert!(told.contains("1 must be answered, 0 to confirm, 0 settled, 2 no longer asked"), "{told}");
    let listed = sandbox.run(&["plan", "list"]).expect_code(0).stdout.clone();
    assert!(listed.contains("1 question open"), "{listed}");
}

#[test]
fn plan_whose_words_were_erased_says_so() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    let shown = sandbox.json(&["trace", "show", "last"]);
    let entries = shown["entries"].as_array().unwrap();
    let answer = entries.iter().find(|entry| entry["kind"] == "question_answered").unwrap();
    let event = format!("last.{}", answer["sequence"]);
    sandbox.run(&["erase", &event, "--why", "asked to", "--yes"]).expect_code(0);
    let error = sandbox.json_error(&["plan", "show", "last"], 2);
    let (message, hint) = (error["message"].as_str().unwrap(), error["hint"].as_str().unwrap());
    assert!(message.contains("were erased: where its plan stands cannot be read any more"), "{error}");
    let command: Vec<&str> = hint.split('`').nth(1).unwrap().split(' ').skip(1).collect();
    assert!(sandbox.run(&command).stdout.contains("plan_submitted"), "{hint}");
}

#[test]
fn plan_that_is_attested_says_so_and_an_operation_that_began_too() {
    let sandbox = Sandbox::new();
    write(&sandbox, "plan.json", &with(&json!({})));
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    sandbox.run(&["plan", "submit", "plan.json"]).expect_code(0);
    let begun = sandbox.run(&["plan", "begin", "last", "build"]);
    assert!(begun.expect_code(0).stdout.starts_with("Begun: build is on record as begun.\n"), "{begun}");
    sandbox.run(&["plan", "confirm", "last"]).expect_code(0);
    fs::create_dir(sandbox.path("out")).unwrap();
    fs::write(sandbox.path("out/file"), "made").unwrap();
    let attested = sandbox.json(&["plan", "attest", "last", "--output", "out"]);
    assert_eq!(
        sandbox.json(&["plan", "attest", "last", "--output", "out"])["attestation"],
        attested["attestation"]
    );
    fs::write(sandbox.path("out/file"), "made anew").unwrap();
    for arguments in [&["plan", "attest", "last", "--output", "out"][..], &["plan", "confirm", "last"]] {
        let message = "expected a plan that is not attested yet, found one that is attested already";
        assert_eq!(sandbox.json_error(arguments, 3)["message"], message, "{arguments:?}");
    }
}
