//! Power that goes away: processes killed at any moment, disks that are full.

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, count};

fn names(sandbox: &Sandbox) -> BTreeSet<String> {
    let reply = sandbox.json(&["keys", "list"]);
    let names = reply["keys"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// What was acknowledged is there, what is there is whole, and the next writer goes on.
#[test]
fn proof_killed_writers_leave_a_whole_registry() {
    let sandbox = Sandbox::new();
    let mut acknowledged = BTreeSet::new();
    let (mut killed, rounds) = (0, count(40, 500));
    for round in 0..rounds {
        let name = format!("agent {round}");
        let arguments = ["keys", "new", &name, "--role", "executor"];
        let mut child =
            sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait(Duration::from_micros(u64::try_from(round * 331 % 12_000).unwrap()));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            acknowledged.insert(name);
        } else {
            killed += 1;
        }
        let found = names(&sandbox);
        assert!(acknowledged.is_subset(&found), "lost: {:?}", acknowledged.difference(&found));
    }
    assert!(killed > rounds / 10, "only {killed} of {rounds} were killed in time");
    sandbox.run(&["keys", "new", "last", "--role", "auditor"]).expect_code(0);
    let files = std::fs::read_dir(sandbox.data().join("keys")).unwrap();
    let left: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_none_or(|end| end != "key"))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// Passes the time without giving the processor away: the moment of the kill must not depend on a timer.
fn wait(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn disk_that_is_full_changes_nothing() {
    let sandbox = Sandbox::with_keys();
    let before = sandbox.contents();
    // Files may have 512 bytes: enough for the key, too few for the registry. The signal is ignored, so that
    // the write fails as it does on a full disk.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    let demur = sandbox.command(&[]);
    command.args(["-c", script]).arg(demur.get_program());
    command.args(["keys", "new", "carol", "--role", "critic", "--recovery", "carol.recovery"]);
    command.env_clear().env("DEMUR_DATA", sandbox.data()).current_dir(sandbox.path(""));
    assert_snapshot!(sandbox.ran(command.output().unwrap()), @r"
    exit 4
    --- stderr
    error: cannot write [DIR]/data/registry.jsonl: File too large (os error 27)
    ");
    assert_eq!(sandbox.contents(), before);
    assert!(!sandbox.path("carol.recovery").exists());
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
}
