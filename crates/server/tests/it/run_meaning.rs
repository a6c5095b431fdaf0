//! What the events of a run mean is judged at every door. The same attempts come over HTTP and over MCP: each is refused with
//! the same code, is told what was expected, what was found and what to do, and leaves nothing but a note of the refusal.
//!
//! Two codes have no row. `POLICY_MISMATCH`: opening and policy come from one document here. `POLICY_MISSING`: a run that is
//! opened here has its policy; a test below brings one without from elsewhere.

use demur_core::hash::sha256;
use serde_json::{Value, json};

use crate::{
    mcp::play,
    recorded::Recorded,
    run::{
        INPUT, Run, artifact, claim, complete, conclusion, intent, intent_review, opening, proposal, review,
        start,
    },
    server::Server,
};

/// Something that may not be, by its speaker: as a document over HTTP, and as the call of a tool where one can say it.
struct Attempt {
    speaker: &'static str,
    document: Value,
    tool: Option<(&'static str, Value)>,
}

/// Brings a run with this approved proposal so far that something may not be, and returns that.
type Prepare = fn(&Run, u64) -> Attempt;

/// Every attempt with its code.
const ATTEMPTS: [(&str, Prepare); 13] = [
    ("TOOL_NOT_PROPOSED", |_, proposal| intending(proposal, "rm", "medium")),
    ("TOOL_NOT_ALLOWED", |_, proposal| intending(proposal, "git", "critical")),
    ("RISK_UNDERSTATED", |_, proposal| intending(proposal, "cargo", "low")),
    ("INPUT_MISMATCH", |run, proposal| {
        let intent = run.said("bo", &calling(proposal));
        starting(run, intent, "[]")
    }),
    ("BLOCKED_AGAIN", |run, proposal| {
        let mut blocked = intent_review(run.said("bo", &calling(proposal)));
        blocked["facts"]["decision"] = json!("blocked");
        run.said("cy", &blocked);
        let again = run.said("bo", &calling(proposal));
        starting(run, again, INPUT)
    }),
    ("RETRY_LIMIT", |run, proposal| {
        let started = started(run, proposal);
        run.said(
            "bo",
            &json!({
                "role": "executor", "type": "tool_execution_failed",
                "facts": {"started": started, "outputs": [], "failure": "exit"},
                "content": {"duration_ms": 5, "exit_status": 1, "message": "it failed"},
            }),
        );
        // It does not say that it is a retry.
        let again = run.said("bo", &calling(proposal));
        starting(run, again, INPUT)
    }),
    ("TOOL_BLOCKED", |run, proposal| {
        let question = json!({"question": "On which branch?", "trace": run.trace, "blocks": ["Cargo"]});
        assert_eq!(run.post("bo", "/v1/questions", &question).status, 201);
        let intent = run.said("bo", &calling(proposal));
        starting(run, intent, INPUT)
    }),
    ("OPERATION_UNCONFIRMED", |run, proposal| {
        let mut call = calling(proposal);
        call["content"]["tool"] = json!("mail");
        let intent = run.said("bo", &call);
        starting(run, intent, INPUT)
    }),
    ("EVIDENCE_WEAK", |run, proposal| {
        let (started, output) = (started(run, proposal), run.said("bo", &artifact("output", "ok")));
        let ended = run.said("bo", &complete(started, output));
        let foreign = run.said("bo", &artifact("note", "all tests pass"));
        let tool = json!({
            "text": "All tests pass", "confidence": 90, "evidence": [foreign], "executions": [ended],
        });
        let document = claim("claim_issued", foreign, ended);
        Attempt { speaker: "bo", document, tool: Some(("session_claim", tool)) }
    }),
    ("BUNDLE_DIFFERS", |run, proposal| {
        let (started, output) = (started(run, proposal), run.said("bo", &artifact("output", "ok")));
        let ended = run.said("bo", &complete(started, output));
        let mut document = conclusion(run.said("bo", &claim("claim_issued", output, ended)));
        document["content"]["claims"][0]["text"] = json!("All tests pass, on every machine");
        // The tool takes the words from the record.
        Attempt { speaker: "bo", document, tool: None }
    }),
    ("CONDITION_UNSHOWN", |run, proposal| {
        let mut call = calling(proposal);
        call["facts"]["meets"] = json!([0]);
        let intent = run.said("bo", &call);
        let attempt = starting(run, intent, INPUT);
        // What the critic shows with a check that is false, and what the executor shows itself, is not shown.
        let input = attempt.document["facts"]["input"].as_u64().unwrap();
        run.said("cy", &check("critic", (intent, json!(0)), input, 99));
        run.said("bo", &check("executor", (intent, json!(0)), input, INPUT.len()));
        attempt
    }),
    ("CHECK_FAILED", |run, proposal| {
        let (output, claimed) = claimed(run, proposal);
        let document = check("executor", (claimed, Value::Null), output, 99);
        let arguments = json!({"artifact": output, "at": "size", "is": "eq", "value": 99});
        let arguments = json!({"event": claimed, "act": "check_own", "check": arguments});
        Attempt { speaker: "bo", document, tool: Some(("session_challenge", arguments)) }
    }),
    ("REPORT_MISMATCH", |run, proposal| {
        run.said("bo", &conclusion(claimed(run, proposal).1));
        let document = json!({
            "role": "auditor", "type": "verification_run_started", "facts": {"profile": "default"},
        });
        let begun = run.say("dee", &document).json();
        let report = r#"{"status":"fail"}"#;
        run.said("dee", &json!({"role": "auditor", "type": "report_recorded", "artifact": {"text": report}}));
        let through = json!({"sequence": begun["sequence"], "hash": begun["hash"]});
        let document = json!({
            "role": "auditor", "type": "verification_run_completed", "facts": {"status": "pass", "through": through},
            "content": {"report": sha256(report.as_bytes()), "summary": "all is well"},
        });
        // The tool has the server make the report, and gives its verdict.
        Attempt { speaker: "dee", document, tool: None }
    }),
];

/// LED-39 LED-42: what the critic refutes is disputed in every report, whichever way it says so.
#[test]
fn claim_that_the_critic_refutes_is_disputed() {
    for over_mcp in [false, true] {
        let (run, proposal) = executing(&[]);
        let (output, claimed) = claimed(&run, proposal);
        if over_mcp {
            let check = json!({"artifact": output, "at": "size", "is": "eq", "value": 99});
            let arguments = json!({"trace": run.trace, "event": claimed, "act": "check", "check": check});
            let result = play(&run.server, run.token("cy"), "session_challenge", &arguments);
            assert_ne!(result["isError"], true, "{result}");
        } else {
            run.said("cy", &check("critic", (claimed, Value::Null), output, 99));
        }
        run.said("bo", &conclusion(claimed));
        let audited = run.post("dee", &format!("/v1/runs/{}/audit", run.trace), &json!({})).json();
        assert_eq!(audited["status"], "pass_with_warnings", "{audited}");
        assert!(audited["report"].to_string().contains("CLAIM_DISPUTED"), "{audited}");
    }
}

/// LED-40 LED-42: once all was said nobody but the auditor asks.
#[test]
fn nobody_asks_after_the_final_statement_but_the_auditor() {
    let (run, proposal) = executing(&[]);
    run.said("bo", &conclusion(claimed(&run, proposal).1));
    let before = run.standing();
    let question = json!({"question": "May I add something?", "trace": run.trace});
    let reply = run.post("bo", "/v1/questions", &question);
    assert_eq!((reply.status, reply.code().as_str()), (409, "SPOKE_AFTER_FINAL"), "{}", reply.text());
    let problem = reply.json();
    expect_words("SPOKE_AFTER_FINAL", problem["detail"].as_str().unwrap(), problem["hint"].as_str().unwrap());
    let result = play(&run.server, run.token("bo"), "ask_human", &question);
    assert!(result.to_string().contains("SPOKE_AFTER_FINAL"), "{result}");
    expect_nothing_more("SPOKE_AFTER_FINAL", &run, &before);
}

/// LED-14 LED-24 LED-31 LED-36 LED-37 LED-38 LED-39 LED-40 LED-42
#[test]
fn what_nobody_approved_is_refused_over_http() {
    for (code, prepare) in ATTEMPTS {
        let (run, proposal) = executing(conditions(code));
        let Attempt { speaker, document, .. } = prepare(&run, proposal);
        let before = run.standing();
        let reply = run.say(speaker, &document);
        assert_eq!((reply.status, reply.code().as_str()), (409, code), "{}", reply.text());
        let problem = reply.json();
        expect_words(code, problem["detail"].as_str().unwrap(), problem["hint"].as_str().unwrap_or_default());
        assert!(problem["field"].is_string(), "{problem}");
        expect_nothing_more(code, &run, &before);
    }
}

/// LED-24 LED-31 LED-36 LED-37 LED-38 LED-39 LED-42
#[test]
fn what_nobody_approved_is_refused_over_mcp() {
    for (code, prepare) in ATTEMPTS {
        let (run, proposal) = executing(conditions(code));
        let Attempt { speaker, tool: Some((tool, mut arguments)), .. } = prepare(&run, proposal) else {
            continue;
        };
        arguments["trace"] = json!(run.trace);
        let before = run.standing();
        let result = play(&run.server, run.token(speaker), tool, &arguments);
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && words.starts_with(code), "{tool}: {result}");
        let (message, cure) = words.split_once('\n').unwrap_or_else(|| panic!("{code}: {words}"));
        expect_words(code, message, cure);
        expect_nothing_more(code, &run, &before);
    }
}

