//! Who says what in a run, and until when, over HTTP and over MCP: every type in every role, everything after the final
//! statement, and the report that a verdict rests on.

use demur_core::hash::sha256;
use demur_ledger::verify::Check;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    mcp::play,
    run::{
        INPUT, Run, artifact, claim, complete, conclusion, intent, intent_review, proposal, review, start,
    },
    server::Server,
};

const SPEAKERS: [(&str, &str); 4] =
    [("ada", "planner"), ("bo", "executor"), ("cy", "critic"), ("dee", "auditor")];

/// Returns something of every type that is said in a run after its opening, with the roles that may say it.
fn sayings() -> Vec<(Value, &'static [&'static str])> {
    let of = |kind: &str, facts: &Value, content: &Value| json!({"role": "nobody", "type": kind, "facts": facts, "content": content});
    let reason = json!({"reason": "so"});
    let mut revised = claim("claim_revised", 8, 9);
    revised["facts"]["replaces"] = json!(10);
    let failed = json!({"started": 7, "outputs": [], "failure": "exit"});
    let how = json!({"duration_ms": 5, "exit_status": 1, "message": "it failed"});
    let verdict = json!({"status": "fail", "through": {"sequence": 1, "hash": "0".repeat(64)}});
    let words = json!({"report": "0".repeat(64), "summary": "so"});
    let judged = json!({"condition": 0, "evidence": [6], "holds": true, "intent": 4});
    let check = json!({"about": 10, "artifact": 8, "condition": null});
    let size = json!({"at": "size", "is": "eq", "value": 1});
    vec![
        (proposal(), &["planner"]),
        (review(2), &["critic"]),
        (intent(2), &["executor"]),
        (intent_review(4), &["critic"]),
        (of("condition_judged", &judged, &Value::Null), &["critic"]),
        (of("check_stated", &check, &size), &["planner", "executor", "critic"]),
        (artifact("input", INPUT), &["executor"]),
        (start(4, 6), &["executor"]),
        (complete(7, 8), &["executor"]),
        (of("tool_execution_failed", &failed, &how), &["executor"]),
        (claim("claim_issued", 8, 9), &["executor"]),
        (of("claim_challenged", &json!({"claim": 10}), &reason), &["critic"]),
        (of("claim_resolved", &json!({"challenge": 11}), &reason), &["critic"]),
        (revised, &["planner", "executor"]),
        (of("claim_retracted", &json!({"claim": 10}), &reason), &["planner", "executor"]),
        (conclusion(10), &["executor"]),
        (of("verification_run_started", &json!({"profile": "default"}), &Value::Null), &["auditor"]),
        (json!({"role": "nobody", "type": "report_recorded", "artifact": {"text": "{}"}}), &["auditor"]),
        (of("verification_run_completed", &verdict, &words), &["auditor"]),
    ]
}

/// LED-02, LED-42: whatever a role may not say is refused because of the role, before anything else is looked at.
#[test]
fn every_type_is_said_by_its_roles_and_by_no_other_over_http() {
    let run = Run::open();
    for (mut document, roles) in sayings() {
        for (name, role) in SPEAKERS {
            document["role"] = json!(role);
            let reply = run.say(name, &document);
            let code = if reply.status == 201 { String::new() } else { reply.code() };
            let kind = &document["type"];
            assert_ne!(reply.status, 400, "{kind} by {role}: {}", reply.text());
            assert_eq!(code != "ROLE_FORBIDDEN", roles.contains(&role), "{kind} by {role}: {code}");
        }
    }
    // Nobody opens a run as another, and what operator and desk say is nobody else's.
    for kind in ["session_initialized", "policy_recorded", "session_aborted", "recovery_recorded"] {
        for (name, role) in SPEAKERS {
            let reply = run.say(name, &json!({"role": role, "type": kind}));
            assert_eq!(reply.code(), "TYPE_FORBIDDEN", "{kind} by {role}");
        }
    }
}

