//! `demur run`: tasks that end in each way the table knows, seen from outside.

mod agents;
mod asked;
mod bad_input;
mod bad_tools;
mod beside;
mod confirmed;
mod damaged;
mod evidence;
mod killed;
mod lines;
mod meaning;
mod restored;
mod sandboxed;

use std::{fs, path::PathBuf};

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// A task with one unit, whose parts are put together by the tests.
pub(crate) struct Draft {
    pub(crate) task: String,
    pub(crate) policy: String,
}

impl Draft {
    pub(crate) fn new() -> Self {
        let task = "name = \"a task\"\nobjective = \"something\"\npolicy = \"policy.toml\"\n\n[[goal]]\n\
                    objective = \"the work\"\n";
        Self { task: task.to_owned(), policy: String::new() }
    }

    /// Adds a call of a program, and lets the policy allow it at low risk.
    pub(crate) fn call(mut self, name: &str, command: &[&str]) -> Self {
        let call = format!("\n[[goal.call]]\nname = {name:?}\ntool = {name:?}\ncommand = {command:?}\n");
        self.policy = [self.policy, format!("\n[tools.{name}]\nprograms = [{:?}]\n", command[0])].concat();
        self.task = [self.task, call].concat();
        self
    }

    /// Adds a claim about calls.
    pub(crate) fn claim(mut self, text: &str, calls: &[&str]) -> Self {
        let claim = format!("\n[[goal.claim]]\ntext = {text:?}\nconfidence = 90\ncalls = {calls:?}\n");
        self.task = [self.task, claim].concat();
        self
    }

    /// Adds lines to the beginning of the policy.
    pub(crate) fn demand(mut self, lines: &str) -> Self {
        self.policy = format!("{lines}\n{}", self.policy);
        self
    }

    /// Adds lines to the end of the task.
    pub(crate) fn and(mut self, lines: &str) -> Self {
        self.task += lines;
        self
    }

    /// Writes both files into a sandbox.
    pub(crate) fn write(&self, sandbox: &Sandbox) {
        fs::write(sandbox.path("task.toml"), &self.task).unwrap();
        fs::write(sandbox.path("policy.toml"), &self.policy).unwrap();
    }

    /// Runs the task; returns the answer.
    pub(crate) fn run(&self, sandbox: &Sandbox, code: i32) -> Value {
        self.write(sandbox);
        let ran = sandbox.run(&["run", "--task", "task.toml", "--json"]);
        ran.expect_code(code);
        serde_json::from_str(&ran.stdout).unwrap()
    }
}

/// Returns the events of the newest trace in words.
pub(crate) fn entries(sandbox: &Sandbox) -> Vec<Value> {
    let ran = sandbox.run(&["trace", "show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    shown["entries"].as_array().unwrap().clone()
}

/// Returns the types of the events of the newest trace.
pub(crate) fn kinds(sandbox: &Sandbox) -> Vec<String> {
    entries(sandbox).iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
}

/// Returns what the verifier says about the newest trace, whose export stays in `last.jsonl`.
pub(crate) fn verdict(sandbox: &Sandbox) -> String {
    sandbox.run(&["export", "last", "--out", "last.jsonl", "--force"]).expect_code(0);
    let ran = sandbox.run(&["verify", "last.jsonl", "--json"]);
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
    reply["verdict"].as_str().unwrap().to_owned()
}

pub(crate) fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/tasks").join(name);
    path.join("task.toml").to_str().unwrap().to_owned()
}

/// LED-35, LED-10, LED-13, LED-14, LED-15
#[test]
fn example_that_passes_answers_a_challenge_with_more_evidence() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["run", "--task", &example("passes")]), @r"
    exit 0
    --- stdout
    run   completed: the audit passed, 28 events
    trace [ULID]
    tools 2 completed
    claims
      #20 “The text has 6 lines. count and count-again agree.” on #8 #18
    What the tools left is in [DIR]/data/runs/[ULID]/work.
    --- stderr
    Made the data folder [DIR]/data.
    ");
    assert_eq!(verdict(&sandbox), "pass");
    assert_eq!(
        kinds(&sandbox),
        [
            "session_initialized",
            "policy_recorded",
            "proposal_created",
            "proposal_reviewed",
            "artifact_recorded",
            "tool_intent_signed",
            "check_stated",
            "tool_execution_started",
            "artifact_recorded",
            "tool_execution_completed",
            "claim_issued",
            "check_stated",
            "claim_challenged",
            "artifact_recorded",
            "tool_intent_signed",
            "check_stated",
            "tool_intent_reviewed",
            "tool_execution_started",
            "artifact_recorded",
            "tool_execution_completed",
            "claim_revised",
            "check_stated",
            "check_stated",
            "claim_resolved",
            "final_statement_signed",
            "verification_run_started",
            "report_recorded",
            "verification_run_completed",
        ]
    );
}

