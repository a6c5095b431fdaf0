//! Beside a run whose tool works: everything else works too, either side of the run may be killed, and nobody else drives it.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Draft, kinds, verdict};
use crate::{
    asker::{asked, until},
    sandbox::Sandbox,
    server_life::{kill, server},
};

/// A run whose tool works until it is told to end.
struct Working {
    run: Child,
    work: PathBuf,
}

impl Working {
    fn start(sandbox: &Sandbox) -> Self {
        let wait = "echo mark >> marks; until [ -e go ]; do sleep 0.05; done; echo done";
        let draft = Draft::new().call("long", &["sh", "-c", wait]).claim("It ended.", &["long"]);
        draft.demand("retry_limit = 1\n[limits]\ntime = \"5m\"\n").write(sandbox);
        let mut run = sandbox.command(&["run", "--task", "task.toml", "--json"]);
        let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let work = until("the tool works", || {
            let run = fs::read_dir(sandbox.path("data/runs")).ok()?.next()?.unwrap().path().join("work");
            run.join("marks").exists().then_some(run)
        });
        Self { run, work }
    }

    fn end_tool(&self) {
        fs::write(self.work.join("go"), "").unwrap();
    }

    /// Returns the answer of the run, which ends well.
    fn ended(self, sandbox: &Sandbox) -> Value {
        let ran = sandbox.ran(self.run.wait_with_output().unwrap());
        serde_json::from_str(&ran.expect_code(0).stdout).unwrap()
    }
}

fn count(kinds: &[String], wanted: &str) -> usize {
    kinds.iter().filter(|kind| *kind == wanted).count()
}

/// Who asks, answers and looks does not notice that a tool works, however long it does.
#[test]
fn everything_works_while_the_tool_of_a_run_works() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Name?"]);
    let working = Working::start(&sandbox);
    let (show, answer) = (format!("show {id}"), format!("answer {id} ada"));
    for call in [
        "ask Meanwhile? --no-wait",
        "inbox --list",
        &show,
        &answer,
        "status",
        "token list",
        "keys new carol --role critic",
        "keys list",
        "checkpoint",
        "store check",
        "plan list",
        "trace list",
        "run status",
        "export last --out last.jsonl",
        "store check",
        "store backup copy",
    ] {
        let begun = Instant::now();
        sandbox.run(&call.split(' ').collect::<Vec<_>>()).expect_code(0);
        assert!(begun.elapsed() < WAIT, "{call} took {:?}", begun.elapsed());
    }
    working.end_tool();
    let reply = working.ended(&sandbox);
    assert_eq!((&reply["phase"], &reply["tools"]["completed"]), (&"completed".into(), &1.into()));
}

/// LED-22: nobody knows how the tool of a client that was killed ended. The server did not crash, so it has not come back.
#[test]
fn tool_of_a_client_that_was_killed_is_lost_and_tried_again() {
    let sandbox = Sandbox::new();
    let mut working = Working::start(&sandbox);
    let process = server(&sandbox);
    working.run.kill().unwrap();
    working.run.wait().unwrap();
    working.end_tool();
    let ran = sandbox.run(&["run", "resume", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    assert_eq!((&reply["tools"]["lost"], &reply["tools"]["completed"]), (&1.into(), &1.into()));
    assert_eq!(server(&sandbox), process);
    let kinds = kinds(&sandbox);
    assert_eq!((count(&kinds, "tool_intent_signed"), count(&kinds, "recovery_recorded")), (2, 0));
    assert_eq!(fs::read_to_string(working.work.join("marks")).unwrap().lines().count(), 2);
    assert_eq!(verdict(&sandbox), "pass");
}

/// LED-22: the client goes on with the next server, and what the tool did is recorded as it was.
#[test]
fn tool_beside_a_server_that_was_killed_ends_as_it_did() {
    let sandbox = Sandbox::new();
    let working = Working::start(&sandbox);
    kill(server(&sandbox));
    working.end_tool();
    let work = working.work.clone();
    let reply = working.ended(&sandbox);
    assert_eq!((&reply["phase"], &reply["tools"]["completed"]), (&"completed".into(), &1.into()));
    assert_eq!(fs::read_to_string(work.join("marks")).unwrap().lines().count(), 1);
    let kinds = kinds(&sandbox);
    assert_eq!((count(&kinds, "recovery_recorded"), count(&kinds, "tool_execution_failed")), (1, 0));
    assert_eq!(verdict(&sandbox), "pass");
}

/// One process at a time: the other is told so at once, and goes on when the first has ended.
#[test]
fn run_that_somebody_drives_is_not_resumed() {
    let sandbox = Sandbox::new();
    let working = Working::start(&sandbox);
    let error = sandbox.json_error(&["run", "resume"], 3);
    assert_eq!(error["code"], "RUN_CLAIMED", "{error}");
    working.end_tool();
    working.ended(&sandbox);
    assert_eq!(sandbox.json_error(&["run", "resume"], 2)["code"], "NO_RUN");
}

/// Whoever drives a run hears that an operator has ended it: the tool is ended, and nothing more is recorded.
#[test]
fn process_that_drives_a_run_stops_when_the_run_is_aborted() {
    let sandbox = Sandbox::new();
    let working = Working::start(&sandbox);
    sandbox.run(&["run", "abort", "--reason", "it is enough"]).expect_code(0);
    // Nobody lets the tool end.
    let ran = sandbox.ran(working.run.wait_with_output().unwrap());
    let reply: Value = serde_json::from_str(&ran.expect_code(3).stdout).unwrap();
    assert_eq!(reply["phase"], "aborted", "{reply}");
    let kinds = kinds(&sandbox);
    assert_eq!((kinds.last().unwrap().as_str(), count(&kinds, "session_aborted")), ("session_aborted", 1));
    // Nobody knows how the tool ended.
    assert_eq!(verdict(&sandbox), "pass_with_warnings");
}

/// Several runs go on beside each other.
#[test]
fn two_runs_go_on_at_once() {
    let sandbox = Sandbox::new();
    let working = Working::start(&sandbox);
    let draft = Draft::new().call("echo", &["echo", "1"]).claim("Done.", &["echo"]);
    assert_eq!(draft.run(&sandbox, 0)["phase"], "completed");
    working.end_tool();
    assert_eq!(working.ended(&sandbox)["phase"], "completed");
}

/// The largest output that a policy can allow fits into one report.
#[test]
fn output_as_large_as_a_policy_allows_is_recorded() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("large", &["head", "-c", "33554432", "/dev/zero"]);
    let draft = draft.claim("It is large.", &["large"]).demand("[limits]\noutput = \"32 MiB\"\n");
    let reply = draft.run(&sandbox, 0);
    assert_eq!((&reply["verdict"], &reply["tools"]["completed"]), (&"pass".into(), &1.into()));
}

/// Far more than any of them takes, and far less than half a minute, after which a server counts as away.
const WAIT: Duration = Duration::from_secs(10);

#[test]
fn status_names_the_process_that_drives() {
    let sandbox = Sandbox::new();
    let working = Working::start(&sandbox);
    let process = working.run.id();
    let told = sandbox.run(&["run", "status"]);
    assert!(told.stdout.ends_with(&format!("Process {process} drives it now.\n")), "{told}");
    assert_eq!(sandbox.json(&["run", "status"])["driver"], process);
    let refused = sandbox.json_error(&["run", "resume"], 3);
    assert!(refused["message"].as_str().unwrap().contains(&format!("process {process}")), "{refused}");
    working.end_tool();
    working.ended(&sandbox);
    assert_eq!(sandbox.json(&["run", "status"])["driver"], Value::Null);
}