/// LED-42
#[test]
fn nothing_is_proposed_before_the_policy_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let trace = Recorded::without_policy(folder.path(), "tests", |role| format!("ada.{role}")).close();
    let server = Server::start_at(folder.path());
    let ada = server.token("ada", &["ask"]);
    let path = format!("/v1/runs/{trace}/events");
    let reply = server.call("POST", &path).token(&ada).json(&proposal()).send();
    assert_eq!((reply.status, reply.code().as_str()), (409, "POLICY_MISSING"), "{}", reply.text());
    let problem = reply.json();
    expect_words("POLICY_MISSING", problem["detail"].as_str().unwrap(), problem["hint"].as_str().unwrap());
    let arguments = json!({"trace": trace, "objective": "Run them", "tools": ["cargo"]});
    let result = play(&server, &ada, "session_propose", &arguments);
    let words = result["content"][0]["text"].as_str().unwrap();
    assert!(words.starts_with("POLICY_MISSING") && words.contains("expected the policy"), "{result}");
    let standing = server.call("GET", &format!("/v1/runs/{trace}")).token(&ada).send().json();
    assert_eq!((&standing["phase"], &standing["proposals"]), (&json!("planning"), &json!([])), "{standing}");
}

/// Returns a run with an approved proposal for `cargo`, `git` and `mail`. Its policy names `cargo`, `rm` and `mail`, which a
/// person confirms, lets everything below critical risk start without approval, and allows no retry.
pub(crate) fn executing(conditions: &[&str]) -> (Run, u64) {
    let mut document = opening();
    document["policy"] = json!({
        "approval_from": "critical", "retry_limit": 0,
        "tools": {
            "cargo": {"confirm": false, "programs": [], "risk": "medium"},
            "mail": {"confirm": true, "programs": [], "risk": "low"},
            "rm": {"confirm": false, "programs": [], "risk": "low"},
        },
    });
    let run = Run::open_with(&document);
    let mut proposal = proposal();
    proposal["content"]["required_tools"] = json!(["cargo", "git", "mail"]);
    let proposal = run.said("ada", &proposal);
    let mut review = review(proposal);
    if !conditions.is_empty() {
        review["facts"]["decision"] = json!("conditionally_approved");
        review["facts"]["conditions"] = json!(conditions.len());
        review["content"]["conditions"] = json!(conditions);
    }
    run.said("cy", &review);
    (run, proposal)
}

