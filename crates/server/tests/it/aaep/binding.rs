//! The binding of Appendix B: what each request gets, and who may do what.

use demur_api::server_limits::{AaepLimits, ServerLimits};
use serde_json::{Value, json};

use super::{CLARIFIES, Session, Subscriber, question, request};
use crate::server::Server;

/// AEP-19 AEP-20: from the request to the answer, over HTTP alone.
#[test]
fn session_is_published_followed_and_answered() {
    let server = Server::start();
    let (producer, reader) = (server.token("planner", &["ask"]), server.token("reader", &["relay"]));
    let subscriber = Subscriber::new(&server, &reader, &json!({"supports_clarification_reply": true}));
    let mut events = subscriber.follow(None);
    let session = Session::begin(&server, &producer);
    assert_eq!(events.next()["type"], "aaep:agent.session.started");
    let event = session.event("awaiting.clarification", question(300));
    let asked = session.publish(&event);
    assert_eq!(asked.status, 201, "{}", asked.text());
    let ours = asked.json()["reply_token"].as_str().unwrap().to_owned();
    let mut told = events.next();
    assert_eq!(events.last.as_deref(), told["event_id"].as_str());
    assert_eq!(told["reply_token"], ours.as_str());
    // Everything else is as its producer sent it.
    for field in ["event_id", "reply_token"] {
        told[field] = event[field].clone();
    }
    assert_eq!(told, event);

    subscriber.answer(&ours, &json!("adult"));
    assert_eq!(events.resolved()["outcome"], "answered");
    let outcome = session.outcomes("after=0").remove(0);
    assert_eq!((&outcome["reply_token"], &outcome["response"]), (&event["reply_token"], &json!("adult")));
    assert_eq!(
        (&outcome["response_kind"], &outcome["resolved_by"]),
        (&json!("multiple_choice"), &json!("user:kim"))
    );
    // Once it is acknowledged it is not told again.
    let after = format!("after={}", outcome["place"]);
    assert!(session.outcomes(&after).is_empty() && session.outcomes("").is_empty());

    let again = session.publish(&event);
    assert_eq!((again.status, again.json()["reply_token"].as_str()), (200, Some(&*ours)));
    let close = json!({"type": "subscription.close", "subscription_id": subscriber.id});
    assert_eq!(subscriber.send(&close).status, 204);
    events.next_of("subscription.close");
    assert_eq!(events.try_next(), None, "the stream ends with its subscription");
}

/// AEP-10 AEP-14: whoever sends a reply is not told whether it counts, and only whoever speaks for a person does.
#[test]
fn reply_gets_the_same_answer_whatever_is_wrong_with_it() {
    let server = Server::start();
    let (producer, reader) = (server.token("planner", &["ask"]), server.token("reader", &["relay"]));
    let subscriber = Subscriber::new(&server, &reader, &json!({}));
    let auditor = Subscriber::new(&server, &server.token("auditor", &["read"]), &json!({}));
    let session = Session::begin(&server, &producer);
    let ours = session.ask(300);
    let good = subscriber.reply(&ours, &json!("adult"));
    let with = |field: &str, value: Value| {
        let mut reply = good.clone();
        reply[field] = value;
        reply
    };
    for wrong in [
        with("response", json!(true)),
        with("reply_token", json!("rpl_unknown")),
        with("subscription_id", json!("sub_unknown")),
        with("subscription_id", json!(auditor.id)),
        with("decided_by", json!("user:mallory")),
        with("timestamp", json!("2099-01-01T00:00:00Z")),
    ] {
        let reply = subscriber.send(&wrong);
        assert_eq!((reply.status, reply.body.len()), (204, 0), "{wrong}");
    }
    auditor.answer(&ours, &json!("adult"));
    assert!(session.outcomes("after=0").is_empty());
    for malformed in [json!({}), json!([]), with("extra", json!(1)), with("response", json!(null))] {
        let reply = subscriber.send(&malformed);
        assert_eq!((reply.status, &*reply.code()), (400, "MESSAGE_MALFORMED"), "{malformed}");
    }
    assert_eq!(subscriber.send(&good).status, 204);
    assert_eq!(session.outcomes("after=0").len(), 1);
}

