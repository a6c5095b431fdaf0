//! Confirmations over HTTP: the first yes or no counts, silence is a no, and what starts is what was confirmed.

use std::thread;

use demur_server::routes::mcp::PATH;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, hidden},
    server::{Server, until},
};

fn ask(server: &Server, token: &str, more: &Value) -> Value {
    let mut document = json!({"action": "Send 10 to mallory", "operation": {"amount": 10, "to": "mallory"}});
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = server.call("POST", "/v1/confirmations").token(token).json(&document).send();
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()
}

fn say(server: &Server, token: &str, asked: &Value, act: &str) -> (u16, Value) {
    let path = format!("/v1/confirmations/{}/{act}", asked["id"].as_str().unwrap());
    let document = json!({"digest": asked["digest"], "by": "kim"});
    let reply = server.call("POST", &path).token(token).json(&document).send();
    (reply.status, reply.json())
}

/// ONE-09
#[test]
fn exactly_one_of_a_yes_and_a_no_counts() {
    let server = Server::start();
    let (agent, relay) = (server.token("ada", &["ask"]), server.token("rita", &["relay"]));
    for _ in 0..8 {
        let asked = ask(&server, &agent, &json!({}));
        let outcomes: Vec<_> = thread::scope(|scope| {
            let tries = ["give", "refuse", "give", "refuse"].map(|act| {
                let (server, relay, asked) = (&server, &relay, &asked);
                scope.spawn(move || (act, say(server, relay, asked, act)))
            });
            tries.into_iter().map(|tried| tried.join().unwrap()).collect()
        });
        let counted: std::collections::BTreeSet<_> =
            outcomes.iter().filter(|(_, (status, _))| *status == 200).map(|(act, _)| *act).collect();
        assert_eq!(counted.len(), 1, "{outcomes:?}");
        for (_, (status, document)) in outcomes.iter().filter(|(_, (status, _))| *status != 200) {
            assert_eq!((*status, &document["code"]), (409, &json!("CONFIRMATION_CLOSED")));
        }
    }
}

/// ONE-09
#[test]
fn silence_is_a_no_and_wakes_whoever_waits() {
    let server = Server::start();
    let agent = server.token("ada", &["ask"]);
    let asked = ask(&server, &agent, &json!({"timeout_seconds": 1}));
    let path = format!("/v1/confirmations/{}", asked["id"].as_str().unwrap());
    let waited = server.call("GET", &format!("{path}/wait?seconds=60")).token(&agent).send().json();
    assert_eq!(waited["state"], "expired");
    let document = json!({"operation": asked["operation"]});
    let started = server.call("POST", &format!("{path}/start")).token(&agent).json(&document).send();
    assert_eq!(started.json()["code"], "OPERATION_UNCONFIRMED", "{}", started.text());
}

/// ONE-09
#[test]
fn waiter_is_woken_by_a_yes_and_the_yes_serves_once() {
    let server = Server::start();
    let (agent, relay) = (server.token("ada", &["ask"]), server.token("rita", &["relay"]));
    let asked = ask(&server, &agent, &json!({}));
    let path = format!("/v1/confirmations/{}", asked["id"].as_str().unwrap());
    let waited = thread::scope(|scope| {
        let waits = scope
            .spawn(|| server.call("GET", &format!("{path}/wait?seconds=60")).token(&agent).send().json());
        assert_eq!(say(&server, &relay, &asked, "give").0, 200);
        waits.join().unwrap()
    });
    assert_eq!((&waited["state"], &waited["outcome"]["by"]), (&json!("given"), &json!("kim")));
    let start = |operation: Value| {
        let document = json!({"operation": operation});
        server.call("POST", &format!("{path}/start")).token(&agent).json(&document).send()
    };
    let other = start(json!({"amount": 1_000_000, "to": "mallory"}));
    assert_eq!(other.json()["code"], "CONFIRMATION_MISMATCH", "{}", other.text());
    let started = start(asked["operation"].clone());
    assert_eq!((started.status, started.json()["started"].as_u64()), (200, Some(3)), "{}", started.text());
    assert_eq!(start(asked["operation"].clone()).json()["code"], "CONFIRMATION_SPENT");
    let end = |failed: bool| {
        let document = json!({"failed": failed});
        server.call("POST", &format!("{path}/end")).token(&agent).json(&document).send()
    };
    assert_eq!(end(false).status, 200);
    assert_eq!(end(true).json()["code"], "REFERENCE");
}

