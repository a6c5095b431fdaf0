//! The snippets of `docs/asking.md`, run as they stand there, one after the other, while somebody answers.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{asker::until, sandbox::Sandbox};

/// Returns the fenced blocks of the page: their language, and what is in them.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    page.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect()
}

/// Returns one script of all that is run, with a mark before what each says, and what it should say.
fn script(sandbox: &Sandbox, blocks: &[(&str, &str)], python: &str) -> (String, Vec<String>) {
    let (mut script, mut expected) = (String::from("set -euo pipefail\n"), Vec::new());
    for (at, (language, text)) in blocks.iter().enumerate() {
        let run = match *language {
            "sh" => (*text).to_owned(),
            "python" => {
                let file = sandbox.path(&format!("snippet-{at}.py"));
                fs::write(&file, text).unwrap();
                format!("'{python}' '{}'", file.display())
            }
            _ => continue,
        };
        writeln!(script, "echo '{MARK}'\n{run}").unwrap();
        let said = blocks.get(at + 1).filter(|(language, _)| *language == "text");
        expected.push(said.map_or_else(String::new, |(_, said)| format!("{said}\n")));
    }
    (script, expected)
}

/// Answers everything, each kind in its own way, until told to stop.
fn answer(sandbox: &Sandbox, done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        let listed: Value =
            serde_json::from_str(&sandbox.run(&["inbox", "--list", "--json"]).stdout).unwrap_or_default();
        for question in listed["questions"].as_array().into_iter().flatten() {
            let words = match question["kinds"][0].as_str().unwrap() {
                "yes-no" => "yes",
                "choice" => "1",
                "number" => "7",
                "secret" => "correct horse",
                _ => "blue",
            };
            // The script may have been faster.
            sandbox.feed(&["answer", question["id"].as_str().unwrap(), "-"], words.as_bytes());
        }
        thread::park_timeout(Duration::from_millis(50));
    }
}

#[test]
fn snippets_of_the_page_do_what_it_says() {
    let sandbox = Sandbox::new();
    let page = page();
    let python = std::env::var("DEMUR_PYTHON").expect("DEMUR_PYTHON names a Python with `requests`");
    let (script, expected) = script(&sandbox, &blocks(&page), &python);
    fs::create_dir_all(sandbox.path("home")).unwrap();
    let done = AtomicBool::new(false);
    let ran = thread::scope(|scope| {
        scope.spawn(|| answer(&sandbox, &done));
        let ran = run(&sandbox, &script);
        done.store(true, Ordering::Release);
        ran
    });
    let said: Vec<&str> = ran.expect_code(0).stdout.split(&format!("{MARK}\n")).skip(1).collect();
    assert_eq!(said, expected, "{ran}");
    assert!(expected.len() >= 10, "the page has lost its snippets");
}

fn run(sandbox: &Sandbox, script: &str) -> crate::sandbox::Ran {
    let command = sandbox.command(&[]);
    let folder = Path::new(command.get_program()).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", script]).current_dir(sandbox.path("")).env_clear().env("PATH", path);
    bash.env("DEMUR_DATA", sandbox.data()).env("HOME", sandbox.path("home")).stdin(Stdio::null());
    sandbox.ran(bash.output().unwrap())
}

/// The command of the unit starts a server, at another place.
#[test]
fn command_of_the_unit_starts_a_server() {
    let sandbox = Sandbox::new();
    let page = page();
    let line = page.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/demur ")).unwrap();
    let data = sandbox.data();
    let line = line.replace("/var/lib/demur", data.to_str().unwrap()).replace(":7373", ":0");
    let arguments: Vec<&str> = line.split(' ').collect();
    let mut command = sandbox.command(&arguments);
    let mut server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it answers", || sandbox.run(&["status"]).code.filter(|code| *code == 0));
    sandbox.run(&["stop"]).expect_code(0);
    assert!(server.wait().unwrap().success());
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/asking.md")).unwrap()
}

const MARK: &str = "=== next snippet ===";
