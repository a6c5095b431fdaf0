//! How an answer came, over every way in: what the record says of it, and that a program that asked is never taken for a person
//! where more than its word is wanted.

use serde_json::{Value, json};

use crate::{
    browser::{Browser, spend},
    client::{Call, Reply},
    server::Server,
};

/// Sends an answer to this path.
type Answering<'a> = &'a dyn Fn(&str) -> Reply;

/// Returns a call of this path.
type Calling<'a> = &'a dyn Fn(&str) -> Call;

/// Returns what was said in the trace of a question, event by event.
fn said(server: &Server, id: &str) -> Vec<Value> {
    let events = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
    let said = |event: &Value| {
        let envelope = &event["envelope"];
        if envelope["record"].is_null() { envelope["statement"].clone() } else { envelope["record"].clone() }
    };
    events["events"].as_array().unwrap().iter().map(said).collect()
}

/// Returns the attribution of the newest act in the trace of a question.
fn newest(server: &Server, id: &str) -> Value {
    said(server, id).last().unwrap()["facts"]["attribution"].clone()
}

fn answer(call: Call, more: &Value) -> Reply {
    let mut document = json!({"answer": "dist"});
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call.json(&document).send()
}

/// Returns a call of a client that passes on what its user says, over the socket.
fn relayed(server: &Server, method: &str, path: &str) -> Call {
    server.local(method, path).header("demur-relay", "claude").header("demur-client", CLIENT)
}

/// CLR-33, ONE-07
#[test]
fn every_way_in_says_how_an_answer_came() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let relay = server.token("bot", &["relay"]);
    let token = relay.split('_').nth(1).unwrap();
    let browser = Browser::sign_in(&server);
    let ways: [(&str, Answering<'_>, Value); 4] = [
        (
            "socket",
            &|path| answer(server.local("POST", path), &json!({})),
            json!({"root": "same_user", "client": null, "token": null}),
        ),
        (
            "page",
            &|path| answer(browser.call("POST", path), &json!({})),
            json!({"root": "same_user", "client": null, "token": null}),
        ),
        (
            "http",
            &|path| answer(server.call("POST", path).token(&relay), &json!({"by": "ada"})),
            json!({"root": "client", "token": token}),
        ),
        (
            "mcp",
            &|path| answer(relayed(&server, "POST", path), &json!({})),
            json!({"root": "client", "client": CLIENT, "token": null}),
        ),
    ];
    for (door, send, expected) in ways {
        let id = server.ask(&asker, &json!({"question": "Where to?"}));
        let reply = send(&format!("/v1/questions/{id}/answer"));
        assert_eq!(reply.status, 200, "{door}: {reply:?}");
        let found = newest(&server, &id);
        assert_eq!((&found["door"], &found["own"]), (&json!(door), &json!(false)), "{found}");
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&found[name], value, "{door}, {name}: {found}");
        }
        assert_eq!(found["client"].is_string(), matches!(door, "http" | "mcp"), "{door}: {found}");
    }
}

/// ONE-07, CLR-33
#[test]
fn the_answer_of_the_program_that_asked_is_its_own_and_counts_for_little() {
    let server = Server::start();
    let token = server.token("agent", &["ask", "relay"]);
    let id = server.ask(&token, &json!({"question": "Where to?", "assurance": "relayed"}));
    let path = format!("/v1/questions/{id}/answer");
    let done = answer(server.call("POST", &path).token(&token), &json!({"by": "ada"}));
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(done.json()["question"]["outcome"]["assurance"], "relayed");
    assert_eq!(newest(&server, &id)["own"], true);
    // Another token of the same name is the same client, whatever it is for.
    let other = server.token("agent", &["relay"]);
    let id = server.ask(&token, &json!({"question": "And then?", "assurance": "relayed"}));
    let path = format!("/v1/questions/{id}/answer");
    assert_eq!(answer(server.call("POST", &path).token(&other), &json!({"by": "ada"})).status, 200);
    assert_eq!(newest(&server, &id)["own"], true);
}

/// ONE-07
#[test]
fn the_program_that_asked_is_refused_where_more_than_its_word_is_wanted() {
    let server = Server::start();
    let token = server.token("agent", &["ask", "relay"]);
    let wants = json!({"question": "Pay?", "assurance": "terminal"});
    let by_token = server.ask(&token, &wants);
    let asked = relayed(&server, "POST", "/v1/questions").json(&wants).send();
    assert_eq!(asked.status, 201, "{asked:?}");
    let by_client = asked.json()["id"].as_str().unwrap().to_owned();
    // A link that the client had made opens a session that is worth no more than the client.
    let made = relayed(&server, "POST", "/v1/sign-in").json(&json!({})).send();
    let url = made.json()["url"].as_str().unwrap().to_owned();
    let signed = spend(&server, url.split_once("code=").unwrap().1);
    let cookie = signed.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let mut browser = Browser::sign_in(&server);
    browser.cookie = cookie;
    let ways: [(&str, &str, Calling<'_>, Value); 3] = [
        ("http", &by_token, &|path| server.call("POST", path).token(&token), json!({"by": "ada"})),
        ("mcp", &by_client, &|path| relayed(&server, "POST", path), json!({})),
        ("page", &by_client, &|path| browser.call("POST", path), json!({})),
    ];
    for (door, id, call, more) in ways {
        let before = said(&server, id).len();
        let low = answer(call(&format!("/v1/questions/{id}/answer")), &more);
        assert_eq!(low.code(), "ASSURANCE_TOO_LOW", "{door}: {low:?}");
        let refused = call(&format!("/v1/questions/{id}/decline")).json(&more).send();
        assert_eq!(refused.code(), "OWN_CLIENT", "{door}: {refused:?}");
        let shown = server.local("GET", &format!("/v1/questions/{id}")).send().json();
        assert!(shown["outcome"].is_null(), "{door}: {shown}");
        for one in &said(&server, id)[before..] {
            assert_eq!(one["type"], "command_refused", "{door}: {one}");
        }
    }
    // Without that program it counts.
    assert_eq!(server.answer(&by_token, &json!("yes")).status, 200);
}

const CLIENT: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