/// AEP-13: what breaks a rule is refused by its name, and nothing is told of it.
#[test]
fn event_that_breaks_a_rule_is_refused() {
    let server = Server::start();
    let (producer, other) = (server.token("planner", &["ask"]), server.token("other", &["ask"]));
    let session = Session::begin(&server, &producer);
    let good = session.event("awaiting.clarification", question(300));
    let with = |field: &str, value: Value| {
        let mut event = good.clone();
        event[field] = value;
        event
    };
    for (wrong, field) in [
        (with("timeout_seconds", json!(0)), "timeout_seconds"),
        (with("question", json!("")), "question"),
        (with("choices", json!([{"value": "a", "label": "A"}])), "choices"),
        (with("session_id", json!("sess_other")), "session_id"),
        (with("timestamp", json!("2099-01-01T00:00:00Z")), "timestamp"),
        (with("timestamp", json!("2020-01-01T00:00:00Z")), "timeout_seconds"),
        (with("type", json!("aaep:agent.unknown")), "type"),
        (with("note", json!("custom")), "note"),
    ] {
        let reply = session.publish(&wrong);
        assert_eq!((reply.status, reply.json()["field"].as_str()), (400, Some(field)), "{}", reply.text());
    }
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(session.call("POST", "events").body(deep.as_bytes()).send().status, 400);
    assert_eq!(session.call("POST", "events").body(&vec![b' '; (1 << 20) + 1]).send().status, 413);
    let theirs = Session { token: other, ..session.clone() };
    assert_eq!(theirs.publish(&good).code(), "SESSION_CONFLICT");
    assert_eq!(theirs.call("GET", "outcomes").send().status, 404);
    let unbegun = Session { id: "sess_unbegun".to_owned(), ..session.clone() };
    assert_eq!(unbegun.say("progress.updated", json!({"progress": {"step": 1}})).status, 409);
    assert_eq!(session.publish(&good).status, 201);
}

/// AEP-19: every request is answered, and what is granted is never more than what was asked for.
#[test]
fn every_request_for_a_subscription_is_answered() {
    let limits = AaepLimits { subscriptions: 2, ..AaepLimits::default() };
    let server = Server::start_within(ServerLimits { aaep: limits, ..ServerLimits::default() });
    let token = server.token("reader", &["relay"]);
    let send =
        |message: &Value| server.call("POST", "/aaep/v1/subscriptions").token(&token).json(message).send();
    let asked = json!({"max_events_per_second": 5, "languages": ["fr", "en-GB"], "supported_extensions": ["urn:demur:aaep:v1"]});
    let accepted = send(&request(&asked)).json();
    let honored = &accepted["honored_capabilities"];
    assert_eq!((&honored["max_events_per_second"], &honored["languages"]), (&json!(5), &json!(["en-GB"])));
    for (message, status, reason) in [
        (json!({"aaep_version": "2.0.0"}), 400, "version_unsupported"),
        (json!({"capabilities": {"accept_signed_manifests_only": true}}), 422, "manifest_signature_required"),
    ] {
        let mut wanted = request(&json!({}));
        wanted.as_object_mut().unwrap().extend(message.as_object().unwrap().clone());
        let rejected = send(&wanted);
        assert_eq!((rejected.status, rejected.json()["reason_code"].as_str()), (status, Some(reason)));
    }
    assert_eq!(send(&request(&json!({}))).status, 201);
    let full = send(&request(&json!({})));
    assert_eq!((full.status, full.json()["reason_code"].as_str()), (429, Some("rate_limit")));
    assert!(full.headers.iter().any(|(name, _)| name == "retry-after"), "{:?}", full.headers);
    assert_eq!(send(&json!({"type": "subscription.request"})).status, 400);
    let renegotiate =
        json!({"type": "subscription.renegotiate", "subscription_id": "sub_none", "capabilities": {}});
    let subscriber = Subscriber { id: String::new(), token: token.clone(), port: server.port() };
    let refused = subscriber.send(&renegotiate);
    assert_eq!((refused.status, refused.json()["type"].as_str()), (200, Some("subscription.rejected")));
}

