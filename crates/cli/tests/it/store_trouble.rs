//! Databases that cannot be used although nothing is wrong with them: locked, read-only, newer, of another program.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
};

use insta::assert_snapshot;
use rusqlite::Connection;

use crate::{
    mistakes::after,
    sandbox::{Ran, Sandbox},
};

#[test]
fn database_that_another_program_locks_is_refused_politely() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let before = sandbox.contents();
    let other = Connection::open(sandbox.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_snapshot!(sandbox.run(&["keys", "new", "carol", "--role", "critic"]), @r"
    exit 3
    --- stderr
    error: the database is locked by another program: close it and try again
    hint: `demur doctor` looks at the folder
    ");
    // Readers are not in its way.
    sandbox.run(&["keys", "list"]).expect_code(0);
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    assert_eq!(sandbox.contents(), before);
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
}

#[test]
fn newer_older_and_foreign_databases_are_told() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let set = |pragma: &str| Connection::open(sandbox.database()).unwrap().execute_batch(pragma).unwrap();
    set("PRAGMA user_version = 99");
    let newer = sandbox.run(&["keys", "list"]).to_string();
    set("PRAGMA user_version = 2");
    let older = sandbox.run(&["keys", "list"]).to_string();
    set("PRAGMA application_id = 7");
    let foreign = sandbox.run(&["keys", "list"]).to_string();
    assert_snapshot!([newer, older, foreign].concat(), @r"
    exit 2
    --- stderr
    error: the database has version 99, this demur knows up to 6: use a newer version of demur
    hint: `demur --version` shows which one this is
    exit 2
    --- stderr
    error: the database has version 2 of an earlier build, this demur reads 6: use another folder
    hint: --data DIR names another folder; the build that wrote this one can read it
    exit 2
    --- stderr
    error: [DIR]/data/ledger.db is not a database of demur: it belongs to another program; name another folder
    ");
}

/// Runs the command as somebody whom permissions concern.
fn run_as_somebody(sandbox: &Sandbox, program: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("DEMUR_DATA", sandbox.data()).current_dir(sandbox.path(""));
    if fs::metadata(program).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    sandbox.ran(command.output().unwrap())
}

/// Returns a folder that belongs to somebody who is not root, and a program which that one may run.
fn of_somebody() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let program = sandbox.path("program");
    fs::copy(env!("CARGO_BIN_EXE_demur"), &program).unwrap();
    mode(&sandbox.path(""), 0o755);
    mode(&program, 0o755);
    if fs::metadata(&program).unwrap().uid() == 0 {
        for path in sandbox.files().keys() {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    (sandbox, program)
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A folder in which nothing can be made has no place for a log: a store that was closed in good order needs none.
#[test]
fn folder_that_may_not_be_written_is_read() {
    let (sandbox, program) = of_somebody();
    mode(&sandbox.database(), 0o400);
    mode(&sandbox.data(), 0o500);
    for line in [&["keys", "list"][..], &["trace", "list"], &["export", "registry"]] {
        run_as_somebody(&sandbox, &program, line).expect_code(0);
    }
    mode(&sandbox.data(), 0o700);
}

/// It would not answer, and each try would stand in its log.
#[test]
fn server_of_another_user_is_not_talked_to() {
    let (sandbox, program) = of_somebody();
    if fs::metadata(&program).unwrap().uid() != 0 {
        // Nobody but root can be somebody else.
        return;
    }
    std::os::unix::fs::chown(sandbox.data(), Some(0), None).unwrap();
    sandbox.start_server();
    for path in [sandbox.data(), sandbox.data().join("keys")] {
        mode(&path, 0o755);
    }
    let socket = sandbox.data().join("socket");
    mode(&socket, 0o666);
    let asked = run_as_somebody(&sandbox, &program, &["ask", "Whose?", "--no-wait"]);
    assert!(asked.expect_code(2).stderr.contains("which belongs to user 0"), "{asked}");
}

#[test]
fn database_that_may_not_be_written_is_told() {
    let (sandbox, program) = of_somebody();
    let before = sandbox.contents();
    mode(&sandbox.database(), 0o400);
    assert_snapshot!(run_as_somebody(&sandbox, &program, &["keys", "new", "carol", "--role", "critic"]), @r"
    exit 2
    --- stderr
    error: the data folder is read-only: check who may write to it
    hint: `demur doctor` looks at the folder; --data DIR names another
    ");
    run_as_somebody(&sandbox, &program, &["keys", "list"]).expect_code(0);
    mode(&sandbox.database(), 0o600);
    mode(&sandbox.data().join("lock"), 0o400);
    mode(&sandbox.data(), 0o500);
    let ran = run_as_somebody(&sandbox, &program, &["keys", "new", "carol", "--role", "critic"]);
    assert!(ran.expect_code(2).stderr.contains("read-only"), "{ran}");
    mode(&sandbox.data(), 0o700);
    mode(&sandbox.data().join("lock"), 0o600);
    assert_eq!(sandbox.contents(), before);
}

/// A disk that cannot be written has no server: what only reads works all the same, through the same functions.
#[test]
fn folder_that_cannot_be_written_is_read_all_the_same() {
    let sandbox = Sandbox::with_run();
    let trace = sandbox.trace();
    sandbox.rest();
    let prefix = &trace[..12];
    let calls = [
        vec!["keys", "list"],
        vec!["keys", "show", "ada.planner"],
        vec!["trace", "list"],
        vec!["trace", "show", prefix],
        vec!["export", "registry"],
        vec!["plan", "list"],
    ];
    let script = "mount --bind data data && mount -o remount,ro,bind data";
    for call in calls {
        let ran = after(&sandbox, script, &call);
        ran.expect_code(0);
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{call:?}: {ran}");
    }
    assert!(!sandbox.data().join("socket").exists());
}

/// The user who owns nothing.
const NOBODY: u32 = 65534;
