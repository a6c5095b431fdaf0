//! Roles played by processes of their own, in Rust and in Python, and by programs that play no role well.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{Draft, entries, kinds, verdict};
use crate::{independent::verify_alone, sandbox::Sandbox};

/// Returns an example agent in Rust.
fn rust(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_BIN_EXE_demur"));
    let path = folder.parent().unwrap().join("examples").join(name);
    assert!(path.is_file(), "{} is built with the tests of this package", path.display());
    path.to_str().unwrap().to_owned()
}

/// Returns the words that start an example agent in Python.
pub(super) fn python(name: &str) -> Vec<String> {
    let interpreter = std::env::var("DEMUR_PYTHON").expect("DEMUR_PYTHON is not set: run `cargo xtask test`");
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python").join(name);
    vec![interpreter, script.canonicalize().unwrap().to_str().unwrap().to_owned()]
}

/// Returns a sandbox with keys for agents of their own, in files beside the task.
pub(super) fn with_agents() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, role) in [("ben", "executor"), ("cleo", "critic"), ("mallory", "critic")] {
        let file = format!("{name}.key");
        sandbox.run(&["keys", "new", name, "--role", role, "--out", &file]).expect_code(0);
    }
    sandbox
}

/// Returns the lines that let a program play a role.
pub(super) fn player(role: &str, name: &str, command: &[String]) -> String {
    format!("\n[agents.{role}]\nname = {name:?}\ncommand = {command:?}\ntimeout = \"20s\"\n")
}

const PLAN: &str = r#"{"calls":[
  {"claim":"Everything is clean.","command":["rm","-r","precious.txt"],"name":"clean","risk":"low","stdin":"","tool":"tidy"},
  {"claim":"It has twelve bytes.","command":["wc","-c"],"name":"count","risk":"medium","stdin":"twelve bytes","tool":"wc"}],
 "verdict":"the task is done"}"#;

/// Returns a task whose proposal asks for the tools of the plan, and a policy that names them.
fn draft_of_plan() -> Draft {
    let Draft { task, .. } = Draft::new();
    let task = task.replace("\"the work\"\n", "\"the work\"\ntools = [\"wc\", \"tidy\"]\n");
    Draft { task, policy: "[tools.wc]\n\n[tools.tidy]\n".to_owned() }
}

/// Returns a sandbox with a task that an executor and a critic of their own do.
pub(super) fn two() -> Sandbox {
    let sandbox = with_agents();
    fs::write(sandbox.path("plan.json"), PLAN).unwrap();
    let executor = [rust("executor"), "ben.key".to_owned(), "plan.json".to_owned()];
    let critic = [rust("critic"), "cleo.key".to_owned()];
    let draft = draft_of_plan();
    let players = player("executor", "ben", &executor) + &player("critic", "cleo", &critic);
    let task = draft.task.replace("[[goal]]", &(players + "\n[[goal]]"));
    Draft { task, ..draft }.write(&sandbox);
    sandbox
}

pub(super) fn check_both_verifiers(sandbox: &Sandbox) {
    assert_ne!(verdict(sandbox), "fail");
    let (code, said) = verify_alone(&sandbox.path("last.jsonl"));
    assert_eq!(code, Some(0), "{said}");
}

/// Returns what became of the intents of a tool, and whether it ran.
fn fate(sandbox: &Sandbox, tool: &str) -> (Vec<String>, bool) {
    let entries = entries(sandbox);
    let of = |kind: &'static str| {
        entries.iter().filter(move |entry| entry["kind"] == kind && entry["tool"] == tool)
    };
    let reviews =
        of("tool_intent_reviewed").map(|entry| entry["what"].as_str().unwrap().to_owned()).collect();
    (reviews, of("tool_execution_started").count() > 0)
}

