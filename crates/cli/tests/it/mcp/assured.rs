//! A rule that demands a person who signed in: no form of a client settles it, and it holds up nothing else.

use std::{fs, process::Child};

use serde_json::{Value, json};

use super::{
    client::Client,
    forms,
    plans::{answer, plan, status},
};
use crate::{sandbox::Sandbox, server_life::serve};

/// A sandbox whose server wants to know of every plan who approves it, from a person who signed in.
struct Strict {
    sandbox: Sandbox,
    server: Child,
}

impl Drop for Strict {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn strict() -> Strict {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("pack")).unwrap();
    fs::write(sandbox.path("pack/pack.toml"), "[pack]\nname = \"strict\"\nversion = \"1\"\n").unwrap();
    let policy = "@id(\"who\")\n@severity(\"BLOCK\")\n@field(\"approver\")\n@question(\"Who approves it?\")\n\
                  @assurance(\"signed-in\")\n@kinds(\"text\")\n@blocks(\"build\")\n\
                  forbid (principal, action, resource) when { context.approver == \"\" };\n";
    fs::write(sandbox.path("pack/who.cedar"), policy).unwrap();
    let server = serve(&sandbox, &["--rules", "pack"]);
    Strict { sandbox, server }
}

fn both() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}})
}

fn asks_who(request: &Value) -> bool {
    request["params"]["message"].as_str().unwrap().starts_with("Who approves it?")
}

/// Returns what settles a gap, from what its form says.
fn settling(request: &Value) -> Value {
    let words = request["params"]["message"].as_str().unwrap();
    answer(if words.starts_with("component_type") { "component_type" } else { "description" })
}

/// Checks that one gap is left, and that it is the one for somebody who signs in.
fn one_is_left(told: &Value) {
    assert_eq!(status(told), "needs_clarification", "{told}");
    assert_eq!(told["structuredContent"]["blocking_count"], 1, "{told}");
    assert_eq!(told["structuredContent"]["gaps"][0]["field"], "approver", "{told}");
    assert!(told["structuredContent"]["inbox"].is_string(), "{told}");
}

/// ONE-07
#[test]
fn rounds_ask_in_a_form_for_what_a_form_can_settle() {
    let strict = strict();
    let mut client = Client::modern(&strict.sandbox, &["--tools", "wwa", "--wait", "5s"], &forms());
    let asked = client.call("wwa_clarify_check", &plan());
    let requests = asked["inputRequests"].as_object().unwrap().clone();
    assert_eq!(requests.len(), 2, "{asked}");
    assert!(!requests.values().any(asks_who), "{asked}");
    let told = client.again("wwa_clarify_check", &plan(), &asked, |key| settling(&requests[key]));
    one_is_left(&told);
}

/// ONE-07
#[test]
fn rounds_send_people_to_the_inbox_and_take_no_words_instead() {
    let strict = strict();
    let mut client = Client::modern(&strict.sandbox, &["--tools", "wwa", "--wait", "5s"], &both());
    let asked = client.call("wwa_clarify_check", &plan());
    let requests = asked["inputRequests"].as_object().unwrap().clone();
    let modes: Vec<_> = requests.values().map(|one| (asks_who(one), &one["params"]["mode"])).collect();
    assert_eq!(modes.len(), 3, "{asked}");
    assert!(modes.iter().all(|(who, mode)| **mode == if *who { "url" } else { "form" }), "{asked}");
    let mallory = |key: &str| {
        let request = &requests[key];
        if asks_who(request) { json!("mallory") } else { settling(request) }
    };
    // Whoever went to the inbox is not sent there again: the call waits for the answer from there.
    one_is_left(&client.again("wwa_clarify_check", &plan(), &asked, mallory));
    let listed = strict.sandbox.json(&["inbox", "--list"]);
    assert_eq!(listed["questions"].as_array().map(Vec::len), Some(1), "{listed}");
}

/// ONE-07
#[test]
fn forms_come_before_what_is_answered_elsewhere() {
    for (declared, most) in [(forms(), 2), (both(), 3)] {
        let strict = strict();
        let mut client =
            Client::legacy(&strict.sandbox, &["--tools", "wwa", "--wait", "5s"], "2025-11-25", &declared);
        let number = client.send("tools/call", json!({"name": "wwa_clarify_check", "arguments": plan()}));
        let mut modes = Vec::new();
        let told = loop {
            let message = client.next();
            if message["method"] == "elicitation/create" {
                modes.push(message["params"]["mode"].as_str().unwrap_or("form").to_owned());
                // Whoever does not want to sign in now says so, and the call waits for others.
                let result = if asks_who(&message) {
                    json!({"action": "decline"})
                } else {
                    json!({"action": "accept", "content": {"answer": settling(&message)}})
                };
                client.write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
            } else if message["id"] == number {
                break message["result"].clone();
            }
        };
        assert_eq!(modes, ["form", "form", "url"][..most]);
        one_is_left(&told);
    }
}