/// ONE-09
#[test]
fn client_does_not_confirm_its_own_operation_in_whosever_name() {
    let server = Server::start();
    let both = server.token("ada", &["ask", "relay"]);
    let asked = ask(&server, &both, &json!({}));
    for act in ["give", "refuse"] {
        let (status, document) = say(&server, &both, &asked, act);
        assert_eq!((status, &document["code"]), (409, &json!("OWN_CLIENT")), "{document}");
    }
    // With a key of its own, too; a key of another client decides.
    let agents = ask(&server, &both, &json!({"answering": "agents"}));
    let (status, document) = say(&server, &both, &agents, "give");
    assert_eq!((status, &document["code"]), (409, &json!("OWN_CLIENT")), "{document}");
    let other = server.token("eve", &["answer"]);
    let reply = decide(&server, &other, &agents, "give", &json!({"digest": agents["digest"]}));
    assert_eq!((reply.0, &reply.1["state"]), (200, &json!("given")), "{}", reply.1);
}

/// ONE-09
#[test]
fn yes_to_another_digest_or_of_too_little_assurance_counts_for_nothing() {
    let server = Server::start();
    let (agent, relay) = (server.token("ada", &["ask"]), server.token("rita", &["relay"]));
    let relayed = ask(&server, &agent, &json!({}));
    let asked = ask(&server, &agent, &json!({"assurance": "terminal"}));
    for act in ["give", "refuse"] {
        // The relay may decide this one, so only the digest is wrong.
        let other = json!({"digest": "00".repeat(32), "by": "kim"});
        let (_, document) = decide(&server, &relay, &relayed, act, &other);
        assert_eq!(document["code"], "CONFIRMATION_MISMATCH", "{document}");
        let (status, document) = say(&server, &relay, &asked, act);
        assert_eq!((status, &document["code"]), (409, &json!("ASSURANCE_TOO_LOW")), "{document}");
    }
    let browser = Browser::of_new(&server, "kim", "answerer");
    let id = asked["id"].as_str().unwrap();
    let act = format!("/confirmations/{id}/give");
    let wrong = browser.send(&act, &[("digest", &"00".repeat(32))]);
    assert!(
        wrong.status == 409 && wrong.text().contains("expected that of the operation"),
        "{}",
        wrong.text()
    );
    assert_eq!(shown(&server, id)["state"], "open");
    let page = browser.page(&format!("/confirmations/{id}"));
    assert!(page.contains("&quot;amount&quot;: 10") && page.contains("mallory"), "{page}");
    assert!(!page.contains("autofocus"), "neither button is the default: {page}");
    assert!(page.contains("Written by an agent") && page.contains("<dt>Asked at</dt>"), "{page}");
    assert!(page.contains("<title>Send "), "{page}");
    let fields = hidden(&page, &act);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let given = browser.post(&act, &fields);
    assert_eq!(given.status, 303, "{given:?}");
    let ended = shown(&server, id);
    assert_eq!((&ended["state"], &ended["outcome"]["by"]), (&json!("given"), &json!("kim")));
    assert_eq!(ended["outcome"]["assurance"], "terminal", "{ended}");
    let page = browser.page(&format!("/confirmations/{id}"));
    assert!(page.contains("confirmed: kim (same user), "), "{page}");
    let late = browser.send(&format!("/confirmations/{id}/refuse"), &[("digest", digest(&asked))]);
    assert!(late.status == 409 && late.text().contains("kim confirmed it"), "{}", late.text());
}

/// ONE-09
#[test]
fn no_on_a_page_takes_a_note_which_everybody_reads() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let browser = Browser::of_new(&server, "kim", "answerer");
    for (note, kept) in [(" too much ", json!("too much")), ("", Value::Null)] {
        let asked = ask(&server, &agent, &json!({}));
        let id = asked["id"].as_str().unwrap();
        let page = browser.page(&format!("/confirmations/{id}"));
        assert!(page.contains("name=\"note\""), "{page}");
        let act = format!("/confirmations/{id}/refuse");
        let fields = hidden(&page, &act);
        let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.push(("note", note));
        assert_eq!(browser.post(&act, &fields).status, 303);
        let ended = shown(&server, id);
        assert_eq!((&ended["state"], &ended["outcome"]["note"]), (&json!("refused"), &kept), "{ended}");
        let page = browser.page(&format!("/confirmations/{id}"));
        assert_eq!(page.contains("too much"), !note.is_empty(), "{page}");
    }
}

/// ONE-09
#[test]
fn confirmation_outlives_the_server_and_its_deadline_passes_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let (agent, relay) = (server.token("ada", &["ask"]), server.token("rita", &["relay"]));
    let asked = ask(&server, &agent, &json!({}));
    let brief = ask(&server, &agent, &json!({"timeout_seconds": 1}));
    server.stop().unwrap();
    let (clock, begun) = (std::time::Instant::now, std::time::Instant::now());
    until("the deadline is over", || clock().duration_since(begun).as_millis() > 1100);
    let server = Server::start_at(folder.path());
    assert_eq!(shown(&server, asked["id"].as_str().unwrap())["state"], "open");
    let path = format!("/v1/confirmations/{}/wait?seconds=60", brief["id"].as_str().unwrap());
    assert_eq!(server.call("GET", &path).token(&agent).send().json()["state"], "expired");
    assert_eq!(say(&server, &relay, &brief, "give").1["code"], "CONFIRMATION_CLOSED");
    assert_eq!(say(&server, &relay, &asked, "refuse").0, 200);
}