/// LED-11, LED-23, ONE-04: each role signs with its own key in its own process; the desk only orders and records.
#[test]
fn python_critic_blocks_an_unsafe_intent_of_the_rust_executor() {
    let sandbox = with_agents();
    fs::write(sandbox.path("plan.json"), PLAN).unwrap();
    fs::write(sandbox.path("precious.txt"), "keep me").unwrap();
    let executor = [rust("executor"), "ben.key".to_owned(), "plan.json".to_owned()];
    let critic = [python("critic.py"), vec!["cleo.key".to_owned()]].concat();
    let draft = draft_of_plan();
    let task = draft.task.replace(
        "[[goal]]",
        &(player("executor", "ben", &executor) + &player("critic", "cleo", &critic) + "\n[[goal]]"),
    );
    let reply = Draft { task, ..draft }.run(&sandbox, 0);
    assert_eq!((&reply["phase"], &reply["tools"]["blocked"]), (&"completed".into(), &1.into()));
    let (reviews, ran) = fate(&sandbox, "tidy");
    assert!(reviews.len() == 1 && reviews[0].starts_with("blocks") && !ran, "{reviews:?} {ran}");
    let (reviews, ran) = fate(&sandbox, "wc");
    assert!(reviews.len() == 1 && reviews[0].starts_with("lets") && ran, "{reviews:?} {ran}");
    assert!(sandbox.path("precious.txt").exists());
    check_both_verifiers(&sandbox);
}

#[test]
fn rust_critic_and_python_executor_come_to_an_end_too() {
    let sandbox = with_agents();
    fs::write(sandbox.path("plan.json"), PLAN).unwrap();
    let executor = [python("executor.py"), vec!["ben.key".to_owned(), "plan.json".to_owned()]].concat();
    let critic = [rust("critic"), "cleo.key".to_owned()];
    let draft = draft_of_plan();
    let task = draft.task.replace(
        "[[goal]]",
        &(player("executor", "ben", &executor) + &player("critic", "cleo", &critic) + "\n[[goal]]"),
    );
    let reply = Draft { task, ..draft }.run(&sandbox, 0);
    assert_eq!(reply["phase"], "completed");
    assert!(!fate(&sandbox, "tidy").1);
    check_both_verifiers(&sandbox);
}

/// Runs a task whose critic is this program; returns the reason with which the run was aborted.
fn aborted(sandbox: &Sandbox, critic: &[&str], timeout: &str) -> String {
    let critic: Vec<String> = critic.iter().map(|word| (*word).to_owned()).collect();
    let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
    let player = player("critic", "cleo", &critic).replace("20s", timeout);
    let task = draft.task.replace("[[goal]]", &(player + "\n[[goal]]"));
    let task = task.replace("\n\n[agents", "\n[agents");
    let reply = Draft { task, ..draft }.run(sandbox, 3);
    assert_eq!(reply["phase"], "aborted");
    assert_ne!(verdict(sandbox), "fail");
    assert!(!kinds(sandbox).contains(&"tool_execution_started".to_owned()));
    let entries = entries(sandbox);
    let last: &Value = entries.last().unwrap();
    assert_eq!(last["kind"], "session_aborted");
    last["why"].as_str().unwrap().to_owned()
}

#[test]
fn agent_that_plays_badly_ends_the_run_and_the_reason_is_recorded() {
    for (critic, timeout, words) in [
        (&["sleep", "60"][..], "300ms", "it did not finish its turn within 0.3 seconds"),
        (&["true"], "20s", "it stopped in the middle of the run"),
        // It stays: one that has left before it is spoken to has stopped.
        (
            &["sh", "-c", "echo hello; cat > /dev/null"],
            "20s",
            "it said something that is no line of the protocol",
        ),
        (&["yes"], "20s", "it said something that is no line of the protocol"),
        (
            &["head", "-c", "100000000", "/dev/zero"],
            "20s",
            "it said something that is no line of the protocol",
        ),
        (&["no-such-agent"], "20s", "it could not be started"),
        // Done at once, again and again: nobody has anything left to do.
        (
            &["sh", "-c", "while read -r line; do case $line in *turn*) echo '{\"done\":{}}';; esac; done"],
            "20s",
            "nobody has anything left to do",
        ),
    ] {
        let sandbox = with_agents();
        let reason = aborted(&sandbox, critic, timeout);
        assert!(reason.contains(words), "{critic:?}: {reason}");
    }
}

