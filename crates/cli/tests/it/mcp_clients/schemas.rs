//! Every tool of every set, in every state that a question, a plan or a run can be in, through both official SDKs: each
//! holds what comes back against the output schema of the tool, and refuses what does not fit.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    client::{Client, Kind, Language, Tier, Transport, accept, nobody},
    open,
};
use crate::{
    asker::{shown, until},
    sandbox::Sandbox,
};

/// A client, and which of its tools brought a result that was held against a schema.
struct Caller<'a> {
    sandbox: &'a Sandbox,
    client: Client,
    kind: Kind,
    fitted: BTreeSet<String>,
}

impl Caller<'_> {
    /// Calls a tool and returns its document.
    fn call(&mut self, tool: &str, arguments: &Value, user: impl Fn(&Value) -> Value) -> Value {
        let id = self.client.begin_call(tool, arguments);
        let mut line = self.client.end(id, user);
        assert!(line["result"].is_object(), "{}: {tool} {arguments}: {line}", self.kind);
        assert!(line["result"]["isError"] != true, "{}: {tool} {arguments}: {line}", self.kind);
        let document = line["result"]["structuredContent"].take();
        assert!(document.is_object(), "{}: {tool} {arguments}: {line}", self.kind);
        self.fitted.insert(tool.to_owned());
        document
    }

    /// Calls a tool that refuses.
    fn refuses(&mut self, tool: &str, arguments: &Value) {
        let refused = self.client.call(tool, arguments, nobody);
        assert_eq!(refused["isError"], true, "{}: {tool} {arguments}: {refused}", self.kind);
    }

    fn ask(&mut self, arguments: &Value, said: &Value, state: &str) -> String {
        let told = self.call("ask_human", arguments, |_| said.clone());
        assert_eq!(told["state"], state, "{}: {told}", self.kind);
        told["question_id"].as_str().unwrap().to_owned()
    }

    fn check(&mut self, id: &str, state: &str) {
        let told = self.call("check_question", &json!({"question_id": id}), nobody);
        assert_eq!(told["state"], state, "{}: {told}", self.kind);
    }
}

fn questions(caller: &mut Caller<'_>) {
    let kind = caller.kind;
    for (arguments, answer) in [
        (
            json!({"question": format!("{kind}: words?"), "context": "none", "blocks": ["deploy"]}),
            json!("words"),
        ),
        (json!({"question": format!("{kind}: yes?"), "kind": "yes_no"}), json!(false)),
        (json!({"question": format!("{kind}: how many?"), "kind": "number"}), json!(1.5)),
        (json!({"question": format!("{kind}: which?"), "choices": ["a", "b"]}), json!("b")),
    ] {
        let id = caller.ask(&arguments, &accept(&answer), "answered");
        caller.check(&id, "answered");
    }
    let declined = json!({"question": format!("{kind}: no?")});
    let id = caller.ask(&declined, &json!({"action": "decline"}), "declined");
    caller.check(&id, "declined");
    secret(caller);
    // Whoever closes the form leaves the call to others, and here nobody else comes.
    let left = json!({"question": format!("{kind}: later?"), "wait_s": 1});
    let id = caller.ask(&left, &json!({"action": "cancel"}), "open");
    let cancelled = caller.call("cancel_question", &json!({"question_id": id}), nobody);
    assert_eq!(cancelled["state"], "cancelled", "{kind}: {cancelled}");
    caller.check(&id, "cancelled");
    for (more, state) in [(&[][..], "expired"), (&["--default", "this"], "defaulted")] {
        let name = kind.name();
        let asking = ["ask", "In time?", "--as", &name, "--timeout", "1s", "--no-wait"];
        let asked = caller.sandbox.run(&[&asking[..], more].concat());
        let id = asked.expect_code(0).stdout.trim().to_owned();
        // While it is open, a look at it shows a form.
        until(state, || (shown(caller.sandbox, &id)["state"] == state).then_some(()));
        caller.check(&id, state);
    }
    let listed = caller.call("list_questions", &json!({"limit": 50}), nobody);
    assert_eq!(listed["questions"].as_array().map(Vec::len), Some(9), "{kind}: {listed}");
    for state in
        ["open", "answered", "accepted", "declined", "expired", "defaulted", "cancelled", "withdrawn"]
    {
        caller.call("list_questions", &json!({"state": state}), nobody);
    }
}

