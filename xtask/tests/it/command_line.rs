//! The command line itself: help, mistakes and exit codes.

use std::process::{Command, Output};

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().unwrap()
}

#[test]
fn help_lists_every_command() {
    for arguments in [&[][..], &["--help"], &["test", "--help"]] {
        let output = xtask(arguments);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        for command in ["test", "requirements", "licences", "style", "house", "prove", "bench"] {
            assert!(text.contains(&format!("\n  {command} ")), "{command} is missing in {text}");
        }
    }
}

#[test]
fn unknown_command_is_wrong_usage() {
    let output = xtask(&["tset"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "xtask: unknown command `tset`; `cargo xtask --help` lists them\n");
}

#[test]
fn superfluous_argument_is_wrong_usage() {
    for command in ["style", "licences", "house"] {
        assert_eq!(xtask(&[command, "x"]).status.code(), Some(2));
    }
}
