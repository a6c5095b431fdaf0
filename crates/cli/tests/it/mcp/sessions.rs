//! An accountable run by three clients of `demur mcp --tools session`: ada plans, bo executes, cy is critic and auditor. At each
//! step somebody tries what is not their turn, and is refused.

use serde_json::{Value, json};

use super::{client::Client, forms};
use crate::sandbox::Sandbox;

/// The three, and their run.
struct Run {
    ada: Client,
    bo: Client,
    cy: Client,
    trace: String,
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
enum Who {
    Ada,
    Bo,
    Cy,
}

use Who::{Ada, Bo, Cy};

impl Run {
    fn open(sandbox: &Sandbox) -> Self {
        let client = |name: &str| Client::apart(sandbox, &["--tools", "session"], &forms()).named(name);
        let (mut ada, bo, cy) = (client("ada"), client("bo"), client("cy"));
        let opened = ada.call("session_open", &json!({
            "task": "tests", "objective": "The tests pass", "agents": {"executor": "bo", "critic": "cy", "auditor": "cy"},
        }));
        let told = &opened["structuredContent"];
        assert_eq!((&told["phase"], &told["events"]), (&json!("planning"), &json!([0, 1])), "{opened}");
        assert_eq!(told["next"], "ada (planner): session_propose", "{opened}");
        let trace = told["trace"].as_str().unwrap().to_owned();
        Self { ada, bo, cy, trace }
    }

    fn call(&mut self, who: Who, tool: &str, given: &Value) -> Value {
        let client = match who {
            Ada => &mut self.ada,
            Bo => &mut self.bo,
            Cy => &mut self.cy,
        };
        let mut given = given.clone();
        given["trace"] = json!(self.trace);
        client.call(tool, &given)
    }

    /// Calls a tool that does it, and returns the first event.
    fn does(&mut self, who: Who, tool: &str, given: &Value, next: &str) -> u64 {
        let result = self.call(who, tool, given);
        assert!(result["isError"] != true, "{tool}: {result}");
        let told = &result["structuredContent"];
        assert!(told["next"].as_str().unwrap().contains(next), "{tool}: {result}");
        told["events"][0].as_u64().unwrap_or_else(|| panic!("{tool}: {result}"))
    }

    /// Calls a tool that refuses with this code and changes nothing but that the attempt may be noted.
    fn refuses(&mut self, who: Who, tool: &str, given: &Value, code: &str) {
        let before = self.standing();
        let result = self.call(who, tool, given);
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && words.starts_with(code), "{tool} by {who:?}: {result}");
        assert_eq!(self.standing(), before, "{tool} by {who:?}");
    }

    /// Returns where the run stands, without how many attempts were noted and which program was first heard in a role.
    fn standing(&mut self) -> Value {
        let shown = self.call(Ada, "session_show", &json!({}));
        let mut run = shown["structuredContent"]["run"].clone();
        assert!(run.is_object(), "{shown}");
        run.as_object_mut().unwrap().remove("events");
        for one in run["participants"].as_array_mut().unwrap() {
            one.as_object_mut().unwrap().remove("client");
        }
        let recorded = |event: &&Value| event["artifact"] == "here";
        let events = shown["structuredContent"]["events"].as_array().unwrap();
        run["artifacts"] = json!(events.iter().filter(recorded).count());
        run
    }
}

fn proposal() -> Value {
    json!({"objective": "Run them", "tools": ["cargo"]})
}

fn intent(proposal: u64, meets: &[u64]) -> Value {
    json!({
        "proposal": proposal, "tool": "cargo", "input": {"arguments": ["test"], "jobs": 2}, "risk": "low",
        "justification": "to see", "meets": meets,
    })
}

fn review(event: u64, decision: &str) -> Value {
    json!({"event": event, "decision": decision, "rationale": "looked at it"})
}

fn report(started: u64) -> Value {
    json!({"started": started, "outputs": [{"name": "log", "text": "ok. 12 passed"}], "exit_status": 0, "duration_ms": 5})
}

fn claim(evidence: &[u64], executions: &[u64]) -> Value {
    json!({"text": "All tests pass", "confidence": 90, "evidence": evidence, "executions": executions})
}

