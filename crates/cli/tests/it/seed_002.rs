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
