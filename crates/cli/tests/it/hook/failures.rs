//! The claim of the hook with everything broken that can break: no blocked call passes, and the way out stays open. Nothing
//! hangs either. That nothing takes more than two seconds is measured by `bench mcp`, on a machine that does nothing else.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _, pipe},
    os::unix::net::UnixListener,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{call, event, refusal, refused};
use crate::{
    asker::asked,
    sandbox::{Sandbox, count},
};

const TOOLS: [&str; 6] = ["Bash", "Edit", "Write", "WebFetch", "Task", "mcp__github__create_issue"];

/// Breaks something, and returns what keeps it broken.
type Breaks = fn(&Sandbox, u64) -> Option<thread::JoinHandle<()>>;

fn signal(name: &str, process: u64) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(sent.unwrap().success(), "{name}");
}

/// Kills the server, and waits until it is gone.
fn kill(process: u64) {
    signal("-KILL", process);
    while fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        thread::yield_now();
    }
}

fn socket(sandbox: &Sandbox, process: u64) -> UnixListener {
    kill(process);
    fs::remove_file(sandbox.data().join("socket")).unwrap();
    UnixListener::bind(sandbox.data().join("socket")).unwrap()
}

fn failures() -> [(&'static str, Breaks); 12] {
    [
        ("server killed", |_, process| {
            kill(process);
            None
        }),
        ("server hung", |_, process| {
            signal("-STOP", process);
            None
        }),
        ("socket gone", |sandbox, process| {
            kill(process);
            fs::remove_file(sandbox.data().join("socket")).unwrap();
            None
        }),
        ("socket is a file", |sandbox, process| {
            drop(socket(sandbox, process));
            fs::remove_file(sandbox.data().join("socket")).unwrap();
            fs::write(sandbox.data().join("socket"), "no").unwrap();
            None
        }),
        ("somebody takes calls and says nothing", |sandbox, process| {
            let listener = socket(sandbox, process);
            Some(thread::spawn(move || {
                let kept: Vec<_> = listener.incoming().take(2 * TOOLS.len()).collect();
                drop(kept);
            }))
        }),
        ("somebody else answers", |sandbox, process| {
            let listener = socket(sandbox, process);
            Some(thread::spawn(move || {
                for mut stream in listener.incoming().take(2 * TOOLS.len()).map_while(Result::ok) {
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
                }
            }))
        }),
        ("ledger corrupt", |sandbox, process| {
            kill(process);
            fs::write(sandbox.database(), "no database").unwrap();
            None
        }),
        ("ledger gone", |sandbox, process| {
            kill(process);
            fs::remove_file(sandbox.database()).unwrap();
            None
        }),
        ("marks gone", |sandbox, process| {
            kill(process);
            fs::remove_dir_all(sandbox.data().join("open")).unwrap();
            None
        }),
        ("marks unreadable", |sandbox, process| {
            kill(process);
            fs::remove_dir_all(sandbox.data().join("open")).unwrap();
            fs::write(sandbox.data().join("open"), "").unwrap();
            None
        }),
        ("list of askers corrupt", |sandbox, process| {
            kill(process);
            fs::write(sandbox.data().join("hooked.json"), "[\"claude-code\"").unwrap();
            None
        }),
        ("list of askers gone", |sandbox, process| {
            kill(process);
            fs::remove_file(sandbox.data().join("hooked.json")).unwrap();
            None
        }),
    ]
}

/// CLR-62
#[test]
fn no_blocked_call_passes_whatever_fails() {
    for (failure, breaks) in failures() {
        let sandbox = Sandbox::new();
        asked(&sandbox, &["Which?", "--as", "claude-code"]);
        assert!(refusal(&sandbox, "Bash").is_some(), "{failure}");
        let process = sandbox.json(&["status"])["process"].as_u64().unwrap();
        let breaking = breaks(&sandbox, process);
        thread::scope(|scope| {
            for tool in TOOLS {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let begun = Instant::now();
                    let reason = refusal(sandbox, tool);
                    assert!(reason.is_some(), "{failure}: {tool} passes");
                    assert!(begun.elapsed() < SLOWEST, "{failure}: {tool} takes {:?}", begun.elapsed());
                    // The way out.
                    assert_eq!(refusal(sandbox, "mcp__demur__check_question"), None, "{failure}");
                });
            }
        });
        if sandbox.processes().contains(&u32::try_from(process).unwrap()) {
            kill(process);
        }
        // Whoever waits for calls gets the rest of them.
        let _ = fs::remove_file(sandbox.data().join("socket"));
        drop(breaking);
    }
}

#[test]
fn input_that_does_not_end_is_refused() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["hook", "claude-code"]);
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"hook_event_name\": \"PreToolUse\", ").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert_eq!(
        String::from_utf8_lossy(&ended.stderr),
        "demur: refused: expected the hook's input within 2 s, found no end of it\n"
    );
    assert!(begun.elapsed() < SLOWEST, "{:?}", begun.elapsed());
    drop(input);
}

