//! Secret answers from the command line: on standard output, and nowhere else.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use rusqlite::Connection;

use crate::{
    asker::{Asker, asked, shown, until},
    inbox::terminal::Terminal,
    sandbox::Sandbox,
    server_life::{kill, server},
};

/// ONE-04: a secret is delivered, and no file, log, listing or export has it; the export verifies all the same.
#[test]
fn secret_is_delivered_and_left_nowhere() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Password?", "--secret"]);
    let ran = sandbox.feed(&["answer", &asker.id, "-"], format!("{SECRET}\n").as_bytes());
    assert!(!ran.expect_code(0).stdout.contains(SECRET), "{ran}");
    let id = asker.id.clone();
    let ended = asker.ended(&sandbox);
    assert_eq!(ended.expect_code(0).stdout, format!("{SECRET}\n"));
    for call in [&["show", &id][..], &["inbox", "--list", "--all"], &["trace", "show", "last"]] {
        for json in [&[][..], &["--json"]] {
            let ran = sandbox.run(&[call, json].concat());
            assert!(!ran.expect_code(0).stdout.contains(SECRET), "{ran}");
        }
    }
    let export = sandbox.run(&["export", "last", "--out", "run.jsonl"]);
    export.expect_code(0);
    let text = fs::read_to_string(sandbox.path("run.jsonl")).unwrap();
    assert!(text.contains("commitment") && !text.contains(SECRET));
    sandbox.run(&["verify", "run.jsonl"]).expect_code(0);
    sandbox.run(&["stop"]).expect_code(0);
    for (path, (_, bytes)) in sandbox.files() {
        let found = bytes.is_some_and(|bytes| contains(&bytes, SECRET.as_bytes()));
        assert!(!found, "{} has the secret", path.display());
    }
}

#[test]
fn programs_get_the_secret_with_what_opens_its_commitment() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Password?", "--secret", "--json"]);
    sandbox.feed(&["answer", &asker.id, "-"], SECRET.as_bytes()).expect_code(0);
    let ran = asker.ended(&sandbox);
    let reply: serde_json::Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    assert_eq!(reply["secret"]["value"], SECRET);
    assert_ne!(reply["question"]["outcome"]["value"], SECRET);
}

/// An asker that was killed before the answer came finds it with a second command.
#[test]
fn secret_waits_for_an_asker_that_is_away() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Password?", "--secret"]);
    sandbox.feed(&["answer", &id, "-"], SECRET.as_bytes()).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["state"], "answered");
    let path = format!("http://localhost/v1/questions/{id}/secret");
    let socket = sandbox.data().join("socket");
    let fetched = || {
        let mut curl = Command::new("curl");
        curl.args(["-s", "--unix-socket"]).arg(&socket).arg(&path).stdin(Stdio::null());
        String::from_utf8(curl.output().unwrap().stdout).unwrap()
    };
    assert!(fetched().contains(SECRET));
    assert!(
        fetched().contains(SECRET),
        "reading it does not take it away: the first reader may have been killed"
    );
}

/// What is typed into a command is in the list of processes: nothing is sent, and the cure works.
#[test]
fn secret_in_a_command_is_refused_and_not_repeated() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Password?", "--secret"]);
    for json in [&[][..], &["--json"]] {
        for more in [&[][..], &["--replace"]] {
            let ran = sandbox.run(&[&["answer", &id, SECRET][..], more, json].concat());
            let ran = ran.expect_code(2);
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!told.contains(SECRET), "{told}");
            assert!(told.contains(&format!("`demur answer {id} -`")), "{told}");
        }
    }
    assert_eq!(sandbox.json_error(&["answer", &id, SECRET], 2)["code"], "SECRET_IN_COMMAND");
    assert_eq!(shown(&sandbox, &id)["state"], "open");
    sandbox.feed(&["answer", &id, "-"], SECRET.as_bytes()).expect_code(0);
    assert_eq!(shown(&sandbox, &id)["state"], "answered");
}

