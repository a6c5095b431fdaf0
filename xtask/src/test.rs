//! `cargo xtask test`: makes the machine ready, runs every test of the workspace and counts them.

use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::process::Stdio;

use anyhow::{Context, Result};

use crate::needs;
use crate::outside::Outside;
use crate::tally::Tally;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// Returns whether all tests whose name contains one of the filters passed; no filter means every test.
pub(crate) fn run(filters: &[String]) -> Result<Verdict> {
    needs::provide()?;
    let workspace = Workspace::locate()?;
    let outside = Outside::provide(&workspace)?;

    // Tests start the example agents as programs; `cargo test` would make test suites of them.
    let mut examples = workspace.cargo();
    examples.args(["build", "--workspace", "--examples"]);
    let built = examples.status().context("cannot run cargo")?.success();
    let mut tally = cargo_test(&workspace, &outside, &["--all-targets"], filters)?;
    // Code that does not compile would only say so a second time.
    if !tally.suites.is_empty() {
        tally.add(cargo_test(&workspace, &outside, &["--doc"], filters)?);
    }
    report(&tally);
    Ok(Verdict::from_passed(built && tally.is_success()))
}

/// Prints what is worth knowing about the run; the total line comes last, because scripts read it there.
pub(crate) fn report(tally: &Tally) {
    println!();
    let slowest = tally.slowest(SLOWEST_SHOWN);
    if !slowest.is_empty() {
        println!("Slowest:");
        for suite in slowest {
            println!("{:8.1} s  {}", suite.seconds, suite.name);
        }
    }
    for trouble in &tally.troubles {
        println!("Trouble: {trouble}");
    }
    if tally.ignored > 0 {
        println!("{} ignored", tally.ignored);
    }
    if tally.passed + tally.failed == 0 {
        println!("No test ran");
    }
    println!("{tally}");
}

fn cargo_test(workspace: &Workspace, outside: &Outside, what: &[&str], filters: &[String]) -> Result<Tally> {
    // One pipe for both streams keeps cargo's announcement of a suite in front of the suite's own output.
    let (reader, writer) = io::pipe().context("cannot open a pipe")?;
    let mut child = {
        let mut command = workspace.cargo();
        command.args(["test", "--workspace", "--no-fail-fast"]).args(what).arg("--").args(filters);
        outside.announce(command.stdin(Stdio::null()));
        command.stdout(writer.try_clone().context("cannot open a pipe")?).stderr(writer);
        // The command holds ends of the pipe: it goes away here, otherwise the reader would wait for ever.
        command.spawn().context("cannot run cargo")?
    };
    let mut tally = read(reader)?;
    tally.finish(child.wait().context("cannot wait for cargo")?.success());
    Ok(tally)
}

/// Returns the tally of all lines, each shown as soon as it arrives.
fn read(reader: PipeReader) -> Result<Tally> {
    let mut reader = BufReader::new(reader);
    let mut tally = Tally::default();
    let mut line = Vec::new();
    let mut stdout = io::stdout().lock();
    while reader.read_until(b'\n', &mut line).context("cannot read what cargo prints")? > 0 {
        stdout.write_all(&line).and_then(|()| stdout.flush()).context("cannot write to stdout")?;
        tally.read_line(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
        line.clear();
    }
    Ok(tally)
}

const SLOWEST_SHOWN: usize = 5;
