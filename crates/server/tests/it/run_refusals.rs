//! What nobody may say in a run: every guard of the ledger is in force over the wire, and what is refused changes nothing.

use demur_testing::authenticator::Authenticator;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::passkeys::Person;
use crate::run::{
    INPUT, Run, artifact, claim, complete, conclusion, intent, intent_review, opening, proposal, review,
    start,
};

/// LED-02
#[test]
fn nobody_speaks_in_a_role_that_is_not_theirs() {
    let run = Run::open();
    let mut stolen = proposal();
    run.refused("bo", &stolen, 409, "NOT_PARTICIPANT");
    stolen["role"] = json!("executor");
    run.refused("bo", &stolen, 409, "ROLE_FORBIDDEN");
    // A key of another run is no key of this one.
    assert_eq!(run.post("bo", "/v1/runs", &json!({"task": "own", "objective": "to plan"})).status, 201);
    run.refused("bo", &proposal(), 409, "NOT_PARTICIPANT");
    stolen["role"] = json!("operator");
    run.refused("bo", &stolen, 400, "ROLE_NOT_OF_A_RUN");
}

#[test]
fn a_run_is_unknown_to_whoever_does_not_take_part() {
    let run = Run::open();
    let stranger = run.server.token("eve", &["ask"]);
    let (at, missing) = (format!("/v1/runs/{}", run.trace), "/v1/runs/01KA000000000000000000RN99".to_owned());
    for path in [at, missing] {
        for (method, rest, body) in
            [("GET", "", json!({})), ("POST", "/events", proposal()), ("POST", "/audit", json!({}))]
        {
            let reply = run.server.call(method, &format!("{path}{rest}")).token(&stranger).json(&body).send();
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (404, "TRACE_UNKNOWN"),
                "{method} {path}{rest}"
            );
        }
    }
    let reader = run.server.token("rob", &["ask", "read"]);
    let path = format!("/v1/runs/{}/events", run.trace);
    let reply = run.server.call("POST", &path).token(&reader).json(&proposal()).send();
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (409, "NOT_PARTICIPANT"),
        "whoever reads does not speak"
    );
    let asked = run.server.call("POST", "/v1/questions").token(&stranger);
    let reply = asked.json(&json!({"question": "Who?", "trace": run.trace})).send();
    assert_eq!(reply.code(), "TRACE_UNKNOWN");
}

#[test]
fn only_whoever_is_known_is_named_and_the_planner_is_who_opens() {
    let run = Run::open();
    let open = |agents: Value| {
        let mut document = opening();
        document["agents"] = agents;
        run.post("ada", "/v1/runs", &document).code()
    };
    let keys =
        || run.server.local("GET", "/v1/identities").send().json()["identities"].as_array().unwrap().len();
    let before = keys();
    assert_eq!(open(json!({"critic": "nobody"})), "AGENT_UNKNOWN");
    assert_eq!(open(json!({"planner": "bo"})), "FORBIDDEN");
    assert_eq!(open(json!({"desk": "bo"})), "ROLE_NOT_OF_A_RUN");
    assert_eq!(open(json!({"poet": "bo"})), "MALFORMED");
    assert_eq!(keys(), before, "nobody is enrolled by a refusal");
    let named = run.post("ada", "/v1/runs", &json!({"task": "t", "objective": "o", "agent": "bo"}));
    assert_eq!((named.status, named.code().as_str()), (403, "FORBIDDEN"), "a token speaks as itself");
}

#[test]
fn only_what_the_four_roles_say_can_be_said() {
    let run = Run::open();
    for kind in
        ["session_initialized", "session_aborted", "command_refused", "question_asked", "key_revoked", "poem"]
    {
        run.refused("ada", &json!({"role": "planner", "type": kind}), 400, "TYPE_FORBIDDEN");
    }
    let mut document = proposal();
    document["facts"] = json!({});
    run.refused("ada", &document, 400, "MALFORMED");
    let mut document = proposal();
    document["content"]["objective"] = json!("x".repeat(16_385));
    run.refused("ada", &document, 400, "MALFORMED");
    let mut document = proposal();
    document["content"] = Value::Null;
    run.refused("ada", &document, 409, "CONTENT_RULE");
    let mut document = proposal();
    document["artifact"] = json!({"text": "beside it"});
    run.refused("ada", &document, 409, "ARTIFACT_UNASKED");
}

