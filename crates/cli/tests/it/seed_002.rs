//! Seed 002, the agent protocol of accountable runs, taken at its word: every state, every numbered transition and every event
//! that must be signed, in the seed's own names, played against a real server over MCP. The seed has no JSON examples.
//! `docs/run.md` lists where demur departs from it, and why.

use serde_json::{Value, json};

use crate::{mcp::client::Client, sandbox::Sandbox};

/// "States" of the section "Session Lifecycle".
const STATES: [&str; 9] = [
    "initialized",
    "planning",
    "reviewing",
    "executing",
    "claiming",
    "auditing",
    "completed",
    "failed",
    "aborted",
];

/// "Mandatory Signed Event Types".
const SIGNED: [&str; 6] = [
    "proposal_created",
    "tool_intent_signed",
    "claim_issued",
    "claim_challenged",
    "final_statement_signed",
    "verification_run_completed",
];

/// The numbered "State transitions" as rows of the table that server and verifiers go by: from, event, to.
const TRANSITIONS: [(&str, &str, &str); 7] = [
    ("initialized", "session_initialized", "planning"),
    ("planning", "proposal_created", "reviewing"),
    ("reviewing", "proposal_reviewed", "executing"),
    ("executing", "claim_issued", "claiming"),
    ("claiming", "final_statement_signed", "auditing"),
    ("auditing", "verification_run_completed", "completed"),
    ("executing", "session_aborted", "aborted"),
];

const TABLE: &str = include_str!("../../../../docs/state-machine.md");

/// LED-10: the table has the seed's states and transitions. It is written from the code that decides.
#[test]
fn the_table_has_every_state_and_transition_of_the_seed() {
    for state in STATES {
        assert!(TABLE.contains(state), "{state}");
    }
    for (from, event, to) in TRANSITIONS {
        let edge = format!("    {from} --> {to}: {event}");
        assert!(TABLE.lines().any(|line| line.starts_with(&edge)), "{edge}");
    }
    // The seventh: any state becomes `failed` on an integrity violation, which is no event.
    assert!(TABLE.contains("Any state also becomes `failed`") && TABLE.contains("(seed 7)"));
}

/// A run of one client in every role.
struct Played {
    client: Client,
    trace: Value,
}

impl Played {
    fn open(sandbox: &Sandbox) -> Self {
        let mut client = Client::legacy(sandbox, &["--tools", "session"], "2025-06-18", &json!({}));
        let opened = client.call("session_open", &json!({"task": "tests", "objective": "The tests pass"}));
        assert_eq!(opened["structuredContent"]["phase"], "planning", "{opened}");
        Self { client, trace: opened["structuredContent"]["trace"].clone() }
    }

    /// Takes a step that leads to this state; returns its first event.
    fn step(&mut self, tool: &str, mut given: Value, state: &str) -> u64 {
        given["trace"] = self.trace.clone();
        let reply = self.client.call(tool, &given);
        assert_eq!(reply["structuredContent"]["phase"], state, "{tool}: {reply}");
        reply["structuredContent"]["events"][0].as_u64().unwrap_or_else(|| panic!("{tool}: {reply}"))
    }

    fn refuses(&mut self, tool: &str, mut given: Value, code: &str) {
        given["trace"] = self.trace.clone();
        let reply = self.client.call(tool, &given);
        let words = reply["content"][0]["text"].as_str().unwrap();
        assert!(reply["isError"] == true && words.starts_with(code), "{tool}: {reply}");
    }
}