/// A subscription is no credential: nobody else follows it, and a stranger nothing at all.
#[test]
fn subscription_belongs_to_whoever_began_it() {
    let server = Server::start();
    let (own, other) = (server.token("own", &["relay"]), server.token("other", &["relay"]));
    let subscriber = Subscriber::new(&server, &own, &json!({}));
    let path = format!("/aaep/v1/events?subscription_id={}", subscriber.id);
    assert_eq!(server.call("GET", &path).token(&other).send().status, 404);
    assert_eq!(server.call("GET", &path).send().status, 401);
    for path in ["/aaep/v1/subscriptions", "/aaep/v1/replies", "/aaep/v1/sessions/sess_1/events"] {
        assert_eq!(server.call("POST", path).json(&request(&json!({}))).send().status, 401, "{path}");
    }
    let manifest = server.call("GET", "/.well-known/aaep-manifest.json").send();
    assert_eq!((manifest.status, manifest.json()["type"].as_str()), (200, Some("aaep:producer.manifest")));
    demur_aaep::manifest::Manifest::read(&manifest.body).unwrap();
}

/// What a producer publishes is seen by itself, by whoever sees everything and by whoever passes on the words of people.
#[test]
fn session_is_followed_by_whoever_may() {
    let server = Server::start();
    let producer = server.token("planner", &["ask"]);
    let others =
        [("other", "ask"), ("answering", "answer")].map(|(name, scope)| server.token(name, &[scope]));
    let all = [("auditor", "read"), ("reader", "relay")].map(|(name, scope)| server.token(name, &[scope]));
    let blind = others.map(|token| Subscriber::new(&server, &token, &json!({})));
    let seeing = all.iter().chain([&producer]).map(|token| Subscriber::new(&server, token, &json!({})));
    let seeing: Vec<_> = seeing.collect();
    let session = Session::begin(&server, &producer);
    let ours = session.ask(300);
    for subscriber in seeing {
        assert_eq!(subscriber.follow(None).next_of(CLARIFIES)["reply_token"], ours.as_str());
    }
    for subscriber in blind {
        let mut events = subscriber.follow(None);
        let close = json!({"type": "subscription.close", "subscription_id": subscriber.id});
        assert_eq!(subscriber.send(&close).status, 204);
        assert_eq!(events.next()["type"], "subscription.close", "nothing came before");
    }
}

/// AEP-01 AEP-10: a question is a prompt, and a reply its answer at the assurance of the token that passes it on.
#[test]
fn reply_answers_a_question_as_its_token_may() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["relay"]));
    let subscriber = Subscriber::new(&server, &reader, &json!({"supports_clarification_reply": true}));
    let mut events = subscriber.follow(None);
    let id = server.ask(&asker, &json!({"question": "How many?", "kinds": ["numeric"]}));
    let prompt = events.next_of(CLARIFIES);
    assert_eq!(prompt["accepted_response_kinds"], json!(["numeric"]));
    let token = prompt["reply_token"].as_str().unwrap();
    let mut unnamed = subscriber.reply(token, &json!(12));
    unnamed.as_object_mut().unwrap().remove("decided_by");
    for wrong in [subscriber.reply(token, &json!("twelve")), unnamed] {
        assert_eq!(subscriber.send(&wrong).status, 204, "{wrong}");
    }
    let shown = || server.local("GET", &format!("/v1/questions/{id}")).send().json();
    assert_eq!(shown()["state"], "open");
    subscriber.answer(token, &json!(12));
    let ending = &shown()["outcome"];
    assert_eq!(
        (&ending["value"], &ending["by"], &ending["assurance"]),
        (&json!(12), &json!("kim"), &json!("relayed"))
    );
    assert_eq!(events.resolved()["resolved_by"], "user:kim");
    // What demands more than a token's word is announced, and never a prompt.
    let more = server.ask(&asker, &json!({"question": "Sure?", "assurance": "signed_in"}));
    let announced = loop {
        let message = events.next();
        assert_ne!(message["type"], CLARIFIES);
        if message["type"] == "aaep:agent.handoff.requested" {
            break message;
        }
    };
    assert!(
        announced["target_uri"].as_str().unwrap().ends_with(&format!("/questions/{more}")),
        "{announced}"
    );
}