#[test]
fn example_with_a_dispute_passes_with_warnings() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["run", "--task", &example("disputed"), "--json"]);
    ran.expect_code(0);
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&reply["phase"], &reply["verdict"]), (&"completed".into(), &"pass_with_warnings".into()));
    assert_eq!(reply["claims"][0]["disputed"], true);
    assert_eq!(verdict(&sandbox), "pass_with_warnings");
    // The same task under the strict profile fails: a dispute is a failure there.
    let strict = fs::read_to_string(example("disputed")).unwrap().replace("\"default\"", "\"strict\"");
    let folder = sandbox.path("strict");
    fs::create_dir(&folder).unwrap();
    for name in ["policy.toml", "text.txt"] {
        fs::copy(PathBuf::from(example("disputed")).with_file_name(name), folder.join(name)).unwrap();
    }
    fs::write(folder.join("task.toml"), strict).unwrap();
    sandbox.run(&["run", "--task", "strict/task.toml"]).expect_code(1);
}

/// That nothing was audited before the first audit is no failure, however strict it is.
#[test]
fn example_without_a_dispute_passes_strictly() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("strict");
    fs::create_dir(&folder).unwrap();
    for name in ["policy.toml", "text.txt"] {
        fs::copy(PathBuf::from(example("passes")).with_file_name(name), folder.join(name)).unwrap();
    }
    let task = fs::read_to_string(example("passes")).unwrap();
    fs::write(folder.join("task.toml"), format!("profile = \"strict\"\n{task}")).unwrap();
    let ran = sandbox.run(&["run", "--task", "strict/task.toml", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    assert_eq!((&reply["phase"], &reply["verdict"]), (&"completed".into(), &"pass".into()));
}

/// LED-19, LED-25, LED-30
#[test]
fn example_whose_artifact_is_lost_is_concluded_and_then_fails() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["run", "--task", &example("lost-artifact"), "--until", "claiming", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    assert_eq!(reply["phase"], "claiming");
    lose(&sandbox, b"words: 48\n");
    let ran = sandbox.run(&["run", "resume", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(1).stdout).unwrap();
    assert_eq!((&reply["phase"], &reply["verdict"]), (&"failed".into(), &"fail".into()));
    assert_eq!(sandbox.json(&["trace", "list"])["traces"][0]["phase"], "failed");
    assert_eq!(kinds(&sandbox).last().unwrap(), "verification_run_completed");
    assert!(kinds(&sandbox).contains(&"final_statement_signed".to_owned()));
    assert_eq!(verdict(&sandbox), "fail");
    // It has ended: nothing can follow.
    assert_eq!(sandbox.json_error(&["run", "resume"], 2)["code"], "NO_RUN");
}

/// Removes the file of a stored artifact.
fn lose(sandbox: &Sandbox, bytes: &[u8]) {
    let is_it = |path: &PathBuf| fs::read(path).is_ok_and(|found| found == bytes);
    let folders = fs::read_dir(sandbox.data().join("artifacts")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    let path = files.map(|file| file.unwrap().path()).find(is_it).unwrap();
    fs::remove_file(path).unwrap();
}

/// LED-25: what does not hold for another reason than a missing artifact stops the run before the final statement.
#[test]
fn nothing_is_concluded_over_a_record_that_does_not_hold() {
    let sandbox = Sandbox::new();
    Draft::new().call("echo", &["echo", "hello"]).claim("It says hello.", &["echo"]).write(&sandbox);
    sandbox.run(&["run", "--task", "task.toml", "--until", "claiming"]).expect_code(0);
    sandbox.tamper("UPDATE events SET content = CAST('{}' AS BLOB) WHERE sequence = 4 AND trace = 2");
    let error = sandbox.json_error(&["run", "resume"], 1);
    assert_eq!(error["code"], "RECORD_UNPROVEN", "{error}");
    assert!(!kinds(&sandbox).contains(&"final_statement_signed".to_owned()));
    assert_eq!(sandbox.json(&["run", "status"])["damage"], "COMMITMENT_MISMATCH");
}

/// What the first call would show if it did not fail.
const EXACT: &str = "exit 3\"]\nshows.number = { pointer = \"\" }\n";

/// LED-20, LED-21, LED-32, LED-33: the planner proposes what can take its place, and the claim is what that one printed.
#[test]
fn failing_call_is_tried_again_and_then_replaced_by_its_fallback() {
    let sandbox = Sandbox::new();
    let draft = Draft::new()
        .call("exact", &["sh", "-c", "echo no >&2; exit 3"])
        .call("rough", &["sh", "-c", "echo 'about: 7.'"])
        .and("fallback_for = \"exact\"\nshows.number = { after = \"about: \", before = \".\" }\n")
        .claim("It is {number}.", &["exact"])
        .demand("retry_limit = 2\nfallback = true");
    let draft = Draft { task: draft.task.replace("exit 3\"]\n", EXACT), ..draft };
    let reply = draft.run(&sandbox, 0);
    assert_eq!(reply["tools"], serde_json::json!({"blocked":0,"completed":1,"failed":3,"lost":0,"open":0}));
    assert_eq!(reply["claims"][0]["text"], "It is 7.");
    assert_eq!(reply["claims"].as_array().unwrap().len(), 1);
    let entries = entries(&sandbox);
    let of = |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).count();
    assert_eq!(
        (of("tool_intent_signed"), of("tool_execution_started"), of("tool_execution_failed")),
        (4, 4, 3)
    );
    assert_eq!(verdict(&sandbox), "pass");
}

/// LED-32: where nothing else is left, the run goes on to claiming with the failure recorded.
#[test]
fn failure_without_a_fallback_is_claimed_as_such() {
    let sandbox = Sandbox::new();
    let reply = Draft::new().call("no", &["false"]).claim("It worked.", &["no"]).run(&sandbox, 0);
    assert_eq!(reply["claims"][0]["text"], "The call no failed: it ended with an error.");
    assert_eq!((&reply["phase"], &reply["tools"]["failed"]), (&"completed".into(), &1.into()));
    assert_eq!(verdict(&sandbox), "pass");
}

/// LED-11, LED-23: what the policy does not allow does not run.
#[test]
fn blocked_intents_never_run() {
    for (name, task, policy) in [
        ("an unknown program", Draft::new().call("wc", &["rm", "x"]), "[tools.wc]\n"),
        (
            "too risky for anybody",
            Draft::new().call("wc", &["wc", "x"]),
            "block_from = \"low\"\n[tools.wc]\n",
        ),
    ] {
        let sandbox = Sandbox::new();
        let reply = Draft { policy: policy.to_owned(), ..task.claim("Done.", &["wc"]) }.run(&sandbox, 5);
        assert_eq!((&reply["phase"], &reply["tools"]["blocked"]), (&"aborted".into(), &1.into()), "{name}");
        assert!(!kinds(&sandbox).contains(&"tool_execution_started".to_owned()), "{name}");
    }
}

/// LED-10: a proposal whose tools the policy does not name waits for a revision, and gets one where the goal can be reached in
/// another way.
#[test]
fn refused_proposal_is_replaced_by_another_way() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("rm", &["rm", "x"]).call("echo", &["echo"]).and("fallback_for = \"rm\"\n");
    let draft = Draft { policy: "[tools.echo]\n".to_owned(), ..draft.claim("Done.", &["rm"]) };
    let reply = draft.run(&sandbox, 0);
    assert_eq!((&reply["phase"], &reply["claims"][0]["text"]), (&"completed".into(), &"Done.".into()));
    let entries = entries(&sandbox);
    let of = |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).collect::<Vec<_>>();
    let proposals = of("proposal_created");
    assert_eq!(proposals[1]["what"], "proposes again, in place of #2");
    assert_eq!(of("tool_intent_signed")[0]["why"], "takes the place of rm");
    assert_eq!(of("final_statement_signed")[0]["why"], "the task is done");
    // Without another way nothing is left to do.
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("rm", &["rm", "x"]).claim("Removed.", &["rm"]);
    Draft { policy: String::new(), ..draft }.run(&sandbox, 5);
}

