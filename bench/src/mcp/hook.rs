//! How long `demur hook claude-code` holds up a tool call that it refuses: a process, a look at the server, a decision.

use std::{
    io::Write,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use demur_bench::{
    measure::median,
    table::{Table, met},
};

use crate::ask::ours::Server;

/// Measures refusals.
pub(super) fn run(out: &mut impl Write) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let server = Server::start(&folder.path().join("data"))?;
    let asked = server.command(&["ask", "Which colour?", "--as", "claude-code", "--no-wait"])?.output()?;
    ensure!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let times = (0..TIMES).map(|_| refuse(&server)).collect::<Result<Vec<Duration>>>()?;
    let middle = median(times.iter().map(|time| time.as_secs_f64() * 1e3));
    let mut table = Table::new(["the hook", "", "bar 50 ms"]);
    let name = format!("a tool call refused, one after the other, middle of {TIMES}");
    table.row([name, format!("{middle:.1} ms"), met(middle < BAR).to_owned()]);
    table.write(out)?;
    Ok(())
}

fn refuse(server: &Server) -> Result<Duration> {
    let begin = Instant::now();
    let mut hook = server.command(&["hook", "claude-code"])?;
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    hook.stdin.take().context("no input")?.write_all(CALL)?;
    let said = hook.wait_with_output()?;
    let time = begin.elapsed();
    let said = String::from_utf8(said.stdout)?;
    ensure!(said.contains("\"deny\""), "expected a refusal, found {said:?}");
    Ok(time)
}

/// What Claude Code says before a tool call.
const CALL: &[u8] = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"}}"#;
/// Odd, so that there is a middle one.
const TIMES: usize = 31;
/// What nobody notices, in milliseconds.
const BAR: f64 = 50.0;
