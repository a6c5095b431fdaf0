//! Accountable runs over the wire: tokens play the four roles, each with keys of its own.

use demur_core::hash::sha256;
use serde_json::{Value, json};

use crate::{client::Reply, server::Server};

/// A run by four tokens: ada plans, bo executes, cy is the critic and dee the auditor.
pub(crate) struct Run {
    pub(crate) server: Server,
    pub(crate) trace: String,
    tokens: Vec<(&'static str, String)>,
}

impl Run {
    /// Opens a run.
    pub(crate) fn open() -> Self {
        Self::open_with(&opening())
    }

    /// Opens a run with this document.
    pub(crate) fn open_with(opening: &Value) -> Self {
        let server = Server::start();
        let tokens: Vec<_> =
            ["ada", "bo", "cy", "dee"].map(|name| (name, server.token(name, &["ask"]))).into();
        let mut run = Self { server, trace: String::new(), tokens };
        let opened = run.post("ada", "/v1/runs", opening);
        assert_eq!(opened.status, 201, "{opened:?}");
        opened.json()["trace"].as_str().unwrap().clone_into(&mut run.trace);
        run
    }

    pub(crate) fn token(&self, name: &str) -> &str {
        &self.tokens.iter().find(|(known, _)| *known == name).unwrap().1
    }

    pub(crate) fn post(&self, name: &str, path: &str, document: &Value) -> Reply {
        self.server.call("POST", path).token(self.token(name)).json(document).send()
    }

    /// Says something in a role.
    pub(crate) fn say(&self, name: &str, document: &Value) -> Reply {
        self.post(name, &format!("/v1/runs/{}/events", self.trace), document)
    }

    /// Says something in a role that is recorded, and returns its number.
    pub(crate) fn said(&self, name: &str, document: &Value) -> u64 {
        let reply = self.say(name, document);
        assert_eq!(reply.status, 201, "{document}: {}", reply.text());
        reply.json()["sequence"].as_u64().unwrap()
    }

    /// Tries to say something that is refused with this code, and checks that it changed nothing but that it is noted.
    pub(crate) fn refused(&self, name: &str, document: &Value, status: u16, code: &str) {
        let before = self.standing();
        let reply = self.say(name, document);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{document}: {}", reply.text());
        let mut after = self.standing();
        after["events"] = before["events"].clone();
        assert_eq!(after, before, "{document}");
    }

