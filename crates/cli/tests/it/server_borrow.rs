//! Commands beside a server that has the data folder, while somebody waits for an answer.

use std::process::Stdio;

use crate::{
    asker::{Asker, asked, shown},
    sandbox::{Sandbox, count},
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
        "trace list",
        "export registry",
        "store backup copy",
        "keys revoke carol --reason withdrawn",
    ] {
        assert_eq!(shown(&sandbox, &asker.id)["state"], "open");
        sandbox.run(&call.split(' ').collect::<Vec<_>>()).expect_code(0);
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

/// ONE-05: nothing that either of them acknowledged is lost, however often the folder changes hands.
#[test]
fn proof_folder_changes_hands_while_others_ask() {
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
