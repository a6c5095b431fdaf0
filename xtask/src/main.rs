//! Every automation of demur, as `cargo xtask <command>`: the tests, the gate's own checks, proofs and benchmarks.
#![expect(
    clippy::print_stdout,
    reason = "this program reports to the person at the terminal and to the gate's log"
)]

mod attempts;
mod bench;
mod fixture;
mod house;
mod licences;
mod map;
mod needs;
mod outside;
mod process;
mod prove;
mod python;
mod requirements;
mod slow;
mod source;
mod style;
mod tally;
mod test;
mod verdict;
mod walls;
mod workspace;

use std::env;
use std::process::ExitCode;

use anyhow::Result;

use crate::verdict::{Refusal, Verdict};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(verdict) => verdict.into(),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(if error.is::<Refusal>() { 2 } else { 1 })
        }
    }
}

/// Returns the verdict of the command that the arguments name.
fn run(arguments: &[String]) -> Result<Verdict> {
    let Some((command, rest)) = arguments.split_first() else {
        print!("{HELP}");
        return Ok(Verdict::Passed);
    };
    if is_help(command) || rest.iter().any(|argument| is_help(argument)) {
        print!("{HELP}");
        return Ok(Verdict::Passed);
    }
    match command.as_str() {
        "test" => test::run(rest),
        "requirements" => requirements::run(rest),
        "attempts" => without_arguments(command, rest).and_then(|()| attempts::run()),
        "licences" => without_arguments(command, rest).and_then(|()| licences::run()),
        "style" => without_arguments(command, rest).and_then(|()| style::run()),
        "house" => without_arguments(command, rest).and_then(|()| house::run()),
        "prove" => prove::run(rest),
        "bench" => bench::run(rest),
        "fixture" => fixture::run(rest),
        unknown => {
            Err(Refusal::error(format!("unknown command `{unknown}`; `cargo xtask --help` lists them")))
        }
    }
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "help" | "-h" | "--help")
}

fn without_arguments(command: &str, rest: &[String]) -> Result<()> {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(Refusal::error(format!("`{command}` takes no arguments, found `{extra}`"))),
    }
}

const HELP: &str = "\
Every automation of demur.

Usage: cargo xtask <command> [arguments]

  test [filter...]      make this machine ready, run every test, end with `N passed, N failed`;
                        a test that takes over 5 minutes is ended and named;
                        up to 3 that fail run once more, alone, and are named as unsteady if they pass
  requirements          hold the ids that tests name against conformance/requirements.toml
      --check-against FILE   also compare ids and texts with a Markdown list
  attempts              check that every attempt of conformance/attempts.toml is made by a test
  licences              check licences, banned crates, duplicates and the number of packages
  style                 check the rules for source files that clippy does not know, which crate needs which,
                        and that no public type name has three meanings
  house                 print what the structure of the source is measured by, and where
  prove [filter...]     run every `proof_` and `fuzz_` test at full count, in release, at most an hour each
  bench [name...]       run the benchmarks, in release: canonical, signatures, verify, append, run, race, rules, mcp;
                        none means all
      --full                 verify a million events too
      race                   by name beside LangGraph, which is downloaded first
      mcp                    by name beside the MCP SDK for Python, which is downloaded first
      peers                  compare with other projects, which are downloaded first
      cedar                  of these only the comparison of conditions with Cedar
  fixture               write a signed export of a generated run
      --events N --out FILE [--artifacts small|none] [--seed S]

Exit codes: 0 passed, 1 failed, 2 wrong usage or something must be installed first.
`bash .ci/run` runs the whole gate.
";