/// LED-06, LED-10, LED-11, LED-23, LED-24, LED-27
#[test]
fn nothing_happens_before_its_time() {
    let run = Run::open();
    run.refused("bo", &intent(0), 409, "OUT_OF_PHASE");
    let at = run.said("ada", &proposal());
    run.refused("bo", &intent(at), 409, "OUT_OF_PHASE");
    run.said("cy", &review(at));
    run.refused("cy", &review(at), 409, "REFERENCE");
    let signed = run.said("bo", &intent(at));
    let input = run.said("bo", &artifact("input", INPUT));
    run.refused("bo", &start(signed, input), 409, "APPROVAL_MISSING");
    run.said("cy", &intent_review(signed));
    let started = run.said("bo", &start(signed, input));
    run.refused("bo", &start(signed, input), 409, "INTENT_USED");
    let output = run.said("bo", &artifact("output", "ok"));
    run.refused("bo", &claim("claim_issued", output, started), 409, "EXECUTION_OPEN");
    let ended = run.said("bo", &complete(started, output));
    let mut bare = claim("claim_issued", output, ended);
    bare["facts"]["evidence"] = json!([]);
    run.refused("bo", &bare, 409, "EVIDENCE_MINIMUM");
    run.refused("bo", &conclusion(ended), 409, "OUT_OF_PHASE");
    run.said("bo", &claim("claim_issued", output, ended));
    run.refused("bo", &conclusion(ended), 409, "BUNDLE_INCOMPLETE");
    let early = run.post("dee", &format!("/v1/runs/{}/audit", run.trace), &json!({}));
    assert_eq!((early.status, early.code().as_str()), (409, "OUT_OF_PHASE"));
    let other = run.post("cy", &format!("/v1/runs/{}/audit", run.trace), &json!({}));
    assert_eq!((other.status, other.code().as_str()), (409, "NOT_PARTICIPANT"));
}

/// LED-31
#[test]
fn nothing_is_concluded_while_a_question_of_the_run_is_open() {
    let run = Run::open();
    let claim = run.claim();
    let asked = run.post("bo", "/v1/questions", &json!({"question": "Which branch?", "trace": run.trace}));
    assert_eq!((asked.status, &asked.json()["asker"]["name"]), (201, &json!("bo.executor")), "{asked:?}");
    let id = asked.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(run.standing()["questions"], json!([id]));
    run.refused("bo", &conclusion(claim), 409, "QUESTIONS_OPEN");
    let cancel = |name: &str| run.post(name, &format!("/v1/questions/{id}/cancel"), &json!({}));
    assert_eq!(cancel("cy").code(), "FORBIDDEN", "only whoever asked");
    assert_eq!(cancel("bo").status, 200);
    run.said("bo", &conclusion(claim));
}

/// LED-15, LED-34
#[test]
fn no_verdict_is_better_than_what_the_verifier_finds() {
    let run = Run::open();
    let claim = run.claim();
    run.said("cy", &json!({
        "role": "critic", "type": "claim_challenged", "facts": {"claim": claim}, "content": {"reason": "not shown"},
    }));
    run.said("bo", &conclusion(claim));
    let started = run.say(
        "dee",
        &json!({
            "role": "auditor", "type": "verification_run_started", "facts": {"profile": "strict"},
        }),
    );
    assert_eq!(started.status, 201, "{started:?}");
    let started = started.json();
    let verdict = |status: &str| {
        let through = json!({"sequence": started["sequence"], "hash": started["hash"]});
        let report = "0".repeat(64);
        json!({
            "role": "auditor", "type": "verification_run_completed", "facts": {"status": status, "through": through},
            "content": {"report": report, "summary": "all is well"},
        })
    };
    run.refused("dee", &verdict("pass"), 409, "VERDICT_UNFOUNDED");
    run.refused("dee", &verdict("pass_with_warnings"), 409, "VERDICT_UNFOUNDED");
    let path = format!("/v1/runs/{}/audit", run.trace);
    assert_eq!(run.post("dee", &path, &json!({"profile": "lenient"})).code(), "PROFILE_CONFLICT");
    let audited = run.post("dee", &path, &json!({})).json();
    assert_eq!((&audited["status"], &audited["profile"]), (&json!("fail"), &json!("strict")), "{audited}");
    assert_eq!(audited["run"]["phase"], "failed", "{audited}");
}

#[test]
fn an_artifact_beyond_the_limit_is_refused() {
    let run = Run::open();
    let proposal = run.said("ada", &proposal());
    run.said("cy", &review(proposal));
    run.refused("bo", &artifact("large", &"x".repeat((32 << 20) + 1)), 409, "ARTIFACT_TOO_LARGE");
    assert_eq!(
        run.say("bo", &artifact("large", &"x".repeat(2 << 20))).status,
        201,
        "larger than other documents"
    );
    let path = format!("/v1/runs/{}/events", run.trace);
    let call =
        run.server.call("POST", &path).token(run.token("bo")).json(&artifact("huge", &"x".repeat(49 << 20)));
    assert!(call.try_send().is_err_and(|_| true) || call.send().status == 413);
}

