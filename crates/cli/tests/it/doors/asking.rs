//! The doors through which somebody asks.

use std::{
    process::{Child, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread::{self, JoinHandle},
};

use serde_json::{Value, json};

use super::{answering::AnsweringDoor, hall::Hall, wire::Wire};
use crate::mcp::client::{self as mcp, Client};

/// A way to ask.
pub(super) struct AskingDoor {
    pub(super) name: &'static str,
    pub(super) ask: AskFn,
    /// Who may answer what is asked here.
    pub(super) allows: Allows,
}

pub(super) type AskFn = fn(&Hall, &Words) -> Waiting;
pub(super) type Allows = fn(&AnsweringDoor) -> bool;

/// One row for every way to ask.
pub(super) const ASKING: [AskingDoor; 7] = [
    AskingDoor { name: "`demur ask`", ask: by_command, allows: people },
    AskingDoor { name: "HTTP, `ask` token", ask: by_token, allows: people },
    AskingDoor { name: "HTTP, Unix socket", ask: by_socket, allows: people },
    AskingDoor { name: "MCP, `demur mcp`", ask: by_mcp, allows: people },
    AskingDoor { name: "MCP, `/mcp`", ask: by_mcp_over_http, allows: people },
    AskingDoor { name: "HTTP, put to anybody", ask: to_anybody, allows: |_| true },
    AskingDoor { name: "HTTP, a plan with a gap", ask: by_plan, allows: |_| true },
];

fn people(door: &AnsweringDoor) -> bool {
    door.assurance != "agent"
}

/// What is asked, unlike anything else that is asked, and what is to be answered.
pub(super) struct Words {
    pub(super) question: String,
    pub(super) answer: String,
}

impl Words {
    pub(super) fn new(about: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { question: format!("{number}: where to, {about}?"), answer: format!("dist-{number}") }
    }

    /// Returns whether a question has these words. A gap has those of its rule, and stands alone.
    pub(super) fn are_in(&self, question: &Value) -> bool {
        question["question"] == self.question.as_str() || question["field"] == "output_path"
    }
}

/// Somebody who waits for the answer.
pub(super) enum Waiting {
    Command(Child),
    Wire(Wire, String),
    Plan(Wire, String),
    Mcp(Client, u64),
    McpOverHttp(JoinHandle<Value>),
}

impl Waiting {
    /// Returns the answer that arrived.
    pub(super) fn answer(self) -> String {
        match self {
            Self::Command(child) => {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success(), "{output:?}");
                String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
            }
            Self::Mcp(mut client, number) => answer_in(&client.reply(number)),
            Self::McpOverHttp(call) => answer_in(&call.join().unwrap()),
            Self::Wire(wire, id) => {
                let shown = wire.get(&format!("/v1/questions/{id}/wait?seconds=20"));
                shown["outcome"]["value"].as_str().unwrap().to_owned()
            }
            Self::Plan(wire, session) => {
                let standing = wire.get(&format!("/v1/plans/{session}"));
                assert_eq!(standing["status"], "ready_to_proceed", "{standing}");
                let trace = standing["trace"].as_str().unwrap();
                let page = wire.get(&format!("/v1/questions?trace={trace}"));
                page["questions"][0]["outcome"]["value"].as_str().unwrap().to_owned()
            }
        }
    }
}

fn by_command(hall: &Hall, words: &Words) -> Waiting {
    let mut command = hall.sandbox.command(&["ask", &words.question]);
    Waiting::Command(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

fn by_token(hall: &Hall, words: &Words) -> Waiting {
    over(&hall.asker, &json!({"question": words.question}))
}

fn by_socket(hall: &Hall, words: &Words) -> Waiting {
    over(&hall.local, &json!({"question": words.question}))
}

/// A client that cannot be asked: its call waits.
fn by_mcp(hall: &Hall, words: &Words) -> Waiting {
    let mut client = Client::modern(&hall.sandbox, &[], &json!({}));
    let params = json!({"name": "ask_human", "arguments": {"question": words.question}});
    let number = client.send("tools/call", params);
    Waiting::Mcp(client, number)
}

fn by_mcp_over_http(hall: &Hall, words: &Words) -> Waiting {
    let mut params = json!({"name": "ask_human", "arguments": {"question": words.question}});
    params["_meta"] = mcp::meta("desktop", &json!({}));
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let wire = hall.asker.clone();
    Waiting::McpOverHttp(thread::spawn(move || wire.post("/mcp", &message).unwrap()))
}

fn answer_in(reply: &Value) -> String {
    let answer = reply["result"]["structuredContent"]["answer"].as_str();
    answer.unwrap_or_else(|| panic!("{reply}")).to_owned()
}

fn to_anybody(hall: &Hall, words: &Words) -> Waiting {
    over(&hall.asker, &json!({"question": words.question, "answering": "anybody"}))
}

fn over(wire: &Wire, document: &Value) -> Waiting {
    let asked = wire.post("/v1/questions", document).unwrap();
    Waiting::Wire(wire.clone(), asked["id"].as_str().unwrap().to_owned())
}

/// A plan that lacks one thing: where a real build goes.
fn by_plan(hall: &Hall, _: &Words) -> Waiting {
    let plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest", "standards_selected": ["jsp-440"], "real_build": true
    });
    let standing = hall.asker.post("/v1/plans", &json!({"plan": plan})).unwrap();
    Waiting::Plan(hall.asker.clone(), standing["session_id"].as_str().unwrap().to_owned())
}
