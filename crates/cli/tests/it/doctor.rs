//! `demur doctor`.

use std::{
    fs::{self, Permissions},
    net::TcpListener,
    os::unix::{
        fs::{PermissionsExt as _, chown},
        net::UnixListener,
    },
    process::Command,
};

use insta::assert_snapshot;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use serde_json::Value;

use crate::{
    asker::asked,
    not_run::not_run,
    sandbox::{Ran, Sandbox},
    server_files::freeze,
    server_life::server,
};

/// Shows what the doctor says, without what differs from machine to machine.
fn said(ran: &Ran) -> String {
    let figures = ["MiB free", "KiB", "protocol", "connections", "localhost:", "is free"];
    let line = |line: &str| match figures.iter().find(|figure| line.contains(**figure)) {
        Some(_) => line.chars().map(|one| if one.is_ascii_digit() { '9' } else { one }).collect::<String>(),
        None => line.to_owned(),
    };
    let text: Vec<_> = ran.to_string().lines().map(line).collect();
    let mut text = text.join("\n");
    while text.contains("99") {
        text = text.replace("99", "9");
    }
    text
}

fn check<'a>(reply: &'a Value, name: &str) -> &'a Value {
    reply["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

fn examined(sandbox: &Sandbox, code: i32) -> Value {
    let ran = sandbox.run(&["doctor", "--json"]);
    serde_json::from_str(&ran.expect_code(code).stdout).unwrap()
}

#[test]
fn folder_that_is_not_there_yet_is_well_and_stays_away() {
    let sandbox = Sandbox::new();
    // One that nobody has, and no other: some other program may have the usual one.
    let port = listening().local_addr().unwrap().port().to_string();
    let mut usual = sandbox.command(&["doctor", "--port", &port]);
    let ran = sandbox.ran(usual.env_remove("DEMUR_DATA").output().unwrap());
    assert_snapshot!(said(&ran), @r"
    exit 0
    --- stdout
    note     folder       [DIR]/home/.local/share/demur is not there yet; the first question or key makes it
    ok       disk         9 MiB free
    note     store        nothing is recorded yet; the first question or key begins it
    ok       clock        [TIME]
    note     server       none runs; the next command that needs one starts it
    ok       port         9 is free
    ok       sandbox      tools of runs are kept from demur, from other files and from the network
    note     completions  `demur completions --help` says for which shells there are any
    All is well.
    ");
    assert!(!sandbox.path("home/.local").exists());
}

/// A name that was mistyped shows.
#[test]
fn folder_that_was_named_and_is_not_there_is_a_problem() {
    let sandbox = Sandbox::new();
    assert_eq!(check(&examined(&sandbox, 3), "folder")["state"], "problem");
    let ran = sandbox.run(&["--data", "typo", "doctor"]);
    assert!(ran.expect_code(3).stdout.starts_with("problem  folder       typo is not there\n"), "{ran}");
    assert!(!sandbox.data().exists() && !sandbox.path("typo").exists());
}

#[test]
fn server_and_record_are_looked_at() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    assert_snapshot!(said(&sandbox.run(&["doctor"])), @r"
    exit 0
    --- stdout
    ok       folder       [DIR]/data, mode 0700
    ok       disk         9 MiB free
    ok       keys         [DIR]/data/keys, mode 0700, 2 secrets
    ok       log          [DIR]/data/server.log, mode 9, 9 KiB
    ok       store        opens, version 6
    ok       traces       no damage is known; `demur store check` looks at all of them
    ok       desk key     [KEY] is here
    ok       clock        [TIME]
    ok       server       demur 9.9.9, protocol 9, process 9
    ok       socket       [DIR]/data/socket, mode 0600
    ok       limits       at most 9 connections over TCP, 9 of your own commands, 9 tokens, 9 people
    ok       address      http://localhost:9 answers
    ok       pages        http://demur.localhost:9
    ok       sandbox      tools of runs are kept from demur, from other files and from the network
    note     completions  `demur completions --help` says for which shells there are any
    All is well.
    ");
    sandbox.run(&["stop"]).expect_code(0);
    assert_eq!(check(&examined(&sandbox, 0), "server")["state"], "note");
    sandbox.json_error(&["status"], 3);
}

/// What browsers keep for a place, and what was written down, is about one port.
#[test]
fn port_of_the_folder_that_somebody_else_has_is_told() {
    ["127.0.0.1", "[::1]"].into_iter().for_each(taken_port_is_told);
}

fn taken_port_is_told(taken_at: &str) {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let port = sandbox.json(&["status"])["address"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    sandbox.run(&["stop"]).expect_code(0);
    let other = TcpListener::bind(format!("{taken_at}:{port}")).unwrap();
    asked(&sandbox, &["And yours?"]);
    let reply = examined(&sandbox, 3);
    assert_eq!(check(&reply, "port")["state"], "problem", "{reply}");
    assert!(
        check(&reply, "port")["found"].as_str().unwrap().starts_with(&format!("{port} is this folder's")),
        "{reply}"
    );
    let status = sandbox.run(&["status"]);
    assert!(
        status.expect_code(0).stdout.contains(&format!("{port} is taken by another program")),
        "{status}"
    );
    assert_eq!(sandbox.json_error(&["open", "--print"], 3)["code"], "PORT_TAKEN");
    drop(other);
    crate::asker::until("it is free", || {
        sandbox.json(&["status"])["address"].as_str().filter(|address| address.ends_with(&port)).map(drop)
    });
    assert_eq!(check(&examined(&sandbox, 0), "address")["state"], "ok");
    sandbox.run(&["stop"]).expect_code(0);
}

/// Runs the command that a hint names.
fn cure(sandbox: &Sandbox, hint: &str) {
    let command = hint.strip_prefix("as root: ").unwrap_or(hint);
    let done = Command::new("sh").args(["-c", command]).current_dir(sandbox.path("")).status().unwrap();
    assert!(done.success(), "{hint}");
}

/// ONE-11: what others get at, or we do not, is told, and the cure works.
#[test]
fn folder_socket_or_key_with_wrong_modes_is_a_problem_with_a_cure_that_works() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let keys = fs::read_dir(sandbox.data().join("keys")).unwrap().map(|key| key.unwrap().path());
    let key = keys.into_iter().find(|key| key.extension().is_some_and(|word| word == "key")).unwrap();
    let secret = sandbox.data().join("keys/derive.secret");
    fs::write(&secret, [7; 32]).unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(check(&examined(&sandbox, 0), "keys")["state"], "ok");
    let places = [
        (sandbox.data(), "folder", &[0o755, 0o500][..]),
        (sandbox.data().join("keys"), "keys", &[0o750, 0o500]),
        (key, "keys", &[0o644, 0o200]),
        (secret, "keys", &[0o604]),
        (sandbox.data().join("socket"), "socket", &[0o666, 0o400]),
    ];
    for (path, name, modes) in places {
        for mode in modes {
            fs::set_permissions(&path, Permissions::from_mode(*mode)).unwrap();
            let reply = examined(&sandbox, 3);
            let (found, hint) = (check(&reply, name), check(&reply, name)["hint"].as_str().unwrap());
            assert_eq!((&found["state"], &reply["healthy"]), (&"problem".into(), &false.into()), "{reply}");
            assert!(hint.starts_with("chmod "), "{mode:o}: {reply}");
            cure(&sandbox, hint);
            assert_eq!(check(&examined(&sandbox, 0), name)["state"], "ok", "{mode:o}");
        }
    }
}

/// ONE-11: the same for what belongs to another user. Only root can give a file away: without root the test says so.
#[test]
fn folder_socket_or_key_of_somebody_else_is_a_problem_with_a_cure_that_works() {
    if !rustix::process::geteuid().is_root() {
        return not_run("files of another user: needs root");
    }
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let keys = sandbox.data().join("keys");
    let key = fs::read_dir(&keys).unwrap().next().unwrap().unwrap().path();
    let places = [
        (sandbox.data(), "folder"),
        (keys, "keys"),
        (key, "keys"),
        (sandbox.data().join("socket"), "socket"),
    ];
    for (path, name) in places {
        chown(&path, Some(NOBODY), None).unwrap();
        let reply = examined(&sandbox, 3);
        let found = check(&reply, name);
        assert!(found["found"].as_str().unwrap().contains("belongs to user 65534"), "{reply}");
        cure(&sandbox, found["hint"].as_str().unwrap());
        assert_eq!(check(&examined(&sandbox, 0), name)["state"], "ok");
    }
}

#[test]
fn missing_key_of_the_desk_is_a_problem() {
    let sandbox = Sandbox::with_keys();
    fs::remove_file(sandbox.key_file("desk")).unwrap();
    assert_eq!(check(&examined(&sandbox, 3), "desk key")["state"], "problem");
}

#[test]
fn damaged_store_is_a_problem() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    fs::write(sandbox.database(), "no database").unwrap();
    assert_eq!(check(&examined(&sandbox, 3), "store")["state"], "problem");
}

#[test]
fn socket_of_a_dead_server_is_no_problem() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    drop(UnixListener::bind(sandbox.data().join("socket")).unwrap());
    assert_eq!(check(&examined(&sandbox, 0), "socket")["state"], "note");
}

