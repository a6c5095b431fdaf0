//! `cargo xtask test`: makes the machine ready, runs every test of the workspace and counts them.

use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::outside::Outside;
use crate::slow::Slow;
use crate::tally::{Tally, suite_name};
use crate::verdict::Verdict;
use crate::workspace::Workspace;
use crate::{needs, process};

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
    try_again(&mut tally, &workspace, &outside)?;
    // Code that does not compile would only say so a second time.
    if !tally.suites.is_empty() {
        tally.add(cargo_test(&workspace, &outside, &["--doc"], filters)?);
    }
    report(&tally);
    Ok(Verdict::from_passed(built && tally.is_success()))
}

/// Runs a few tests that failed once more, by themselves: on a busy machine a test may miss its time beside others. The
/// report names those that passed now, because each of them has something to mend.
fn try_again(tally: &mut Tally, workspace: &Workspace, outside: &Outside) -> Result<()> {
    let Some(names) = tally.worth_another_try() else { return Ok(()) };
    println!("\nOnce more, one at a time: {}", names.join(", "));
    let mut command = test_command(workspace, outside, &["--all-targets"]);
    command.arg("--exact").args(names).env("RUST_TEST_THREADS", "1");
    let again = watch(command, LIMIT, &mut io::stdout())?;
    tally.try_again(&again);
    Ok(())
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
    for name in &tally.unsteady {
        println!("Unsteady: {name} failed beside other tests and passed alone; mend it");
    }
    for trouble in &tally.troubles {
        println!("Trouble: {trouble}");
    }
    for test in &tally.not_run {
        println!("Not run: {test}");
    }
    if tally.ignored > 0 {
        println!("{} ignored", tally.ignored);
    }
    if tally.passed + tally.failed == 0 {
        println!("No test ran");
    }
    println!("{tally}");
}

fn test_command(workspace: &Workspace, outside: &Outside, what: &[&str]) -> Command {
    let mut command = workspace.cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).args(what).arg("--");
    outside.announce(&mut command);
    command
}

fn cargo_test(workspace: &Workspace, outside: &Outside, what: &[&str], filters: &[String]) -> Result<Tally> {
    let mut command = test_command(workspace, outside, what);
    command.args(filters);
    // With one thread libtest does not say which test takes long.
    if thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        command.env("RUST_TEST_THREADS", "2");
    }
    watch(command, LIMIT, &mut io::stdout())
}

/// Returns the tally of what a command prints, each line shown as soon as it arrives. A suite with a test that takes longer
/// than the limit is ended; the command goes on with the next one.
fn watch(mut command: Command, limit: Duration, out: &mut impl Write) -> Result<Tally> {
    // One pipe for both streams keeps cargo's announcement of a suite in front of the suite's own output.
    let (reader, writer) = io::pipe().context("cannot open a pipe")?;
    command.stdin(Stdio::null()).stdout(writer.try_clone().context("cannot open a pipe")?).stderr(writer);
    let mut child = command.spawn().context("cannot run cargo")?;
    // The command holds ends of the pipe: without this the reader would wait for ever.
    drop(command);
    let lines = lines(reader);
    let (mut tally, mut slow) = (Tally::default(), Slow::new(limit));
    let mut ended: Option<Instant> = None;
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => {
                out.write_all(&line).and_then(|()| out.flush()).context("cannot write to stdout")?;
                let line = String::from_utf8_lossy(&line);
                let line = line.trim_end_matches(['\r', '\n']);
                tally.read_line(line);
                slow.read_line(line, suite_name(line).is_some(), Instant::now());
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        // What a test left behind may hold the pipe for ever.
        if ended.is_some_and(|at| at.elapsed() >= PATIENCE) {
            break;
        }
        if let Some(names) = slow.take_overdue(Instant::now()) {
            tally.end_suite(&names, limit);
            process::end_descendants(child.id());
        }
        if ended.is_none() && child.try_wait().context("cannot wait for cargo")?.is_some() {
            ended = Some(Instant::now());
        }
    }
    tally.finish(child.wait().context("cannot wait for cargo")?.success());
    Ok(tally)
}

/// Returns the lines that come out of a pipe, as they come.
fn lines(reader: PipeReader) -> Receiver<Vec<u8>> {
    // Bounded: a reader that is behind holds the writer back.
    let (sender, receiver) = mpsc::sync_channel(1024);
    thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        loop {
            let mut line = Vec::new();
            match reader.read_until(b'\n', &mut line) {
                Ok(1..) if sender.send(line).is_ok() => {}
                _ => return,
            }
        }
    });
    receiver
}

/// How long one test may take. On a free machine none takes a minute.
const LIMIT: Duration = Duration::from_mins(5);
/// How often the tests are looked at that run.
const LOOK: Duration = Duration::from_millis(200);
/// How long after the end of cargo its output may still come.
const PATIENCE: Duration = Duration::from_secs(5);
const SLOWEST_SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// As cargo does it: a suite is a process of its own, and the next one begins whatever becomes of it.
    #[test]
    fn test_that_hangs_is_ended_and_named_and_the_next_suite_runs() {
        let script = "echo '     Running tests/it/main.rs (target/debug/deps/it-0)'
            sh -c 'exec 2>/dev/null; echo running 2 tests; echo test quick ... ok; sleep 601 &
                   echo test hangs has been running for over 60 seconds; sleep 600'
            echo '     Running tests/it/main.rs (target/debug/deps/next-0)'
            echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s'
            exit 101";
        let tally = watch(shell(script), Duration::from_mins(1), &mut io::sink()).unwrap();
        assert_eq!(tally.to_string(), "4 passed, 1 failed");
        assert_eq!(
            tally.troubles,
            ["hangs took longer than 60 s and was ended, with its suite it (tests/it/main.rs)"]
        );
    }

    #[test]
    fn process_that_a_test_left_behind_holds_nobody_up() {
        let begin = Instant::now();
        // It is no descendant any more, and still holds the pipe.
        let tally = watch(shell("(setsid sleep 30 &) ; echo done"), LIMIT, &mut io::sink()).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(25), "it waited {:?}", begin.elapsed());
        assert_eq!(tally.failed, 0);
    }
}
