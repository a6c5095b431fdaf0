//! Mistakes in what was typed, and about what is there.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _};

use super::told;
use crate::{asker::asked, sandbox::Sandbox};

/// What was typed, how it ends, and what the sentence says.
type Mistake<'a> = (&'a str, &'a [&'a str], i32, &'a str);

fn all(sandbox: &Sandbox, mistakes: &[Mistake<'_>]) {
    for (what, line, code, words) in mistakes {
        told(sandbox, (what, line), &sandbox.run(line), *code, words);
    }
}

#[test]
fn mistakes_on_the_command_line_are_one_sentence_and_a_command_that_helps() {
    let sandbox = Sandbox::new();
    let (question, id) = ("x".repeat(20_000), "x".repeat(100_000));
    let mistakes: [Mistake<'_>; 22] = [
        ("a typo", &["asnwer", "1", "x"], 2, "expected a command, found \"asnwer\""),
        ("a typo in a word below", &["plan", "sumbit"], 2, "expected a command, found \"sumbit\""),
        ("no such command", &["frobnicate"], 2, "found \"frobnicate\""),
        ("a missing argument", &["ask"], 2, "expected QUESTION after `demur ask`"),
        ("a missing answer", &["answer", "1"], 2, "expected ANSWER after `demur answer`"),
        ("a missing option", &["keys", "new", "x"], 2, "expected --role ROLE"),
        ("a missing value", &["ask", "a", "--timeout"], 2, "expected a value for --timeout"),
        ("a wrong value", &["keys", "new", "x", "--role", "king"], 2, "found \"king\""),
        ("forgotten quotes", &["ask", "Which", "colour?"], 2, "words with spaces need quotes"),
        ("an unknown option", &["ask", "a", "--colour"], 2, "found \"--colour\""),
        ("a wrong time", &["ask", "a", "--timeout", "soon"], 2, "found \"soon\""),
        ("a wrong kind", &["ask", "a", "--kind", "essay"], 2, "found \"essay\""),
        ("a default without a time", &["ask", "a", "--default", "b"], 2, "--default needs --timeout"),
        ("one choice", &["ask", "a", "--choice", "b"], 2, "expected at least two --choice, found 1"),
        ("no choice", &["ask", "a", "--kind", "choice"], 2, "expected at least two --choice, found none"),
        ("a reason without its option", &["decline", "1", "no idea"], 2, "expected no more words"),
        ("a question from nowhere", &["ask", "-"], 2, "standard input"),
        ("two options that exclude each other", &["answer", "1", "x", "--accept"], 2, "--accept"),
        ("an unknown scope", &["token", "new", "x", "--scope", "everything"], 2, "everything"),
        ("an empty question", &["ask", ""], 2, "expected"),
        ("an endless question", &["ask", &question], 2, "expected"),
        ("an endless id", &["show", &id], 2, "expected a data folder"),
    ];
    for (what, line, ..) in &mistakes {
        sandbox.run(line);
        assert!(!sandbox.data().exists(), "{what} made a data folder");
    }
    all(&sandbox, &mistakes);
}

#[test]
fn bytes_that_are_no_text_are_told() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["ask"]);
    command.arg(OsStr::from_bytes(b"\xff\xfe?"));
    let ran = sandbox.ran(command.output().unwrap());
    told(&sandbox, ("bytes that are no UTF-8", &["ask"]), &ran, 2, "UTF-8");
    let id = asked(&sandbox, &["Name?"]);
    let ran = sandbox.feed(&["answer", &id, "-"], b"\xff\xfe\n");
    told(&sandbox, ("an answer that is no UTF-8", &["answer"]), &ran, 2, "UTF-8");
}

#[test]
fn files_that_are_not_what_was_meant_are_told() {
    let sandbox = Sandbox::with_keys();
    fs::write(sandbox.path("bad.json"), "{").unwrap();
    fs::write(sandbox.path("list.json"), "[]").unwrap();
    fs::write(sandbox.path("taken"), "mine").unwrap();
    sandbox.run(&["demo", "--keep", "demo"]).expect_code(0);
    all(
        &sandbox,
        &[
            ("no such file", &["check", "nofile.json"], 2, "cannot read nofile.json"),
            ("a folder for a file", &["check", "."], 2, "expected a file, found a folder"),
            ("a plan that is no JSON", &["check", "bad.json"], 2, "bad.json"),
            ("a plan that is a list", &["check", "list.json"], 2, "found a list"),
            ("no such export", &["verify", "nofile.jsonl"], 2, "cannot read nofile.jsonl"),
            ("a plan for an export", &["verify", "bad.json"], 2, "this is not a demur export"),
            ("a file in the way", &["--data", "demo", "export", "last", "--out", "taken"], 2, "File exists"),
            ("no such folder", &["--data", "demo", "export", "last", "--out", "no/x"], 2, "No such file"),
            ("no such task", &["run", "--task", "none.toml"], 2, "cannot read none.toml"),
            ("a data folder that is a file", &["--data", "taken", "keys", "list"], 2, "taken"),
            ("no such pack", &["rules", "check", "nopack"], 2, "nopack"),
        ],
    );
}

#[test]
fn what_is_not_there_or_not_open_is_told() {
    let sandbox = Sandbox::with_keys();
    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let session = "0196bb7c-0000-7000-8000-000000000001";
    fs::write(sandbox.path("plan.json"), "{}").unwrap();
    sandbox.run(&["keys", "new", "robot", "--role", "answerer"]).expect_code(0);
    let closed = asked(&sandbox, &["Name?"]);
    sandbox.run(&["answer", &closed, "ada"]).expect_code(0);
    let sure = asked(&sandbox, &["Sure?", "--kind", "yes-no"]);
    let which = asked(&sandbox, &["Which?", "--choice", "pg", "--choice", "sqlite"]);
    all(
        &sandbox,
        &[
            ("an unknown question", &["show", &format!("{unknown}.0")], 2, "expected a question"),
            ("an unknown number", &["answer", "99", "x"], 2, "found 99"),
            ("an id that is too short", &["show", "01A"], 2, "at least 6 characters"),
            ("an unknown trace", &["export", unknown], 2, "expected a trace"),
            ("an unknown plan", &["plan", "show", session], 2, "expected a session"),
            ("an unknown key", &["keys", "show", "alicia"], 2, "alicia"),
            ("an unknown token", &["token", "revoke", "nothing"], 2, "expected a token"),
            ("an unknown person", &["people", "remove", "nobody"], 2, "expected the name of a person"),
            ("nobody to pass to", &["pass", &sure, "--to", "nobody"], 2, "found \"nobody\""),
            ("keys alone for a person's word", &["pass", &sure, "--to", "robot"], 3, "a person's word"),
            ("no run to go on with", &["run", "resume"], 2, "expected a run"),
            ("a name that is taken", &["keys", "new", "alice", "--role", "agent"], 3, "alice"),
            ("no key to submit with", &["plan", "submit", "plan.json"], 2, "\"agent\""),
            ("a closed question", &["answer", &closed, "bob"], 3, "Too late for"),
            ("a closed question, declined", &["decline", &closed], 3, "Too late for"),
            ("an answer of another kind", &["answer", &sure, "perhaps"], 2, "perhaps"),
            ("an answer without end", &["answer", &sure, &"x".repeat(50_000)], 2, "expected yes or no"),
            ("a choice that is none", &["answer", &which, "oracle"], 2, "oracle"),
            ("more time for what is answered", &["extend", &closed, "10m"], 3, "it was answered by"),
            ("more time without a deadline", &["extend", &sure, "10m"], 3, "deadline"),
        ],
    );
}