#[test]
fn run_is_aborted_by_an_operator_and_by_nobody_else() {
    let run = Run::open();
    let path = format!("/v1/runs/{}/abort", run.trace);
    let reason = json!({"reason": "no longer needed"});
    let server = &run.server;
    for name in ["ada", "bo", "dee"] {
        assert_eq!(run.post(name, &path, &reason).status, 403, "{name}");
    }
    for scope in ["read", "answer", "relay"] {
        let token = server.token(&format!("with-{scope}"), &[scope]);
        assert_eq!(server.call("POST", &path).token(&token).json(&reason).send().status, 403, "{scope}");
    }
    assert_eq!(server.call("POST", &path).json(&reason).send().status, 401);
    for role in ["answerer", "auditor"] {
        let browser = Browser::of_new(server, role, role);
        assert_eq!(browser.call("POST", &path).json(&reason).send().status, 403, "{role}");
    }
    assert_eq!(run.standing()["phase"], "planning", "nothing has changed");
    let operator = Browser::of_new(server, "olga", "operator");
    assert_eq!(operator.call("POST", &path).json(&reason).send().status, 204);
    assert_eq!(run.standing()["phase"], "aborted");
    let token = server.token("otto", &["operate"]);
    let again = server.call("POST", &path).token(&token).json(&reason).send();
    assert_eq!((again.status, again.code().as_str()), (409, "OUT_OF_PHASE"), "once");
    let events = server.local("GET", &format!("/v1/traces/{}/events", run.trace)).send().json();
    let last = events["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"]["reason"], "no longer needed (olga, signed in)");
}

/// ONE-10: where the operator has a passkey it signs the end of the run, and nobody else is offered it.
#[test]
fn operators_end_a_run_on_its_page() {
    let run = Run::open();
    let server = &run.server;
    let (page, abort) = (format!("/traces/{}/run", run.trace), format!("/traces/{}/abort", run.trace));
    for role in ["answerer", "auditor"] {
        let browser = Browser::of_new(server, role, role);
        assert!(!browser.page(&page).contains("end-run"), "{role}");
        assert_eq!(browser.send(&abort, &[("reason", "enough")]).status, 403, "{role}");
    }
    let olga = Browser::of_new(server, "olga", "operator");
    let shown = olga.page(&page);
    assert!(shown.contains(&abort) && !shown.contains("abort-run"), "{shown}");
    assert_eq!(olga.send(&abort, &[("reason", " ")]).status, 400);
    assert_eq!(olga.post(&abort, &[("reason", "enough")]).status, 403, "without the key of the form");
    let pat = Person::root(server, Authenticator::es256(1));
    let shown = pat.browser.page(&page);
    assert!(shown.contains("value=\"abort-run\""), "{shown}");
    let fields = [("touch", "abort-run"), ("trace", &run.trace), ("reason", "enough")];
    let prepared = pat.browser.send("/touch", &fields);
    assert_eq!((prepared.status, run.standing()["phase"].as_str()), (201, Some("planning")), "{prepared:?}");
    assert_eq!(pat.finish(&prepared.json()).json()["acts"][0]["status"], "signed");
    assert_eq!(run.standing()["phase"], "aborted");
    assert!(!pat.browser.page(&page).contains("end-run"), "it has ended");
    let plain = Run::open();
    let otto = Browser::of_new(&plain.server, "otto", "operator");
    let (page, abort) = (format!("/traces/{}/run", plain.trace), format!("/traces/{}/abort", plain.trace));
    let done = otto.send(&abort, &[("reason", "enough")]);
    assert_eq!((done.status, done.header("location")), (303, Some(page.as_str())));
    assert_eq!(plain.standing()["phase"], "aborted");
}

#[test]
fn token_that_operates_aborts_a_run_that_it_does_not_see() {
    let run = Run::open();
    let token = run.server.token("otto", &["operate"]);
    let call = |method: &str, rest: &str| {
        run.server.call(method, &format!("/v1/runs/{}{rest}", run.trace)).token(&token)
    };
    assert_eq!(call("GET", "").send().status, 403);
    assert_eq!(call("POST", "/abort").json(&json!({"reason": "enough"})).send().status, 204);
    assert_eq!(run.standing()["phase"], "aborted");
    let no_run = run.server.ask(run.token("ada"), &json!({"question": "Which?"}));
    let path = format!("/v1/runs/{}/abort", &no_run[..26]);
    let refused = run.server.call("POST", &path).token(&token).json(&json!({"reason": "enough"})).send();
    assert_eq!(refused.code(), "NOT_A_RUN");
}

#[test]
fn abort_without_a_reason_that_can_be_read_changes_nothing() {
    let run = Run::open();
    let token = run.server.token("otto", &["operate"]);
    let abort = |trace: &str, document: &Value| {
        run.server.call("POST", &format!("/v1/runs/{trace}/abort")).token(&token).json(document).send()
    };
    for wrong in [
        json!({}),
        json!({"reason": ""}),
        json!({"reason": 1}),
        json!({"reason": "x".repeat(16001)}),
        json!({"reason": "enough", "abandoned": true}),
    ] {
        let refused = abort(&run.trace, &wrong);
        assert_eq!((refused.status, refused.code().as_str()), (400, "MALFORMED"), "{}", refused.text());
    }
    assert_eq!(abort("nothing", &json!({"reason": "enough"})).status, 404);
    assert_eq!(run.standing()["phase"], "planning");
}