/// Returns every tool of a run, called as its role would, with the roles that have it.
fn tools() -> Vec<(&'static str, Value, &'static [&'static str])> {
    let reviewed = |event: u64| json!({"event": event, "decision": "approved", "rationale": "fine"});
    let intended =
        json!({"proposal": 2, "tool": "cargo", "input": {}, "risk": "low", "justification": "to see"});
    let claimed = json!({"text": "All pass", "confidence": 90, "evidence": [8], "executions": [9]});
    let check = json!({"artifact": 8, "at": "size", "is": "eq", "value": 1});
    vec![
        ("session_propose", json!({"objective": "Run them", "tools": ["cargo"]}), &["planner"]),
        ("session_review", reviewed(2), &["critic"]),
        ("session_intend", intended, &["executor"]),
        ("session_start", json!({"intent": 3}), &["executor"]),
        ("session_report", json!({"started": 6, "exit_status": 0, "duration_ms": 5}), &["executor"]),
        ("session_claim", claimed, &["executor"]),
        ("session_challenge", json!({"event": 9, "act": "challenge", "reason": "which?"}), &["critic"]),
        ("session_challenge", json!({"event": 9, "act": "resolve", "reason": "I see"}), &["critic"]),
        ("session_challenge", json!({"event": 9, "act": "check", "check": check}), &["critic"]),
        ("session_challenge", json!({"event": 9, "act": "retract", "reason": "no"}), &["executor"]),
        ("session_challenge", json!({"event": 9, "act": "check_own", "check": check}), &["executor"]),
        ("session_conclude", json!({"verdict": "done"}), &["executor"]),
        ("session_audit", json!({}), &["auditor"]),
    ]
}

/// Calls a tool in a run; returns the code with which it refuses, or nothing.
fn code(run: &Run, name: &str, tool: &str, arguments: &Value) -> String {
    let mut arguments = arguments.clone();
    arguments["trace"] = json!(run.trace);
    let result = play(&run.server, run.token(name), tool, &arguments);
    if result["isError"] != true {
        return String::new();
    }
    let words = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    words.split([':', ' ']).next().unwrap().to_owned()
}

/// LED-02, LED-42: a tool speaks in its own role alone, and whoever does not have that gets nothing of it.
#[test]
fn every_tool_of_a_run_is_for_its_role_and_for_no_other() {
    let run = Run::open();
    run.claim();
    let before = run.standing();
    for (tool, arguments, roles) in tools() {
        for (name, role) in SPEAKERS.into_iter().filter(|(_, role)| !roles.contains(role)) {
            let refused = code(&run, name, tool, &arguments);
            assert_eq!(refused, "NOT_PARTICIPANT", "{tool} {arguments} by {role}");
        }
    }
    let mut after = run.standing();
    after["events"] = before["events"].clone();
    assert_eq!(after, before, "nothing but notes");
}

/// LED-01: nobody opens a run without the roles that it needs, and none of them is left to nobody.
#[test]
fn a_run_has_its_four_roles_however_it_is_opened() {
    let server = Server::start();
    let ada = server.token("ada", &["ask"]);
    let given = json!({"task": "tests", "objective": "They pass"});
    let by_http = server.call("POST", "/v1/runs").token(&ada).json(&given).send().json()["trace"].clone();
    let by_mcp = play(&server, &ada, "session_open", &given)["structuredContent"]["trace"].clone();
    for trace in [by_http, by_mcp] {
        let path = format!("/v1/runs/{}", trace.as_str().unwrap());
        let standing = server.call("GET", &path).token(&ada).send().json();
        let participants = standing["participants"].as_array().unwrap();
        for (_, role) in SPEAKERS {
            let found = participants.iter().filter(|one| one["role"] == role).count();
            assert_eq!(found, 1, "{role}: {standing}");
        }
        assert_eq!(participants.len(), 4, "{standing}");
    }
    for nobody in [json!(null), json!(""), json!([])] {
        for role in ["executor", "critic"] {
            let mut given = given.clone();
            given["agents"] = json!({ role: nobody });
            let reply = server.call("POST", "/v1/runs").token(&ada).json(&given).send();
            assert_eq!(reply.status, 400, "{role} {nobody}: {}", reply.text());
            // Over MCP nothing is the same as no name, and a role without one is the planner's.
            let refused = play(&server, &ada, "session_open", &given)["isError"] == true;
            assert_eq!(refused, !nobody.is_null(), "{role} {nobody}");
        }
    }
}

/// LED-08, LED-40, LED-42: from the final statement to the verdict planner, executor and critic say nothing more, whichever
/// way they try, also while the verification goes on.
#[test]
fn after_the_final_statement_nobody_speaks_but_the_auditor() {
    let run = Run::open();
    run.said("bo", &conclusion(run.claim()));
    for verifying in [false, true] {
        if verifying {
            let begun = json!({"role": "auditor", "type": "verification_run_started", "facts": {"profile": "default"}});
            run.said("dee", &begun);
        }
        let before = run.standing();
        for (mut document, roles) in sayings() {
            for (name, role) in SPEAKERS.into_iter().take(3).filter(|(_, role)| roles.contains(role)) {
                document["role"] = json!(role);
                let refused = run.say(name, &document);
                // What it is about is looked at later: the phase alone decides.
                assert_eq!(
                    refused.code(),
                    "OUT_OF_PHASE",
                    "{} by {role}: {}",
                    document["type"],
                    refused.text()
                );
            }
        }
        for (tool, arguments, roles) in tools() {
            for (name, role) in SPEAKERS.into_iter().take(3).filter(|(_, role)| roles.contains(role)) {
                let refused = code(&run, name, tool, &arguments);
                let expected = ["OUT_OF_PHASE", "REFERENCE", "ARTIFACT_MISSING", "BUNDLE_INCOMPLETE"];
                assert!(expected.contains(&refused.as_str()), "{tool} by {role}: {refused}");
            }
        }
        for (name, _) in SPEAKERS.into_iter().take(3) {
            let question = json!({"question": "May I add something?", "trace": run.trace});
            let refused = run.post(name, "/v1/questions", &question);
            assert_eq!(refused.code(), "SPOKE_AFTER_FINAL", "{name}: {}", refused.text());
            assert_eq!(code(&run, name, "ask_human", &question), "SPOKE_AFTER_FINAL", "{name}");
        }
        let mut after = run.standing();
        after["events"] = before["events"].clone();
        assert_eq!(after, before, "nothing but notes");
    }
    let audited = run.post("dee", &format!("/v1/runs/{}/audit", run.trace), &json!({})).json();
    assert_eq!(audited["status"], "pass", "{audited}");
}

/// LED-34, LED-40: the verdict carries its status and names, by its bytes, a report that is on record and lists every check;
/// over HTTP and over MCP.
#[test]
fn a_verdict_rests_on_a_recorded_report_of_every_check() {
    for over_mcp in [false, true] {
        let run = Run::open();
        run.said("bo", &conclusion(run.claim()));
        if over_mcp {
            assert_eq!(code(&run, "dee", "session_audit", &json!({})), "");
        } else {
            let path = format!("/v1/runs/{}/audit", run.trace);
            assert_eq!(run.post("dee", &path, &json!({})).json()["status"], "pass");
        }
        let path = format!("/v1/traces/{}/export", run.trace);
        let export = run.server.call("GET", &path).token(run.token("dee")).send();
        let lines: Vec<Value> =
            export.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said = |kind: &str| {
            let is = |line: &&Value| line["event"]["event"]["statement"]["type"] == kind;
            lines.iter().rev().find(is).unwrap_or_else(|| panic!("{kind}")).clone()
        };
        let verdict = said("verification_run_completed");
        assert_eq!(verdict["event"]["event"]["statement"]["facts"]["status"], "pass");
        let recorded = said("report_recorded")["event"]["event"]["sequence"].clone();
        let artifact = lines.iter().find(|line| line["artifact"]["event"] == recorded);
        let artifact = &artifact.unwrap_or_else(|| panic!("{recorded}: {}", export.text()))["artifact"];
        let bytes = decoded(artifact["bytes"].as_str().unwrap_or_else(|| panic!("{artifact}")));
        assert_eq!(verdict["event"]["content"]["report"], json!(sha256(&bytes)));
        let report: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(report["status"], "pass");
        let made: Vec<_> = report["checks"].as_array().unwrap().iter().map(|check| &check["check"]).collect();
        let all: Vec<_> = Check::ALL.iter().map(|check| serde_json::to_value(check).unwrap()).collect();
        assert_eq!(made, all.iter().collect::<Vec<_>>(), "{report}");
        // Of these a file alone says nothing: they need what a reader brings.
        let outside = ["INCLUSION", "ANCHOR", "EQUIVOCATION"];
        for check in report["checks"].as_array().unwrap() {
            let name = check["check"].as_str().unwrap();
            assert_eq!(check["made"] == true, !outside.contains(&name), "{check}");
        }
    }
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.decode(text).unwrap()
}

/// LED-12: what a tool is given and what it puts out is kept under the hash of its bytes before anything refers to it, over
/// HTTP and over MCP; what was not recorded is referred to by nobody.
#[test]
fn bytes_are_kept_before_anything_refers_to_them() {
    let run = Run::open();
    let kept = |bytes: &[u8]| {
        let hash = sha256(bytes).to_string();
        let is_it = |path: std::path::PathBuf| std::fs::read(path).is_ok_and(|found| found == bytes);
        let folders = std::fs::read_dir(run.server.folder().join("artifacts")).unwrap();
        let mut files =
            folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).into_iter().flatten());
        files.any(|file| {
            let path = file.unwrap().path();
            let name = path.to_string_lossy().replace(['/', '.'], "");
            name.contains(&hash) && is_it(path)
        })
    };
    let proposed = run.said("ada", &proposal());
    run.said("cy", &review(proposed));
    let signed = run.said("bo", &intent(proposed));
    run.said("cy", &intent_review(signed));
    for missing in [proposed, signed, 999] {
        let code = run.say("bo", &start(signed, missing)).code();
        assert!(["REFERENCE", "CITES_UNSEEN"].contains(&code.as_str()), "{missing}: {code}");
    }
    let mut bare = artifact("input", INPUT);
    bare.as_object_mut().unwrap().remove("artifact");
    run.refused("bo", &bare, 400, "ARTIFACT_MISSING");
    assert!(!kept(INPUT.as_bytes()));
    let input = run.said("bo", &artifact("input", INPUT));
    assert!(kept(INPUT.as_bytes()), "with the event that records it");
    let started = run.said("bo", &start(signed, input));
    for missing in [proposed, started] {
        run.refused("bo", &complete(started, missing), 409, "REFERENCE");
    }
    let output = run.said("bo", &artifact("output", "all tests pass"));
    assert!(kept(b"all tests pass"));
    run.said("bo", &complete(started, output));

    let given = json!({
        "trace": run.trace, "proposal": proposed, "tool": "cargo", "input": {"jobs": 2}, "risk": "low",
        "justification": "to see",
    });
    let intended = play(&run.server, run.token("bo"), "session_intend", &given);
    let intended =
        intended["structuredContent"]["events"][0].as_u64().unwrap_or_else(|| panic!("{intended}"));
    run.said("cy", &intent_review(intended));
    let given = json!({"trace": run.trace, "intent": intended});
    let begun = play(&run.server, run.token("bo"), "session_start", &given);
    assert!(kept(br#"{"jobs":2}"#), "before the tool starts: {begun}");
    let started = begun["structuredContent"]["events"][0].as_u64().unwrap_or_else(|| panic!("{begun}"));
    let report = json!({"started": started, "outputs": [{"name": "log", "text": "12 passed"}], "exit_status": 0, "duration_ms": 5});
    assert_eq!(code(&run, "bo", "session_report", &report), "");
    assert!(kept(b"12 passed"));
}

/// LED-30: an operator ends a run in whatever state it is.
#[test]
fn operator_aborts_a_run_in_every_open_state() {
    type Stage = fn(&Run) -> u64;
    let stages: [(&str, Stage); 5] = [
        ("planning", |_| 0),
        ("reviewing", |run| run.said("ada", &proposal())),
        ("executing", |run| run.execute().1),
        ("claiming", Run::claim),
        ("auditing", |run| run.said("bo", &conclusion(run.claim()))),
    ];
    for (phase, reach) in stages {
        let run = Run::open();
        reach(&run);
        assert_eq!(run.standing()["phase"], phase);
        let token = run.server.token("otto", &["operate"]);
        let path = format!("/v1/runs/{}/abort", run.trace);
        let reply = run.server.call("POST", &path).token(&token).json(&json!({"reason": "enough"})).send();
        assert_eq!(reply.status, 204, "{phase}: {}", reply.text());
        assert_eq!(run.standing()["phase"], "aborted", "{phase}");
        run.refused("ada", &proposal(), 409, "OUT_OF_PHASE");
    }
}

/// ONE-12: a tool that began although somebody said no is named, for programs and on the page.
#[test]
fn tool_that_began_against_a_no_is_named() {
    let run = Run::open();
    let proposed = run.said("ada", &proposal());
    run.said("cy", &review(proposed));
    let signed = run.said("bo", &intent(proposed));
    run.said("cy", &intent_review(signed));
    let input = run.said("bo", &artifact("input", INPUT));
    let ask =
        json!({"question": "May it run?", "kinds": ["yes_no"], "trace": run.trace, "blocks": ["cargo"]});
    let id = run.server.ask(run.token("bo"), &ask);
    assert_eq!(run.server.answer(&id, &json!(false)).status, 200);
    let started = run.said("bo", &start(signed, input));
    let export = run.server.local("GET", &format!("/v1/traces/{}/export", run.trace)).send().body;
    let report = run.server.local("POST", "/v1/verify").body(&export).send().json()["report"].clone();
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == "AGAINST_ANSWER");
    let found = found.unwrap_or_else(|| panic!("{report}"));
    assert_eq!((&found["sequence"], &found["severity"]), (&json!(started), &json!("warning")), "{found}");
    assert!(report["operations"][0]["against"].is_u64(), "{report}");
    let page = Browser::sign_in(&run.server).page(&format!("/traces/{}/verification", run.trace));
    assert!(page.contains("began although the answer in event"), "{page}");
}
