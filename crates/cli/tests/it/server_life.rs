//! The server of a data folder, started by whoever needs one: it outlives its starter, there is one at a time, and nobody
//! who waits is lost when it goes.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixListener, process::CommandExt as _},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use insta::assert_snapshot;

use crate::{
    asker::{Asker, asked, shown, start, until},
    sandbox::{Ran, Sandbox, count},
};

/// Returns the process of the server that runs.
pub(crate) fn server(sandbox: &Sandbox) -> u32 {
    u32::try_from(sandbox.json(&["status"])["process"].as_u64().unwrap()).unwrap()
}

pub(crate) fn kill(process: u32) {
    let killed = Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap();
    assert!(killed.success());
}

pub(crate) fn is_alive(process: u32) -> bool {
    // One that nobody has asked after is still listed, but has no memory any more.
    fs::read_to_string(format!("/proc/{process}/status")).is_ok_and(|status| status.contains("VmRSS"))
}

/// Starts a server in the foreground, and returns once it answers.
pub(crate) fn serve(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.command(&[&["serve"], arguments].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the server answers", || sandbox.run(&["status"]).code.filter(|code| *code == 0));
    child
}

/// Returns the ids of all open questions.
pub(crate) fn open(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.json(&["inbox", "--list"]);
    let questions = listed["questions"].as_array().unwrap();
    questions.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// Answers everything that is open with the words of the question.
fn answer_all(sandbox: &Sandbox, ids: &[String]) {
    for id in ids {
        let words = shown(sandbox, id)["question"].as_str().unwrap().to_owned();
        sandbox.run(&["answer", id, &words]).expect_code(0);
    }
}

/// Returns how askers ended that nobody should have to wait for long.
fn all_ended(sandbox: &Sandbox, askers: Vec<Child>) -> Vec<Ran> {
    askers.into_iter().map(|asker| sandbox.ran(asker.wait_with_output().unwrap())).collect()
}

#[test]
fn proof_askers_that_start_together_share_one_server() {
    for _ in 0..count(3, 100) {
        let sandbox = Sandbox::new();
        let askers: Vec<Child> = ["One?", "Two?"].map(|words| start(&sandbox, &[words])).into();
        let ids = until("both are asked", || Some(open(&sandbox)).filter(|ids| ids.len() == 2));
        // Whoever was slower ends by itself.
        until("one server is left", || (sandbox.processes().len() == askers.len() + 1).then_some(()));
        answer_all(&sandbox, &ids);
        for (ran, words) in all_ended(&sandbox, askers).iter().zip(["One?\n", "Two?\n"]) {
            assert_eq!(ran.expect_code(0).stdout, words);
        }
    }
}

#[test]
fn proof_server_outlives_an_asker_that_is_killed() {
    for _ in 0..count(2, 50) {
        let sandbox = Sandbox::new();
        let mut first = Asker::ask(&sandbox, &["First?"]);
        let process = server(&sandbox);
        first.child.kill().unwrap();
        first.child.wait().unwrap();
        assert_eq!(server(&sandbox), process);
        let second = Asker::ask(&sandbox, &["Second?"]);
        sandbox.run(&["answer", &second.id, "yes"]).expect_code(0);
        assert_eq!(second.ended(&sandbox).expect_code(0).stdout, "yes\n");
        // Nobody waits for the first any more, but it is still there to be answered.
        sandbox.run(&["answer", &first.id, "late"]).expect_code(0);
    }
}

/// Returns a call that a closing terminal ends. Under `nohup` the tests ignore that signal, and so would what they start.
fn hearing_hangups(call: &Command) -> Command {
    let mut command = Command::new("/usr/bin/env");
    command.arg("--default-signal=HUP").arg(call.get_program()).args(call.get_args());
    command.current_dir(call.get_current_dir().unwrap()).env_clear().stdin(Stdio::null());
    command.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn server_outlives_the_session_of_its_starter() {
    let sandbox = Sandbox::new();
    let mut command = hearing_hangups(&sandbox.command(&["ask", "Name?"]));
    let mut asker = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
    until("it is asked", || {
        (sandbox.data().join("socket").exists() && open(&sandbox).len() == 1).then_some(())
    });
    let process = server(&sandbox);
    // A terminal that closes tells the whole group.
    let hung_up = Command::new("kill").args(["-HUP", "--", &format!("-{}", asker.id())]).status().unwrap();
    assert!(hung_up.success());
    assert!(!asker.wait().unwrap().success());
    assert_eq!(server(&sandbox), process);
    assert_eq!(open(&sandbox).len(), 1);
}

/// ONE-05: what was asked is still open after a kill, and everybody gets an answer from the next server.
#[test]
fn proof_askers_survive_the_death_of_their_server() {
    for _ in 0..count(1, 25) {
        let sandbox = Sandbox::new();
        let words: Vec<String> = (1..=8).map(|number| format!("Question {number}?")).collect();
        let askers: Vec<Child> = words.iter().map(|words| start(&sandbox, &[words])).collect();
        let before = until("all are asked", || Some(open(&sandbox)).filter(|ids| ids.len() == 8));
        let first = server(&sandbox);
        kill(first);
        until("it is dead", || (!is_alive(first)).then_some(()));
        assert_eq!(open(&sandbox), before);
        assert_ne!(server(&sandbox), first);
        answer_all(&sandbox, &before);
        for (ran, words) in all_ended(&sandbox, askers).iter().zip(&words) {
            assert_eq!(ran.expect_code(0).stdout, format!("{words}\n"));
        }
    }
}

#[test]
fn askers_replace_a_server_of_the_foreground_that_is_killed() {
    let sandbox = Sandbox::new();
    let mut foreground = serve(&sandbox, &[]);
    let asker = Asker::ask(&sandbox, &["Name?"]);
    foreground.kill().unwrap();
    foreground.wait().unwrap();
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "ada\n");
}

#[test]
fn askers_go_on_waiting_when_the_server_is_stopped() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    assert_snapshot!(sandbox.run(&["stop"]), @r"
    exit 0
    --- stdout
    Stopped. The next command that needs a server starts one.
    ");
    until("the asker has started another", || {
        let status = sandbox.run(&["status", "--json"]);
        (status.code == Some(0) && !status.stdout.contains(&format!("\"process\":{process},"))).then_some(())
    });
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "ada\n");
}

#[test]
fn second_server_is_refused() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let error = sandbox.json_error(&["serve"], 3);
    assert_eq!(error["code"], "FOLDER_IN_USE");
    assert_eq!(open(&sandbox).len(), 1);
}