/// A hook whose reply gets lost would let the call pass.
#[test]
fn refusal_that_cannot_be_written_goes_to_standard_error_with_code_2() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Which?", "--as", "claude-code"]);
    let event = event("abc", "Bash", "ls").to_string();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let outputs = [
        ("full", Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap())),
        ("for nobody", Stdio::null()),
        ("for reading only", Stdio::from(File::open("/dev/zero").unwrap())),
        ("left by its reader", Stdio::from(writer)),
        ("closed", Stdio::piped()),
    ];
    for (which, output) in outputs {
        let hook = sandbox.command(&["hook", "claude-code"]);
        let mut command = Command::new("bash");
        let closing = if which == "closed" { ">&-" } else { "" };
        command.args(["-c", &format!("exec \"$0\" hook claude-code {closing}")]).arg(hook.get_program());
        command.env("DEMUR_DATA", sandbox.data()).env("HOME", sandbox.path("home"));
        let mut child = command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
        let ran = sandbox.ran(child.wait_with_output().unwrap());
        assert!(ran.expect_code(2).stderr.contains("Which?"), "{which}: {ran}");
    }
}

#[test]
fn mark_is_there_before_the_question_is_acknowledged_and_goes_once_it_is_settled() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    let marks = || -> Vec<String> {
        let there = fs::read_dir(sandbox.data().join("open")).unwrap();
        there.map(|mark| mark.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(refusal(&sandbox, "Bash"), None);
    assert_eq!(marks(), Vec::<String>::new(), "the first call named its asker");
    let id = asked(&sandbox, &["Which?", "--as", "claude-code"]);
    assert_eq!(marks(), std::slice::from_ref(&id));
    assert_eq!(fs::read(sandbox.data().join("open").join(&id)).unwrap(), b"");
    asked(&sandbox, &["Somebody else?"]);
    // A server that begins anew puts right whatever a crash left.
    kill(sandbox.json(&["status"])["process"].as_u64().unwrap());
    fs::remove_file(sandbox.data().join("open").join(&id)).unwrap();
    fs::write(sandbox.data().join("open/junk"), "").unwrap();
    sandbox.start_server();
    assert_eq!(marks(), std::slice::from_ref(&id));
    sandbox.run(&["answer", &id, "yes"]).expect_code(0);
    assert_eq!(marks(), Vec::<String>::new());
    // With nothing open no server is needed.
    sandbox.run(&["stop"]).expect_code(0);
    assert_eq!(refusal(&sandbox, "Bash"), None);
    sandbox.run(&["status"]).expect_code(3);
}

#[test]
fn question_asked_before_the_hook_counts_and_a_killed_server_does_not_release_it() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Which?", "--as", "claude-code"]);
    kill(sandbox.json(&["status"])["process"].as_u64().unwrap());
    let reason = refusal(&sandbox, "Bash").expect("nobody knows");
    assert!(reason.contains("check_question") && reason.contains("demur doctor"), "{reason}");
    sandbox.start_server();
    assert!(refusal(&sandbox, "Bash").unwrap().contains("Which?"));
}

/// Wherever a crash falls between the answer and its acknowledgement: what passes is settled.
#[test]
fn proof_a_server_killed_while_it_answers_releases_nothing_that_is_open() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["First?"]);
    assert_eq!(refusal(&sandbox, "Bash"), None);
    for round in 0..count(6, 100) {
        let id = asked(&sandbox, &["Which?", "--as", "claude-code"]);
        assert!(refusal(&sandbox, "Bash").is_some());
        let process = sandbox.json(&["status"])["process"].as_u64().unwrap();
        let mut answer = Command::new("curl");
        answer.args(["-s", "--max-time", "20", "--unix-socket"]).arg(sandbox.data().join("socket"));
        answer.args([
            "--json",
            "{\"answer\": \"yes\"}",
            &format!("http://localhost/v1/questions/{id}/answer"),
        ]);
        let mut answer = answer.stdout(Stdio::null()).spawn().unwrap();
        // Another moment each time.
        for _ in 0..round * round * 100 {
            thread::yield_now();
        }
        kill(process);
        answer.wait().unwrap();
        let passes = refusal(&sandbox, "Bash").is_none();
        let state = sandbox.json(&["show", &id])["state"].as_str().unwrap().to_owned();
        assert!(!passes || state == "answered", "it passes while the question is {state}");
        if state == "open" {
            assert!(refusal(&sandbox, "Bash").is_some());
            sandbox.run(&["answer", &id, "yes"]).expect_code(0);
        }
        assert_eq!(refusal(&sandbox, "Bash"), None, "the next server puts right what was left");
    }
}

#[test]
fn tools_of_the_plugin_and_of_another_name_are_the_way_out() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Which?", "--as", "claude-code"]);
    assert_eq!(refusal(&sandbox, "mcp__plugin_demur_demur__check_question"), None);
    assert!(refusal(&sandbox, "mcp__asking__check_question").is_some());
    assert_eq!(refused(&call(&sandbox, "mcp__asking__check_question", &["--server", "asking"])), None);
    let session = event("../../x", "Bash", "ls").to_string();
    assert!(
        refused(&sandbox.feed(&["hook", "claude-code"], session.as_bytes())).is_some(),
        "no session at all"
    );
}

/// What would hang takes longer, also on a machine that is busy with other tests.
const SLOWEST: Duration = Duration::from_secs(10);
