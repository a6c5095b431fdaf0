//! The reference of the command line, `docs/command-line.md`: the help of every command, committed. Run the
//! tests with `DEMUR_BLESS=1` to write it anew, and read the difference before committing it.

use std::{fmt::Write as _, fs, path::Path};

use crate::sandbox::Sandbox;

#[test]
fn reference_of_the_command_line_is_committed() {
    let sandbox = Sandbox::new();
    let mut made = String::from(BEGIN);
    let commands = describe(&sandbox, &[], &mut made);
    assert!(commands >= 20, "only {commands} commands were found");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command-line.md");
    if std::env::var_os("DEMUR_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == made,
        "docs/command-line.md is not what the command says: run the tests with DEMUR_BLESS=1 and look"
    );
}

/// Writes down a command and those below it; returns how many there are.
fn describe(sandbox: &Sandbox, command: &[&str], made: &mut String) -> usize {
    let help = sandbox.run(&[command, &["--help"]].concat());
    let text = &help.expect_code(0).stdout;
    let name = [&["demur"], command].concat().join(" ");
    write!(made, "\n## `{name}`\n\n```text\n{}\n```\n", text.trim_end()).unwrap();
    // What `demur help` says is the help of the others.
    let below: Vec<_> = subcommands(text).into_iter().filter(|name| *name != "help").collect();
    1 + below.iter().map(|below| describe(sandbox, &[command, &[below]].concat(), made)).sum::<usize>()
}

/// Returns the names that a help text lists under "Commands:".
fn subcommands(help: &str) -> Vec<&str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names.collect()
}

const BEGIN: &str = "\
# The command line

Generated from `demur --help` and the help of every command below it.
";
