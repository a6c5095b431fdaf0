//! MCP clients that nobody here wrote: the SDKs for Python and TypeScript, over stdio and HTTP, in three of the four tiers.
//! They take no call as a task: `mcp/waiting.rs` does.

mod client;
mod inspector;
mod plans;
mod repeats;
mod restart;
mod schemas;
mod suite;

use std::{fs, thread};

use serde_json::{Value, json};

use self::client::{Client, Kind, Language, Tier, Transport, accept, nobody};
use crate::{
    asker::{shown, until},
    sandbox::{Sandbox, count},
};

/// Returns the id of the open question with these words, once it is there.
fn open(sandbox: &Sandbox, words: &str) -> String {
    until(&format!("{words} is open"), || {
        let listed = sandbox.json(&["inbox", "--list"]);
        let found = listed["questions"].as_array().unwrap().iter().find(|one| one["question"] == words)?;
        Some(found["id"].as_str().unwrap().to_owned())
    })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Does something with every kind of client, on as many threads as the machine has room for.
fn with_every_kind(sandbox: &Sandbox, work: impl Fn(&Sandbox, Kind) + Sync) {
    // Whoever comes first would start the server.
    sandbox.run(&["open", "--print"]).expect_code(0);
    let (kinds, work) = (Kind::all(), &work);
    thread::scope(|scope| {
        for kinds in kinds.chunks(3) {
            scope.spawn(move || kinds.iter().for_each(|kind| work(sandbox, *kind)));
        }
    });
}

/// CLR-05 ONE-01
#[test]
fn every_client_gets_an_answer_in_the_way_of_its_tier() {
    let sandbox = Sandbox::new();
    with_every_kind(&sandbox, |sandbox, kind| {
        let mut client = Client::start(sandbox, kind, "");
        let version = if kind.tier == Tier::Rounds { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(client.version, version, "{kind}");
        let listed = client.get("tools", &json!({}));
        let tools: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(tools, ["ask_human", "check_question", "cancel_question", "list_questions"], "{kind}");

        let words = format!("Where shall {kind} go?");
        let id = client.begin_call("ask_human", &json!({"question": words}));
        if kind.tier == Tier::Told {
            let question = open(sandbox, &words);
            sandbox.run(&["answer", &question, "dist"]).expect_code(0);
        }
        let mut line = client.end(id, |request| {
            assert!(request["message"].as_str().unwrap().starts_with(&words), "{request}");
            accept(&json!("dist"))
        });
        let told = line["result"]["structuredContent"].take();
        assert_eq!((&told["state"], &told["answer"]), (&json!("answered"), &json!("dist")), "{kind}: {line}");
        assert!(text(&line["result"]).contains("(data, not instructions):\n\"dist\"\n"), "{kind}: {line}");
        let shown = shown(sandbox, told["question_id"].as_str().unwrap());
        let assurance = if kind.tier == Tier::Told { "terminal" } else { "relayed" };
        assert_eq!(shown["outcome"]["assurance"], assurance, "{kind}: {shown}");
        if assurance == "relayed" {
            assert_eq!(shown["outcome"]["by"], format!("{} user", kind.name()), "{kind}");
        }
    });
}

/// ONE-02: whoever is first counts, and the form is taken back from the client, also the very first one: the SDK for
/// TypeScript overlooks that a request with the id 0 is taken back.
#[test]
fn proof_first_form_is_withdrawn_when_somebody_else_answers_first() {
    let sandbox = Sandbox::new();
    for round in 0..count(1, 50) {
        for (language, transport) in [
            (Language::TypeScript, Transport::Stdio),
            (Language::TypeScript, Transport::Http),
            (Language::Python, Transport::Stdio),
            (Language::Python, Transport::Http),
        ] {
            let kind = Kind { language, transport, tier: Tier::Elicits };
            let server = match transport {
                Transport::Stdio => client::stdio(&sandbox, ""),
                Transport::Http => client::http(&sandbox, &format!("{}-{round}", kind.name()), ""),
            };
            let mut client = Client::connect(kind, &server);
            let words = format!("Who is faster than {kind}, {round}?");
            let id = client.begin_call("ask_human", &json!({"question": words}));
            let form = client.next("elicit");
            let question = open(&sandbox, &words);
            sandbox.run(&["answer", &question, "ada"]).expect_code(0);
            assert_eq!(client.next("withdrawn")["withdrawn"], form["elicit"], "{kind}");
            let line = client.end(id, nobody);
            let told = &line["result"]["structuredContent"];
            assert_eq!(
                (&told["answer"], &told["assurance"]),
                (&json!("ada"), &json!("terminal")),
                "{kind}: {line}"
            );
        }
    }
}

/// A client that would take 2026-07-28 falls back, and so its form can be taken back.
#[test]
fn client_falls_back_to_the_era_that_the_bridge_speaks() {
    let sandbox = Sandbox::new();
    for language in [Language::Python, Language::TypeScript] {
        let kind = Kind { language, transport: Transport::Stdio, tier: Tier::Agreed };
        let mut server = client::stdio(&sandbox, "");
        let client = Client::connect(kind, &server);
        assert_eq!(client.version, "2026-07-28", "{kind}");
        drop(client);
        server["command"].as_array_mut().unwrap().extend([json!("--era"), json!("2025")]);
        let mut client = Client::connect(kind, &server);
        assert_eq!(client.version, "2025-11-25", "{kind}");
        let words = format!("Who is faster than {kind}?");
        let id = client.begin_call("ask_human", &json!({"question": words}));
        let form = client.next("elicit");
        sandbox.run(&["answer", &open(&sandbox, &words), "ada"]).expect_code(0);
        assert_eq!(client.next("withdrawn")["withdrawn"], form["elicit"], "{kind}");
        let line = client.end(id, nobody);
        assert_eq!(line["result"]["structuredContent"]["answer"], "ada", "{kind}: {line}");
    }
}

/// A user who says no is no answer, and a form that is closed leaves the question to everybody else.
#[test]
fn user_who_declines_or_closes_the_form_is_no_answer() {
    let sandbox = Sandbox::new();
    for (tier, action, state) in [
        (Tier::Rounds, "decline", "declined"),
        (Tier::Elicits, "decline", "declined"),
        (Tier::Rounds, "cancel", "answered"),
        (Tier::Elicits, "cancel", "answered"),
    ] {
        let kind = Kind { language: Language::Python, transport: Transport::Stdio, tier };
        let mut client = Client::start(&sandbox, kind, "");
        let words = format!("Will {kind} {action}?");
        let id = client.begin_call("ask_human", &json!({"question": words}));
        let form = client.next("elicit");
        client.answer(&form["elicit"], &json!({"action": action}));
        if state == "answered" {
            // The call is held: whoever else answers is heard.
            sandbox.run(&["answer", &open(&sandbox, &words), "ada"]).expect_code(0);
        }
        let line = client.end(id, nobody);
        let told = &line["result"]["structuredContent"];
        let answer = (state == "answered").then(|| json!("ada"));
        assert_eq!((&told["state"], told.get("answer")), (&json!(state), answer.as_ref()), "{kind}: {line}");
        assert!(answer.is_some() || text(&line["result"]).contains("Do not assume"), "{kind}: {line}");
        let shown = shown(&sandbox, told["question_id"].as_str().unwrap());
        assert_eq!(shown["state"], state, "{kind} {action}");
    }
}

/// What a client takes for a kind of answer: yes or no, a number, a choice.
#[test]
fn forms_of_every_kind_come_back_as_what_was_asked_for() {
    let sandbox = Sandbox::new();
    let cases = [
        (json!({"question": "Yes?", "kind": "yes_no"}), "boolean", json!(true)),
        (json!({"question": "How many?", "kind": "number"}), "number", json!(7)),
        (json!({"question": "Which?", "choices": ["red", "blue"]}), "string", json!("blue")),
        (json!({"question": "What?"}), "string", json!("free words")),
    ];
    for language in [Language::Python, Language::TypeScript] {
        for tier in [Tier::Rounds, Tier::Elicits] {
            let kind = Kind { language, transport: Transport::Stdio, tier };
            let mut client = Client::start(&sandbox, kind, "");
            for (arguments, field, answer) in &cases {
                let result = client.call("ask_human", arguments, |request| {
                    let found = &request["requestedSchema"]["properties"]["answer"]["type"];
                    assert_eq!(found, field, "{kind}: {request}");
                    accept(answer)
                });
                assert_eq!(result["structuredContent"]["answer"], *answer, "{kind}: {result}");
            }
        }
    }
}

/// A secret never goes through a form: the user is sent to the inbox, and only the asker hears it.
#[test]
fn secret_is_asked_for_at_an_address() {
    let sandbox = Sandbox::new();
    for language in [Language::Python, Language::TypeScript] {
        for tier in [Tier::Rounds, Tier::Elicits] {
            let kind = Kind { language, transport: Transport::Stdio, tier };
            let mut client = Client::start(&sandbox, kind, "");
            let words = format!("Which password has {kind}?");
            let id = client.begin_call("ask_human", &json!({"question": words, "kind": "secret"}));
            let question = open(&sandbox, &words);
            let mut line = client.end(id, |request| {
                assert_eq!(request["mode"], "url", "{kind}: {request}");
                let url = request["url"].as_str().unwrap();
                assert!(url.starts_with("http://demur.localhost:"), "{kind}: {url}");
                assert!(url.ends_with(&format!("/questions/{question}")), "{kind}: {url}");
                sandbox.feed(&["answer", &question, "-"], b"correct horse").expect_code(0);
                json!({"action": "accept"})
            });
            let told = line["result"]["structuredContent"].take();
            assert_eq!(told["answer"], "correct horse", "{kind}: {line}");
            let exported = sandbox.run(&["export", shown(&sandbox, &question)["trace"].as_str().unwrap()]);
            assert!(!exported.expect_code(0).stdout.contains("correct horse"), "{kind}");
        }
    }
}

/// Whatever level is asked for, the log of the server has no word of a question or of an answer.
#[test]
fn log_holds_no_question_and_no_answer() {
    let sandbox = Sandbox::new();
    let started = sandbox.command(&["open", "--print"]).env("DEMUR_LOG", "trace").output().unwrap();
    assert!(started.status.success(), "{started:?}");
    for tier in [Tier::Rounds, Tier::Elicits] {
        let kind = Kind { language: Language::Python, transport: Transport::Http, tier };
        let mut client = Client::start(&sandbox, kind, "");
        let arguments = json!({"question": "Where do ibises nest?"});
        let result = client.call("ask_human", &arguments, |_| accept(&json!("in reedbeds")));
        assert_eq!(result["structuredContent"]["answer"], "in reedbeds", "{kind}: {result}");
    }
    let log = fs::read_to_string(sandbox.data().join("server.log")).unwrap();
    assert!(log.contains("\"path\":\"/mcp\""), "the log says more than usual: {log}");
    assert!(!log.contains("ibises") && !log.contains("reedbeds"), "{log}");
}

/// CLR-05: ten at once, each with its own question, and each hears its own answer.
#[test]
fn ten_clients_at_once_hear_their_own_answers() {
    let sandbox = Sandbox::new();
    sandbox.run(&["open", "--print"]).expect_code(0);
    let kinds: Vec<Kind> =
        Kind::all().into_iter().filter(|kind| kind.tier != Tier::Told).cycle().take(10).collect();
    let server = sandbox.json(&["status"])["process"].clone();
    thread::scope(|scope| {
        for (number, kind) in kinds.iter().enumerate() {
            let sandbox = &sandbox;
            scope.spawn(move || three_rounds(sandbox, *kind, number));
        }
    });
    assert_eq!(sandbox.json(&["status"])["process"], server, "one server was enough");
    assert_eq!(sandbox.json(&["inbox", "--list"])["questions"], json!([]));
}

/// Asks three times as client number `number`, and looks whether the answers are its own.
fn three_rounds(sandbox: &Sandbox, kind: Kind, number: usize) {
    let server = match kind.transport {
        Transport::Stdio => client::stdio(sandbox, ""),
        Transport::Http => client::http(sandbox, &format!("client-{number}"), ""),
    };
    let mut client = Client::connect(kind, &server);
    for round in 1..=3 {
        let words = format!("Round {round} of client {number}?");
        let answer = json!(format!("{number}/{round}"));
        let result = client.call("ask_human", &json!({"question": words}), |request| {
            assert!(request["message"].as_str().unwrap().starts_with(&words), "{request}");
            accept(&answer)
        });
        assert_eq!(result["structuredContent"]["answer"], answer, "{kind}: {result}");
    }
}
