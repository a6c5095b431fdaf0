//! How an answer came, over every way in: what the record says of it, and that a program that asked is never taken for a person
//! where more than its word is wanted.

use serde_json::{Value, json};

use crate::{
    browser::{Browser, cookie_of, origin, spend},
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
    let relay = server.token_for("bot", &["relay"], &["ada"]);
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
fn the_answer_of_the_program_that_asked_counts_through_its_form_as_its_own() {
    let server = Server::start();
    let asked = relayed(&server, "POST", "/v1/questions");
    let asked = asked.json(&json!({"question": "Where to?", "assurance": "relayed"})).send();
    let id = asked.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/questions/{id}/answer");
    let done = answer(relayed(&server, "POST", &path), &json!({}));
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(done.json()["question"]["outcome"]["assurance"], "relayed");
    assert_eq!(newest(&server, &id)["own"], true);
}

/// Returns a browser whose session a client had opened: it is worth no more than the client.
fn browser_of_the_client(server: &Server) -> Browser<'_> {
    let made = relayed(server, "POST", "/v1/sign-in").json(&json!({})).send();
    let signed = spend(server, made.json()["code"].as_str().unwrap());
    Browser::of_cookie(server, &origin(server), cookie_of(&signed))
}

/// Returns how often the asker said what it thinks.
fn claims(server: &Server, id: &str) -> usize {
    said(server, id).iter().filter(|one| one["type"] == "answer_claimed").count()
}

/// ONE-07: without a form nobody knows that a person said it. It is kept, shown, and one press settles it.
#[test]
fn the_answer_of_the_program_that_asked_is_a_suggestion_without_its_form() {
    let server = Server::start();
    let token = server.token_for("agent", &["ask", "relay"], &["ada"]);
    // Another token of the same name is the same client, whatever it is for.
    let other = server.token_for("agent", &["relay"], &["ada"]);
    let browser = browser_of_the_client(&server);
    for least in ["agent", "relayed", "terminal"] {
        let wants = json!({"question": "Where to?", "assurance": least});
        let by_client = relayed(&server, "POST", "/v1/questions").json(&wants).send().json();
        let by_client = by_client["id"].as_str().unwrap().to_owned();
        let by_token = || server.ask(&token, &wants);
        let ways: [(&str, String, Calling<'_>, Value); 3] = [
            ("http", by_token(), &|path| server.call("POST", path).token(&token), json!({"by": "ada"})),
            ("http", by_token(), &|path| server.call("POST", path).token(&other), json!({"by": "ada"})),
            ("page", by_client, &|path| browser.call("POST", path), json!({})),
        ];
        for (door, id, call, more) in ways {
            for _ in 0..2 {
                let kept = answer(call(&format!("/v1/questions/{id}/answer")), &more);
                assert_eq!(kept.status, 200, "{door}, {least}: {kept:?}");
                let told = kept.json();
                assert!(told["unsettled"].as_str().unwrap().contains("suggestion"), "{door}: {told}");
                let shown = (&told["question"]["state"], &told["question"]["recommendation"]);
                assert_eq!(shown, (&json!("open"), &json!("dist")), "{door}, {least}: {told}");
            }
            assert_eq!(claims(&server, &id), 1, "{door}, {least}: the same twice is kept once");
            assert!(said(&server, &id).iter().all(|one| one["type"] != "question_answered"), "{door}");
            // Nor does it take the question away from people.
            let declined = call(&format!("/v1/questions/{id}/decline")).json(&more).send();
            assert_eq!(declined.code(), "OWN_CLIENT", "{door}, {least}: {declined:?}");
            assert_eq!(server.answer(&id, &json!("dist")).status, 200);
            let late = answer(call(&format!("/v1/questions/{id}/answer")), &more);
            assert_eq!(late.code(), "ALREADY_ANSWERED", "{door}, {least}: {late:?}");
        }
    }
}

/// ONE-07
#[test]
fn the_form_of_the_program_that_asked_is_refused_where_more_than_its_word_is_wanted() {
    let server = Server::start();
    let wants = json!({"question": "Pay?", "assurance": "terminal"});
    let asked = relayed(&server, "POST", "/v1/questions").json(&wants).send();
    let id = asked.json()["id"].as_str().unwrap().to_owned();
    let before = said(&server, &id).len();
    let refused = answer(relayed(&server, "POST", &format!("/v1/questions/{id}/answer")), &json!({}));
    assert_eq!(refused.code(), "OWN_CLIENT", "{refused:?}");
    let refused = relayed(&server, "POST", &format!("/v1/questions/{id}/decline")).json(&json!({})).send();
    assert_eq!(refused.code(), "OWN_CLIENT", "{refused:?}");
    for one in &said(&server, &id)[before..] {
        assert_eq!(one["type"], "command_refused", "{one}");
    }
    // Without that program it counts.
    assert_eq!(server.answer(&id, &json!("yes")).status, 200);
}

/// ONE-07: a secret is not written down as a guess.
#[test]
fn the_program_that_asked_for_a_secret_does_not_tell_it_itself() {
    let server = Server::start();
    let token = server.token_for("agent", &["ask", "relay"], &["ada"]);
    let id = server.ask(&token, &json!({"question": "The password?", "kinds": ["secret"]}));
    let call = server.call("POST", &format!("/v1/questions/{id}/answer")).token(&token);
    let refused = answer(call, &json!({"by": "ada"}));
    assert_eq!(refused.code(), "OWN_CLIENT", "{refused:?}");
    assert_eq!(claims(&server, &id), 0);
}

/// ONE-07, CLR-33
#[test]
fn the_program_that_submitted_a_plan_suggests_what_it_relays_about_a_gap_of_it() {
    let server = Server::start();
    let token = server.token_for("agent", &["ask", "relay"], &["ada"]);
    let plan = json!({"plan": {"name": "demo"}});
    let submitted = server.call("POST", "/v1/plans").token(&token).json(&plan).send().json();
    let session = submitted["session_id"].as_str().unwrap();
    let gap = submitted["gaps"][0]["id"].as_str().unwrap();
    let path = format!("/v1/plans/{session}/gaps/{gap}");
    let given = json!({"answer": "webpart-react", "by": "ada"});
    let told = server.call("POST", &path).token(&token).json(&given).send().json();
    assert_eq!((&told["status"], &told["accepted_answer"]), (&json!("escalated"), &Value::Null), "{told}");
    let trace = submitted["trace"].as_str().unwrap();
    assert_eq!(claims(&server, trace), 1);
    let accepted = server.call("POST", &path).token(&token).json(&json!({"by": "ada"})).send();
    assert_eq!(accepted.status, 409, "{accepted:?}");
    let told = server.local("POST", &path).json(&json!({"answer": "webpart-react"})).send().json();
    assert_eq!(told["status"], "resolved", "{told}");
}

const CLIENT: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
