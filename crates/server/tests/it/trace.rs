//! Traces over the wire: what is recorded can be read, taken home and verified.

use demur_core::{
    canonical,
    commitment::Commitment,
    hash::{Purpose, digest},
};
use serde_json::{Value, json};

use crate::server::Server;

/// Returns a server with a question that was asked and answered, and its trace.
fn answered() -> (Server, String, String) {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    assert_eq!(server.answer(&id, &json!("this")).status, 200);
    let trace = id[..26].to_owned();
    (server, asker, trace)
}

/// ONE-04
#[test]
fn an_export_over_the_wire_verifies_and_a_changed_one_does_not() {
    let (server, asker, trace) = answered();
    let reader = server.token("reader", &["read"]);
    let export = server.call("GET", &format!("/v1/traces/{trace}/export")).token(&asker).send();
    assert_eq!((export.status, export.header("content-type")), (200, Some("application/jsonl")));
    let verify = |bytes: &[u8]| {
        let call = server.call("POST", "/v1/verify").token(&reader);
        call.header("Content-Type", "application/jsonl").body(bytes).send()
    };
    let verified = verify(&export.body);
    assert_eq!(verified.status, 200, "{verified:?}");
    let found = verified.json();
    assert_eq!((&found["verdict"], &found["code"]), (&json!("pass"), &Value::Null));
    assert_eq!(found["report"]["scope"]["trace"], json!(trace));
    let members: Vec<_> = found.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["code", "comparison", "report", "run", "second", "verdict"]);
    assert_eq!((&found["comparison"], &found["second"]), (&Value::Null, &Value::Null));
    let changed = export.text().replacen("Which?", "Witch?", 1).into_bytes();
    let found = verify(&changed).json();
    assert_eq!((&found["verdict"], &found["code"]), (&json!("fail"), &json!("COMMITMENT_MISMATCH")));
    let cut = &export.body[..export.body.len() - 10];
    assert_eq!(verify(cut).json()["verdict"], "fail");
    let none = verify(b"no export\n");
    assert_eq!(none.status, 400, "{none:?}");
    let call = server.call("POST", "/v1/verify").token(&reader).header("Content-Type", "text/html");
    assert_eq!(call.body(&export.body).send().status, 415);
    let large = vec![b'{'; (64 << 20) + 1];
    let reply = server.call("POST", "/v1/verify").token(&reader).body(&large).try_send();
    assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 413));
}

/// ONE-12: checks stand after the bytes they are about, so an upload is read twice.
#[test]
fn checks_that_an_uploaded_file_states_are_evaluated() {
    let (server, _, _) = answered();
    let reader = server.token("reader", &["read"]);
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/ledger/attacks/files/");
    for (name, verdict) in [("valid-checks", "pass_with_warnings"), ("meaning-check-value", "fail")] {
        let file = std::fs::read(format!("{files}{name}.jsonl")).unwrap();
        let call = server.call("POST", "/v1/verify").token(&reader);
        let found = call.header("Content-Type", "application/jsonl").body(&file).send().json();
        assert_eq!(found["verdict"], verdict, "{name}: {found}");
    }
}

#[test]
fn events_come_with_content_that_opens_their_commitments() {
    let (server, asker, trace) = answered();
    let path = format!("/v1/traces/{trace}/events");
    let page = server.call("GET", &path).token(&asker).send().json();
    let events = page["events"].as_array().unwrap();
    assert_eq!((events.len(), &page["next"]), (2, &Value::Null));
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence"], json!(number));
        let envelope = canonical::to_vec(&event["envelope"]).unwrap();
        assert_eq!(event["hash"], json!(digest(Purpose::Envelope, &[&envelope])));
        let salt = serde_json::from_value(event["salt"].clone()).unwrap();
        let content = canonical::to_vec(&event["content"]).unwrap();
        let commitment: Commitment = serde_json::from_value(event["envelope"]["content"].clone()).unwrap();
        assert!(commitment.opens_content(&salt, &content));
        assert_eq!((&event["erased"], &event["artifact"]), (&json!(false), &Value::Null));
    }
    let first = server.call("GET", &format!("{path}?limit=1")).token(&asker).send().json();
    assert_eq!((&first["events"][0], &first["next"]), (&events[0], &json!(0)));
    let second = server.call("GET", &format!("{path}?limit=1&after=0")).token(&asker).send().json();
    assert_eq!((&second["events"][0], &second["next"]), (&events[1], &Value::Null));
    let beyond = server.call("GET", &format!("{path}?after=7")).token(&asker).send().json();
    assert_eq!(beyond["events"], json!([]));
}

