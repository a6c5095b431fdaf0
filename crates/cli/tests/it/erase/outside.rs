//! Erasure tried from outside: over HTTP with tokens of every scope, and with the server killed in the middle of it.

use std::{
    io::Write as _,
    net::Shutdown,
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{answered, holding};
use crate::{
    asker::until,
    doors::wire::Wire,
    independent::verify_alone,
    plan::{Planned, with},
    sandbox::{Sandbox, count},
    server_life::{is_alive, kill, server},
};

/// Returns a way to the server with a new token.
fn token(sandbox: &Sandbox, name: &str, scope: &str) -> Wire {
    let people: &[&str] = if scope == "relay" { &["--for", "wilhelmina"] } else { &[] };
    token_with(sandbox, &[&[name, "--scope", scope], people].concat())
}

fn token_with(sandbox: &Sandbox, words: &[&str]) -> Wire {
    let made = sandbox.json(&[&["token", "new"], words].concat());
    let status = sandbox.json(&["status"]);
    let address = status["address"].as_str().unwrap().strip_prefix("http://").unwrap();
    Wire::tcp(address, made["secret"].as_str().unwrap().to_owned())
}

/// Tries to erase an event; returns the code of the refusal, if it is one.
fn erase(wire: &Wire, trace: &str, event: u64) -> Result<Value, String> {
    let path = format!("/v1/traces/{trace}/events/{event}/erase");
    let refused = |problem: Value| problem["code"].as_str().unwrap_or_else(|| panic!("{problem}")).to_owned();
    wire.post(&path, &json!({"why": "asked to"})).map_err(refused)
}

/// ONE-04 ONE-12: a plan with everything that quotes it, over HTTP.
#[test]
fn plan_is_erased_by_a_token_that_operates_and_by_no_other() {
    let planned = Planned::new(&with(&json!({"real_build": true, "description": "the swordfish page"})));
    let sandbox = &planned.sandbox;
    let (trace, operator) = (sandbox.trace(), token(sandbox, "otto", "operate"));
    let events = || sandbox.json(&["trace", "list"])["traces"][0]["events"].as_u64().unwrap();
    let open = events();
    assert_eq!(erase(&operator, &trace, 0).unwrap_err(), "SETTLE_FIRST");
    assert_eq!(events(), open);
    planned.run("resolve", &["gap-001", "marlin"]).expect_code(0);
    planned.run("confirm", &[]).expect_code(0);
    let before = events();
    for scope in ["ask", "answer", "relay", "read", "metrics"] {
        let wire = token(sandbox, &format!("with-{scope}"), scope);
        for event in 0..before {
            let code = erase(&wire, &trace, event).unwrap_err();
            assert!(matches!(code.as_str(), "FORBIDDEN" | "TRACE_UNKNOWN"), "{scope}: {code}");
        }
    }
    assert_eq!(events(), before, "nothing has changed");
    for event in 0..before {
        if let Err(code) = erase(&operator, &trace, event) {
            assert_eq!(code, "NOTHING_TO_ERASE", "event {event}");
        }
    }
    assert_eq!(erase(&operator, &trace, 10_000).unwrap_err(), "EVENT_UNKNOWN");
    for words in ["swordfish", "marlin"] {
        assert_eq!(holding(&sandbox.data(), words), Vec::<String>::new(), "{words}");
    }
    sandbox.run(&["export", "last", "--out", "after.jsonl"]).expect_code(0);
    let strict = sandbox.run(&["verify", "--strict", "--no-guess", "after.jsonl", "--json"]);
    let strict: Value = serde_json::from_str(&strict.expect_code(1).stdout).unwrap();
    assert_eq!(strict["verdict"], "not_established", "{strict}");
    assert_eq!(verify_alone(&sandbox.path("after.jsonl")).1["verdict"], "not_established");
    for paper in [&["audit", &planned.session][..], &["handoff", &planned.session, "--task", "go on"]] {
        let refused = sandbox.run(paper);
        assert!(refused.code != Some(0) && refused.stderr.contains("erased"), "{paper:?}: {refused}");
    }
    sandbox.run(&["store", "check"]).expect_code(0);
}

/// ONE-04: who was shown a question is also in a record beside the ledger; it goes with the event.
#[test]
fn whom_a_question_was_shown_to_is_nowhere_once_it_is_erased() {
    let sandbox = Sandbox::new();
    // For anyone: the registry names those whose words a token passes on, and what it says of them stays.
    let chat = token_with(&sandbox, &["chat", "--scope", "ask", "--scope", "relay", "--for-anyone"]);
    let question = chat.post("/v1/questions", &json!({"question": "Seen?"})).unwrap();
    let shown = json!({"questions": [question["id"]], "channel": "chat", "to": "wilhelmina"});
    chat.post("/v1/deliveries", &shown).unwrap();
    for words in ["wilhelmina", "delivered/"] {
        assert!(!holding(&sandbox.data(), words).is_empty(), "{words}");
    }
    erase(&token(&sandbox, "otto", "operate"), &sandbox.trace(), 1).unwrap();
    // The key of the record would tell a good guess from a bad one.
    for words in ["wilhelmina", "delivered/"] {
        assert_eq!(holding(&sandbox.data(), words), Vec::<String>::new(), "{words}");
    }
}

/// ONE-04: a server that is killed while it erases has erased the words everywhere, or nothing. Where it was recorded, the
/// next start removes what was left in the files.
#[test]
fn proof_server_killed_while_it_erases_leaves_words_whole_or_nowhere() {
    let (rounds, mut unanswered, mut recorded) = (count(8, 80), 0, 0);
    for round in 0..rounds {
        let (sandbox, trace) = answered("Is it still swordfish?", "No, marlin");
        let process = server(&sandbox);
        let body = r#"{"why":"a password was in it"}"#;
        let request = format!(
            "POST /v1/traces/{trace}/events/0/erase HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut stream = UnixStream::connect(sandbox.data().join("socket")).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        pass(Duration::from_micros(u64::try_from(round * 1733 % 16_000).unwrap()));
        kill(process);
        unanswered += usize::from(!has_reply(stream));
        until("it is gone", || (!is_alive(process)).then_some(()));
        sandbox.run(&["store", "check"]).expect_code(0);
        let shown = sandbox.json(&["trace", "show", &trace]);
        let is_erasure = |entry: &Value| entry["kind"] == "content_erased";
        if shown["entries"].as_array().unwrap().iter().any(is_erasure) {
            recorded += 1;
        } else {
            assert!(!holding(&sandbox.data(), "swordfish").is_empty(), "nothing is lost without a record");
            sandbox.run(&["erase", &format!("{trace}.0"), "--why", "again", "--yes"]).expect_code(0);
        }
        assert_eq!(holding(&sandbox.data(), "swordfish"), Vec::<String>::new(), "round {round}");
        sandbox.run(&["store", "check"]).expect_code(0);
        sandbox.run(&["export", &trace, "--out", "after.jsonl"]).expect_code(0);
        let report = sandbox.run(&["verify", "--strict", "after.jsonl"]);
        assert!(report.expect_code(1).stdout.contains("NOT ESTABLISHED"), "{report}");
    }
    assert!(unanswered > 0, "no server was killed in time, {recorded} of {rounds} erasures were recorded");
}

/// Returns whether a reply came before the server was killed.
fn has_reply(mut stream: UnixStream) -> bool {
    let mut reply = Vec::new();
    let _ = stream.shutdown(Shutdown::Write);
    let _ = std::io::Read::read_to_end(&mut stream, &mut reply);
    !reply.is_empty()
}

/// Passes the time without giving the processor away: the moment of the kill must not depend on a timer.
fn pass(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