/// ONE-09: a model that wants to act is never the one that confirms, whatever it passes on.
#[test]
fn models_ask_pass_on_and_start_through_tools() {
    let server = Server::start();
    let (agent, relay) = (server.token("ada", &["ask", "relay"]), server.token("rita", &["ask", "relay"]));
    let operation = json!({"amount": 10, "to": "mallory"});
    let wanted = json!({"action": "Send 10 to mallory", "operation": operation, "wait_s": 0});
    let asked = tool(&server, &agent, "confirm_operation", &wanted)["structuredContent"].clone();
    assert_eq!(asked["state"], "open", "{asked}");
    let (id, said) = (&asked["confirmation_id"], &asked["digest"]);
    let decide = |token: &str, digest: &Value, yes: bool| {
        let words = json!({"confirmation_id": id, "digest": digest, "confirm": yes, "by": "kim"});
        tool(&server, token, "decide_confirmation", &words)
    };
    for yes in [true, false] {
        assert_eq!(code(&decide(&agent, said, yes)), "OWN_CLIENT");
        assert_eq!(code(&decide(&relay, &json!("00".repeat(32)), yes)), "CONFIRMATION_MISMATCH");
    }
    let start = |token: &str, amount: u64| {
        let operation = json!({"amount": amount, "to": "mallory"});
        tool(&server, token, "start_operation", &json!({"confirmation_id": id, "operation": operation}))
    };
    assert_eq!(code(&start(&agent, 10)), "OPERATION_UNCONFIRMED");
    let given = decide(&relay, said, true);
    assert_eq!(given["structuredContent"]["state"], "given", "{given}");
    assert_eq!(code(&decide(&relay, said, false)), "CONFIRMATION_CLOSED");
    let seen = tool(&server, &agent, "check_confirmation", &json!({"confirmation_id": id}));
    assert_eq!(seen["structuredContent"]["by"], "kim", "{seen}");
    assert_eq!(code(&start(&relay, 10)), "FORBIDDEN");
    assert_eq!(code(&start(&agent, 1_000_000)), "CONFIRMATION_MISMATCH");
    assert!(start(&agent, 10)["structuredContent"]["started"].is_u64());
    assert_eq!(code(&start(&agent, 10)), "CONFIRMATION_SPENT");
    let end = || tool(&server, &agent, "end_operation", &json!({"confirmation_id": id, "failed": false}));
    assert_ne!(end()["isError"], true);
    assert_eq!(end()["isError"], true);
}

/// ONE-09
#[test]
fn inbox_counts_what_waits_and_wants_the_digest_of_what_was_shown() {
    let server = Server::start();
    let agent = server.token("ada", &["ask"]);
    let browser = Browser::sign_in(&server);
    assert!(!browser.page("/").contains("1 operation waits for a yes or a no"));
    let asked = ask(&server, &agent, &json!({}));
    let page = browser.page("/");
    assert!(page.contains("1 operation waits for a yes or a no"), "{page}");
    let list = browser.page("/confirmations");
    assert!(list.contains("Send 10 to mallory") && !list.contains("<button type=\"submit\">Confirm"));
    assert_eq!(
        browser.send(&format!("/confirmations/{}/give", asked["id"].as_str().unwrap()), &[]).status,
        400
    );
}

fn decide(server: &Server, token: &str, asked: &Value, act: &str, document: &Value) -> (u16, Value) {
    let path = format!("/v1/confirmations/{}/{act}", asked["id"].as_str().unwrap());
    let reply = server.call("POST", &path).token(token).json(document).send();
    (reply.status, reply.json())
}

fn shown(server: &Server, id: &str) -> Value {
    server.local("GET", &format!("/v1/confirmations/{id}")).send().json()
}

fn digest(asked: &Value) -> &str {
    asked["digest"].as_str().unwrap()
}

/// Returns the result of a tool over MCP.
fn tool(server: &Server, token: &str, name: &str, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let call = server.call("POST", &format!("{PATH}?tools=confirm")).token(token).json(&message);
    let call = call.header("Accept", "application/json, text/event-stream");
    let call = call.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "tools/call");
    let reply = call.header("Mcp-Name", name).send();
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["result"].clone()
}

/// Returns the code with which a tool refused.
fn code(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    let words = result["content"][0]["text"].as_str().unwrap();
    words.split([':', ' ']).next().unwrap().to_owned()
}