/// It speaks before it was asked. Where the desk has not heard it by then, it is an agent that is done at once.
#[test]
fn agent_that_speaks_out_of_turn_ends_the_run() {
    let sandbox = with_agents();
    let reason =
        aborted(&sandbox, &["sh", "-c", "printf '{\"done\":{}}\\n{\"done\":{}}\\n'; cat > /dev/null"], "20s");
    assert!(
        reason.contains("it was not its turn") || reason.contains("nobody has anything left"),
        "{reason}"
    );
}

/// Lies in every way it can think of, writes down what it was told, then does its work.
const LIAR: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import demur_agent, demur_format
from demur_agent import Agent, Event, Refused, Turn, End

def told(action):
    try:
        action()
        return "recorded"
    except Refused as refused:
        return refused.code

agent = Agent(demur_format.Key(sys.argv[2]))
other = demur_format.Key(sys.argv[3])
answers = None
for heard in agent:
    if isinstance(heard, Turn):
        if answers is None:
            review = ("proposal_reviewed", {"conditions": 0, "decision": "approved", "proposal": 2}, {"conditions": [], "rationale": "fine"})
            own, hello = agent._key, agent.hello
            answers = []
            # With the key of somebody who takes no part.
            agent._key = other; answers.append(told(lambda: agent.say(*review)))
            # In a role that is not its own.
            agent._key = own; own.role = "executor"; answers.append(told(lambda: agent.say(*review))); own.role = "critic"
            # In another trace, as whoever opens it.
            agent.hello = {**hello, "trace": demur_format.ulid(0)}; answers.append(told(lambda: agent.say(*review))); agent.hello = hello
            # About something that is not there.
            wrong = ("proposal_reviewed", {**review[1], "proposal": 7}, review[2])
            answers.append(told(lambda: agent.say(*wrong)))
            answers.append(told(lambda: agent.say(*review)))
            open(sys.argv[4], "w").write(json.dumps(answers))
        agent.done()
    elif isinstance(heard, End):
        break
"#;

/// An agent speaks with its own key, in its own role, in its own run; whatever else it signs is refused and counts for
/// nothing.
#[test]
fn lies_of_an_agent_are_refused_one_by_one() {
    let sandbox = with_agents();
    fs::write(sandbox.path("liar.py"), LIAR).unwrap();
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/python");
    let interpreter = python("critic.py").remove(0);
    let critic =
        [&interpreter, "liar.py", library.to_str().unwrap(), "cleo.key", "mallory.key", "answers.json"];
    let critic = critic.map(str::to_owned);
    let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
    let task = draft.task.replace("[[goal]]", &(player("critic", "cleo", &critic) + "\n[[goal]]"));
    let reply = Draft { task, ..draft }.run(&sandbox, 0);
    assert_eq!(reply["phase"], "completed");
    let answers: Value =
        serde_json::from_str(&fs::read_to_string(sandbox.path("answers.json")).unwrap()).unwrap();
    assert_eq!(
        answers,
        serde_json::json!(["AGENT_SCOPE", "AGENT_SCOPE", "AGENT_SCOPE", "CITES_UNSEEN", "recorded"])
    );
    assert_eq!(
        sandbox.json(&["trace", "list"])["traces"].as_array().unwrap().len(),
        1,
        "no other trace was opened"
    );
    assert_eq!(kinds(&sandbox).iter().filter(|kind| *kind == "proposal_reviewed").count(), 1);
}

/// Nothing is recorded yet that could be aborted.
#[test]
fn planner_that_fails_before_the_opening_leaves_nothing() {
    let sandbox = with_agents();
    sandbox.run(&["keys", "new", "ada", "--role", "planner", "--out", "ada.key"]).expect_code(0);
    let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
    let planner = player("planner", "ada", &["true".to_owned()]);
    let task = draft.task.replace("[[goal]]", &(planner + "\n[[goal]]"));
    Draft { task, ..draft }.write(&sandbox);
    let error = sandbox.json_error(&["run", "--task", "task.toml"], 3);
    assert_eq!(error["code"], "RUN_NOT_BEGUN");
    assert!(error["message"].as_str().unwrap().contains("it stopped in the middle of the run"), "{error}");
    assert_eq!(sandbox.json_error(&["run", "abort", "--reason", "no"], 2)["code"], "RUN_NOT_BEGUN");
}

