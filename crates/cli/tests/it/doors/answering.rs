//! The doors through which somebody answers.

use serde_json::{Value, json};

use super::hall::Hall;
use crate::inbox::terminal::Terminal;

/// A way to answer.
pub(super) struct AnsweringDoor {
    pub(super) name: &'static str,
    /// With which assurance its answers are recorded.
    pub(super) assurance: &'static str,
    pub(super) answer: fn(&Hall, &str, &str) -> Said,
    /// Whether it may answer what was put to people, and so takes part in races.
    pub(super) races: bool,
}

/// What somebody who answers is told.
#[derive(Debug)]
pub(super) enum Said {
    /// It counts.
    Answered,
    /// It does not; the code says why, and what it is told says who was first, if somebody was.
    Refused { code: String, told: String },
}

/// One row for every way to answer.
pub(super) const ANSWERING: [AnsweringDoor; 7] = [
    AnsweringDoor { name: "demur answer", assurance: "terminal", answer: by_command, races: true },
    // Two terminals race in the tests of the inbox: opening one takes longer than any race here.
    AnsweringDoor { name: "demur inbox", assurance: "terminal", answer: by_inbox, races: false },
    AnsweringDoor { name: "web inbox", assurance: "terminal", answer: by_browser, races: true },
    AnsweringDoor { name: "HTTP, Unix socket", assurance: "terminal", answer: by_socket, races: true },
    AnsweringDoor { name: "HTTP, relay token", assurance: "relayed", answer: by_relay, races: true },
    AnsweringDoor { name: "MCP, client's user", assurance: "relayed", answer: by_bridge, races: true },
    AnsweringDoor { name: "HTTP, answer token", assurance: "agent", answer: by_key, races: false },
];

fn by_command(hall: &Hall, id: &str, answer: &str) -> Said {
    let ran = hall.sandbox.run(&["answer", id, answer, "--json"]);
    if ran.code == Some(0) {
        return Said::Answered;
    }
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|_| panic!("{ran}"));
    Said::Refused { code: error["error"]["code"].as_str().unwrap().to_owned(), told: ran.stderr }
}

/// At the prompt of a terminal, where it is the only one that waits.
fn by_inbox(hall: &Hall, id: &str, answer: &str) -> Said {
    let terminal = Terminal::open(&hall.sandbox, id);
    // The rest of its line may stand on the next one.
    let screen = terminal.shows("; any text)");
    let number = screen
        .lines()
        .filter_map(|line| line.split_once(". "))
        .find_map(|(number, _)| number.parse::<u32>().ok());
    let number = number.unwrap_or_else(|| panic!("{screen}"));
    terminal.enter(&format!("{number} {answer}"));
    terminal.shows(&format!("Done: {number} is answered"));
    Said::Answered
}

fn by_browser(hall: &Hall, id: &str, answer: &str) -> Said {
    hall.browser.answer(id, answer)
}

fn by_socket(hall: &Hall, id: &str, answer: &str) -> Said {
    told(hall.local.post(&path(id), &json!({"answer": answer})))
}

fn by_relay(hall: &Hall, id: &str, answer: &str) -> Said {
    told(hall.relay.post(&path(id), &json!({"answer": answer, "by": "grace"})))
}

/// As `demur mcp` passes on what its client's user said.
fn by_bridge(hall: &Hall, id: &str, answer: &str) -> Said {
    told(hall.bridge.post(&path(id), &json!({"answer": answer, "by": "desktop user"})))
}

fn by_key(hall: &Hall, id: &str, answer: &str) -> Said {
    told(hall.answerer.post(&path(id), &json!({"answer": answer})))
}

fn path(id: &str) -> String {
    format!("/v1/questions/{id}/answer")
}

fn told(reply: Result<Value, Value>) -> Said {
    match reply {
        Ok(done) => {
            assert_eq!(done["repeated"], false, "{done}");
            Said::Answered
        }
        Err(problem) => Said::Refused {
            code: problem["code"].as_str().unwrap().to_owned(),
            told: problem["outcome"].to_string(),
        },
    }
}
