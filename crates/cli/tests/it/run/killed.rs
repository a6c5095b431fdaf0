//! `demur run` killed at any moment: it goes on with the next step, and no step is carried out twice without a new intent.

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Draft, agents, entries, kinds, verdict};
use crate::{
    sandbox::{Sandbox, count},
    server_life::kill,
};

/// Three calls that each leave a mark when they are carried out.
fn draft() -> Draft {
    let mut draft = Draft::new();
    for name in ["one", "two", "three"] {
        let mark = format!("echo mark >> {name}.marks; echo {name}");
        draft = draft.call(name, &["sh", "-c", &mark]);
    }
    draft.claim("All three ran.", &["one", "two", "three"]).demand("retry_limit = 16\nchallenge_below = 4")
}

/// Kills a command after a while; returns whether it had not ended by itself.
fn kill_after(sandbox: &Sandbox, arguments: &[&str], moment: Duration) -> bool {
    let mut child = sandbox.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < moment {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        thread::yield_now();
    }
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// LED-22, LED-21, ONE-05
#[test]
fn proof_killed_runs_end_in_the_same_verdict() {
    let whole = Sandbox::new();
    let begun = Instant::now();
    let expected = draft().run(&whole, 0);
    let takes = begun.elapsed();
    let expected =
        (expected["phase"].clone(), expected["verdict"].clone(), expected["claims"][0]["text"].clone());
    let (wanted, mut killed, mut round) = (count(4, 200), 0, 0);
    while killed < wanted {
        round += 1;
        assert!(round <= wanted * 5, "only {killed} of {round} were killed in time");
        let sandbox = Sandbox::new();
        draft().write(&sandbox);
        // From before the first event to the end, spread over all rounds.
        let part = u32::try_from(round * 7919 % 1000).unwrap();
        killed += usize::from(kill_after(&sandbox, &["run", "--task", "task.toml"], takes * part / 1000));
        let reply = go_on(&sandbox, takes, round);
        let found = (reply["phase"].clone(), reply["verdict"].clone(), reply["claims"][0]["text"].clone());
        assert_eq!(found, expected, "round {round}");
        assert_eq!(verdict(&sandbox), "pass_with_warnings", "round {round}");
        check_marks(&sandbox, round);
    }
}

/// LED-22, ONE-05: a server that is killed at any moment is replaced; every tool runs once, and none is lost.
#[test]
fn proof_runs_outlive_their_servers() {
    let whole = Sandbox::new();
    let begun = Instant::now();
    draft().run(&whole, 0);
    let takes = begun.elapsed();
    let mut killed = 0;
    for round in 1..=count(4, 100) {
        let sandbox = Sandbox::new();
        draft().write(&sandbox);
        let mut run = sandbox.command(&["run", "--task", "task.toml", "--json"]);
        let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let part = u32::try_from(round * 7919 % 1000).unwrap();
        killed += kill_servers_at(&sandbox, Instant::now() + takes * part / 1000);
        let ran = sandbox.ran(run.wait_with_output().unwrap());
        let reply: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
        let tools = serde_json::json!({"blocked": 0, "completed": 3, "failed": 0, "lost": 0, "open": 0});
        assert_eq!((&reply["phase"], &reply["tools"]), (&"completed".into(), &tools), "round {round}");
        for name in ["one", "two", "three"] {
            let work = sandbox.data().join("runs").join(sandbox.trace()).join("work");
            let marks = fs::read_to_string(work.join(format!("{name}.marks"))).unwrap();
            assert_eq!(marks.lines().count(), 1, "round {round}: {name}");
        }
        assert_eq!(verdict(&sandbox), "pass_with_warnings", "round {round}");
    }
    assert!(killed > 0, "no server was killed in time");
}

/// LED-22: what agents in processes of their own said is recorded once, whichever server heard it.
#[test]
fn proof_agents_outlive_the_servers_of_their_run() {
    let whole = agents::two();
    let begun = Instant::now();
    whole.run(&["run", "--task", "task.toml"]).expect_code(0);
    let takes = begun.elapsed();
    let expected = kinds(&whole).len();
    for round in 1..=count(3, 60) {
        let sandbox = agents::two();
        let mut run = sandbox.command(&["run", "--task", "task.toml", "--json"]);
        let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let part = u32::try_from(round * 7919 % 1000).unwrap();
        kill_servers_at(&sandbox, Instant::now() + takes * part / 1000);
        let ran = sandbox.ran(run.wait_with_output().unwrap());
        let reply: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
        assert_eq!(reply["phase"], "completed", "round {round}");
        let kinds = kinds(&sandbox);
        let said = kinds.iter().filter(|kind| *kind != "recovery_recorded").count();
        assert_eq!(said, expected, "round {round}: {kinds:?}");
        assert_ne!(verdict(&sandbox), "fail", "round {round}");
    }
}

/// Kills the servers of a sandbox at a moment; returns how many.
fn kill_servers_at(sandbox: &Sandbox, moment: Instant) -> usize {
    while Instant::now() < moment {
        thread::yield_now();
    }
    let servers: Vec<_> = sandbox.processes().into_iter().filter(|process| is_server(*process)).collect();
    for process in &servers {
        kill(*process);
    }
    servers.len()
}

fn is_server(process: u32) -> bool {
    fs::read(format!("/proc/{process}/cmdline"))
        .is_ok_and(|line| line.windows(5).any(|part| part == b"serve"))
}

/// Goes on until the run has ended; now and then that is killed, too.
fn go_on(sandbox: &Sandbox, takes: Duration, round: usize) -> Value {
    if round.is_multiple_of(3) {
        kill_after(sandbox, &["run", "resume"], takes / 3);
    }
    let resumed = sandbox.run(&["run", "resume", "--json"]);
    if resumed.code == Some(0) {
        return serde_json::from_str(&resumed.stdout).unwrap();
    }
    // Killed before there was a run, or after it had ended.
    let error: Value = serde_json::from_str(&resumed.stderr).unwrap();
    assert!(
        ["NO_RUN", "NO_KEYS"].contains(&error["error"]["code"].as_str().unwrap()),
        "round {round}: {resumed}"
    );
    let status = sandbox.run(&["run", "status", "--json"]);
    if status.code == Some(0) {
        return serde_json::from_str(&status.stdout).unwrap();
    }
    draft().run(sandbox, 0)
}

/// A step is carried out at most once for each time its start was recorded, each of which has an intent of its own.
fn check_marks(sandbox: &Sandbox, round: usize) {
    let entries = entries(sandbox);
    let of = |kind: &str, name: &str| {
        let is_it = |entry: &&Value| entry["kind"] == kind && entry["tool"] == name;
        entries.iter().filter(is_it).count()
    };
    let trace = sandbox.trace();
    for name in ["one", "two", "three"] {
        let work = sandbox.data().join("runs").join(&trace).join("work");
        let marks = fs::read_to_string(work.join(format!("{name}.marks"))).unwrap().lines().count();
        let (intents, starts) = (of("tool_intent_signed", name), of("tool_execution_started", name));
        assert!((1..=starts).contains(&marks), "round {round}: {name} ran {marks} times, {starts} starts");
        assert!(starts <= intents, "round {round}: {name} started {starts} times, {intents} intents");
        assert_eq!(of("tool_execution_completed", name), 1, "round {round}: {name}");
    }
}