#[test]
fn idle_server_ends_once_nothing_is_open() {
    let sandbox = Sandbox::new();
    let mut foreground = serve(&sandbox, &["--idle", "1s"]);
    let id = asked(&sandbox, &["Name?"]);
    sandbox.run(&["answer", &id, "ada"]).expect_code(0);
    assert!(foreground.wait().unwrap().success());
    assert!(!sandbox.data().join("socket").exists());
    assert_snapshot!(sandbox.run(&["status"]), @r"
    exit 3
    --- stderr
    error: no server runs for [DIR]/data
    hint: `demur serve` starts one; `demur ask` and `inbox` do so themselves
    ");
}

#[test]
fn socket_is_for_its_owner_only() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let mode = fs::metadata(sandbox.data().join("socket")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn socket_that_a_dead_server_left_is_replaced() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    drop(UnixListener::bind(sandbox.data().join("socket")).unwrap());
    let id = asked(&sandbox, &["Name?"]);
    sandbox.run(&["answer", &id, "ada"]).expect_code(0);
}

#[test]
fn folder_with_a_very_long_path_has_a_server_too() {
    let sandbox = Sandbox::new();
    let long = sandbox.data().join("x".repeat(90)).join("y".repeat(90));
    let folder = long.to_str().unwrap();
    let ran = sandbox.run(&["ask", "Name?", "--no-wait", "--data", folder]);
    let id = ran.expect_code(0).stdout.trim_end().to_owned();
    sandbox.run(&["answer", &id, "ada", "--data", folder]).expect_code(0);
    sandbox.run(&["stop", "--data", folder]).expect_code(0);
}

#[test]
fn folder_that_cannot_be_written_says_so() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.data(), "a file").unwrap();
    assert_snapshot!(sandbox.run(&["ask", "Name?"]), @r"
    exit 2
    --- stderr
    error: cannot use [DIR]/data: Not a directory (os error 20)
    hint: name another data folder with --data; `demur doctor` looks at it
    ");
}

