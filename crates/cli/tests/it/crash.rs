//! Power that goes away: processes killed at any moment, disks that are full.

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use insta::assert_snapshot;

use crate::sandbox::{Ran, Sandbox, count};

fn names(sandbox: &Sandbox) -> BTreeSet<String> {
    let reply = sandbox.json(&["keys", "list"]);
    let names = reply["keys"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// What was acknowledged is there, what is there is whole, and the next writer goes on; also where the very first
/// writer was killed.
#[test]
fn proof_killed_writers_leave_a_whole_registry() {
    let (rounds, mut killed) = (count(4, 50), 0);
    for round in 0..rounds {
        let sandbox = Sandbox::new();
        killed += kill_writers(&sandbox, round);
        sandbox.run(&["keys", "new", "last", "--role", "auditor"]).expect_code(0);
        // Every key of the registry has its secret, and nothing in the store is damaged.
        for key in sandbox.json(&["keys", "list"])["keys"].as_array().unwrap() {
            assert_eq!(key["secret_here"], true, "{key}");
        }
        assert_eq!(sandbox.json(&["store", "check"])["problems"], serde_json::json!([]));
        let files = std::fs::read_dir(sandbox.data().join("keys")).unwrap();
        let left: Vec<_> = files
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_none_or(|end| end != "key"))
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
    assert!(killed > rounds, "only {killed} of {} were killed in time", rounds * WRITERS);
}

/// Kills writers, each a little later than the one before; returns how many did not come to their end.
fn kill_writers(sandbox: &Sandbox, round: usize) -> usize {
    let (mut acknowledged, mut killed) = (BTreeSet::new(), 0);
    for writer in 0..WRITERS {
        let name = format!("agent {writer}");
        let arguments = ["keys", "new", &name, "--role", "executor"];
        let mut child =
            sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = (round * WRITERS + writer) * 3331 % 60_000;
        wait(Duration::from_micros(u64::try_from(moment).unwrap()));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            acknowledged.insert(name);
        } else {
            killed += 1;
        }
        let found = names(sandbox);
        assert!(acknowledged.is_subset(&found), "lost: {:?}", acknowledged.difference(&found));
    }
    killed
}

/// How many writers are killed in one folder.
const WRITERS: usize = 10;

/// Passes the time without giving the processor away: the moment of the kill must not depend on a timer.
fn wait(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Runs the command in a shell of its own, after these words.
fn shell(sandbox: &Sandbox, words: &str, arguments: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{words}; exec \"$0\" \"$@\"")]);
    command.arg(sandbox.command(&[]).get_program()).args(arguments);
    command.env_clear().env("DEMUR_DATA", sandbox.data()).current_dir(sandbox.path(""));
    sandbox.ran(command.output().unwrap())
}

#[test]
fn disk_that_refuses_to_write_changes_nothing() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    // What the server says of it has to fit, too.
    std::fs::write(sandbox.data().join("server.log"), "").unwrap();
    let before = sandbox.contents();
    // Files may have 512 bytes: enough for a key, too few for the log. The signal is ignored, so that the write
    // fails as it does on a broken disk.
    let arguments = ["keys", "new", "carol", "--role", "critic", "--recovery", "carol.recovery"];
    assert_snapshot!(shell(&sandbox, "trap '' XFSZ; ulimit -f 1", &arguments), @r"
    exit 4
    --- stderr
    error: no room is left on the disk: make room and try again, nothing acknowledged is lost
    hint: `df -h` shows how full the disks are
    ");
    assert_eq!(sandbox.contents(), before);
    assert!(!sandbox.path("carol.recovery").exists());
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
}

/// ONE-05: a disk that is full gives a clear error, loses nothing and works again when there is room.
#[test]
fn disk_that_is_full_loses_nothing() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    // The disk is there for these commands only.
    let script = r#"
        mkdir disk && mount -t tmpfs -o size=700k none disk && cp -a data/. disk/ && export DEMUR_DATA=disk || exit 99
        head -c 100000000 /dev/zero > disk/filler 2>/dev/null
        "$0" keys new carol --role critic; echo "exit $?"
        ls disk/keys | wc -l
        rm disk/filler
        "$0" keys list --json | grep -o '"name":"[a-z]*"'
        "$0" keys new carol --role critic > /dev/null; echo "exit $?"
        "$0" store check"#;
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(sandbox.command(&[]).get_program()).env("LC_ALL", "C").current_dir(sandbox.path(""));
    assert_snapshot!(sandbox.ran(command.output().unwrap()), @r#"
    exit 0
    --- stdout
    exit 4
    3
    "name":"desk"
    "name":"alice"
    "name":"bob"
    exit 0
    All of it holds: 1 trace with 4 events, files and signatures.
    --- stderr
    error: no room is left on the disk: make room and try again, nothing acknowledged is lost
    hint: `df -h` shows how full the disks are
    "#);
}
