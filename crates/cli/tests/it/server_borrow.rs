//! Commands beside a server that has the data folder, while somebody waits for an answer.

use std::{fs, path::PathBuf, process::Stdio, thread};

use serde_json::Value;

use crate::{
    asker::{Asker, asked, shown, until},
    run::Draft,
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

/// Returns the folder in which the tool of the only run works, once it has begun.
fn begun(sandbox: &Sandbox) -> PathBuf {
    until("the tool works", || {
        let run = fs::read_dir(sandbox.path("data/runs")).ok()?.next()?.unwrap().path().join("work");
        run.join("begun").exists().then_some(run)
    })
}

/// Returns how a command ends: the code of its refusal, or nothing where it was not refused.
fn refusal(sandbox: &Sandbox, call: &str) -> Option<String> {
    let mut arguments: Vec<_> = call.split(' ').collect();
    arguments.push("--json");
    let ran = sandbox.run(&arguments);
    if ran.code == Some(0) {
        return None;
    }
    let refused: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|_| panic!("{call}: {ran}"));
    Some(refused["error"]["code"].as_str().unwrap().to_owned())
}

/// A run has the folder to itself for as long as its tool works. Whoever needs the server is refused after half a minute,
/// whoever needs the folder after five seconds. That is how it is, not how it should be:
/// once the server alone owns the folder, every line here says that nothing is refused.
#[test]
fn nobody_asks_or_answers_while_the_tool_of_a_run_works() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?"]);
    let wait = "echo > begun; until [ -e go ]; do sleep 0.05; done";
    let draft = Draft::new().call("long", &["sh", "-c", wait]).claim("It ended.", &["long"]);
    draft.demand("[limits]\ntime = \"5m\"\n").write(&sandbox);
    let mut run = sandbox.command(&["run", "--task", "task.toml"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let work = begun(&sandbox);
    let (show, answer) = (format!("show {id}"), format!("answer {id} ada"));
    let calls = [
        ("ask Meanwhile? --no-wait", Some("FOLDER_LENT")),
        ("inbox --list", Some("FOLDER_LENT")),
        (&show, Some("FOLDER_LENT")),
        (&answer, Some("FOLDER_LENT")),
        ("status", Some("FOLDER_LENT")),
        ("token list", Some("FOLDER_LENT")),
        ("keys new carol --role critic", Some("FOLDER_LENT")),
        ("checkpoint", Some("FOLDER_LENT")),
        ("store check", Some("FOLDER_LENT")),
        ("keys list", Some("FOLDER_LENT")),
        ("trace list", Some("FOLDER_LENT")),
        ("store rebuild", Some("FOLDER_IN_USE")),
        ("run status", None),
        ("store backup copy", None),
    ];
    // All at once: most of them wait long before they give up.
    thread::scope(|scope| {
        let begun = calls.map(|(call, expected)| (call, expected, scope.spawn(|| refusal(&sandbox, call))));
        for (call, expected, found) in begun {
            assert_eq!(found.join().unwrap().as_deref(), expected, "{call}");
        }
    });
    fs::write(work.join("go"), "").unwrap();
    assert!(run.wait().unwrap().success(), "the run ends once its tool does");
    sandbox.run(&["answer", &id, "ada"]).expect_code(0);
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