/// A server of another version would misunderstand what it is told, and the other way round.
#[test]
fn server_of_another_version_is_told_apart() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let listener = UnixListener::bind(sandbox.data().join("socket")).unwrap();
    let server = thread::spawn(move || {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                let mut part = [0; 1024];
                let length = stream.read(&mut part).unwrap();
                asked.extend_from_slice(&part[..length]);
            }
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ndemur-protocol: 999\r\ncontent-length: 2\r\n\r\n{}")
                .unwrap();
        }
    });
    assert_snapshot!(sandbox.run(&["ask", "Name?"]), @r"
    exit 3
    --- stderr
    error: expected a server that speaks version 3 of the socket, found another
    hint: `demur stop` ends it; the next command starts the right one
    ");
    assert_eq!(sandbox.json_error(&["watch"], 3)["code"], "VERSION_MISMATCH");
    let reply: serde_json::Value = serde_json::from_str(&sandbox.run(&["doctor", "--json"]).stdout).unwrap();
    let found = reply["checks"].as_array().unwrap().iter().find(|check| check["name"] == "server").unwrap();
    assert_eq!(found["state"], "problem");
    server.join().unwrap();
    fs::remove_file(sandbox.data().join("socket")).unwrap();
}

#[test]
fn tcp_needs_a_token() {
    let sandbox = Sandbox::new();
    let token = sandbox.run(&["token", "new", "builder", "--scope", "ask"]);
    let token = token.expect_code(0).stdout.trim_end().to_owned();
    let address = sandbox.json(&["status"])["address"].as_str().unwrap().to_owned();
    let status = |header: &str| {
        let mut curl = Command::new("curl");
        curl.args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", header]);
        curl.args(["-H", "content-type: application/json", "-d", r#"{"question":"Name?"}"#]);
        let output = curl.arg(format!("{address}/v1/questions")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(status("accept: */*"), "401");
    assert_eq!(status("authorization: Bearer dmr_nothing"), "401");
    assert_eq!(status(&format!("authorization: Bearer {token}")), "201");
    let listed = sandbox.json(&["token", "list"]);
    let id = listed["tokens"][0]["id"].as_str().unwrap();
    sandbox.run(&["token", "revoke", id]).expect_code(0);
    assert_eq!(status(&format!("authorization: Bearer {token}")), "401");
}

/// ONE-05: whoever kills at any moment of the start finds a folder that the next command can use.
#[test]
fn proof_server_killed_while_it_starts_leaves_a_folder_that_works() {
    for round in 0..count(3, 60) {
        let sandbox = Sandbox::new();
        let mut asker = start(&sandbox, &["Name?"]);
        until("something is there", || Path::new(&sandbox.data()).exists().then_some(()));
        for _ in 0..round * 2000 {
            std::hint::spin_loop();
        }
        asker.kill().unwrap();
        asker.wait().unwrap();
        for process in sandbox.processes() {
            kill(process);
        }
        let id = asked(&sandbox, &["Again?"]);
        sandbox.run(&["answer", &id, "yes"]).expect_code(0);
        sandbox.run(&["stop"]).expect_code(0);
        assert_eq!(sandbox.json(&["store", "check"])["problems"], serde_json::json!([]));
    }
}