fn secret(caller: &mut Caller<'_>) {
    let (kind, sandbox) = (caller.kind, caller.sandbox);
    let words = format!("{kind}: password?");
    let id = caller.client.begin_call("ask_human", &json!({"question": words, "kind": "secret"}));
    let question = open(sandbox, &words);
    let line = caller.client.end(id, |_| {
        sandbox.feed(&["answer", &question, "-"], b"correct horse").expect_code(0);
        json!({"action": "accept"})
    });
    assert_eq!(line["result"]["structuredContent"]["answer"], "correct horse", "{kind}: {line}");
    // It is told once: then it is an answer without one.
    caller.check(&question, "answered");
}

fn plans(caller: &mut Caller<'_>) {
    let plan = json!({
        "description": format!("a page for {}", caller.kind), "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest", "standards_selected": ["jsp-440"],
        "deployment_target": "uswds", "real_build": true,
    });
    let closed = |_: &Value| json!({"action": "cancel"});
    let lacking = caller.call("wwa_clarify_check", &json!({"plan": plan, "wait_s": 1}), closed);
    assert_eq!(lacking["status"], "needs_clarification", "{}: {lacking}", caller.kind);
    let session = lacking["session_id"].clone();
    let named = json!({"session_id": session});
    let resolve = |gap: &str, answer: &str| json!({"session_id": session, "gap_id": gap, "answer": answer});
    caller.call("wwa_clarify_resolve", &resolve("gap-001", "uswds-only"), nobody);
    let vague = caller.call("wwa_clarify_resolve", &resolve("gap-002", "the standard one"), nobody);
    assert_eq!(vague["status"], "escalated", "{}: {vague}", caller.kind);
    caller.call("wwa_clarify_audit", &named, nobody);
    caller.call("wwa_clarify_resolve", &resolve("gap-002", "out"), nobody);
    let revoke = json!({"session_id": session, "gap_id": "gap-002", "change": "revoke"});
    assert_eq!(caller.call("wwa_clarify_resolve", &revoke, nobody)["status"], "revoked");
    caller.call("wwa_clarify_resolve", &resolve("gap-002", "dist"), nobody);
    let mut amended = plan.clone();
    amended["output_path"] = json!("dist");
    amended["description"] = json!(format!("another page for {}", caller.kind));
    let amended = json!({"session_id": session, "change": "amend", "plan_object": amended});
    caller.call("wwa_change_plan", &amended, nobody);
    let again = json!({"plan": plan, "session_id": session});
    let ready = caller.call("wwa_clarify_check", &again, nobody);
    assert_eq!(ready["status"], "ready_to_proceed", "{}: {ready}", caller.kind);
    caller.call("wwa_scaffold_plan", &again, nobody);
    caller.call("wwa_confirm_plan", &named, nobody);
    let file = json!({"path": "index.html", "sha256": format!("sha256:{}", "0".repeat(64))});
    let made = json!({"session_id": session, "output_path": "dist", "program_version": "1", "files": [file]});
    let attested = caller.call("wwa_scaffold_attest", &made, nobody);
    caller.call("wwa_attest_sign", &made, nobody);
    caller.call("wwa_attest_verify", &named, nobody);
    let mut forged = attested["attestation"].clone();
    forged["agent_version"] = json!("2");
    for attestation in [&attested["attestation"], &forged] {
        caller.call("wwa_attest_verify", &json!({"attestation": attestation}), nobody);
    }
    caller.call("wwa_attest_audit", &named, nobody);
    caller.call("wwa_clarify_audit", &named, nobody);
}

/// Has an operation confirmed by a person and carries it out, and passes on a no to somebody else's.
fn confirmations(caller: &mut Caller<'_>) {
    let operation = json!({"amount": 10, "to": "kim"});
    let wanted = json!({"action": "Send 10 to kim", "operation": operation, "wait_s": 0});
    let asked = caller.call("confirm_operation", &wanted, nobody);
    let id = &asked["confirmation_id"];
    caller.sandbox.run(&["confirm", "give", id.as_str().unwrap()]).expect_code(0);
    caller.call("check_confirmation", &json!({"confirmation_id": id}), nobody);
    caller.call("start_operation", &json!({"confirmation_id": id, "operation": operation}), nobody);
    caller.call("end_operation", &json!({"confirmation_id": id, "failed": true}), nobody);
    let others = ["confirm", "ask", "Delete it", "--operation", "{}", "--no-wait", "--as", "somebody-else"];
    let other = caller.sandbox.run(&others).expect_code(0).stdout.trim().to_owned();
    let open = json!({"confirmation_id": other, "wait_s": 0});
    let shown = caller.call("check_confirmation", &open, nobody);
    let no = json!({"confirmation_id": other, "digest": shown["digest"], "confirm": false});
    assert_eq!(caller.call("decide_confirmation", &no, nobody)["state"], "refused");
}