#[test]
fn server_that_says_nothing_is_not_waited_for() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let _silent = UnixListener::bind(sandbox.data().join("socket")).unwrap();
    let reply = examined(&sandbox, 3);
    let server = check(&reply, "server");
    assert_eq!(server["state"], "problem", "{reply}");
    assert!(server["hint"].as_str().unwrap().starts_with("`demur stop --force`"), "{reply}");
}

#[test]
fn full_disk_is_a_problem() {
    let sandbox = Sandbox::with_keys();
    // The disk is there for these commands only.
    let script = r#"
        mkdir disk && mount -t tmpfs -o size=700k,mode=700 none disk && cp -a data/. disk/ || exit 99
        head -c 100000000 /dev/zero > disk/filler 2>/dev/null
        "$0" --data disk doctor; echo "exit $?""#;
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(sandbox.command(&[]).get_program()).env("LC_ALL", "C").current_dir(sandbox.path(""));
    let ran = sandbox.ran(command.output().unwrap());
    assert!(ran.stdout.contains("problem  disk         0 MiB free: nothing can be recorded"), "{ran}");
    assert!(ran.stdout.ends_with("Not all is well.\nexit 3\n"), "{ran}");
}

#[test]
fn socket_that_is_gone_while_the_server_hears_nothing_is_a_problem_with_a_cure_that_works() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let process = server(&sandbox);
    freeze(process);
    fs::remove_file(sandbox.data().join("socket")).unwrap();
    let reply = examined(&sandbox, 3);
    assert_eq!(check(&reply, "socket")["state"], "problem", "{reply}");
    let found = format!("/socket is gone while the server runs, process {process}");
    assert!(check(&reply, "socket")["found"].as_str().unwrap().ends_with(&found), "{reply}");
    let hint = check(&reply, "socket")["hint"].as_str().unwrap();
    let cure: Vec<&str> = hint.split('`').nth(1).unwrap().split(' ').skip(1).collect();
    sandbox.run(&cure).expect_code(0);
    assert_eq!(check(&examined(&sandbox, 0), "server")["state"], "note");
}