/// LED-10: whichever stands first in the task.
#[test]
fn refused_proposal_is_replaced_also_beside_one_that_is_fine() {
    let call = |name: &str, tool: &str, more: &str| {
        format!("\n[[goal.call]]\nname = {name:?}\ntool = {tool:?}\ncommand = [{tool:?}]\n{more}")
    };
    let claim = |text: &str| format!("\n[[goal.claim]]\ntext = {text:?}\n");
    let fine = ["\n[[goal]]\nobjective = \"fine\"\n", &call("fine", "echo", ""), &claim("Said.")].concat();
    let instead = call("instead", "echo", "fallback_for = \"bad\"\n");
    let bad =
        ["\n[[goal]]\nobjective = \"bad\"\n", &call("bad", "rm", ""), &instead, &claim("Done.")].concat();
    for goals in [[&fine, &bad], [&bad, &fine]] {
        let head = "name = \"a task\"\nobjective = \"something\"\npolicy = \"policy.toml\"\n";
        let task = [head, goals[0], goals[1]].concat();
        let sandbox = Sandbox::new();
        let reply = Draft { task, policy: "[tools.echo]\n".to_owned() }.run(&sandbox, 0);
        assert_eq!(reply["claims"].as_array().unwrap().len(), 2);
        let last =
            entries(&sandbox).into_iter().find(|entry| entry["kind"] == "final_statement_signed").unwrap();
        assert_eq!(last["why"], "the task is done");
    }
}

