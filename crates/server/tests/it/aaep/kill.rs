//! Servers that are killed: what was acknowledged is there, and every effect is there once.

use std::{
    collections::BTreeSet,
    env,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use serde_json::{Value, json};

use super::{Session, Subscriber};
use crate::{
    client::Call,
    server::{Server, until},
};

/// A server in a process of its own.
struct Killed {
    child: Child,
    folder: PathBuf,
}

impl Killed {
    fn start(folder: PathBuf) -> Self {
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "aaep::kill::server_to_be_killed", "--quiet"])
            .env(FOLDER, &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, folder };
        until("the server answers", || {
            Call::socket(&server.folder, "GET", "/healthz").try_send().is_ok_and(|reply| reply.status == 200)
        });
        server
    }

    fn port(&self) -> u16 {
        let status = Call::socket(&self.folder, "GET", "/v1/server").send().json();
        let address = status["address"].as_str().unwrap();
        address.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The server of the test below, in a process of its own; by itself it has nothing to do.
#[test]
fn server_to_be_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let _server = Server::start_at(folder.as_ref());
    loop {
        thread::park();
    }
}

/// AEP-06 AEP-07: kills at any moment, with open prompts, while two subscribers race for each.
#[test]
fn kills_lose_no_prompt_and_do_nothing_twice() {
    let full = env::var("DEMUR_PROOF").is_ok_and(|word| word == "full");
    let (kills, prompts) = if full { (20, 1000) } else { (4, 40) };
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start_at(folder.path());
    let (producer, reader) = (first.token("planner", &["ask"]), first.token("reader", &["relay"]));
    let session = Session::begin(&first, &producer);
    // More than a session may have open at once.
    let sessions: Vec<_> =
        (0..prompts / 200).map(|_| Session::begin(&first, &producer)).chain([session]).collect();
    let all = Subscriber::new(&first, &reader, &json!({}));
    let mut asked = Vec::new();
    for number in 0..prompts {
        asked.push(sessions[number % sessions.len()].ask(600));
    }
    drop(first);

    let (mut told, mut last, mut seen) = (BTreeSet::new(), None::<String>, Vec::new());
    for round in 0..kills {
        let server = Killed::start(folder.path().to_owned());
        let port = server.port();
        let share = &asked[round * prompts / kills..(round + 1) * prompts / kills];
        let racing: Vec<_> = ["child", "adult"]
            .into_iter()
            .map(|answer| {
                let (share, reader) = (share.to_vec(), reader.clone());
                thread::spawn(move || race(port, &reader, &share, answer))
            })
            .collect();
        let mut events = all.at(port).follow(last.as_deref());
        let enough = seen.len() + 2 + round % 5;
        while seen.len() < enough {
            note(&events.next(), &mut told, &mut seen);
        }
        server.kill();
        while let Some(message) = events.try_next() {
            note(&message, &mut told, &mut seen);
        }
        last = events.last;
        for one in racing {
            one.join().unwrap();
        }
    }

    let server = Server::start_at(folder.path());
    for answer in ["child", "adult"] {
        race(server.port(), &reader, &asked, answer);
    }
    let outcomes: Vec<_> = sessions
        .iter()
        .flat_map(|session| {
            let (session, mut found) = (session.at(server.port()), Vec::new());
            loop {
                let after = found.last().map_or(0, |last: &Value| last["place"].as_u64().unwrap());
                let more = session.outcomes(&format!("after={after}"));
                if more.is_empty() {
                    break found;
                }
                found.extend(more);
            }
        })
        .collect();
    assert_eq!(outcomes.len(), prompts, "each prompt ended once");
    assert!(outcomes.iter().all(|outcome| outcome["outcome"] == "answered"));
    let tokens: BTreeSet<_> =
        outcomes.iter().map(|outcome| outcome["reply_token"].as_str().unwrap()).collect();
    assert_eq!(tokens.len(), prompts);
    // Whoever follows hears of each, whatever was killed in between.
    let mut events = all.at(server.port()).follow(last.as_deref());
    while seen.iter().collect::<BTreeSet<_>>().len() < prompts {
        note(&events.next(), &mut told, &mut seen);
    }
    assert_eq!(seen.len(), prompts, "each is resolved by one event");
}

/// Notes a resolution; the same event twice is one.
fn note(message: &Value, told: &mut BTreeSet<String>, seen: &mut Vec<String>) {
    let is_new = told.insert(message["event_id"].as_str().unwrap_or_default().to_owned());
    if is_new
        && message["type"] == "aaep:agent.state.changed"
        && let Some(token) = message["extensions"]["demur"]["reply_token"].as_str()
    {
        seen.push(token.to_owned());
    }
}

/// Replies to each prompt, until the server is gone.
fn race(port: u16, reader: &str, tokens: &[String], answer: &str) {
    let wanted = super::request(&json!({"supports_clarification_reply": true}));
    let subscribe = Call::tcp(port, "POST", "/aaep/v1/subscriptions").token(reader).json(&wanted);
    let Ok(accepted) = subscribe.try_send() else { return };
    let id = accepted.json()["subscription_id"].as_str().unwrap_or_default().to_owned();
    let subscriber = Subscriber { id, token: reader.to_owned(), port };
    for token in tokens {
        let reply = subscriber.reply(token, &json!(answer));
        let call = Call::tcp(port, "POST", "/aaep/v1/replies").token(reader).json(&reply);
        if call.try_send().is_err() {
            return;
        }
    }
}

/// Says where the server of another process is.
const FOLDER: &str = "DEMUR_TEST_AAEP_FOLDER";