/// Proposes; returns the proposal.
fn plan(run: &mut Run) -> u64 {
    run.refuses(Bo, "session_propose", &proposal(), "NOT_PARTICIPANT");
    run.refuses(Bo, "session_intend", &intent(0, &[]), "OUT_OF_PHASE");
    let proposed = run.does(Ada, "session_propose", &proposal(), "cy (critic): session_review 3");
    assert_eq!(proposed, 3, "opening, policy, and one attempt that was noted");
    proposed
}

/// LED-04, LED-06, LED-07, LED-10, LED-11, LED-13, LED-14, LED-15
#[test]
fn three_clients_take_a_run_to_its_verdict_and_nobody_out_of_turn() {
    let sandbox = Sandbox::new();
    let mut run = Run::open(&sandbox);
    let proposed = plan(&mut run);
    let execution = execute(&mut run, proposed);
    let claimed = argue(&mut run, execution);
    conclude(&mut run, claimed);
    let file = sandbox.path("run.jsonl");
    sandbox.run(&["export", &run.trace, "--out", file.to_str().unwrap()]).expect_code(0);
    let verified = sandbox.json(&["verify", file.to_str().unwrap()]);
    assert_eq!(verified["verdict"], "pass", "{verified}");
    let keys = sandbox.json(&["keys", "list"]);
    let names: Vec<_> =
        keys["keys"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    for name in ["ada.planner", "bo.executor", "cy.critic", "cy.auditor"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

/// Reviews the proposal, intends, starts and reports; returns the output and the event that ended it.
fn execute(run: &mut Run, proposed: u64) -> (u64, u64) {
    run.refuses(Ada, "session_review", &review(proposed, "approved"), "NOT_PARTICIPANT");
    run.refuses(Bo, "session_intend", &intent(proposed, &[]), "OUT_OF_PHASE");
    let mut conditional = review(proposed, "conditionally_approved");
    run.refuses(Cy, "session_review", &conditional, "CONDITION_COUNT");
    conditional["conditions"] = json!(["without a network"]);
    run.does(Cy, "session_review", &conditional, "bo (executor): session_intend");
    run.refuses(Bo, "session_intend", &intent(proposed, &[]), "CONDITIONS_UNMET");
    let intended = run.does(Bo, "session_intend", &intent(proposed, &[0]), "cy (critic): session_review");
    run.refuses(Bo, "session_start", &json!({"intent": intended}), "APPROVAL_MISSING");
    run.refuses(Cy, "session_review", &review(intended, "rejected"), "ARGUMENTS");
    run.does(Cy, "session_review", &review(intended, "approved"), "cy (critic): session_challenge");
    run.refuses(Bo, "session_start", &json!({"intent": intended}), "CONDITION_UNSHOWN");
    let input = run.standing()["intents"][0]["input"].as_u64().unwrap();
    let mut judged = json!({"event": intended, "act": "judge", "check": {"condition": 0, "holds": true}});
    run.refuses(Cy, "session_challenge", &judged, "MALFORMED");
    judged["check"]["evidence"] = json!([input]);
    run.refuses(Bo, "session_challenge", &judged, "NOT_PARTICIPANT");
    run.does(Cy, "session_challenge", &judged, "bo (executor): session_start");
    run.refuses(Bo, "session_report", &report(intended), "REFERENCE");
    let started =
        run.does(Bo, "session_start", &json!({"intent": intended}), "bo (executor): session_report");
    let shown = run.call(Cy, "session_show", &json!({"artifact": input}));
    assert_eq!(shown["structuredContent"]["artifact"], r#"{"arguments":["test"],"jobs":2}"#, "{shown}");
    run.refuses(Bo, "session_claim", &claim(&[input], &[started]), "EXECUTION_OPEN");
    run.refuses(Cy, "session_report", &report(started), "NOT_PARTICIPANT");
    let output = run.does(Bo, "session_report", &report(started), "bo (executor): session_claim");
    run.refuses(Bo, "session_report", &report(started), "REFERENCE");
    (output, run.standing()["executions"][0]["event"].as_u64().unwrap())
}

/// Claims, disputes, revises and settles; returns the claim that stands.
fn argue(run: &mut Run, (output, ended): (u64, u64)) -> u64 {
    run.refuses(Bo, "session_conclude", &json!({"verdict": "done"}), "BUNDLE_INCOMPLETE");
    run.refuses(Bo, "session_claim", &claim(&[], &[ended]), "EVIDENCE_MINIMUM");
    let claimed =
        run.does(Bo, "session_claim", &claim(&[output], &[ended]), "cy (critic): session_challenge");
    let check = |is: &str| {
        let check = json!({"artifact": output, "at": "size", "is": is, "value": 0});
        json!({"event": claimed, "act": "check_own", "check": check})
    };
    run.refuses(Bo, "session_challenge", &check("eq"), "CHECK_FAILED");
    run.does(Bo, "session_challenge", &check("gt"), "cy (critic): session_challenge");
    let dispute = |event: u64, act: &str| json!({"event": event, "act": act, "reason": "which tests?"});
    run.refuses(Bo, "session_challenge", &dispute(claimed, "challenge"), "NOT_PARTICIPANT");
    run.refuses(Cy, "session_audit", &json!({}), "OUT_OF_PHASE");
    let challenge =
        run.does(Cy, "session_challenge", &dispute(claimed, "challenge"), "bo (executor): session_claim");
    run.refuses(Cy, "session_challenge", &dispute(claimed, "resolve"), "REFERENCE");
    let mut revised = claim(&[output, output], &[ended]);
    revised["text"] = json!("All 12 tests pass");
    revised["replaces"] = json!(claimed);
    let revised = run.does(Bo, "session_claim", &revised, "cy (critic): session_challenge");
    run.refuses(Cy, "session_challenge", &dispute(claimed, "challenge"), "REFERENCE");
    run.does(Cy, "session_challenge", &dispute(challenge, "resolve"), "bo (executor): session_conclude");
    revised
}

/// Asks, concludes and audits.
fn conclude(run: &mut Run, claimed: u64) {
    let asked = run.call(Bo, "ask_human", &json!({"question": "Which branch?"}));
    let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    assert!(id.starts_with(&run.trace), "{asked}");
    run.refuses(Bo, "session_conclude", &json!({"verdict": "done"}), "QUESTIONS_OPEN");
    let cancelled = run.bo.call("cancel_question", &json!({"question_id": id}));
    assert_eq!(cancelled["structuredContent"]["state"], "cancelled", "{cancelled}");
    run.refuses(Cy, "session_conclude", &json!({"verdict": "done"}), "NOT_PARTICIPANT");
    run.does(Bo, "session_conclude", &json!({"verdict": "The tests pass"}), "cy (auditor): session_audit");
    run.refuses(
        Cy,
        "session_challenge",
        &json!({"event": claimed, "act": "challenge", "reason": "late"}),
        "OUT_OF_PHASE",
    );
    run.refuses(Bo, "session_audit", &json!({}), "NOT_PARTICIPANT");
    run.does(Cy, "session_audit", &json!({"profile": "strict"}), "the run is over");
    let again = run.call(Cy, "session_audit", &json!({}));
    let told = &again["structuredContent"];
    assert_eq!((&told["verdict"], &told["phase"]), (&json!("pass"), &json!("completed")), "{again}");
    assert_eq!(told["events"], json!([]), "told again, recorded once: {again}");
}

/// LED-20, LED-21, LED-32
#[test]
fn what_failed_is_tried_again_and_then_fallen_back_from() {
    let sandbox = Sandbox::new();
    let mut run = Run::open(&sandbox);
    let proposed = run.does(Ada, "session_propose", &proposal(), "cy (critic)");
    run.does(Cy, "session_review", &review(proposed, "approved"), "bo (executor): session_intend");
    let mut before = None;
    for _ in 0..2 {
        let mut given = intent(proposed, &[]);
        given["retries"] = json!(before);
        let intended = run.does(Bo, "session_intend", &given, "session_review");
        run.does(Cy, "session_review", &review(intended, "approved"), "session_start");
        let started = run.does(Bo, "session_start", &json!({"intent": intended}), "session_report");
        let failed = json!({"started": started, "failure": "timeout", "note": "after a minute"});
        run.does(Bo, "session_report", &failed, &format!("ada (planner): session_propose {intended}"));
        before = Some(intended);
    }
    let mut fallback = proposal();
    run.refuses(Ada, "session_propose", &fallback, "FALLBACK_NEEDED");
    fallback["fallback_for"] = json!(before);
    let fallback = run.does(Ada, "session_propose", &fallback, "session_review");
    run.does(Cy, "session_review", &review(fallback, "rejected"), "bo (executor): session_intend");
    let input = run.standing()["artifacts"].as_u64().unwrap();
    assert_eq!(input, 2, "an input for each attempt");
    sandbox.run(&["run", "abort", &run.trace, "--reason", "enough"]).expect_code(0);
    run.refuses(Ada, "session_propose", &proposal(), "OUT_OF_PHASE");
}

/// LED-31: a question whose answer was taken back stops the next call, through every client.
#[test]
fn tool_does_not_start_after_the_answer_was_taken_back() {
    let sandbox = Sandbox::new();
    let mut run = Run::open(&sandbox);
    let proposed = plan(&mut run);
    run.does(Cy, "session_review", &review(proposed, "approved"), "");
    let intents = [(); 2].map(|()| {
        let intent = run.does(Bo, "session_intend", &intent(proposed, &[]), "");
        run.does(Cy, "session_review", &review(intent, "approved"), "");
        json!({"intent": intent})
    });
    let ask = json!({"question": "Go on?", "blocks": ["execute"], "wait_s": 0});
    run.call(Bo, "ask_human", &ask);
    let id = sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned();
    run.refuses(Bo, "session_start", &intents[0], "OPERATION_BLOCKED");
    sandbox.run(&["answer", &id, "yes"]).expect_code(0);
    let started = run.does(Bo, "session_start", &intents[0], "");
    sandbox.run(&["answer", &id, "--revoke"]).expect_code(0);
    run.refuses(Bo, "session_start", &intents[1], "OPERATION_BLOCKED");
    let shown = sandbox.json(&["show", &id]);
    assert_eq!(shown["rested"][0]["event"], started, "{shown}");
}

/// The user of this machine ends a run through a client; the record says through which.
#[test]
fn run_is_aborted_through_a_client_once() {
    let sandbox = Sandbox::new();
    let mut run = Run::open(&sandbox);
    let aborted = run.call(Bo, "session_abort", &json!({"reason": "no longer needed"}));
    let told = &aborted["structuredContent"];
    assert_eq!(
        (&told["phase"], &told["next"]),
        (&json!("aborted"), &json!("nothing, the run is over")),
        "{aborted}"
    );
    run.refuses(Ada, "session_abort", &json!({"reason": "again"}), "OUT_OF_PHASE");
    run.refuses(Ada, "session_propose", &json!({"objective": "Go on", "tools": []}), "OUT_OF_PHASE");
    let shown = sandbox.run(&["trace", "show", &run.trace]).expect_code(0).stdout.clone();
    assert!(shown.contains("no longer needed (through bo)"), "{shown}");
}

/// LED-41 LED-42: under one name, and under two.
#[test]
fn program_that_takes_two_roles_is_refused_where_the_policy_says_so() {
    let sandbox = Sandbox::new();
    let client = |name: &str| Client::modern(&sandbox, &["--tools", "session"], &forms()).named(name);
    let (mut ada, mut cy) = (client("ada"), client("cy"));
    let mut opening = json!({"task": "tests", "objective": "The tests pass", "distinct_clients": true});
    let refused = ada.call("session_open", &opening);
    let words = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && words.starts_with("CLIENT_HELD_ROLES"), "{refused}");
    opening["agents"] = json!({"critic": "cy", "auditor": "cy"});
    let opened = ada.call("session_open", &opening);
    let trace = &opened["structuredContent"]["trace"];
    ada.call("session_propose", &json!({"trace": trace, "objective": "Run them", "tools": ["cargo"]}));
    // Another name and the same program.
    let review = json!({"trace": trace, "event": 2, "decision": "approved", "rationale": "fine"});
    let refused = cy.call("session_review", &review);
    let words = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && words.starts_with("CLIENT_HELD_ROLES"), "{refused}");
}