/// LED-01 LED-10 LED-11: each transition of the seed happens by its event, and by no other step before its time; what the seed
/// wants signed is signed.
#[test]
fn a_run_goes_through_the_states_of_the_seed() {
    let sandbox = Sandbox::new();
    let mut run = Played::open(&sandbox);
    let intent = |proposal: u64| json!({"proposal": proposal, "tool": "cargo", "input": {"arguments": ["test"]}, "risk": "low", "justification": "to see"});
    let review = |event: u64| json!({"event": event, "decision": "approved", "rationale": "looked at it"});
    run.refuses("session_intend", intent(0), "OUT_OF_PHASE");
    let proposed =
        run.step("session_propose", json!({"objective": "Run them", "tools": ["cargo"]}), "reviewing");
    run.refuses("session_intend", intent(proposed), "OUT_OF_PHASE");
    run.step("session_review", review(proposed), "executing");
    // "`tool_intent_signed` must precede any tool execution event."
    run.refuses("session_start", json!({"intent": proposed}), "REFERENCE");
    let intended = run.step("session_intend", intent(proposed), "executing");
    run.step("session_review", review(intended), "executing");
    let started = run.step("session_start", json!({"intent": intended}), "executing");
    let claim = |output: u64, ended: u64| json!({"text": "All tests pass", "confidence": 90, "evidence": [output], "executions": [ended]});
    // "`tool_execution_completed` or `tool_execution_failed` must precede related `claim_issued`."
    run.refuses("session_claim", claim(started, started), "EXECUTION_OPEN");
    let report = json!({"started": started, "outputs": [{"name": "log", "text": "ok"}], "exit_status": 0, "duration_ms": 5});
    let output = run.step("session_report", report, "executing");
    run.refuses("session_conclude", json!({"verdict": "done"}), "BUNDLE_INCOMPLETE");
    let claimed = run.step("session_claim", claim(output, output + 1), "claiming");
    run.refuses("session_audit", json!({}), "OUT_OF_PHASE");
    let dispute = |event: u64, act: &str| json!({"event": event, "act": act, "reason": "which tests?"});
    let challenge = run.step("session_challenge", dispute(claimed, "challenge"), "claiming");
    run.step("session_challenge", dispute(challenge, "resolve"), "claiming");
    run.step("session_conclude", json!({"verdict": "The tests pass"}), "auditing");
    run.step("session_audit", json!({}), "completed");
    run.refuses("session_propose", json!({"objective": "More", "tools": ["cargo"]}), "OUT_OF_PHASE");

    let told = sandbox.json(&["trace", "show", run.trace.as_str().unwrap()]);
    for kind in SIGNED {
        let entry = told["entries"].as_array().unwrap().iter().find(|entry| entry["kind"] == kind);
        let entry = entry.unwrap_or_else(|| panic!("{kind}: {told}"));
        assert_eq!(entry["signed"], true, "{kind}: {entry}");
    }
}

/// "Proposal Workflow", "Tool Intent and Execution Workflow", "Claim Workflow", "Auditor Workflow": which event says what, where the
/// seed says what it says. Members of facts and content alike.
const SAYS: [(&str, &[&str]); 10] = [
    ("proposal_created", &["objective", "assumptions", "required_tools", "expected_evidence"]),
    ("proposal_reviewed", &["decision", "rationale"]),
    ("tool_intent_signed", &["input_hash", "risk", "justification"]),
    ("tool_execution_started", &["intent", "input"]),
    ("tool_execution_completed", &["outputs"]),
    ("tool_execution_failed", &["failure"]),
    ("claim_issued", &["text", "confidence", "evidence"]),
    ("final_statement_signed", &["claims"]),
    ("verification_run_started", &["profile"]),
    ("verification_run_completed", &["status", "report"]),
];

/// "Protocol Roles": who says it.
const ROLES: [(&str, &str); 8] = [
    ("proposal_created", "planner"),
    ("tool_intent_signed", "executor"),
    ("tool_execution_started", "executor"),
    ("claim_issued", "executor"),
    ("proposal_reviewed", "critic"),
    ("claim_challenged", "critic"),
    ("verification_run_started", "auditor"),
    ("verification_run_completed", "auditor"),
];