/// What was left undone stands in the final statement, also where nothing was claimed about it.
#[test]
fn final_statement_says_what_was_left_undone() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("echo", &["echo", "1"]).call("rm", &["rm", "x"]);
    let draft = draft.claim("Said.", &["echo"]).claim("Removed.", &["rm"]);
    let policy = "[tools.echo]\n[tools.rm]\nprograms = [\"nothing\"]\n".to_owned();
    Draft { policy, ..draft }.run(&sandbox, 0);
    let last = entries(&sandbox).into_iter().find(|entry| entry["kind"] == "final_statement_signed").unwrap();
    assert_eq!(last["why"], "not everything was done: 1 blocked call, 1 claim that could not be made");
}

/// LED-16, LED-35
#[test]
fn several_proposals_are_open_at_once() {
    let sandbox = Sandbox::new();
    let second = "\n[[goal]]\nobjective = \"the other work\"\n";
    let draft = Draft::new().call("one", &["echo", "1"]).claim("One was done.", &["one"]);
    let draft = draft.and(second).call("two", &["echo", "2"]).claim("The other was done.", &["two"]);
    draft.run(&sandbox, 0);
    let kinds = kinds(&sandbox);
    assert_eq!(
        kinds[2..6],
        ["proposal_created", "proposal_created", "proposal_reviewed", "proposal_reviewed"]
    );
    assert_eq!(verdict(&sandbox), "pass");
}

/// Nobody takes the place of somebody whose key is gone.
#[test]
fn resume_goes_on_with_those_the_run_was_opened_with() {
    let sandbox = Sandbox::new();
    Draft::new().call("echo", &["echo", "1"]).claim("Done.", &["echo"]).write(&sandbox);
    sandbox.run(&["run", "--task", "task.toml", "--until", "reviewing"]).expect_code(0);
    sandbox.run(&["keys", "rotate", "critic"]).expect_code(0);
    sandbox.run(&["run", "resume", "--until", "executing"]).expect_code(0);
    sandbox.run(&["keys", "revoke", "executor", "--reason", "lost"]).expect_code(0);
    let error = sandbox.json_error(&["run", "resume"], 3);
    assert_eq!(error["code"], "KEY_GONE");
    sandbox.run(&["run", "abort", "--reason", "the executor lost its key"]).expect_code(0);
}

