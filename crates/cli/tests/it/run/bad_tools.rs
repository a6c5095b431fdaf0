//! Tools that misbehave: recorded as what they did, bounded, and the run goes on as the table says.

use std::fs;

use serde_json::Value;

use super::{Draft, entries, verdict};
use crate::sandbox::Sandbox;

/// Runs one tool under tight limits and returns how it ended, in the words of the record.
fn ended(sandbox: &Sandbox, command: &[&str]) -> (Value, String) {
    let limits = "[limits]\ntime = \"2s\"\noutput = \"64 KiB\"\nmemory = \"64 MiB\"\nprocesses = 16\nfile_size = \"1 MiB\"\n";
    let draft = Draft::new().call("tool", command).claim("It worked.", &["tool"]);
    let draft = Draft { policy: format!("{limits}{}", draft.policy), ..draft };
    let reply = draft.run(sandbox, 0);
    assert_eq!(reply["phase"], "completed");
    assert_eq!(verdict(sandbox), "pass");
    let entries = entries(sandbox);
    let end = entries.iter().find(|entry| {
        ["tool_execution_completed", "tool_execution_failed"].contains(&entry["kind"].as_str().unwrap())
    });
    let end = end.unwrap();
    (end["ending"].clone(), end["why"].as_str().unwrap_or_default().to_owned())
}

/// LED-33
#[test]
fn every_way_to_fail_is_recorded_as_such() {
    let flood = "while :; do echo flooding the record with words; done";
    let eater = "b = []\nwhile True: b.append(bytearray(1 << 20))";
    for (command, failure, words) in [
        (&["sh", "-c", "exit 7"][..], "exit", "the tool ended with code 7"),
        (&["sh", "-c", "kill -SEGV $$"], "signal", "the tool was ended by signal 11"),
        (&["sleep", "60"], "timeout", "the tool took too long and was ended"),
        (&["sh", "-c", flood], "limit", "the tool went over the limit of output and was ended"),
        (&["python3", "-c", eater], "limit", "the tool went over the limit of memory and was ended"),
        (&["no-such-program-at-all"], "not_started", "the tool could not be started"),
    ] {
        let sandbox = Sandbox::new();
        let (ending, why) = ended(&sandbox, command);
        assert_eq!(ending["failure"], failure, "{command:?}: {ending} {why}");
        assert!(why.contains(words), "{command:?}: {why}");
    }
}

#[test]
fn tool_that_forks_without_end_is_ended_with_all_its_children() {
    let sandbox = Sandbox::new();
    let bomb = "i=0; while [ $i -lt 100 ]; do sleep 61.25 & i=$((i+1)); done; wait";
    let (ending, why) = ended(&sandbox, &["sh", "-c", bomb]);
    assert_eq!(ending["failure"], "limit", "{why}");
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path().join("cmdline");
        fs::read(path).ok()
    });
    let left = processes.filter(|line| line == b"sleep\x0061.25\0").count();
    assert_eq!(left, 0, "children are left over");
}

/// Where the kernel cannot keep a tool inside its folder, the record says so.
#[test]
fn tool_that_writes_outside_is_refused_or_the_record_says_that_it_could() {
    let sandbox = Sandbox::new();
    let outside = sandbox.path("outside.txt");
    let write = format!("echo gotcha > {}", outside.display());
    let (ending, _) = ended(&sandbox, &["sh", "-c", &write]);
    let started =
        entries(&sandbox).into_iter().find(|entry| entry["kind"] == "tool_execution_started").unwrap();
    let limits: Vec<String> =
        started["limits"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect();
    let limited = limits.iter().any(|line| line.contains("written only in the folder of the tool"));
    assert_eq!(outside.exists(), !limited, "{limits:?}");
    assert_eq!(ending["failure"].is_null(), !limited, "{ending}");
}

#[test]
fn run_that_lacks_evidence_says_so() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("one", &["true"]).claim("It ran.", &["one"]);
    draft.demand("evidence_minimum = 3\n").run(&sandbox, 3);
    let why = entries(&sandbox).last().unwrap()["why"].as_str().unwrap().to_owned();
    let lacks = "a claim must cite artifacts with different bytes, at least 3 (evidence_minimum), and its calls left fewer";
    assert!(why.contains(lacks), "{why}");
}

#[test]
fn call_that_took_too_long_names_limit_and_setting() {
    let sandbox = Sandbox::new();
    let draft = Draft::new().call("one", &["sh", "-c", "echo out; sleep 60"]).claim("It ran.", &["one"]);
    let reply = draft.demand("[limits]\ntime = \"200ms\"\n").run(&sandbox, 0);
    let claim = reply["claims"][0]["text"].as_str().unwrap();
    assert_eq!(claim, "The call one failed: it took longer than 200 ms, the policy's limits.time.");
    let entries = entries(&sandbox).iter().map(ToString::to_string).collect::<String>();
    assert!(entries.contains("not everything was done: 1 failed call, 1 claim that could not be made"));
}
