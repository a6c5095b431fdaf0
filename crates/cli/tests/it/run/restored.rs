//! Runs and a store that came back from a backup: no run has two histories.

use std::{fs, path::PathBuf, process::Command};

use insta::assert_snapshot;

use super::Draft;
use crate::sandbox::Sandbox;

/// Returns a sandbox with a backup in `copy`, and a run that was begun and ended after it.
fn with_later_run() -> (Sandbox, String) {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["store", "backup", "copy"]).expect_code(0);
    let draft = Draft::new().call("one", &["sh", "-c", "echo mark >> ../marks; echo one"]);
    let reply = draft.claim("It ran.", &["one"]).run(&sandbox, 0);
    (sandbox, reply["trace"].as_str().unwrap().to_owned())
}

/// Restores the backup; returns where the old files are.
fn restore(sandbox: &Sandbox) -> PathBuf {
    sandbox.json(&["store", "restore", "copy", "--replace"])["aside"].as_str().unwrap().into()
}

fn rename(from: PathBuf, to: PathBuf) {
    assert!(Command::new("mv").arg(from).arg(to).status().unwrap().success());
}

#[test]
fn runs_go_aside_with_the_store_that_knows_them() {
    let (sandbox, trace) = with_later_run();
    let aside = restore(&sandbox);
    assert!(aside.join("runs").join(&trace).is_dir());
    for command in ["resume", "status"] {
        assert_eq!(sandbox.json_error(&["run", command], 2)["code"], "NO_RUN", "{command}");
    }
    assert_eq!(sandbox.json_error(&["run", "abort", "--reason", "over"], 2)["code"], "NO_RUN");
}

/// LED-22
#[test]
fn run_of_the_abandoned_history_is_not_run_again_under_its_trace() {
    let (sandbox, trace) = with_later_run();
    let work = sandbox.data().join("runs").join(&trace).join("work");
    let before = fs::read_dir(&work).unwrap().count();
    // Twice from one backup: both stores have the same number of epochs.
    for round in 0..2 {
        let aside = restore(&sandbox);
        rename(aside.join("runs"), sandbox.data().join("runs"));
        for arguments in [&["run", "resume"][..], &["run", "status"], &["run", "abort", "--reason", "over"]] {
            for named in [&[][..], &[trace.as_str()]] {
                let error = sandbox.json_error(&[arguments, named].concat(), 3);
                assert_eq!(error["code"], "RUN_OF_ANOTHER_STORE", "round {round}: {arguments:?}: {error}");
            }
        }
        assert_eq!(sandbox.json(&["trace", "list"])["traces"], serde_json::json!([]));
    }
    assert_eq!(fs::read_dir(&work).unwrap().count(), before);
    assert_snapshot!(sandbox.run(&["run", "resume"]), @r"
    exit 3
    --- stderr
    error: expected a run that began in this store as it is now, found [ULID], which began before the store came back from a backup
    hint: start it anew with `demur run --task FILE`: it gets a trace of its own
    ");
}

/// Killed before its first event, a run is unknown to every store.
#[test]
fn run_that_has_not_begun_begins_unless_the_store_was_restored_meanwhile() {
    let (sandbox, trace) = with_later_run();
    let runs = sandbox.data().join("runs");
    let [first, second] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"];
    for copy in [first, second] {
        let (from, to) = (runs.join(&trace), runs.join(copy));
        assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
    }
    assert_eq!(sandbox.json(&["run", "resume", first])["phase"], "completed");
    let aside = restore(&sandbox);
    rename(aside.join("runs"), sandbox.data().join("runs"));
    assert_eq!(sandbox.json_error(&["run", "resume", second], 3)["code"], "RUN_OF_ANOTHER_STORE");
}

#[test]
fn run_folder_from_another_store_is_refused() {
    let (sandbox, trace) = with_later_run();
    sandbox.run(&["keys", "new", "agent", "--role", "agent", "--data", "other"]).expect_code(0);
    rename(sandbox.data().join("runs"), sandbox.path("other/runs"));
    let told = sandbox.run(&["run", "resume", &trace, "--data", "other"]);
    assert_snapshot!(told, @r"
    exit 3
    --- stderr
    error: expected a run that began in this store as it is now, found [ULID], which began in another store
    hint: start it anew with `demur --data other run --task FILE`: it gets a trace of its own
    ");
}
