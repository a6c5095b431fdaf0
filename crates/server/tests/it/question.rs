//! Questions over the wire: asked once per key, waited for, answered by whoever may, visible to whoever may see them.

use std::thread;

use demur_server::credentials::socket::RELAY_HEADER;
use serde_json::{Value, json};

use crate::{
    client::Reply,
    server::{Server, until},
};

/// Returns how many questions somebody waits for.
fn waiting(server: &Server) -> u64 {
    server.local("GET", "/v1/server").send().json()["waiting"].as_u64().unwrap()
}

fn act(server: &Server, token: &str, id: &str, what: &str, document: &Value) -> Reply {
    server.call("POST", &format!("/v1/questions/{id}/{what}")).token(token).json(document).send()
}

/// CLR-03
#[test]
fn a_question_and_its_answer_are_on_record_with_who_when_and_how() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    let ask = json!({"question": "Which one?", "choices": [
        {"label": "The first", "value": "first"}, {"label": "The second", "value": "second"},
    ], "field": "which", "context": "There are two."});
    let id = server.ask(&asker, &ask);
    let open = server.call("GET", &format!("/v1/questions/{id}")).token(&asker).send().json();
    assert_eq!(
        (&open["state"], &open["question"], &open["asker"]["name"]),
        (&json!("open"), &json!("Which one?"), &json!("asker"))
    );
    assert_eq!(server.answer(&id, &json!("third")).code(), "ANSWER_KIND");
    let done = server.answer(&id, &json!("second")).json();
    assert_eq!((&done["repeated"], &done["question"]["state"]), (&json!(false), &json!("answered")));
    let outcome = &done["question"]["outcome"];
    assert_eq!(
        (&outcome["value"], &outcome["by"], &outcome["assurance"]),
        (&json!("second"), &json!("pat"), &json!("terminal"))
    );
    let events = server.call("GET", &format!("/v1/traces/{}/events", &id[..26])).token(&reader).send().json();
    let events = events["events"].as_array().unwrap();
    assert_eq!(events.len(), 2);
    assert!(events[0]["envelope"]["statement"].is_object() && events[0]["envelope"]["proof"].is_object());
    assert!(events.iter().all(|event| event["envelope"]["time"].is_string()));
}

/// CLR-03: what says nothing is no question, at every door.
#[test]
fn a_blank_question_is_refused_with_one_sentence() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    for words in ["", " \t\r\n", "\u{200b}\u{feff}\u{2800}", "\u{1bca0}\u{301}", "?"] {
        let reply =
            server.call("POST", "/v1/questions").token(&asker).json(&json!({"question": words})).send();
        assert_eq!((reply.status, reply.code().as_str()), (400, "MALFORMED"), "{words:?}");
        let detail = reply.json()["detail"].as_str().unwrap().to_owned();
        assert!(
            detail.contains(
                "expected a question with a letter or a number, found none: say what you want to know"
            ),
            "{detail}"
        );
    }
}

#[test]
fn kinds_are_read_in_every_spelling_and_written_in_one() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    for (read, written) in [
        ("freetext", "text"),
        ("text", "text"),
        ("yes_no", "yes-no"),
        ("yesno", "yes-no"),
        ("yes-no", "yes-no"),
        ("numeric", "number"),
        ("number", "number"),
        ("secret", "secret"),
    ] {
        let id = server.ask(&asker, &json!({"question": "What?", "kinds": [read]}));
        let shown = server.call("GET", &format!("/v1/questions/{id}")).token(&asker).send().json();
        assert_eq!(shown["kinds"], json!([written]), "{read}");
    }
    let reply = server
        .call("POST", "/v1/questions")
        .token(&asker)
        .json(&json!({"question": "Why?", "kinds": ["date"]}))
        .send();
    let detail = reply.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("expected text, yes-no, choice, number or secret, found \"date\""), "{detail}");
}

