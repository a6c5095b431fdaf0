//! Plans over the wire, from submission to attestation.

use serde_json::{Value, json};

use crate::{client::Reply, server::Server};

/// Returns a plan that lacks nothing, with these members.
pub(crate) fn plan(members: &Value) -> Value {
    let mut plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
    });
    plan.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    plan
}

/// Returns a plan with one gap that must be answered.
fn gappy() -> Value {
    plan(&json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"}))
}

fn post(server: &Server, token: &str, path: &str, document: &Value) -> Reply {
    server.call("POST", path).token(token).json(document).send()
}

fn events(server: &Server, session: &Value) -> u64 {
    let trace = session["trace"].as_str().unwrap();
    server.local("GET", &format!("/v1/traces/{trace}")).send().json()["events"].as_u64().unwrap()
}

#[test]
fn a_check_says_what_is_missing_and_records_nothing() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let checked = post(&server, &agent, "/v1/plans/check", &json!({"plan": gappy()})).json();
    assert_eq!((&checked["status"], &checked["blocking_count"]), (&json!("needs_clarification"), &json!(1)));
    assert_eq!(checked["gaps"][0]["field"], "compliance.jurisdiction");
    assert!(checked["document"].is_object() && checked["session_id"].is_null());
    let whole = post(&server, &agent, "/v1/plans/check", &json!({"plan": plan(&json!({}))})).json();
    assert_eq!((&whole["status"], &whole["document"]), (&json!("ready_to_proceed"), &Value::Null));
    assert_eq!(server.local("GET", "/v1/traces").send().json()["traces"], json!([]));
}

/// CLR-04
#[test]
fn the_same_plan_in_the_same_session_gets_the_same_answer_byte_for_byte() {
    let server = Server::start();
    let (agent, other) = (server.token("agent", &["ask"]), server.token("other", &["ask"]));
    let document = json!({"plan": gappy(), "session_id": SESSION});
    let first = post(&server, &agent, "/v1/plans", &document);
    assert_eq!(first.status, 201, "{first:?}");
    let recorded = events(&server, &first.json());
    for _ in 0..3 {
        let again = post(&server, &agent, "/v1/plans", &document);
        assert_eq!((again.status, &again.body), (200, &first.body));
    }
    assert_eq!(events(&server, &first.json()), recorded, "nothing more is recorded");
    let changed = json!({"plan": plan(&json!({})), "session_id": SESSION});
    for (token, document) in [(&agent, &changed), (&other, &document)] {
        let refused = post(&server, token, "/v1/plans", document);
        assert_eq!((refused.status, refused.code().as_str()), (409, "SESSION_CONFLICT"));
    }
}

/// CLR-04: also where a number is spelled in another way than the record has it.
#[test]
fn a_number_spelled_in_another_way_is_the_same_plan() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let [spelled, plain] = [json!(1e2), json!(100)].map(|amount| {
        let mut plan = gappy();
        plan["amount"] = amount;
        json!({"plan": plan, "session_id": SESSION})
    });
    let first = post(&server, &agent, "/v1/plans", &spelled);
    assert_eq!(first.status, 201, "{first:?}");
    for document in [&spelled, &plain] {
        let again = post(&server, &agent, "/v1/plans", document);
        assert_eq!((again.status, &again.body), (200, &first.body));
    }
}

/// CLR-62 CLR-31
#[test]
fn an_operation_that_an_open_gap_blocks_is_refused_until_the_gap_is_settled() {
    let server = Server::start();
    let (agent, person) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let opened = post(&server, &agent, "/v1/plans", &json!({"plan": gappy()})).json();
    let at = |rest: &str| format!("/v1/plans/{}{rest}", opened["session_id"].as_str().unwrap());
    let begin = json!({"operation": "build"});
    let refused = post(&server, &agent, &at("/operations"), &begin);
    assert_eq!((refused.status, refused.code().as_str()), (409, "OPERATION_BLOCKED"));
    let refused = post(&server, &agent, &at("/confirm"), &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "QUESTIONS_OPEN"));
    let problem = refused.json();
    assert!(problem["detail"].as_str().unwrap().contains("gap-001 (compliance.jurisdiction)"), "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("gap-001 ANSWER"), "{problem}");
    let answer = json!({"answer": "uswds-only", "by": "kim"});
    let resolved = post(&server, &person, &at("/gaps/gap-001"), &answer).json();
    assert_eq!(
        (&resolved["status"], &resolved["accepted_answer"]),
        (&json!("resolved"), &json!("uswds-only"))
    );
    let mut standing = resolved["session"].clone();
    while let Some(gap) = standing["gaps"][0]["id"].as_str() {
        let path = at(&format!("/gaps/{gap}"));
        standing = post(&server, &person, &path, &json!({"by": "kim", "note": "as it is"})).json()["session"]
            .clone();
    }
    assert_eq!(post(&server, &agent, &at("/operations"), &begin).status, 200);
    assert_eq!(post(&server, &agent, &at("/confirm"), &json!({})).json()["status"], "plan_accepted");
}

