//! A call in two rounds over HTTP (`input_required`, 2026-07-28): ours, where question and answer are durable, signed and
//! chained, beside the MCP SDK for Python, which keeps nothing. One client for both, in the same run. And the hook, which
//! stands before every tool call of a client.

mod hook;
mod rounds;
mod theirs;

use std::{io::Write, time::Duration};

use anyhow::{Context as _, Result};
use demur_bench::measure::median;

use self::{rounds::Target, theirs::Theirs};
use crate::ask::{
    load::{self, Load},
    ours::Server,
};

/// Measures calls of many callers and of one.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    writeln!(out)?;
    let (rate, p50, p99, cpu) = ("per s", "p50 ms", "p99 ms", "server us");
    writeln!(out, "{:<52} {rate:>10} {p50:>8} {p99:>8} {cpu:>10}", "call in two rounds over HTTP")?;
    for callers in CALLERS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for pass in 1..=PASSES {
            eprintln!("mcp: {callers} callers, pass {pass} of {PASSES}");
            ours.push(measure_ours(callers)?);
            theirs.extend(measure_theirs(callers)?);
        }
        let words = if callers == 1 { "one caller".to_owned() } else { format!("{callers} callers") };
        write_side(out, &format!("ours, durable and signed, {words}"), &ours)?;
        let [(_, version), ..] = theirs.as_slice() else {
            writeln!(out, "the MCP SDK for Python was not measured: `cargo xtask bench mcp` fetches it")?;
            continue;
        };
        let name = format!("MCP SDK for Python {version}, {words}");
        let theirs: Vec<Side> = theirs.into_iter().map(|(side, _)| side).collect();
        write_side(out, &name, &theirs)?;
        let times = median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours.load.rate / theirs.load.rate));
        let spared = median(ours.iter().zip(&theirs).map(|(ours, theirs)| theirs.cpu / ours.cpu));
        let verdict = if times >= BAR { "met" } else { "missed" };
        let name = "ours beside theirs, by the clock (by processor time)";
        writeln!(out, "{name:<52} {times:>8.1} x ({spared:.1} x)  bar {BAR} x: {verdict}")?;
    }
    hook::run(out)
}

/// What one pass brought.
struct Side {
    load: Load,
    /// Microseconds of processor time of the server per call.
    cpu: f64,
}

fn write_side(out: &mut impl Write, name: &str, passes: &[Side]) -> Result<()> {
    let middle = |pick: fn(&Side) -> f64| median(passes.iter().map(pick));
    let (rate, p50, p99) =
        (middle(|side| side.load.rate), middle(|side| side.load.p50), middle(|side| side.load.p99));
    writeln!(out, "{name:<52} {rate:>10.0} {p50:>8.2} {p99:>8.2} {:>10.0}", middle(|side| side.cpu))?;
    Ok(())
}

fn measure_ours(callers: usize) -> Result<Side> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let server = Server::start(&folder.path().join("data"))?;
    // The token of an agent whose client may pass on what its user says.
    let token = server.token_with("agent", &["ask", "relay"])?;
    let target = Target { address: server.address, token: Some(token) };
    measure(callers, &target, || server.processor_time())
}

fn measure_theirs(callers: usize) -> Result<Option<(Side, String)>> {
    let Some(server) = Theirs::start()? else { return Ok(None) };
    let target = Target { address: server.address, token: None };
    let side = measure(callers, &target, || server.processor_time())?;
    Ok(Some((side, server.version.clone())))
}

fn measure(callers: usize, target: &Target, spent: impl Fn() -> Result<Duration>) -> Result<Side> {
    let clients = load::modest_runtime()?;
    let before = spent()?;
    let (load, count) = load::drive(&clients, callers, |number| rounds::go(target.clone(), number))?;
    let cpu = spent()?.saturating_sub(before).as_secs_f64() * 1e6 / f64::from(count);
    Ok(Side { load, cpu })
}

/// How many callers there are.
const CALLERS: [usize; 2] = [1, 32];
/// Odd, so that there is a middle one.
const PASSES: usize = 3;
/// How many times as fast ours has to be.
const BAR: f64 = 5.0;