/// A hint, and an honest one: of the asker alone, and of nobody who has not waited.
#[test]
fn only_an_asker_that_hung_up_is_said_to_be_gone() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    let id = server.ask(&asker, &json!({"question": "When?"}));
    let waited = |id: &str| {
        server.call("GET", &format!("/v1/questions/{id}")).token(&reader).send().json()["waited_for"].clone()
    };
    let wait =
        |token: &str| server.call("GET", &format!("/v1/questions/{id}/wait?seconds=60")).token(token).open();
    let stranger = wait(&reader);
    until("somebody waits", || waiting(&server) == 1);
    drop(stranger);
    until("nobody waits", || waiting(&server) == 0);
    assert_eq!(waited(&id), Value::Null, "who only reads is not the asker");
    let path = format!("/v1/questions/{id}/wait?seconds=0");
    server.local("GET", &path).header(RELAY_HEADER, "desktop").send();
    assert_eq!(waited(&id), Value::Null, "another client of this machine is not the asker");
    // Between two requests it is still there.
    server.call("GET", &format!("/v1/questions/{id}/wait?seconds=0")).token(&asker).send();
    assert_ne!(waited(&id), json!(false));
    let held = wait(&asker);
    until("the asker waits", || waited(&id) == json!(true) && waiting(&server) == 1);
    drop(held);
    until("the asker is gone", || waited(&id) == json!(false));
    let listed = server.call("GET", "/v1/questions?state=open").token(&reader).send().json();
    assert_eq!(listed["questions"][0]["waited_for"], false);
}

/// Under its own name, or in a role that it has in a run.
#[test]
fn client_that_waits_for_its_own_question_is_the_asker() {
    let server = Server::start();
    for (client, asker) in [("desktop", "desktop"), ("desktop", "desktop.planner")] {
        let asked =
            server.local("POST", &format!("/v1/questions?as={asker}")).json(&json!({"question": "Why?"}));
        let id = asked.send().json()["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/questions/{id}/wait?seconds=0");
        server.local("GET", &path).header(RELAY_HEADER, client).send();
        let shown = server.local("GET", &format!("/v1/questions/{id}")).send().json();
        assert_eq!(shown["waited_for"], true, "{asker}");
    }
}

/// CLR-04: a key is a promise for good, and the words of a question are none.
#[test]
fn key_beside_once_is_for_asking_anew_only() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let ask = |query: &str, key: &str| {
        let call = server.call("POST", &format!("/v1/questions?once=here{query}")).token(&asker);
        call.header("Idempotency-Key", key).json(&json!({"question": "Go?"})).send()
    };
    let refused = ask("", "one");
    assert_eq!((refused.status, refused.code().as_str()), (400, "MALFORMED"), "{refused:?}");
    let [first, second, other] =
        ["one", "one", "two"].map(|key| ask("&again=true", key).json()["id"].as_str().unwrap().to_owned());
    assert_eq!(first, second);
    assert_ne!(first, other);
}

#[test]
fn whoever_waits_is_told_at_once() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "When?"}));
    let call = server.call("GET", &format!("/v1/questions/{id}/wait?seconds=20")).token(&asker);
    let waiter = thread::spawn(move || call.send().json());
    until("somebody waits", || waiting(&server) == 1);
    server.answer(&id, &json!("now"));
    assert_eq!(waiter.join().unwrap()["outcome"]["value"], "now");
    until("nobody waits", || waiting(&server) == 0);
    let still = server.ask(&asker, &json!({"question": "And then?"}));
    let shown = server.call("GET", &format!("/v1/questions/{still}/wait?seconds=0")).token(&asker).send();
    assert_eq!(shown.json()["state"], "open");
}

