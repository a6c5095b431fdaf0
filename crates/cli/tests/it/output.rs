//! What standard output is joined to: a pipe that closes, a disk that is full.

use std::{
    fs::File,
    io::{Read as _, pipe},
    process::Stdio,
};

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn reader_that_left_ends_the_command_quietly() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["export", "registry", "--out", "registry.jsonl"]).expect_code(0);
    let calls: [&[&str]; 11] = [
        &["--help"],
        &["keys", "list"],
        &["keys", "list", "--json"],
        &["keys", "new", "carol", "--role", "critic"],
        &["completions", "bash"],
        &["verify", "registry.jsonl"],
        &["trace", "show", "registry.jsonl"],
        &["trace", "list"],
        &["export", "registry"],
        &["store", "check"],
        &["demo"],
    ];
    for call in calls {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = sandbox.command(call).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let ran = sandbox.ran(output.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{call:?}");
    }
    // The work was done all the same.
    assert_eq!(sandbox.json(&["keys", "show", "carol"])["key"]["status"], "active");
}

#[test]
fn reader_that_leaves_half_way_ends_the_demo_quietly() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.command(&["demo"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ran = sandbox.ran(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn answer_that_cannot_be_written_is_our_trouble() {
    let sandbox = Sandbox::with_keys();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let child = sandbox.command(&["keys", "list"]).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    assert_snapshot!(sandbox.ran(child.wait_with_output().unwrap()), @r"
    exit 4
    --- stderr
    error: cannot write to standard output: No space left on device (os error 28)
    ");
}

#[test]
fn colour_is_off_where_nobody_looks() {
    let sandbox = Sandbox::with_keys();
    let mut command = sandbox.command(&["keys", "list"]);
    command.env("TERM", "xterm-256color").env("CLICOLOR_FORCE", "1");
    assert!(!sandbox.ran(command.output().unwrap()).stdout.contains('\u{1b}'));
}
