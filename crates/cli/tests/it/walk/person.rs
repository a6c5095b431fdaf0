//! The person who answers while a page is walked: questions from elsewhere, and prompts at the terminal.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{home::Home, page::Block};
use crate::inbox::terminal::Terminal;

/// Answers what the page waits for, each kind in its own way, until told to stop.
pub(crate) fn answer(home: &Home, blocks: &[&Block], done: &AtomicBool) {
    let answering = blocks.iter().filter(|block| block.text.contains("demur answer "));
    let own: Vec<&str> = answering.flat_map(|block| block.text.lines()).collect();
    while !done.load(Ordering::Acquire) {
        for question in open(home) {
            // What is asked in a block that answers, and what is asked about a plan, the page answers itself.
            let words = question["question"].as_str().unwrap();
            if !question["gap"].is_null() || own.iter().any(|line| line.contains(words)) {
                continue;
            }
            let words = match question["kinds"][0].as_str().unwrap_or_default() {
                "yes-no" => "yes",
                "choice" => "1",
                "number" => "7",
                "secret" => "correct horse",
                _ => "blue",
            };
            // The page may have been faster.
            let _ = say(home, question["id"].as_str().unwrap(), words);
        }
        thread::park_timeout(Duration::from_millis(50));
    }
}

/// Returns what waits. This starts no server where there is none: a page may be about to remove it.
fn open(home: &Home) -> Vec<Value> {
    if !home.socket().exists() {
        return Vec::new();
    }
    let mut curl = Command::new("curl");
    curl.args(["-s", "--max-time", "10", "--unix-socket"]).arg(home.socket());
    let reply = curl.arg("http://localhost/v1/questions?state=open&people=true").output().unwrap().stdout;
    let listed: Value = serde_json::from_slice(&reply).unwrap_or_default();
    listed["questions"].as_array().cloned().unwrap_or_default()
}

fn say(home: &Home, id: &str, words: &str) -> std::io::Result<()> {
    let mut command = home.command("demur");
    command.args(["answer", id, "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    child.stdin.take().unwrap().write_all(words.as_bytes())?;
    child.wait().map(drop)
}

/// Answers prompts until the terminal shows a line that begins so; returns everything that was to be seen.
pub(crate) fn sit(terminal: &Terminal, last: &str) -> String {
    let start = Instant::now();
    loop {
        let screen = terminal.screen();
        let under_way = screen.trim_end().lines().next_back().unwrap_or_default();
        if under_way.starts_with(last) {
            return terminal.everything();
        }
        for (prompt, words) in PROMPTS {
            if under_way.ends_with(prompt) {
                terminal.enter(words);
            }
        }
        assert!(start.elapsed() < LONGEST_PAGE, "waited in vain for {last:?}:\n{screen}");
        thread::park_timeout(Duration::from_millis(100));
    }
}

/// What somebody types who has seen enough, and who agrees.
const PROMPTS: [(&str, &str); 2] = [("inbox>", "q"), ("[y/N]", "y")];
const LONGEST_PAGE: Duration = Duration::from_mins(3);