/// Returns the conditions of the approval under which something is tried.
fn conditions(code: &str) -> &'static [&'static str] {
    if code == "CONDITION_UNSHOWN" { &["it changes nothing"] } else { &[] }
}

/// Claims what may be claimed; returns the output and the claim.
fn claimed(run: &Run, proposal: u64) -> (u64, u64) {
    let (started, output) = (started(run, proposal), run.said("bo", &artifact("output", "ok")));
    let ended = run.said("bo", &complete(started, output));
    (output, run.said("bo", &claim("claim_issued", output, ended)))
}

/// Returns a check that an artifact has so many bytes.
fn check(role: &str, (about, condition): (u64, Value), artifact: u64, size: usize) -> Value {
    json!({
        "role": role, "type": "check_stated",
        "facts": {"about": about, "artifact": artifact, "condition": condition},
        "content": {"at": "size", "is": "eq", "value": size},
    })
}

/// Returns an intent that may be.
pub(crate) fn calling(proposal: u64) -> Value {
    let mut document = intent(proposal);
    document["facts"]["risk"] = json!("medium");
    document
}

/// Starts the tool as it may be; returns the start.
fn started(run: &Run, proposal: u64) -> u64 {
    let intent = run.said("bo", &calling(proposal));
    let input = run.said("bo", &artifact("input", INPUT));
    run.said("bo", &start(intent, input))
}