#[test]
fn whoever_asks_can_wait_in_the_same_request() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    let call = server.call("POST", "/v1/questions?wait=20").token(&asker).json(&json!({"question": "Go?"}));
    let waiter = thread::spawn(move || call.send());
    let open = || {
        let page = server.call("GET", "/v1/questions?state=open").token(&reader).send().json();
        page["questions"][0]["id"].as_str().map(str::to_owned)
    };
    until("it is on record", || open().is_some());
    server.answer(&open().unwrap(), &json!("yes"));
    let reply = waiter.join().unwrap();
    assert_eq!((reply.status, &reply.json()["outcome"]["value"]), (201, &json!("yes")));
}

/// CLR-04
#[test]
fn the_same_request_under_the_same_key_is_one_question_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let (asker, other) = (server.token("asker", &["ask"]), server.token("other", &["ask"]));
    let ask = |server: &Server, token: &str, question: &str| {
        let call = server.call("POST", "/v1/questions").token(token).header("Idempotency-Key", "k-1");
        call.json(&json!({"question": question})).send()
    };
    let first = ask(&server, &asker, "Which?");
    assert_eq!(first.status, 201);
    let again = ask(&server, &asker, "Which?");
    assert_eq!((again.status, again.json()), (200, first.json()));
    let conflict = ask(&server, &asker, "What?");
    assert_eq!((conflict.status, conflict.code().as_str()), (422, "IDEMPOTENCY_CONFLICT"));
    assert_eq!(ask(&server, &other, "What?").status, 201, "a key is its holder's own");
    server.stop().unwrap();
    let server = Server::start_at(folder.path());
    let again = ask(&server, &asker, "Which?");
    assert_eq!((again.status, again.json()), (200, first.json()));
    assert_eq!(ask(&server, &asker, "What?").status, 422);
    for bad in ["k".repeat(257), "two words".to_owned(), "\u{e4}".to_owned(), String::new()] {
        let call = server.call("POST", "/v1/questions").token(&asker).header("Idempotency-Key", &bad);
        assert_eq!(call.json(&json!({"question": "Which?"})).send().status, 400, "{bad}");
    }
}

#[test]
fn many_at_once_under_one_key_make_one_question() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let call = server.call("POST", "/v1/questions").token(&asker).header("Idempotency-Key", "once");
    let call = call.json(&json!({"question": "Which?"}));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let call = call.clone();
            thread::spawn(move || call.send())
        })
        .collect();
    let replies: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    assert!(replies.iter().all(|reply| reply.json()["id"] == replies[0].json()["id"]));
}

#[test]
fn a_token_that_only_asks_sees_only_what_it_asked() {
    let server = Server::start();
    let (one, other) = (server.token("one", &["ask"]), server.token("other", &["ask"]));
    let id = server.ask(&one, &json!({"question": "Mine?"}));
    for path in [
        format!("/v1/questions/{id}"),
        format!("/v1/questions/{id}/wait?seconds=0"),
        format!("/v1/questions/{id}/secret"),
        format!("/v1/traces/{}", &id[..26]),
        format!("/v1/traces/{}/events", &id[..26]),
        format!("/v1/traces/{}/export", &id[..26]),
        format!("/v1/traces/{}/receipts/0", &id[..26]),
    ] {
        let foreign = server.call("GET", &path).token(&other).send();
        assert_eq!(foreign.status, 404, "{path}");
        let unknown = path.replace(&id[..26], "01ARZ3NDEKTSV4RRFFQ69G5FAV");
        let unknown = server.call("GET", &unknown).token(&other).send();
        assert_eq!(foreign.code(), unknown.code(), "{path}: a foreign one is as unknown as none");
    }
    for what in ["extend", "cancel"] {
        let reply = act(&server, &other, &id, what, &json!({"seconds": 5}));
        assert!([400, 404].contains(&reply.status), "{what}: {reply:?}");
    }
    assert_eq!(act(&server, &other, &id, "cancel", &json!({})).status, 404);
    let listed = |token: &str| server.call("GET", "/v1/questions").token(token).send().json();
    assert_eq!(listed(&other)["questions"], json!([]));
    assert_eq!(listed(&one)["questions"][0]["id"], json!(id));
}