/// CLR-41 ONE-07: whoever submitted a plan settles none of its gaps, whichever way its answer comes in.
#[test]
fn an_answer_of_the_submitter_settles_nothing() {
    let server = Server::start();
    let (agent, other) = (server.token("agent", &["ask"]), server.token("other", &["ask"]));
    let opened = post(&server, &agent, "/v1/plans", &json!({"plan": gappy(), "session_id": SESSION})).json();
    let at = |rest: &str| format!("/v1/plans/{SESSION}{rest}");
    let answer = json!({"answer": "uswds-only"});
    for _ in 0..2 {
        let kept = post(&server, &agent, &at("/gaps/gap-001/own"), &answer).json();
        assert_eq!(
            (&kept["status"], &kept["accepted_answer"]),
            (&json!("escalated"), &Value::Null),
            "{kept}"
        );
    }
    assert_eq!(post(&server, &agent, &at("/gaps/gap-001"), &answer).code(), "FORBIDDEN");
    assert_eq!(post(&server, &agent, &at("/gaps/gap-001/own"), &json!({})).code(), "PERSON_NEEDED");
    assert_eq!(post(&server, &other, &at("/gaps/gap-001/own"), &answer).code(), "SESSION_UNKNOWN");
    let shown = server.call("GET", &at("")).token(&agent).send().json();
    assert_eq!((&shown["status"], &shown["gaps"]), (&json!("needs_clarification"), &opened["gaps"]));
    let trace = opened["trace"].as_str().unwrap();
    let listed = server.local("GET", &format!("/v1/questions?trace={trace}")).send().json();
    assert_eq!(listed["questions"][0]["recommendation"], "uswds-only", "{listed}");
    let person = server.token("client", &["relay"]);
    let settled =
        post(&server, &person, &at("/gaps/gap-001"), &json!({"answer": "uswds-only", "by": "kim"})).json();
    assert_eq!(settled["status"], "resolved", "{settled}");
}

/// CLR-30
#[test]
fn a_plan_goes_from_submission_to_attestation_and_every_retry_is_harmless() {
    let server = Server::start();
    let (agent, person) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let plan = plan(&json!({"real_build": true}));
    let opened = post(&server, &agent, "/v1/plans", &json!({"plan": plan, "session_id": SESSION})).json();
    assert_eq!(
        (&opened["status"], &opened["gaps"][0]["field"]),
        (&json!("needs_clarification"), &json!("output_path"))
    );
    let at = |rest: &str| format!("/v1/plans/{SESSION}{rest}");
    let made = json!({"output_path": "dist", "program_version": "1.2.3", "files": [
        {"path": "index.html", "sha256": format!("sha256:{}", "0".repeat(64))}, {"path": "a.css", "sha256": format!("sha256:{}", "1".repeat(64))},
    ]});
    assert_eq!(post(&server, &agent, &at("/attestation"), &made).code(), "OUT_OF_PLAN");
    let vague =
        post(&server, &person, &at("/gaps/gap-001"), &json!({"answer": "the usual one", "by": "kim"})).json();
    assert_eq!((&vague["status"], vague["reason"].is_string()), (&json!("escalated"), true));
    let answer = json!({"answer": "dist", "by": "kim"});
    let resolved = post(&server, &person, &at("/gaps/gap-001"), &answer);
    assert_eq!(resolved.json()["status"], "resolved", "{resolved:?}");
    assert_eq!(post(&server, &person, &at("/gaps/gap-001"), &answer).json()["status"], "resolved");
    let other = json!({"answer": "out", "by": "kim"});
    assert_eq!(post(&server, &person, &at("/gaps/gap-001"), &other).code(), "ALREADY_ANSWERED");
    assert_eq!(post(&server, &person, &at("/gaps/gap-009"), &answer).code(), "GAP_UNKNOWN");
    let confirm = || post(&server, &agent, &at("/confirm"), &json!({})).json();
    let confirmed = confirm();
    assert_eq!(confirmed["status"], "plan_accepted");
    assert_eq!(confirmed["attestation"]["inputs"]["output_path"], "dist");
    assert_eq!(confirm(), confirmed, "signed once");
    let attested = post(&server, &agent, &at("/attestation"), &made);
    assert_eq!(attested.status, 201, "{attested:?}");
    let again = post(&server, &agent, &at("/attestation"), &made);
    assert_eq!((again.status, &again.json()["attestation"]), (200, &attested.json()["attestation"]));
    let shown = server.call("GET", &at("")).token(&agent).send().json();
    assert_eq!(shown["status"], "attested");
    let record = server.call("GET", &at("/audit")).token(&agent).send().json();
    assert_eq!(record["all_resolved"], true);
    let package = post(&server, &agent, &at("/handoff"), &json!({"task": "publish"})).json();
    assert_eq!(package["context"]["task_description"], "publish");
    assert_eq!(package["context"]["attestation"], attested.json()["attestation"]);
}