/// An executor of its own cannot run anything that the critic has not approved, however low it calls the risk.
#[test]
fn everything_a_separate_executor_does_needs_approval() {
    let sandbox = with_agents();
    fs::write(sandbox.path("plan.json"), PLAN).unwrap();
    fs::write(sandbox.path("precious.txt"), "keep me").unwrap();
    let executor = [rust("executor"), "ben.key".to_owned(), "plan.json".to_owned()];
    let draft = draft_of_plan();
    let task = draft.task.replace("[[goal]]", &(player("executor", "ben", &executor) + "\n[[goal]]"));
    let reply = Draft { task, ..draft }.run(&sandbox, 0);
    assert_eq!((&reply["tools"]["blocked"], &reply["tools"]["completed"]), (&1.into(), &1.into()));
    assert!(sandbox.path("precious.txt").exists());
}

#[test]
fn agents_need_a_key_that_speaks_in_their_role() {
    let sandbox = with_agents();
    for (name, code) in [("nobody", "KEY_UNKNOWN"), ("ben", "KEY_UNKNOWN")] {
        let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
        let task =
            draft.task.replace("[[goal]]", &(player("critic", name, &["true".to_owned()]) + "\n[[goal]]"));
        Draft { task, ..draft }.write(&sandbox);
        assert_eq!(sandbox.json_error(&["run", "--task", "task.toml"], 2)["code"], code, "{name}");
    }
    // Without a program, demur would have to sign for cleo, and does not have her key.
    let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]);
    let task = draft.task.replace("[[goal]]", "[agents.critic]\nname = \"cleo\"\n\n[[goal]]");
    Draft { task, ..draft }.write(&sandbox);
    assert_eq!(sandbox.json_error(&["run", "--task", "task.toml"], 2)["code"], "SECRET_ELSEWHERE");
}

/// Runs a task whose executor and critic are one program.
fn both_roles(sandbox: &Sandbox, demand: &str) -> crate::sandbox::Ran {
    let draft = Draft::new().call("echo", &["echo"]).claim("Done.", &["echo"]).demand(demand);
    let command = ["true".to_owned()];
    let players = player("executor", "ben", &command) + &player("critic", "cleo", &command);
    let task = draft.task.replace("[[goal]]", &(players + "\n[[goal]]"));
    Draft { task, ..draft }.write(sandbox);
    sandbox.run(&["run", "--task", "task.toml"])
}

/// LED-41 LED-42: two keys, one program.
#[test]
fn program_that_plays_two_roles_is_refused_where_the_policy_says_so() {
    let sandbox = with_agents();
    let ran = both_roles(&sandbox, "distinct_clients = true");
    ran.expect_code(3);
    assert!(ran.stderr.contains("one client held executor and critic"), "{}", ran.stderr);
    assert!(ran.stderr.contains("with clients of their own"), "{}", ran.stderr);
}

/// LED-41
#[test]
fn program_that_plays_two_roles_is_shown_where_nobody_forbids_it() {
    let sandbox = with_agents();
    both_roles(&sandbox, "").expect_code(3);
    sandbox.run(&["export", "last", "--out", "last.jsonl"]).expect_code(0);
    let verified = sandbox.run(&["verify", "last.jsonl"]);
    assert!(verified.stdout.contains("one client held executor and critic"), "{}", verified.stdout);
    assert!(verified.stdout.contains("planner: demur\n"), "{}", verified.stdout);
    let shown = sandbox.run(&["trace", "show", "last"]);
    assert!(shown.stdout.contains("auditor: demur"), "{}", shown.stdout);
}