fn intending(proposal: u64, tool: &str, risk: &str) -> Attempt {
    let mut document = intent(proposal);
    document["content"]["tool"] = json!(tool);
    document["facts"]["risk"] = json!(risk);
    let arguments =
        json!({"proposal": proposal, "tool": tool, "input": {}, "risk": risk, "justification": "to see"});
    Attempt { speaker: "bo", document, tool: Some(("session_intend", arguments)) }
}

/// Records an input under the name by which the tool of MCP finds it, and returns the start with it.
fn starting(run: &Run, intent: u64, input: &str) -> Attempt {
    let input = run.said("bo", &artifact(&format!("input-{intent}.json"), input));
    let arguments = json!({"intent": intent});
    Attempt { speaker: "bo", document: start(intent, input), tool: Some(("session_start", arguments)) }
}

/// Checks that a refusal says what was expected, what was found and what to do.
fn expect_words(code: &str, message: &str, cure: &str) {
    assert!(message.contains("expected ") && message.contains(", found "), "{code}: {message}");
    assert!(!cure.is_empty(), "{code}: {message}");
}

/// Checks that the run stands where it stood, and that only the refusal was noted.
pub(crate) fn expect_nothing_more(code: &str, run: &Run, before: &Value) {
    let mut after = run.standing();
    let more = after["events"].as_u64().unwrap() - before["events"].as_u64().unwrap();
    after["events"] = before["events"].clone();
    assert_eq!(&after, before, "{code}");
    let last = before["events"].as_u64().unwrap() - 1;
    let path = format!("/v1/traces/{}/events?after={last}", run.trace);
    let noted = run.server.call("GET", &path).token(run.token("ada")).send().json();
    let noted = noted["events"].as_array().unwrap();
    let is_note = |event: &Value| {
        let facts = &event["envelope"]["record"];
        facts["type"] == "command_refused" && facts["facts"]["code"] == code
    };
    assert!(noted.len() as u64 == more && noted.iter().all(is_note), "{code}: {noted:?}");
}