#[test]
fn as_many_files_are_attested_as_an_event_holds_and_more_are_refused() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let fill = "x".repeat(32 << 10);
    let members: Value = (0..7).map(|number| (format!("m{number}"), json!(fill))).collect();
    let opened = post(&server, &agent, "/v1/plans", &json!({"plan": plan(&members), "session_id": SESSION}));
    assert_eq!(opened.json()["status"], "ready_to_proceed", "{opened:?}");
    post(&server, &agent, &format!("/v1/plans/{SESSION}/confirm"), &json!({}));
    let attest = |count: usize, path: &str| {
        let hash = format!("sha256:{}", "0".repeat(64));
        let files: Vec<_> =
            (0..count).map(|n| json!({"path": format!("{path}{n:04}"), "sha256": hash})).collect();
        let made = json!({"output_path": "dist", "program_version": "1", "files": files});
        post(&server, &agent, &format!("/v1/plans/{SESSION}/attestation"), &made)
    };
    assert_eq!(attest(4_001, "").code(), "MALFORMED");
    assert_eq!(attest(4_000, &"long/".repeat(20)).code(), "OUTPUT_INVALID");
    let twice = json!({"path": "a", "sha256": format!("sha256:{}", "0".repeat(64))});
    let made = json!({"output_path": "dist", "program_version": "1", "files": [twice, twice]});
    let refused = post(&server, &agent, &format!("/v1/plans/{SESSION}/attestation"), &made);
    assert_eq!(refused.code(), "OUTPUT_INVALID");
    assert_eq!(attest(4_000, "").status, 201);
}

#[test]
fn a_session_is_its_agent_s_own() {
    let server = Server::start();
    let (agent, other) = (server.token("agent", &["ask"]), server.token("other", &["ask"]));
    let reader = server.token("reader", &["read"]);
    post(&server, &agent, "/v1/plans", &json!({"plan": gappy(), "session_id": SESSION}));
    for (path, document) in [
        ("/operations", json!({"operation": "build"})),
        ("/confirm", json!({})),
        ("/handoff", json!({"task": "take over"})),
    ] {
        let reply = post(&server, &other, &format!("/v1/plans/{SESSION}{path}"), &document);
        assert_eq!((reply.status, reply.code().as_str()), (404, "SESSION_UNKNOWN"), "{path}");
    }
    for path in ["", "/audit"] {
        let status = |token: &str| {
            server.call("GET", &format!("/v1/plans/{SESSION}{path}")).token(token).send().status
        };
        assert_eq!((status(&agent), status(&other), status(&reader)), (200, 404, 200), "{path}");
    }
}

#[test]
fn the_user_of_this_machine_submits_in_the_name_of_an_agent() {
    let server = Server::start();
    let submit = |document: &Value| server.local("POST", "/v1/plans").json(document).send();
    let opened = submit(&json!({"plan": plan(&json!({})), "agent": "builder"})).json();
    let path = format!("/v1/plans/{}", opened["session_id"].as_str().unwrap());
    let confirmed = server.local("POST", &format!("{path}/confirm")).send().json();
    assert_eq!(confirmed["status"], "plan_accepted");
    let stranger = json!({"operation": "build", "agent": "somebody"});
    let refused = server.local("POST", &format!("{path}/operations")).json(&stranger).send();
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    assert_eq!(submit(&json!({"plan": plan(&json!({}))})).status, 201);
    let names: Vec<_> = server.local("GET", "/v1/identities").send().json()["identities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|identity| identity["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.contains(&"builder".to_owned()) && names.contains(&"agent".to_owned()), "{names:?}");
    assert!(!names.contains(&"somebody".to_owned()), "nobody is enrolled by a refusal: {names:?}");
}

#[test]
fn plans_that_are_none_are_refused_by_name() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    for document in [
        json!({"plan": {"a b": 1}}),
        json!({"plan": {"text": "x".repeat(300 << 10)}}),
        json!({"plan": {"deep": (0..20).fold(json!(1), |inner, _| json!([inner]))}}),
    ] {
        let reply = post(&server, &agent, "/v1/plans", &document);
        assert_eq!((reply.status, reply.code().as_str()), (400, "PLAN_MALFORMED"));
    }
    for document in [json!({}), json!({"plan": []}), json!({"plan": {}, "session_id": "x"})] {
        assert_eq!(post(&server, &agent, "/v1/plans", &document).code(), "MALFORMED");
    }
}

const SESSION: &str = "0196bb7c-0000-7000-8000-000000000001";