#[test]
fn a_page_of_large_events_ends_before_it_is_too_large() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let large = "\u{20000}".repeat(16_384);
    let first = server.ask(&asker, &json!({"question": large, "detailed": large}));
    for _ in 0..11 {
        server.ask(&asker, &json!({"question": large, "detailed": large, "trace": &first[..26]}));
    }
    let (mut seen, mut after) = (0, String::new());
    loop {
        let path = format!("/v1/traces/{}/events?limit=200{after}", &first[..26]);
        let page = server.call("GET", &path).token(&asker).send();
        assert!(page.body.len() < 3 << 20, "{}", page.body.len());
        let page = page.json();
        seen += page["events"].as_array().unwrap().len();
        match page["next"].as_u64() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, 12);
    let listed = server.call("GET", "/v1/questions?limit=200").token(&asker).send();
    assert!(listed.body.len() < 3 << 20, "{}", listed.body.len());
}

#[test]
fn traces_are_listed_newest_first_page_by_page_for_readers_only() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    let mut traces: Vec<_> =
        (0..5).map(|n| server.ask(&asker, &json!({"question": format!("{n}?")}))[..26].to_owned()).collect();
    traces.sort_unstable();
    traces.reverse();
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = server.call("GET", &format!("/v1/traces?limit=2{after}")).token(&reader).send().json();
        let shown = page["traces"].as_array().unwrap();
        assert!(shown.iter().all(|trace| trace["kind"] == "work" && trace["events"] == 1));
        seen.extend(shown.iter().map(|trace| trace["trace"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    seen.sort_unstable();
    seen.reverse();
    assert_eq!(seen, traces);
    assert_eq!(server.call("GET", "/v1/traces").token(&asker).send().status, 403);
}

#[test]
fn a_receipt_is_for_what_a_key_signed() {
    let (server, asker, trace) = answered();
    let path = |sequence: u32| format!("/v1/traces/{trace}/receipts/{sequence}");
    let receipt = server.call("GET", &path(0)).token(&asker).send();
    assert_eq!(receipt.status, 200, "{receipt:?}");
    let events = server.call("GET", &format!("/v1/traces/{trace}/events")).token(&asker).send().json();
    assert_eq!(receipt.json()["document"]["event"]["hash"], events["events"][0]["hash"]);
    assert_eq!(server.call("GET", &path(1)).token(&asker).send().code(), "RECEIPT_UNKNOWN");
    assert_eq!(server.call("GET", &path(9)).token(&asker).send().code(), "EVENT_UNKNOWN");
    let artifact = format!("/v1/traces/{trace}/artifacts/0");
    assert_eq!(server.call("GET", &artifact).token(&asker).send().code(), "ARTIFACT_UNKNOWN");
}

#[test]
fn identities_are_public_facts_and_nothing_else() {
    let (server, asker, _) = answered();
    let all = server.call("GET", "/v1/identities").token(&asker).send().json();
    let identities = all["identities"].as_array().unwrap();
    let names: Vec<_> = identities.iter().map(|identity| identity["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["desk", "asker"]);
    for identity in identities {
        assert!(identity.get("secret_here").is_none());
        let path = format!("/v1/identities/{}", identity["fingerprint"].as_str().unwrap());
        assert_eq!(server.call("GET", &path).token(&asker).send().json(), *identity);
    }
    let unknown = server.call("GET", &format!("/v1/identities/{}", "0".repeat(64))).token(&asker).send();
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "IDENTITY_UNKNOWN"));
}