#[test]
fn an_asker_cannot_put_a_question_into_the_trace_of_another() {
    let server = Server::start();
    let (one, other) = (server.token("one", &["ask"]), server.token("other", &["ask"]));
    let id = server.ask(&one, &json!({"question": "Mine?"}));
    let ask = json!({"question": "Yours?", "trace": &id[..26]});
    let reply = server.call("POST", "/v1/questions").token(&other).json(&ask).send();
    assert_eq!((reply.status, reply.code().as_str()), (404, "TRACE_UNKNOWN"));
    let events = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
    assert_eq!(events["events"].as_array().unwrap().len(), 1, "not even the refusal leaves a mark");
}

#[test]
fn a_question_can_be_declined_extended_cancelled_and_passed_on() {
    let server = Server::start();
    let (asker, relay) = (server.token("asker", &["ask"]), server.token("desk", &["relay"]));
    let state = |reply: &Reply| reply.json()["question"]["state"].clone();

    let id = server.ask(&asker, &json!({"question": "Anybody?"}));
    let declined = act(&server, &relay, &id, "decline", &json!({"by": "kim", "reason": "not ours"}));
    assert_eq!(
        (state(&declined), &declined.json()["question"]["outcome"]["by"]),
        (json!("declined"), &json!("kim"))
    );
    assert_eq!(server.answer(&id, &json!("me")).status, 409);
    let again = act(&server, &relay, &id, "decline", &json!({"by": "kim", "reason": "not ours"}));
    assert_eq!(again.json()["repeated"], true);

    let id = server.ask(&asker, &json!({"question": "In time?", "timeout_seconds": 100}));
    let deadline = |reply: &Value| reply["deadline"].as_str().unwrap().to_owned();
    let before = deadline(&server.call("GET", &format!("/v1/questions/{id}")).token(&asker).send().json());
    let extended = act(&server, &asker, &id, "extend", &json!({"seconds": 3600})).json();
    assert!(deadline(&extended["question"]) > before);

    let cancelled = act(&server, &asker, &id, "cancel", &json!({"reason": "found it"}));
    assert_eq!(state(&cancelled), "cancelled");
    assert_eq!(act(&server, &asker, &id, "cancel", &json!({})).json()["repeated"], true);

    let answerer = server.token("helper", &["answer"]);
    let id = server.ask(&asker, &json!({"question": "Who knows?"}));
    assert_eq!(act(&server, &answerer, &id, "answer", &json!({"answer": "I"})).code(), "QUESTION_UNKNOWN");
    let passed = act(&server, &relay, &id, "pass", &json!({"by": "kim", "people": true, "to": []}));
    assert_eq!((passed.status, state(&passed)), (200, json!("open")));
}

/// ONE-07
#[test]
fn every_answer_carries_how_sure_one_can_be_who_gave_it() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let (relay, helper) = (server.token("client", &["relay"]), server.token("helper", &["answer"]));
    let ask = json!({"question": "Who?", "answering": "anybody"});
    let assurance = |reply: &Reply| reply.json()["question"]["outcome"]["assurance"].clone();
    let id = server.ask(&asker, &ask);
    assert_eq!(act(&server, &relay, &id, "answer", &json!({"answer": "a"})).code(), "NAME_MISSING");
    for blank in [" ", "\u{200b}", "\u{2800}"] {
        let refused = act(&server, &relay, &id, "answer", &json!({"answer": "a", "by": blank}));
        assert_eq!((refused.code().as_str(), &refused.json()["field"]), ("NAME_INVALID", &json!("by")));
    }
    let relayed = act(&server, &relay, &id, "answer", &json!({"answer": "a", "by": "kim"}));
    assert_eq!(
        (assurance(&relayed), &relayed.json()["question"]["outcome"]["by"]),
        (json!("relayed"), &json!("kim"))
    );
    let id = server.ask(&asker, &ask);
    assert_eq!(
        act(&server, &helper, &id, "answer", &json!({"answer": "a", "by": "kim"})).code(),
        "FORBIDDEN"
    );
    assert_eq!(assurance(&act(&server, &helper, &id, "answer", &json!({"answer": "a"}))), "agent");
    let id = server.ask(&asker, &ask);
    assert_eq!(assurance(&server.answer(&id, &json!("a"))), "terminal");
    let people = server.ask(&asker, &json!({"question": "A person?"}));
    assert_eq!(
        act(&server, &helper, &people, "answer", &json!({"answer": "a"})).code(),
        "QUESTION_UNKNOWN",
        "what only people may answer is not there for a key"
    );
    assert_eq!(
        act(&server, &asker, &people, "answer", &json!({"answer": "a"})).status,
        403,
        "an asker never answers"
    );
}