/// No byte of the folder says what a secret is: not while it waits, not in a journal that a crash left, not once it is delivered,
/// not of one that another replaced.
#[test]
fn no_file_of_the_folder_ever_holds_a_secret() {
    let sandbox = Sandbox::new();
    let [first, second] = ["One?", "Two?"].map(|words| asked(&sandbox, &[words, "--secret"]));
    let answer = |id: &str, words: &str, more: &[&str]| {
        sandbox.feed(&[&["answer", id, "-"], more].concat(), words.as_bytes()).expect_code(0);
    };
    answer(&first, SECRET, &[]);
    answer(&second, OTHER, &[]);
    expect_clean(&sandbox, "both wait");
    answer(&first, OTHER, &["--replace"]);
    answer(&first, SECRET, &["--replace"]);
    expect_clean(&sandbox, "one was replaced");
    crash_while_a_secret_is_written(&sandbox);
    assert_eq!(sandbox.run(&["wait", &first]).expect_code(0).stdout, format!("{SECRET}\n"));
    expect_clean(&sandbox, "one is delivered");
    assert_eq!(sandbox.run(&["wait", &second]).expect_code(0).stdout, format!("{OTHER}\n"));
    expect_clean(&sandbox, "both are delivered");
    sandbox.run(&["wait", &second]).expect_code(2);
    sandbox.run(&["stop"]).expect_code(0);
    expect_clean(&sandbox, "the server has ended");
}

/// Kills the server when the journal is written and the database is not: somebody who reads it keeps the server from that.
fn crash_while_a_secret_is_written(sandbox: &Sandbox) {
    let id = asked(sandbox, &["Three?", "--secret"]);
    let database = sandbox.data().join("secrets.db");
    let reader = Connection::open(&database).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM secrets;").unwrap();
    let mut command = sandbox.command(&["answer", &id, "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(SECRET.as_bytes()).unwrap();
    let journal = sandbox.data().join("secrets.db-journal");
    until("the journal is written", || {
        fs::metadata(&journal).is_ok_and(|journal| journal.len() > 4096).then_some(())
    });
    // It stands still before its files are read: whoever reads them here gives up the lock that this process has on them.
    let server = server(sandbox);
    stop(server);
    expect_clean(sandbox, "a secret is being written");
    child.kill().unwrap();
    child.wait().unwrap();
    kill(server);
    expect_clean(sandbox, "the server was killed while it wrote");
    drop(reader);
    assert_eq!(shown(sandbox, &id)["state"], "open");
}

/// Has a process stand still, and returns once it does.
fn stop(process: u32) {
    assert!(Command::new("kill").args(["-STOP", &process.to_string()]).status().unwrap().success());
    let stat = format!("/proc/{process}/stat");
    until("the server stands still", || {
        fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T ")).then_some(())
    });
}

fn expect_clean(sandbox: &Sandbox, when: &str) {
    for (path, (_, bytes)) in sandbox.files() {
        let has = |secret: &&str| bytes.as_ref().is_some_and(|bytes| contains(bytes, secret.as_bytes()));
        let found = [SECRET, OTHER].into_iter().find(has);
        assert_eq!(found, None, "{when}: {}", path.display());
    }
}

/// At a terminal a secret is typed where nobody sees it, whatever the terminal can do.
#[test]
fn secret_is_asked_for_unseen_at_a_terminal() {
    for plain in ["", "DEMUR_PLAIN=1"] {
        let sandbox = Sandbox::new();
        let asker = Asker::ask(&sandbox, &["Password?", "--secret"]);
        let told = sandbox.run(&["show", &asker.id]).expect_code(0).stdout.clone();
        assert!(
            told.contains(&format!("`demur answer {} -`", asker.id)) && !told.contains("ANSWER"),
            "{told}"
        );
        let demur =
            format!("DEMUR_DATA='{}' {plain} '{}'", sandbox.data().display(), env!("CARGO_BIN_EXE_demur"));
        let answer = format!("env {demur} answer {} -; echo left with $?", asker.id);
        let script = format!("{answer}; {answer}; {answer}; exec cat");
        let terminal = Terminal::running(&sandbox, "answer", 120, &script);
        terminal.shows("secret>");
        terminal.enter("");
        terminal.shows("expected a secret, found none: the question stays open");
        terminal.shows("left with 2");
        until("it is asked for again", || (terminal.screen().matches("secret>").count() == 2).then_some(()));
        terminal.enter(SECRET);
        terminal.shows("Done: \"Password?\" is answered");
        // Nobody is asked for what cannot be taken any more.
        terminal.shows("Too late for ");
        terminal.shows("left with 3");
        assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, format!("{SECRET}\n"));
        assert!(!contains(&terminal.written(), SECRET.as_bytes()));
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

const SECRET: &str = "correct-horse-battery-staple";
const OTHER: &str = "wrong-donkey-capacitor-nail";