    pub(crate) fn standing(&self) -> Value {
        let path = format!("/v1/runs/{}", self.trace);
        let reply = self.server.call("GET", &path).token(self.token("ada")).send();
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// Proposes, approves, intends, approves, starts and completes one call; returns its output and the event that ended it.
    pub(crate) fn execute(&self) -> (u64, u64) {
        let proposal = self.said("ada", &proposal());
        self.said("cy", &review(proposal));
        let intent = self.said("bo", &intent(proposal));
        self.said("cy", &intent_review(intent));
        let input = self.said("bo", &artifact("input", INPUT));
        let started = self.said("bo", &start(intent, input));
        let output = self.said("bo", &artifact("output", "all tests pass"));
        (output, self.said("bo", &complete(started, output)))
    }

    /// Does all that, and claims it.
    pub(crate) fn claim(&self) -> u64 {
        let (output, execution) = self.execute();
        self.said("bo", &claim("claim_issued", output, execution))
    }
}

pub(crate) fn opening() -> Value {
    json!({
        "task": "tests", "objective": "The tests pass", "constraints": ["no network"],
        "agents": {"executor": "bo", "critic": "cy", "auditor": "dee"},
    })
}

pub(crate) fn proposal() -> Value {
    json!({
        "role": "planner", "type": "proposal_created", "facts": {"fallback_for": null, "replaces": null},
        "content": {
            "objective": "Run them", "required_tools": ["cargo"], "assumptions": [], "expected_evidence": ["output"],
        },
    })
}

pub(crate) fn review(proposal: u64) -> Value {
    json!({
        "role": "critic", "type": "proposal_reviewed",
        "facts": {"proposal": proposal, "decision": "approved", "conditions": 0},
        "content": {"conditions": [], "rationale": "fine"},
    })
}

/// Returns an intent whose input is `INPUT`.
pub(crate) fn intent(proposal: u64) -> Value {
    let hash = sha256(INPUT.as_bytes());
    json!({
        "role": "executor", "type": "tool_intent_signed",
        "facts": {"proposal": proposal, "meets": [], "retries": null, "risk": "low"},
        "content": {"tool": "cargo", "input_hash": hash, "justification": "to see"},
    })
}

pub(crate) fn intent_review(intent: u64) -> Value {
    json!({
        "role": "critic", "type": "tool_intent_reviewed", "facts": {"intent": intent, "decision": "approved"},
        "content": {"rationale": "fine"},
    })
}

pub(crate) fn artifact(name: &str, text: &str) -> Value {
    json!({"role": "executor", "type": "artifact_recorded", "content": {"name": name}, "artifact": {"text": text}})
}

pub(crate) fn start(intent: u64, input: u64) -> Value {
    json!({
        "role": "executor", "type": "tool_execution_started", "facts": {"intent": intent, "input": input},
        "content": {"limits": []},
    })
}

pub(crate) fn complete(started: u64, output: u64) -> Value {
    json!({
        "role": "executor", "type": "tool_execution_completed", "facts": {"started": started, "outputs": [output]},
        "content": {"duration_ms": 5, "exit_status": 0, "note": null},
    })
}

pub(crate) fn claim(kind: &str, output: u64, execution: u64) -> Value {
    json!({
        "role": "executor", "type": kind,
        "facts": {"about_failure": false, "evidence": [output], "executions": [execution]},
        "content": {"confidence": 90, "text": "All tests pass"},
    })
}

pub(crate) fn conclusion(claim: u64) -> Value {
    json!({
        "role": "executor", "type": "final_statement_signed", "facts": {"claims": [claim]},
        "content": {"claims": [{"claim": claim, "text": "All tests pass"}], "verdict": "done"},
    })
}

/// Returns who signed an event, by the name of the key.
fn signer(run: &Run, sequence: u64) -> String {
    let path = match sequence {
        0 => format!("/v1/traces/{}/events?limit=1", run.trace),
        _ => format!("/v1/traces/{}/events?limit=1&after={}", run.trace, sequence - 1),
    };
    let event = run.server.call("GET", &path).token(run.token("cy")).send().json()["events"][0].clone();
    let actor = event["envelope"]["actor"].as_str().unwrap_or_else(|| panic!("{event}"));
    let known = run.server.local("GET", "/v1/identities").send().json();
    let mut entries = known["identities"].as_array().unwrap().iter();
    let found = entries.find(|entry| entry["principal"] == actor).unwrap_or_else(|| panic!("{known}"));
    found["name"].as_str().unwrap().to_owned()
}

/// LED-01, LED-04, LED-15
#[test]
fn tokens_take_a_run_from_its_opening_to_the_verdict() {
    let run = Run::open();
    assert_eq!(signer(&run, 0), "ada.planner");
    let claim = run.claim();
    assert_eq!(
        (run.standing()["phase"].clone(), signer(&run, claim)),
        (json!("claiming"), "bo.executor".to_owned())
    );
    let challenge = run.said("cy", &json!({
        "role": "critic", "type": "claim_challenged", "facts": {"claim": claim}, "content": {"reason": "which tests?"},
    }));
    assert_eq!(run.standing()["claims"][0]["challenges"], json!([challenge]));
    run.said("cy", &json!({
        "role": "critic", "type": "claim_resolved", "facts": {"challenge": challenge}, "content": {"reason": "I see"},
    }));
    run.said("bo", &conclusion(claim));
    let next = run.standing()["next"].clone();
    assert_eq!(
        (&next[0]["agent"], &next[0]["act"], next.as_array().unwrap().len()),
        (&json!("dee"), &json!("audit"), 1)
    );
    let audit = || run.post("dee", &format!("/v1/runs/{}/audit", run.trace), &json!({}));
    let audited = audit().json();
    assert_eq!(
        (&audited["status"], &audited["run"]["phase"]),
        (&json!("pass"), &json!("completed")),
        "{audited}"
    );
    assert_eq!(
        (&audited["report"]["status"], &audited["run"]["next"]),
        (&json!("pass"), &json!([])),
        "{audited}"
    );
    let again = audit().json();
    assert_eq!(
        (&again["status"], &again["report"]),
        (&json!("pass"), &Value::Null),
        "told again, recorded once"
    );
    assert_eq!(again["run"]["events"], audited["run"]["events"]);
    let export = exported(&run);
    let verified =
        run.server.local("POST", "/v1/verify").header("Content-Type", "application/jsonl").body(&export.body);
    assert_eq!(verified.send().json()["verdict"], "pass");
    assert_eq!(checkpoints(&run), 1, "one for each run that ended");
}

/// The verdict can come from the audit of the server, as above, or be the auditor's own.
#[test]
fn run_that_ends_with_a_verdict_of_its_auditor_is_followed_by_its_checkpoint() {
    let run = Run::open();
    run.said("bo", &conclusion(run.claim()));
    let started = run.say(
        "dee",
        &json!({
            "role": "auditor", "type": "verification_run_started", "facts": {"profile": "default"},
        }),
    );
    assert_eq!((started.status, checkpoints(&run)), (201, 0), "{started:?}");
    let through = json!({"sequence": started.json()["sequence"], "hash": started.json()["hash"]});
    let report = json!({"status": "fail", "why": "nobody can tell"}).to_string();
    let verdict = |status: &str| {
        json!({
            "role": "auditor", "type": "verification_run_completed", "facts": {"status": status, "through": through},
            "content": {"report": sha256(report.as_bytes()), "summary": "nobody can tell"},
        })
    };
    run.refused("dee", &verdict("fail"), 409, "REPORT_MISMATCH");
    let recorded = json!({"role": "auditor", "type": "report_recorded", "artifact": {"text": report}});
    run.said("dee", &recorded);
    run.refused("dee", &json!({"role": "auditor", "type": "report_recorded"}), 400, "ARTIFACT_MISSING");
    run.said("dee", &verdict("fail"));
    assert_eq!(checkpoints(&run), 1);
    // The export shows that the run stood under it.
    assert!(exported(&run).text().lines().any(|line| line.starts_with("{\"inclusion\":")));
}

fn exported(run: &Run) -> Reply {
    run.server.call("GET", &format!("/v1/traces/{}/export", run.trace)).token(run.token("bo")).send()
}

/// Returns how many checkpoints the registry has, as the export of the run shows it.
fn checkpoints(run: &Run) -> usize {
    exported(run).text().matches("\"type\":\"checkpoint_recorded\"").count()
}

/// CLR-04
#[test]
fn the_same_run_under_the_same_trace_is_opened_once() {
    let run = Run::open();
    let open = |name: &str, change: &Value| {
        let mut document = opening();
        document["trace"] = json!(TRACE);
        document.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        run.post(name, "/v1/runs", &document)
    };
    let first = open("ada", &json!({}));
    assert_eq!((first.status, &first.json()["trace"]), (201, &json!(TRACE)));
    for _ in 0..2 {
        let again = open("ada", &json!({}));
        assert_eq!((again.status, &again.body), (200, &first.body));
    }
    let others = [
        ("ada", json!({"task": "another"})),
        ("ada", json!({"agents": {"executor": "bo", "critic": "dee"}})),
        ("ada", json!({"policy": {"retry_limit": 1}})),
        ("bo", json!({})),
    ];
    for (name, change) in others {
        let refused = open(name, &change);
        assert_eq!((refused.status, refused.code().as_str()), (409, "TRACE_CONFLICT"), "{change}");
    }
}

/// CLR-04
#[test]
fn a_retry_under_the_same_key_is_recorded_once() {
    let run = Run::open();
    let say = |key: &str, document: &Value| {
        let path = format!("/v1/runs/{}/events", run.trace);
        let call = run.server.call("POST", &path).token(run.token("ada")).header("Idempotency-Key", key);
        call.json(document).send()
    };
    let first = say("one", &proposal());
    assert_eq!(first.status, 201, "{first:?}");
    let again = say("one", &proposal());
    assert_eq!((again.status, &again.body), (200, &first.body));
    let mut other = proposal();
    other["content"]["objective"] = json!("Something else");
    let refused = say("one", &other);
    assert_eq!((refused.status, refused.code().as_str()), (422, "IDEMPOTENCY_CONFLICT"));
    assert_eq!(run.standing()["proposals"].as_array().map(Vec::len), Some(1));
    run.said("cy", &review(first.json()["sequence"].as_u64().unwrap()));
    let store = |text: &str| {
        let path = format!("/v1/runs/{}/events", run.trace);
        let call = run.server.call("POST", &path).token(run.token("bo")).header("Idempotency-Key", "bytes");
        call.json(&artifact("log", text)).send()
    };
    assert_eq!(
        (store("abc").status, store("abc").status),
        (201, 200),
        "the bytes count, not their commitment"
    );
    assert_eq!(store("abd").code(), "IDEMPOTENCY_CONFLICT");
}

#[test]
fn whoever_opens_a_run_alone_plays_every_role_with_a_key_for_each() {
    let run = Run::open();
    let opened = run.post("ada", "/v1/runs", &json!({"task": "alone", "objective": "to see"})).json();
    let players = opened["participants"].as_array().unwrap();
    assert!(players.iter().all(|player| player["agent"] == "ada"), "{opened}");
    let mut principals: Vec<_> = players.iter().map(|player| player["principal"].to_string()).collect();
    principals.dedup();
    assert_eq!(principals.len(), 4, "{opened}");
}

#[test]
fn artifacts_are_what_their_bytes_are_whichever_way_they_come() {
    let run = Run::open();
    let proposal = run.said("ada", &proposal());
    run.said("cy", &review(proposal));
    let text = run.said("bo", &artifact("text", "grüße"));
    let mut given = artifact("bytes", "");
    given["artifact"] = json!({"base64": "AP8="});
    let bytes = run.said("bo", &given);
    let read = |at: u64| {
        let path = format!("/v1/traces/{}/artifacts/{at}", run.trace);
        run.server.call("GET", &path).token(run.token("cy")).send().body
    };
    assert_eq!((read(text), read(bytes)), ("grüße".as_bytes().to_owned(), vec![0, 255]));
    given["artifact"] = json!({"base64": "no base64"});
    run.refused("bo", &given, 400, "MALFORMED");
    run.refused("bo", &json!({"role": "executor", "type": "artifact_recorded"}), 400, "ARTIFACT_MISSING");
}

/// The input of every tool.
pub(crate) const INPUT: &str = "{}";

const TRACE: &str = "01KA000000000000000000RN01";