#[test]
fn a_list_is_read_page_by_page_and_misses_nothing() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let ids: Vec<_> = (0..7).map(|n| server.ask(&asker, &json!({"question": format!("{n}?")}))).collect();
    for order in ["", "&newest=true"] {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/questions?limit=3{order}{after}");
            let page = server.call("GET", &path).token(&asker).send().json();
            let shown = page["questions"].as_array().unwrap();
            seen.extend(shown.iter().map(|question| question["id"].as_str().unwrap().to_owned()));
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        if !order.is_empty() {
            seen.reverse();
        }
        assert_eq!(seen, ids);
    }
}

/// CLR-04
#[test]
fn two_requests_under_one_key_at_once_make_one_question() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    for round in 0..20 {
        let ask = |words: &str| {
            let document = json!({"question": words});
            let call = server.call("POST", "/v1/questions").token(&asker).json(&document);
            call.header("Idempotency-Key", &format!("key-{round}"))
        };
        let calls = [ask("left"), ask("right")];
        let mut statuses =
            calls.map(|call| thread::spawn(move || call.send().status)).map(|run| run.join().unwrap());
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 422], "round {round}");
    }
}

/// ONE-03
#[test]
fn what_was_put_before_somebody_is_on_record_once() {
    let server = Server::start();
    let (asker, relay) =
        (server.token("asker", &["ask"]), server.token_for("chat", &["relay"], &["ada", "grace", "late"]));
    let id = server.ask(&asker, &json!({"question": "Seen?"}));
    let shown = |to: Option<&str>| {
        let document = json!({"questions": [id], "channel": "chat", "to": to});
        server.call("POST", "/v1/deliveries").token(&relay).json(&document).send()
    };
    assert_eq!(shown(None).code(), "NAME_MISSING");
    for to in ["ada", "ada", "grace"] {
        assert_eq!(shown(Some(to)).status, 204);
    }
    let events = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
    let delivered = |event: &&Value| event["envelope"]["record"]["type"] == "question_delivered";
    let found: Vec<&Value> = events["events"].as_array().unwrap().iter().filter(delivered).collect();
    let to: Vec<&Value> = found.iter().map(|event| &event["content"]["to"]).collect();
    assert_eq!(to, [&json!("ada"), &json!("grace")], "{events}");
    assert_eq!(found[0]["content"]["channel"], "chat");
    assert_eq!(found[0]["content"]["said_by"], "chat", "it is that program's word");
    assert_eq!(found[0]["content"]["shown"]["wording"], "normal");
    let answered = act(&server, &relay, &id, "answer", &json!({"answer": "yes", "by": "ada"}));
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(shown(Some("late")).status, 204, "what is settled is put before nobody");
    let after = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
    assert_eq!(after["events"].as_array().unwrap().len(), 4);
    let stranger = json!({"questions": [id], "channel": "chat", "to": "x"});
    assert_eq!(server.call("POST", "/v1/deliveries").token(&asker).json(&stranger).send().status, 403);
}
