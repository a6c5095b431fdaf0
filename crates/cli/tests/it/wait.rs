//! `demur wait`, and what `demur ask` leaves behind for it.

use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;

use crate::{
    asker::{Asker, asked, shown, until},
    sandbox::{Ran, Sandbox},
};

/// Starts a `demur wait`, and returns once the server knows that it waits.
fn waiting(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.command(&[&["wait"], arguments].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ids = arguments.iter().filter(|argument| !argument.starts_with('-')).count() as u64;
    until("it waits", || (sandbox.json(&["status"])["waiting"] == ids).then_some(()));
    child
}

fn ended(sandbox: &Sandbox, child: Child) -> Ran {
    sandbox.ran(child.wait_with_output().unwrap())
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

fn kill_server(sandbox: &Sandbox) {
    signal("-KILL", u32::try_from(sandbox.json(&["status"])["process"].as_u64().unwrap()).unwrap());
}

#[test]
fn id_of_the_question_is_on_standard_error_wherever_it_goes() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["ask", "Name?", "--no-wait"]), @r"
    exit 0
    --- stdout
    [ULID].0
    --- stderr
    Made the data folder [DIR]/data.
    Question [ULID].0 waits. Answer it with: demur answer [ULID].0 ANSWER
    ");
    assert_snapshot!(sandbox.run(&["ask", "Word?", "--secret", "--no-wait", "--json"]), @r#"
    exit 0
    --- stdout
    {"id":"[ULID].0"}
    --- stderr
    {"asked":{"answer":"demur answer [ULID].0 -","id":"[ULID].0"}}
    "#);
    let data = sandbox.data();
    let named = ["--data", data.to_str().unwrap(), "ask", "Name?", "--timeout", "1s"];
    let ran = sandbox.run(&named);
    let told = ran.expect_code(12).stderr.split_once("with: ").unwrap().1;
    assert!(told.starts_with(&format!("demur --data {} answer ", data.display())), "{ran}");
}

/// ONE-05: a caller that was killed goes on with the id it was told, whatever becomes of the server.
#[test]
fn killed_caller_goes_on_with_wait() {
    let sandbox = Sandbox::new();
    let mut asker = Asker::ask(&sandbox, &["Name?"]);
    asker.child.kill().unwrap();
    let id = asker.id.clone();
    let told = asker.ended(&sandbox).stderr;
    assert!(told.contains(&id), "{told}");
    // The server may not have noticed yet that the caller is gone.
    until("nobody waits", || (sandbox.json(&["status"])["waiting"] == 0).then_some(()));
    let child = waiting(&sandbox, &[&id]);
    kill_server(&sandbox);
    sandbox.run(&["answer", &id, "ada\nlovelace"]).expect_code(0);
    assert_snapshot!(ended(&sandbox, child), @r"
    exit 0
    --- stdout
    ada
    lovelace
    ");
}

#[test]
fn wait_ends_with_the_codes_of_ask() {
    let sandbox = Sandbox::new();
    let settled = |question: &[&str], act: &[&str]| {
        let id = asked(&sandbox, question);
        if let [act, rest @ ..] = act {
            sandbox.run(&[&[*act, id.as_str()], rest].concat()).expect_code(0);
        }
        let ran = sandbox.run(&["wait", &id]);
        assert_eq!(sandbox.run(&["wait", &id, "--json"]).stderr, "", "a program reads the document");
        // Nobody sits here, and the log of a script says all the same why there is no answer.
        let why = ran.stderr.lines().last().unwrap_or_default().to_owned();
        assert_eq!(why.is_empty(), ran.code == Some(0), "{ran}");
        assert!(why.is_empty() || !why.contains("no idea") || why.contains("declined by"), "{ran}");
        assert_eq!(why.contains("no idea"), ran.code == Some(10), "{ran}");
        (ran.code.unwrap(), ran.stdout)
    };
    assert_eq!(settled(&["Sure?", "--kind", "yes-no"], &["answer", "yes"]), (0, "yes\n".to_owned()));
    assert_eq!(settled(&["Name?"], &["decline", "--reason", "no idea"]), (10, String::new()));
    assert_eq!(settled(&["Name?"], &["cancel"]), (11, String::new()));
    assert_eq!(settled(&["Name?", "--timeout", "1s"], &[]), (12, String::new()));
    let late = ["Name?", "--timeout", "1s", "--default", "ada"];
    assert_eq!(settled(&late, &[]), (13, "ada\n".to_owned()));
    assert_eq!(sandbox.json_error(&["wait", "01ARZ3NDEKTSV4RRFFQ69G5FAV.0"], 2)["code"], "QUESTION_UNKNOWN");
}

#[test]
fn several_answers_come_in_the_order_of_the_ids_one_line_each() {
    let sandbox = Sandbox::new();
    let ids = ["a", "b", "c"].map(|words| asked(&sandbox, &[words]));
    let child = waiting(&sandbox, &[&ids[2], &ids[0], &ids[1]]);
    sandbox.run(&["answer", &ids[0], "one\ntwo"]).expect_code(0);
    sandbox.run(&["decline", &ids[1]]).expect_code(0);
    sandbox.run(&["answer", &ids[2], "three"]).expect_code(0);
    assert_snapshot!(ended(&sandbox, child), @r"
    exit 10
    --- stdout
    three
    one\ntwo

    --- stderr
    The question was declined by [USER]. declined
    ");
    let reply = sandbox.run(&["wait", &ids[0], &ids[1], "--json"]);
    let reply: serde_json::Value = serde_json::from_str(&reply.expect_code(10).stdout).unwrap();
    assert_eq!(reply["questions"][0]["question"]["outcome"]["value"], "one\ntwo");
    assert_eq!(reply["questions"][1]["question"]["id"], *ids[1]);
}

#[test]
fn any_ends_with_the_first_answer() {
    let sandbox = Sandbox::new();
    let ids = ["a", "b"].map(|words| asked(&sandbox, &[words]));
    let child = waiting(&sandbox, &["--any", &ids[0], &ids[1]]);
    sandbox.run(&["answer", &ids[1], "second"]).expect_code(0);
    let ran = ended(&sandbox, child);
    assert_eq!(ran.expect_code(0).stdout, "second\n");
    assert!(ran.stderr.contains(&ids[1]), "{ran}");
    assert_eq!(shown(&sandbox, &ids[0])["state"], "open");
}

/// A secret is taken by whoever waits for it, once.
#[test]
fn secret_is_taken_by_wait_and_then_gone() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Password?", "--secret"]);
    let child = waiting(&sandbox, &[&id]);
    kill_server(&sandbox);
    sandbox.feed(&["answer", &id, "-"], b"correct horse").expect_code(0);
    assert_eq!(ended(&sandbox, child).expect_code(0).stdout, "correct horse\n");
    assert_eq!(sandbox.json_error(&["wait", &id], 2)["code"], "SECRET_GONE");
}

/// A question stays open when its caller is stopped; the caller says so, and how to go on.
#[test]
fn stopped_waiting_says_that_the_question_stays_open() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let sandbox = Sandbox::new();
        let asker = Asker::ask(&sandbox, &["Name?"]);
        let id = asker.id.clone();
        signal(name, asker.child.id());
        let ran = asker.ended(&sandbox);
        assert_eq!(ran.expect_code(code).stdout, "", "{ran}");
        assert!(ran.stderr.contains(&format!("error: stopped waiting; question {id} stays open")), "{ran}");
        assert!(ran.stderr.contains(&format!("`demur wait {id}` goes on waiting")), "{ran}");
        assert!(ran.stderr.contains(&format!("`demur cancel {id}` withdraws it")), "{ran}");
        assert_eq!(shown(&sandbox, &id)["state"], "open");
        until("nobody waits", || (sandbox.json(&["status"])["waiting"] == 0).then_some(()));
        let child = waiting(&sandbox, &[&id, "--json"]);
        signal(name, child.id());
        let ran = ended(&sandbox, child);
        assert!(ran.expect_code(code).stderr.contains("\"code\":\"WAIT_STOPPED\""), "{ran}");
    }
}
