//! Tools that a person confirms: the critic asks, the run waits, and what was refused or not confirmed in time does not start.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::Value;

use super::{Draft, kinds};
use crate::{
    asker::until,
    sandbox::{Ran, Sandbox},
};

/// Runs a task whose tool a person confirms, and does this while it waits.
fn confirmed(more: &str, act: impl FnOnce(&Sandbox, &str)) -> (Sandbox, Ran) {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("count", &["wc", "-c", "/etc/hostname"]);
    let mut draft = draft.claim("It was counted.", &["count"]).demand(more);
    draft.policy += "confirm = true\n";
    draft.write(&sandbox);
    let run = ["run", "--task", "task.toml", "--json"];
    let child = sandbox.command(&run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = until("somebody is asked", || {
        let listed = sandbox.run(&["confirm", "list", "--all", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).ok()?;
        Some(listed["confirmations"][0]["id"].as_str()?.to_owned())
    });
    act(&sandbox, &id);
    let ran = sandbox.ran(child.wait_with_output().unwrap());
    (sandbox, ran)
}

/// ONE-09 LED-23
#[test]
fn tool_starts_on_a_persons_yes() {
    let (sandbox, ran) = confirmed("", |sandbox, id| {
        let asked = sandbox.json(&["confirm", "show", id]);
        assert!(asked["action"].as_str().unwrap().contains(r#"["wc","-c","/etc/hostname"]"#), "{asked}");
        assert!(!kinds(sandbox).contains(&"tool_execution_started".to_owned()));
        sandbox.run(&["confirm", "give", id]).expect_code(0);
    });
    ran.expect_code(0);
    let kinds = kinds(&sandbox);
    let at =
        |kind: &str| kinds.iter().position(|one| one == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    assert!(at("confirmation_given") < at("tool_execution_started"), "{kinds:?}");
}

/// ONE-09: whoever runs it in a pipe hears that it waits, for what, and how to look; a program that wants documents does not.
#[test]
fn run_in_a_pipe_says_that_it_waits_for_a_person() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("count", &["wc", "-c", "/etc/hostname"]);
    let mut draft = draft.claim("It was counted.", &["count"]);
    draft.policy += "confirm = true\n";
    draft.write(&sandbox);
    let mut command = sandbox.command(&["run", "--task", "task.toml"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = said.by_ref().map(Result::unwrap).find(|line| line.starts_with("The run waits")).unwrap();
    let id = line.rsplit(' ').next().unwrap();
    assert_eq!(line, format!("The run waits for a yes or a no: demur confirm show {id}"));
    assert_eq!(sandbox.json(&["confirm", "show", id])["state"], "open");
    sandbox.run(&["confirm", "give", id]).expect_code(0);
    assert!(said.all(|line| !line.unwrap().starts_with("The run waits")), "it is said once");
    assert!(child.wait().unwrap().success());
}

/// ONE-09 LED-23
#[test]
fn tool_that_a_person_refused_does_not_start() {
    let (sandbox, ran) = confirmed("", |sandbox, id| {
        sandbox.run(&["confirm", "refuse", id, "--note", "not today"]).expect_code(0);
    });
    assert_ne!(ran.code, Some(0), "{ran}");
    let kinds = kinds(&sandbox);
    assert!(!kinds.contains(&"tool_execution_started".to_owned()), "{kinds:?}");
    assert!(kinds.contains(&"tool_intent_reviewed".to_owned()), "{kinds:?}");
}

/// ONE-09 LED-23
#[test]
fn tool_that_nobody_confirmed_in_time_does_not_start() {
    let (sandbox, ran) = confirmed("confirm_within = \"1s\"", |_, _| {});
    assert_ne!(ran.code, Some(0), "{ran}");
    let kinds = kinds(&sandbox);
    assert!(kinds.contains(&"confirmation_expired".to_owned()), "{kinds:?}");
    assert!(!kinds.contains(&"tool_execution_started".to_owned()), "{kinds:?}");
}