/// LED-03: the state is shown at every step, and can be asked for.
#[test]
fn run_can_be_stopped_shown_resumed_and_aborted() {
    let sandbox = Sandbox::new();
    Draft::new().call("echo", &["echo", "1"]).claim("Done.", &["echo"]).write(&sandbox);
    for (until, waits) in [
        ("reviewing", "the critic's review of proposal #2"),
        ("claiming", "challenges, answers and the final statement"),
        ("auditing", "the auditor's verdict"),
    ] {
        let ran = match until {
            "reviewing" => sandbox.run(&["run", "--task", "task.toml", "--until", until]),
            _ => sandbox.run(&["run", "resume", "--until", until]),
        };
        ran.expect_code(0);
        let status = sandbox.json(&["run", "status"]);
        assert_eq!((&status["phase"], &status["waits_for"][0]), (&until.into(), &waits.into()));
    }
    assert_snapshot!(sandbox.run(&["run", "status"]), @r"
    exit 0
    --- stdout
    run   auditing, 11 events
    trace [ULID]
    tools 1 completed
    claims
      #9 “Done.” on #7
    waits for
      the auditor's verdict
    `demur run resume [ULID]` goes on.
    ");
    assert_snapshot!(sandbox.run(&["run", "abort", "--reason", "no longer needed"]), @r"
    exit 0
    --- stdout
    run   aborted, 12 events
    trace [ULID]
    tools 1 completed
    claims
      #9 “Done.” on #7
    ");
    assert_eq!(entries(&sandbox).last().unwrap()["why"], "no longer needed");
    assert_eq!(sandbox.json_error(&["run", "resume"], 2)["code"], "NO_RUN");
    assert_eq!(sandbox.json_error(&["run", "abort", "--reason", "again"], 2)["code"], "NO_RUN");
    let trace = sandbox.trace();
    assert_eq!(sandbox.json_error(&["run", "abort", &trace, "--reason", "again"], 3)["code"], "OUT_OF_PHASE");
    let nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert_eq!(sandbox.json_error(&["run", "status", nobody], 2)["code"], "RUN_UNKNOWN");
    assert_eq!(sandbox.json_error(&["run", "resume", nobody], 2)["code"], "RUN_UNKNOWN");
}

#[test]
fn tools_see_the_files_of_the_task_and_leave_theirs() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("inputs")).unwrap();
    fs::write(sandbox.path("inputs/words.txt"), "b\na\n").unwrap();
    let mut draft = Draft::new().call("sort", &["sort", "-o", "sorted.txt", "inputs/words.txt"]);
    draft.task = format!("files = [\"inputs/words.txt\"]\n{}", draft.task);
    draft = draft.call("show", &["cat", "sorted.txt"]);
    let reply = draft.claim("Sorted.", &["sort", "show"]).run(&sandbox, 0);
    let folder = PathBuf::from(reply["folder"].as_str().unwrap());
    assert_eq!(fs::read_to_string(folder.join("sorted.txt")).unwrap(), "a\nb\n");
}

/// On a terminal every event is told once it is on the disk, and every change of state; in a pipe only the end is.
#[test]
fn live_on_a_terminal_and_quiet_in_a_pipe() {
    let sandbox = Sandbox::new();
    Draft::new().call("echo", &["echo", "1"]).claim("Done.", &["echo"]).write(&sandbox);
    let demur = sandbox.command(&[]).get_program().to_str().unwrap().to_owned();
    let call = format!("{demur} run --task task.toml --data {}", sandbox.data().display());
    let output = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &call, "/dev/null"])
        .current_dir(sandbox.path(""))
        .env("TERM", "dumb")
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    let places =
        ["opens the run", "now executing", "starts echo", "now auditing", "verified: pass", "now completed"]
            .map(|words| told.find(words).unwrap_or_else(|| panic!("{words} is missing in {told}")));
    assert!(places.is_sorted(), "{told}");
    let piped = sandbox.run(&["run", "--task", "task.toml"]);
    assert!(!piped.stdout.contains("now executing") && piped.stderr.is_empty(), "{piped}");
}
