//! Somebody who asks and waits, in a process of their own, and what waits in the inbox.

use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox};

/// A `demur ask` that waits.
pub(crate) struct Asker {
    pub(crate) child: Child,
    pub(crate) id: String,
}

impl Asker {
    /// Asks, and returns once the question is on record.
    pub(crate) fn ask(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let child = start(sandbox, arguments);
        let words = arguments[0];
        let id = until(&format!("{words} is asked"), || {
            let open = sandbox.json(&["inbox", "--list"]);
            let asked = open["questions"].as_array().unwrap().iter().find(|one| one["question"] == words);
            asked.map(|question| question["id"].as_str().unwrap().to_owned())
        });
        Self { child, id }
    }

    /// Returns what it printed and how it ended.
    pub(crate) fn ended(self, sandbox: &Sandbox) -> Ran {
        sandbox.ran(self.child.wait_with_output().unwrap())
    }
}

/// Starts a `demur ask` and does not look whether it gets anywhere.
pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.command(&[&["ask"], arguments].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Asks without waiting; returns the id.
pub(crate) fn asked(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ran = sandbox.run(&[&["ask"], arguments, &["--no-wait"]].concat());
    ran.expect_code(0).stdout.trim_end().to_owned()
}

/// Asks without waiting what people and agents may answer within an hour; returns the id.
pub(crate) fn asked_of_anybody(sandbox: &Sandbox, words: &str) -> String {
    let question = serde_json::json!({ "question": words, "answering": "anybody", "timeout_seconds": 3600 });
    asked_over_the_socket(sandbox, &question)
}

/// Asks without waiting what the command line cannot; returns the id.
pub(crate) fn asked_over_the_socket(sandbox: &Sandbox, question: &Value) -> String {
    sandbox.start_server();
    let mut curl = Command::new("curl");
    curl.args(["-s", "--unix-socket"]).arg(sandbox.data().join("socket"));
    curl.args(["--json", &question.to_string(), "http://localhost/v1/questions"]);
    let reply: Value = serde_json::from_slice(&curl.output().unwrap().stdout).unwrap();
    reply["id"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// Returns a question as it stands.
pub(crate) fn shown(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.json(&["show", id])
}

/// Returns what a look finds, however long it takes within reason.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

const PATIENCE: Duration = Duration::from_mins(1);
