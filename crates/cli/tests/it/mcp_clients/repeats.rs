//! Clients that give up waiting and call again in the same words: one question, whatever ends in between.

use serde_json::{Value, json};

use super::{
    client::{Client, Kind, Language, Tier, Transport, http, nobody, stdio},
    open,
};
use crate::sandbox::{Sandbox, count};

/// Returns every question with these words, the oldest first.
fn asked(sandbox: &Sandbox, words: &str) -> Vec<String> {
    let listed = sandbox.json(&["inbox", "--list", "--all"]);
    let questions = listed["questions"].as_array().unwrap().iter();
    let same = questions.filter(|one| one["question"] == words);
    same.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// Calls, and gives up after so long.
fn give_up(client: &mut Client, arguments: &Value, seconds: f64) {
    let call = json!({"name": "ask_human", "arguments": arguments, "timeout": seconds});
    let id = client.begin("call", &call);
    let line = client.end(id, nobody);
    assert!(line["error"].is_object(), "{line}");
}

/// A client that gives up ten times, and the bridge or the connection behind it ends in the middle.
fn retries(sandbox: &Sandbox, kind: Kind, server: &Value, seconds: f64) {
    let words = format!("Shall {kind} go on after {seconds} s?");
    let arguments = json!({"question": words});
    for _ in 0..2 {
        let mut client = Client::connect(kind, server);
        for _ in 0..5 {
            give_up(&mut client, &arguments, seconds);
        }
        // Over HTTP that it gave up is a message of its own, which the SDK for TypeScript may not get out before it ends.
        client.get("tools", &json!({}));
    }
    let id = open(sandbox, &words);
    assert_eq!(asked(sandbox, &words), [id.as_str()], "{kind}: ten calls, one question");
    let events = sandbox.json(&["trace", "show", &id[..26]]);
    assert_eq!(
        events["entries"].as_array().map(Vec::len),
        Some(1),
        "{kind}: nothing else is recorded: {events}"
    );

    // Nobody listens when the answer comes: the next call gets it.
    sandbox.run(&["answer", &id, "yes"]).expect_code(0);
    let mut client = Client::connect(kind, server);
    let blanks = json!({"question": format!("  {}\n", words.replace(' ', "  "))});
    let told = client.call("ask_human", &blanks, nobody)["structuredContent"].take();
    assert_eq!((&told["question_id"], &told["repeated"]), (&json!(id), &json!(true)), "{kind}: {told}");
    assert_eq!((&told["state"], &told["answer"]), (&json!("answered"), &json!("yes")), "{kind}: {told}");

    // It has heard the answer: whoever asks once more wants to know anew.
    give_up(&mut client, &arguments, seconds);
    give_up(&mut client, &arguments, seconds);
    let all = asked(sandbox, &words);
    assert_eq!(all.len(), 2, "{kind}: {all:?}");
    let other = json!({"question": words, "choices": ["yes", "no"]});
    give_up(&mut client, &other, seconds);
    let again = json!({"question": words, "again": true});
    give_up(&mut client, &again, seconds);
    assert_eq!(
        asked(sandbox, &words).len(),
        4,
        "{kind}: what differs, and what is asked anew, is a question of its own"
    );
}

/// CLR-04: ten retries of a client that gives up after 5 s and after 30 s; here after a moment.
#[test]
fn proof_client_that_gives_up_ten_times_asks_one_question() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    let times: &[f64] = if count(0, 1) == 1 { &[5.0, 30.0] } else { &[0.3] };
    std::thread::scope(|scope| {
        for (language, transport) in [
            (Language::Python, Transport::Stdio),
            (Language::TypeScript, Transport::Stdio),
            (Language::Python, Transport::Http),
            (Language::TypeScript, Transport::Http),
        ] {
            let sandbox = &sandbox;
            let kind = Kind { language, transport, tier: Tier::Told };
            scope.spawn(move || {
                let server = match transport {
                    Transport::Stdio => stdio(sandbox, ""),
                    Transport::Http => http(sandbox, &kind.name(), ""),
                };
                for seconds in times {
                    retries(sandbox, kind, &server, *seconds);
                }
            });
        }
    });
}