#[test]
fn socket_that_the_server_puts_back_is_told_and_is_no_problem() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    fs::remove_file(sandbox.data().join("socket")).unwrap();
    let reply = examined(&sandbox, 0);
    let socket = check(&reply, "socket");
    // A server that was faster than the doctor has nothing to tell.
    assert!(matches!(socket["state"].as_str().unwrap(), "note" | "ok"), "{reply}");
    assert_eq!(check(&reply, "server")["state"], "ok", "{reply}");
}

#[test]
fn lock_that_is_gone_while_the_server_runs_is_told_with_a_cure_that_works() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    fs::remove_file(sandbox.data().join("lock")).unwrap();
    let reply = examined(&sandbox, 0);
    assert_eq!(check(&reply, "lock")["state"], "warning", "{reply}");
    assert!(!sandbox.data().join("lock").exists(), "it looks only");
    assert!(check(&reply, "lock")["hint"].as_str().unwrap().starts_with("`demur stop`"), "{reply}");
    sandbox.run(&["stop"]).expect_code(0);
    asked(&sandbox, &["Again?"]);
    let reply = examined(&sandbox, 0);
    assert!(reply["checks"].as_array().unwrap().iter().all(|check| check["name"] != "lock"), "{reply}");
}

#[test]
fn event_of_the_future_is_a_problem() {
    let sandbox = Sandbox::with_run();
    assert_eq!(check(&examined(&sandbox, 0), "clock")["state"], "ok");
    sandbox.tamper(
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"time\":\"2', '\"time\":\"8') AS BLOB)",
    );
    let reply = examined(&sandbox, 3);
    assert_eq!(check(&reply, "clock")["state"], "problem", "{reply}");
}

