//! How long `demur hook claude-code` holds up a tool call: with nothing open, with a question open, and with the server
//! killed or hung while one is. No blocked call passes, and none takes more than two seconds.

use std::{
    io::Write,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use demur_bench::table::{Table, met};

use crate::ask::ours::Server;

/// Measures tool calls that pass and that are refused.
pub(super) fn run(out: &mut impl Write) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let server = Server::start(&folder.path().join("data"))?;
    // The first call names the asker; from then on the disk says what is open.
    call(&server, TOOLS[0], false)?;
    let mut table = Table::new(["a tool call that the hook holds up", "p50", "p99", "slowest", "bar", ""]);
    measure(&mut table, "nothing open: passes", &server, ROUNDS, false)?;
    let asked = server.command(&["ask", "Which colour?", "--as", "claude-code", "--no-wait"])?.output()?;
    ensure!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    measure(&mut table, "a question open: refused", &server, ROUNDS, true)?;
    server.signal("-STOP")?;
    let hung = measure(&mut table, "and the server hung: refused", &server, HUNG_ROUNDS, true);
    server.signal("-CONT")?;
    hung?;
    server.signal("-KILL")?;
    measure(&mut table, "and the server killed: refused", &server, ROUNDS, true)?;
    table.write(out)?;
    Ok(())
}

fn measure(table: &mut Table, name: &str, server: &Server, rounds: usize, refused: bool) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        for tool in TOOLS {
            times.push(call(server, tool, refused)?);
        }
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    let (p99, slowest) = (at(99), at(100));
    let (bar, is_met) =
        if rounds == HUNG_ROUNDS { ("slowest 2 s", slowest <= 2_000.0) } else { ("p99 30 ms", p99 <= 30.0) };
    let times = [at(50), p99, slowest].map(|time| format!("{time:.1} ms"));
    let [p50, p99, slowest] = times;
    table.row([name.to_owned(), p50, p99, slowest, bar.to_owned(), met(is_met).to_owned()]);
    Ok(())
}

fn call(server: &Server, tool: &str, refused: bool) -> Result<Duration> {
    let begin = Instant::now();
    let mut hook = server.command(&["hook", "claude-code"])?;
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // What Claude Code says before a tool call.
    let event = format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"bench","tool_name":"{tool}","tool_input":{{"command":"make"}}}}"#
    );
    hook.stdin.take().context("no input")?.write_all(event.as_bytes())?;
    let said = hook.wait_with_output()?;
    let time = begin.elapsed();
    let said = String::from_utf8(said.stdout)?;
    ensure!(said.contains("\"deny\"") == refused, "{tool}: expected refused = {refused}, found {said:?}");
    Ok(time)
}

const TOOLS: [&str; 6] = ["Bash", "Edit", "Write", "WebFetch", "Task", "mcp__github__create_issue"];
/// How often each tool is called.
const ROUNDS: usize = 50;
/// A server that hangs takes as long as it may.
const HUNG_ROUNDS: usize = 2;