/// Takes part in a run in every role.
fn runs(caller: &mut Caller<'_>) {
    let opened = caller.call("session_open", &json!({"task": "tests", "objective": "They pass"}), nobody);
    let trace = opened["trace"].clone();
    let mut does = |tool: &str, given: Value| -> Vec<u64> {
        let mut given = given;
        given["trace"] = trace.clone();
        let told = caller.call(tool, &given, nobody);
        told["events"].as_array().unwrap().iter().filter_map(Value::as_u64).collect()
    };
    let approved = |event: u64| json!({"event": event, "decision": "approved", "rationale": "looked at it"});
    let proposed = does("session_propose", json!({"objective": "Run them", "tools": ["cargo"]}))[0];
    does("session_review", approved(proposed));
    let intent = json!({
        "proposal": proposed, "tool": "cargo", "input": {"arguments": ["test"]}, "risk": "low", "justification": "to see",
    });
    let intended = does("session_intend", intent)[0];
    does("session_review", approved(intended));
    let started = does("session_start", json!({"intent": intended}))[0];
    let outputs = json!([{"name": "log", "text": "12 passed"}]);
    let reported = does("session_report", json!({"started": started, "outputs": outputs, "exit_status": 0}));
    let claim = json!({
        "text": "They pass", "confidence": 90, "evidence": [reported[0]], "executions": [reported[1]],
    });
    let claimed = does("session_claim", claim)[0];
    let dispute = |event: u64, act: &str| json!({"event": event, "act": act, "reason": "which ones?"});
    let challenged = does("session_challenge", dispute(claimed, "challenge"))[0];
    does("session_challenge", dispute(challenged, "resolve"));
    does("session_conclude", json!({"verdict": "They pass"}));
    does("session_audit", json!({}));
    does_not(caller, &trace);
    caller.call("session_show", &json!({"trace": trace, "artifact": reported[0]}), nobody);
    let other = caller.call("session_open", &json!({"task": "tests", "objective": "They pass"}), nobody);
    let aborted = json!({"trace": other["trace"], "reason": "no longer needed"});
    assert_eq!(caller.call("session_abort", &aborted, nobody)["phase"], "aborted");
}

/// A step that is out of turn is refused, in a run that is over.
fn does_not(caller: &mut Caller<'_>, trace: &Value) {
    caller.refuses("session_propose", &json!({"trace": trace, "objective": "More", "tools": ["cargo"]}));
    caller.refuses("session_show", &json!({"trace": trace, "artifact": 0}));
}

/// Looks at every trace there is: of questions, of a plan, and of a run.
fn traces(caller: &mut Caller<'_>) {
    let listed = caller.call("session_list", &json!({}), nobody);
    let traces = listed["traces"].as_array().unwrap();
    let kinds: BTreeSet<_> = traces.iter().map(|trace| trace["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, BTreeSet::from(["run", "work"]));
    for trace in traces {
        let named = json!({"trace": trace["trace"]});
        let shown = caller.call("session_show", &named, nobody);
        assert_eq!(shown.get("run").is_some(), trace["kind"] == "run", "{}: {shown}", caller.kind);
        caller.call("session_verify", &named, nobody);
    }
}

/// CLR-05: what does not fit its own schema is an error of the SDK, and none is.
#[test]
fn every_tool_in_every_state_fits_its_schema_for_both_sdks() {
    std::thread::scope(|scope| {
        for language in [Language::Python, Language::TypeScript] {
            scope.spawn(move || {
                let sandbox = &Sandbox::new();
                sandbox.let_agents_answer_their_own_gaps();
                let kind = Kind { language, transport: Transport::Stdio, tier: Tier::Elicits };
                let mut client = Client::start(sandbox, kind, "all");
                // From here on the SDK knows the schemas.
                let listed = client.get("tools", &json!({}));
                let tools: BTreeSet<String> = listed["tools"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|tool| tool["name"].as_str().unwrap().to_owned())
                    .collect();
                let mut caller = Caller { sandbox, client, kind, fitted: BTreeSet::new() };
                questions(&mut caller);
                plans(&mut caller);
                confirmations(&mut caller);
                runs(&mut caller);
                traces(&mut caller);
                for tool in &tools {
                    caller.refuses(tool, &json!({"surprise": true}));
                }
                assert_eq!(caller.fitted, tools, "{kind}");
            });
        }
    });
}