/// A folder that was not used for long looks the same, so it is a warning.
#[test]
fn clock_far_ahead_of_the_newest_event_is_told() {
    let sandbox = Sandbox::with_run();
    sandbox.tamper(
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"time\":\"202', '\"time\":\"200') AS BLOB)",
    );
    // The changed event is a problem too.
    let reply = examined(&sandbox, 3);
    let clock = check(&reply, "clock");
    assert_eq!(clock["state"], "warning", "{reply}");
    assert!(clock["hint"].as_str().unwrap().contains("set the clock of this machine"), "{reply}");
}

#[test]
fn port_that_is_taken_is_told_by_whoever_wants_it() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["Name?"]);
    let own = sandbox.json(&["status"])["address"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    let examined = |port: &str, code| -> Value {
        let ran = sandbox.run(&["doctor", "--json", "--port", port]);
        serde_json::from_str(&ran.expect_code(code).stdout).unwrap()
    };
    let other = listening();
    let port = other.local_addr().unwrap().port().to_string();
    let reply = examined(&port, 3);
    assert_eq!(check(&reply, "port")["found"], format!("{port} is taken by another program"), "{reply}");
    // The cure: another port.
    drop(other);
    assert_eq!(check(&examined(&port, 0), "port")["state"], "ok");
    let reply = examined(&own, 0);
    assert!(
        reply["checks"].as_array().unwrap().iter().all(|check| check["name"] != "port"),
        "its own: {reply}"
    );
}

/// ONE-14: what the kernel does not enforce is told. Filters keep the doctor from it, as the profile of a container may.
#[test]
fn missing_landlock_or_seccomp_is_told() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    for calls in [[libc::SYS_landlock_create_ruleset], [libc::SYS_seccomp]] {
        let reply = without_calls(&sandbox, &calls);
        let found = check(&reply, "sandbox");
        assert_eq!(found["state"], "warning", "{reply}");
        assert!(found["found"].as_str().unwrap().starts_with("not enforced here: "), "{reply}");
        assert!(found["hint"].as_str().unwrap().contains("Landlock and seccomp"), "{reply}");
    }
}

/// Returns what the doctor says where these calls fail. The filter is on a thread of its own, and what it starts has it, too.
fn without_calls(sandbox: &Sandbox, calls: &[i64]) -> Value {
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    let mut command = sandbox.command(&["doctor", "--json"]);
    let output = std::thread::scope(|scope| {
        let run = scope.spawn(move || {
            apply_filter(&filter).unwrap();
            command.output().unwrap()
        });
        run.join().unwrap()
    });
    serde_json::from_slice(&output.stdout).unwrap()
}

fn listening() -> TcpListener {
    TcpListener::bind(("127.0.0.1", 0)).unwrap()
}

/// What `trace list` knows, and what can be seen at a glance.
#[test]
fn damaged_traces_and_missing_artifacts_are_a_problem() {
    let sandbox = Sandbox::with_run();
    assert_eq!(check(&examined(&sandbox, 0), "traces")["state"], "ok");
    let shards = fs::read_dir(sandbox.data().join("artifacts")).unwrap().map(|shard| shard.unwrap().path());
    let mut files = shards.flat_map(|shard| fs::read_dir(shard).unwrap()).map(|file| file.unwrap().path());
    fs::remove_file(files.next().unwrap()).unwrap();
    let found = examined(&sandbox, 3);
    let traces = check(&found, "traces");
    assert_eq!((&traces["state"], &found["healthy"]), (&"problem".into(), &false.into()));
    assert!(traces["found"].as_str().unwrap().ends_with("the file of its artifact is missing"), "{traces}");
    sandbox.run(&["store", "check"]).expect_code(1);
    let found = examined(&sandbox, 3);
    assert!(check(&found, "traces")["found"].as_str().unwrap().ends_with("ARTIFACT_MISSING"), "{found}");
}

const NOBODY: u32 = 65_534;