/// LED-02 LED-11: every event has the members that the seed gives it, from the role that the seed gives it, behind its predecessor;
/// a rejected proposal and a blocked intent go no further, and a tool is tried again by a new intent.
#[test]
fn every_event_says_what_the_seed_wants_said() {
    let sandbox = Sandbox::new();
    let mut run = Played::open(&sandbox);
    let propose = || json!({"objective": "Run them", "assumptions": ["they are there"], "tools": ["cargo"], "expected_evidence": ["a log"]});
    let review = |event: u64, decision: &str| json!({"event": event, "decision": decision, "rationale": "looked at it"});
    let intent = |proposal: u64, test: &str| json!({"proposal": proposal, "tool": "cargo", "input": {"arguments": [test]}, "risk": "low", "justification": "to see"});
    // "Rejected proposals cannot proceed to execution."
    let rejected = run.step("session_propose", propose(), "reviewing");
    run.step("session_review", review(rejected, "rejected"), "planning");
    run.refuses("session_intend", intent(rejected, "test"), "OUT_OF_PHASE");
    let proposed = run.step("session_propose", propose(), "reviewing");
    run.step("session_review", review(proposed, "approved"), "executing");
    // "Critic block: ... execution prohibited until revision."
    let blocked = run.step("session_intend", intent(proposed, "publish"), "executing");
    run.step("session_review", review(blocked, "blocked"), "executing");
    run.refuses("session_start", json!({"intent": blocked}), "INTENT_BLOCKED");
    let first = run.step("session_intend", intent(proposed, "test"), "executing");
    run.step("session_review", review(first, "approved"), "executing");
    let started = run.step("session_start", json!({"intent": first}), "executing");
    let failed =
        json!({"started": started, "outputs": [], "failure": "exit", "exit_status": 1, "note": "no tests"});
    run.step("session_report", failed, "executing");
    // "Retrying a tool execution creates a new intent and new execution events; previous attempt remains in history."
    run.refuses("session_start", json!({"intent": first}), "");
    let mut again = intent(proposed, "test");
    again["retries"] = first.into();
    let again = run.step("session_intend", again, "executing");
    run.step("session_review", review(again, "approved"), "executing");
    let started = run.step("session_start", json!({"intent": again}), "executing");
    let report = json!({"started": started, "outputs": [{"name": "log", "text": "ok"}], "exit_status": 0, "duration_ms": 5});
    let output = run.step("session_report", report, "executing");
    let claim =
        json!({"text": "All tests pass", "confidence": 90, "evidence": [output], "executions": [output + 1]});
    let claimed = run.step("session_claim", claim, "claiming");
    let dispute = |event: u64, act: &str| json!({"event": event, "act": act, "reason": "which tests?"});
    let challenge = run.step("session_challenge", dispute(claimed, "challenge"), "claiming");
    run.step("session_challenge", dispute(challenge, "resolve"), "claiming");
    run.step("session_conclude", json!({"verdict": "The tests pass"}), "auditing");
    run.step("session_audit", json!({}), "completed");

    let trace = run.trace.as_str().unwrap();
    sandbox.run(&["export", trace, "--out", "run.jsonl"]).expect_code(0);
    let file = std::fs::read_to_string(sandbox.path("run.jsonl")).unwrap();
    let lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<_> = lines
        .filter_map(|line| line.get("event").cloned())
        .filter(|line| line["event"]["trace"] == trace)
        .collect();
    let said = |line: &Value| {
        let event = &line["event"];
        if event["statement"].is_null() { event["record"].clone() } else { event["statement"].clone() }
    };
    for (kind, members) in SAYS {
        let line = lines.iter().find(|line| said(line)["type"] == kind).unwrap_or_else(|| panic!("{kind}"));
        for member in members {
            let there = |value: &Value| value.get(member).is_some_and(|value| !value.is_null());
            assert!(there(&said(line)["facts"]) || there(&line["content"]), "{kind}: {member} in {line}");
        }
    }
    for (kind, role) in ROLES {
        let mut of_kind = lines.iter().filter(|line| said(line)["type"] == kind).peekable();
        assert!(of_kind.peek().is_some(), "{kind}");
        assert!(of_kind.all(|line| said(line)["role"] == role), "{kind} by {role}");
    }
    // "Each new event references immediate predecessor hash", and "every verification report references immutable trace identifiers".
    for (place, line) in lines.iter().enumerate() {
        assert_eq!(
            (&line["event"]["sequence"], place == 0),
            (&place.into(), line["event"]["previous"].is_null())
        );
    }
    let verified = sandbox.run(&["verify", "run.jsonl", "--json"]);
    let report: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(report["report"]["scope"]["trace"], trace, "{verified}");
    assert_ne!(report["verdict"], "fail", "{verified}");
}

/// LED-10: the eighth transition: any state to `aborted`, on an explicit abort.
#[test]
fn a_run_is_aborted_in_the_seed_s_words() {
    let sandbox = Sandbox::new();
    let mut run = Played::open(&sandbox);
    let aborted =
        run.client.call("session_abort", &json!({"reason": "the user said so", "trace": run.trace}));
    assert_eq!(aborted["structuredContent"]["phase"], "aborted", "{aborted}");
    run.refuses("session_propose", json!({"objective": "More", "tools": ["cargo"]}), "OUT_OF_PHASE");
}
