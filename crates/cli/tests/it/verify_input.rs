//! `demur verify` on whatever it may be given: pipes, folders, halves, nothing but zeros.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    os::unix::fs::symlink,
    process::{Command, Stdio},
};

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, golden, golden_path};

fn answer(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn standard_input_is_a_file_too() {
    let sandbox = Sandbox::new();
    let ran = sandbox.feed(&["verify", "-"], &golden());
    assert!(ran.expect_code(0).stdout.contains("verdict  PASS"));
    let (name, bytes) = ("golden.jsonl", golden());
    fs::write(sandbox.path(name), &bytes).unwrap();
    sandbox.feed(&["verify", name, "-"], &bytes).expect_code(0);
    sandbox.feed(&["verify", "-", name], &bytes).expect_code(0);
    assert_snapshot!(sandbox.feed(&["verify", "-", "-"], &bytes), @r"
    exit 2
    --- stderr
    error: expected two files to compare, found standard input twice
    hint: save one of them to a file first
    ");
}

#[test]
fn half_a_file_fails_as_truncated() {
    let sandbox = Sandbox::new();
    let bytes = golden();
    fs::write(sandbox.path("half"), &bytes[..bytes.len() / 2]).unwrap();
    let from_disk = sandbox.run(&["verify", "--json", "half"]);
    let from_pipe = sandbox.feed(&["verify", "--json", "-"], &bytes[..bytes.len() / 2]);
    for ran in [&from_disk, &from_pipe] {
        let reply = answer(ran.expect_code(1));
        assert_eq!((&reply["verdict"], &reply["code"]), (&"fail".into(), &"FILE_TRUNCATED".into()));
    }
    assert_eq!(answer(&from_disk)["report"], answer(&from_pipe)["report"]);
}

#[test]
fn every_cut_between_two_lines_is_found() {
    let sandbox = Sandbox::new();
    let bytes = golden();
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let ends: Vec<usize> = ends.filter(|end| *end < bytes.len()).collect();
    assert!(ends.len() > 20);
    for end in ends {
        let ran = sandbox.feed(&["verify", "--json", "-"], &bytes[..end]);
        assert_eq!(answer(ran.expect_code(1))["code"], "FILE_TRUNCATED", "cut at byte {end}");
    }
}

#[test]
fn what_cannot_be_read_is_told_in_one_sentence() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("folder")).unwrap();
    symlink("loop", sandbox.path("loop")).unwrap();
    fs::write(sandbox.path("empty"), "").unwrap();
    fs::write(sandbox.path("text"), "hello\n").unwrap();
    fs::write(sandbox.path("newer"), "{\"header\":{\"format\":2,\"software\":\"x\"}}\n").unwrap();
    // The last one can be opened, and fails when it is read.
    let files = ["none", "folder", "loop", "empty", "text", "newer", "/proc/self/mem"];
    let told: Vec<String> = files.iter().map(|file| sandbox.run(&["verify", file]).to_string()).collect();
    assert_snapshot!(told.join(""), @r"
    exit 2
    --- stderr
    error: cannot read none: No such file or directory (os error 2)
    hint: `ls .` shows what is there
    exit 2
    --- stderr
    error: expected a file, found a folder: folder
    exit 2
    --- stderr
    error: cannot read loop: Too many levels of symbolic links (os error 40)
    exit 2
    --- stderr
    error: empty: this is not a demur export, or only the very beginning of one: it ends before its header does
    hint: expected is a file that demur exported; a receipt is given after it, or with --receipt
    exit 2
    --- stderr
    error: text: this is not a demur export: expected a line of a demur export in canonical JSON: expected a value, found byte 0x68 at byte 0
    hint: expected is a file that demur exported; a receipt is given after it, or with --receipt
    exit 2
    --- stderr
    error: newer: expected format 1, found format 2: use a newer version of demur
    hint: the file may be sound: this version of demur cannot tell
    exit 2
    --- stderr
    error: /proc/self/mem: the file cannot be read: Input/output error (os error 5)
    hint: check that the path is a file you may read
    ");
}

#[test]
fn zeros_are_refused_in_little_memory() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("zeros"), vec![0; 64 << 20]).unwrap();
    File::create(sandbox.path("sparse")).unwrap().set_len(200_000_000).unwrap();
    for file in ["zeros", "sparse"] {
        let ran = within_200_megabytes(&sandbox, &["verify", file]);
        assert!(ran.expect_code(2).stderr.contains("not a demur export"), "{ran}");
    }
}

#[test]
fn line_without_an_end_is_refused_in_little_memory() {
    let sandbox = Sandbox::new();
    let bytes = golden();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut file = File::create(sandbox.path("long")).unwrap();
    file.write_all(&bytes[..header]).unwrap();
    file.set_len(200_000_000).unwrap();
    let ran = within_200_megabytes(&sandbox, &["verify", "--json", "long"]);
    assert_eq!(answer(ran.expect_code(1))["code"], "FILE_MALFORMED");
}

/// All address space counts, so what is really used is below that.
fn within_200_megabytes(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let demur = sandbox.command(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 200000; exec \"$0\" \"$@\""]).arg(demur.get_program()).args(arguments);
    command.env_clear().current_dir(sandbox.path(""));
    sandbox.ran(command.output().unwrap())
}

#[test]
fn endless_input_is_left_as_soon_as_it_is_no_export() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["verify", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    while stdin.write_all(&[b'x'; 4096]).is_ok() {}
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{said}");
    assert!(said.contains("not a demur export"), "{said}");
}

/// Somebody who names a trace hears what verifies it.
#[test]
fn trace_in_the_place_of_a_file_gets_the_command_that_works() {
    let sandbox = Sandbox::new();
    for typed in ["last", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let error = sandbox.json_error(&["verify", typed], 2);
        let command = format!("`demur export {typed} | demur verify -`");
        assert!(error["hint"].as_str().unwrap().contains(&command), "{error}");
    }
    let error = sandbox.json_error(&["verify", "missing.jsonl"], 2);
    assert!(!error["hint"].as_str().unwrap().contains("export"), "{error}");
}

#[test]
fn short_fingerprint_gets_the_command_that_shows_the_whole() {
    let sandbox = Sandbox::new();
    let error = sandbox.json_error(&["verify", &golden_path(), "--pin", "desk=996fb1c8"], 2);
    assert!(error["message"].as_str().unwrap().contains("`demur keys show desk`"), "{error}");
}

#[test]
fn anchor_that_is_missing_is_all_that_fails() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["verify", &golden_path(), "--require-anchor", "--json"]);
    let reply: Value = serde_json::from_str(&ran.expect_code(1).stdout).unwrap();
    let words = reply["report"]["words"].as_str().unwrap();
    assert!(
        words.starts_with("fail: an anchor was demanded and none was given; nothing else failed ("),
        "{words}"
    );
}
