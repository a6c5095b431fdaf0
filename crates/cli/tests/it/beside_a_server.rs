//! Commands beside a server that has the data folder, while somebody waits for an answer.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use crate::{
    asker::{Asker, asked, shown},
    sandbox::{Sandbox, count},
    server_life::{serve, server},
};

/// ONE-02: the server alone owns the folder; whoever changes or reads something asks it.
#[test]
fn every_command_works_beside_a_server() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Name?"]);
    for call in [
        "keys new carol --role critic",
        "keys rotate carol",
        "keys list",
        "keys show carol",
        "checkpoint",
        "store check",
        "store rebuild",
        "plan list",
        "trace list",
        "export registry",
        "store backup copy",
        "keys revoke carol --reason withdrawn",
    ] {
        assert_eq!(shown(&sandbox, &asker.id)["state"], "open");
        let begun = Instant::now();
        sandbox.run(&call.split(' ').collect::<Vec<_>>()).expect_code(0);
        assert!(begun.elapsed() < WAIT, "{call} took {:?}", begun.elapsed());
    }
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "ada\n");
}

#[test]
fn task_runs_beside_a_server() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Name?"]);
    let task = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tasks/passes/task.toml");
    sandbox.run(&["run", "--task", task]).expect_code(0);
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "ada\n");
}

/// One server does all of it, from the first command to the last: it never lets go of the folder.
#[test]
fn commands_are_done_by_the_one_server() {
    let sandbox = Sandbox::with_keys();
    let process = server(&sandbox);
    for call in
        ["keys rotate alice", "keys revoke bob --reason lost", "checkpoint", "store check", "keys list"]
    {
        sandbox.run(&call.split(' ').collect::<Vec<_>>()).expect_code(0);
        assert_eq!(server(&sandbox), process, "{call}");
    }
}

/// What mends the files needs them for itself: a server that a command has started ends, one that somebody runs does not.
#[test]
fn server_that_somebody_runs_is_not_ended_by_a_repair() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["store", "rebuild"]).expect_code(0);
    let mut serving = serve(&sandbox, &[]);
    let error = sandbox.json_error(&["store", "rebuild"], 3);
    assert_eq!(error["code"], "FOLDER_IN_USE");
    assert!(error["hint"].as_str().unwrap().contains("demur stop"), "{error}");
    sandbox.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
    sandbox.run(&["store", "rebuild"]).expect_code(0);
}

/// ONE-05: nothing that was acknowledged is lost, however many change something at once.
#[test]
fn proof_keys_are_made_while_others_ask() {
    let sandbox = Sandbox::new();
    let asker = Asker::ask(&sandbox, &["Name?"]);
    for round in 0..count(3, 60) {
        let name = format!("agent {round}");
        let child = sandbox.command(&["keys", "new", &name, "--role", "executor"]);
        let mut child = { child }.stdout(Stdio::null()).spawn().unwrap();
        let id = asked(&sandbox, &["Meanwhile?"]);
        sandbox.run(&["answer", &id, "yes"]).expect_code(0);
        assert!(child.wait().unwrap().success(), "the key was refused");
    }
    let names = sandbox.json(&["keys", "list"])["keys"].as_array().unwrap().len();
    assert!(names >= count(3, 60));
    sandbox.run(&["answer", &asker.id, "ada"]).expect_code(0);
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, "ada\n");
    sandbox.run(&["stop"]).expect_code(0);
    assert_eq!(sandbox.json(&["store", "check"])["problems"], serde_json::json!([]));
}

/// How long a command may take, also on a machine that has much else to do.
const WAIT: Duration = Duration::from_secs(10);
