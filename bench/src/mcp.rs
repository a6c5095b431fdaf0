//! A call in two rounds over HTTP (`input_required`, 2026-07-28): ours, where question and answer are durable, signed and
//! chained, beside the MCP SDK for Python, which keeps nothing. One client for both, in the same run. And the hook, which
//! stands before every tool call of a client.

mod hook;
mod rounds;
mod theirs;

use std::{io::Write, thread, time::Duration};

use anyhow::{Context as _, Result};
use demur_bench::{
    measure::median,
    table::{Table, met, whole},
};

use self::{rounds::Target, theirs::Theirs};
use crate::ask::{
    load::{self, Load},
    ours::Server,
};

/// Measures calls of many callers and of one.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let headings =
        ["call in two rounds", "callers", "cores to use", "server busy", "per second", "p50", "p99"];
    let [name, callers, cores, busy, rate, p50, p99] = headings;
    let last = ["server per call", "ours beside it", "by processor time", "bar 5 x"];
    let [cpu, times, spared, bar] = last;
    let mut table = Table::new([name, callers, cores, busy, rate, p50, p99, cpu, times, spared, bar]);
    for callers in CALLERS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for pass in 1..=PASSES {
            eprintln!("mcp: {callers} callers, pass {pass} of {PASSES}");
            ours.push(measure_ours(callers)?);
            theirs.extend(measure_theirs(callers)?);
        }
        table.row(row("ours, durable and signed", callers, &ours)?);
        let [(_, version), ..] = theirs.as_slice() else {
            eprintln!("the MCP SDK for Python was not measured: `cargo xtask bench mcp` fetches it");
            continue;
        };
        let name = format!("MCP SDK for Python {version}, keeps nothing");
        let theirs: Vec<Side> = theirs.into_iter().map(|(side, _)| side).collect();
        let times = median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours.load.rate / theirs.load.rate));
        let spared = median(ours.iter().zip(&theirs).map(|(ours, theirs)| theirs.cpu / ours.cpu));
        let [name, callers, cores, busy, rate, p50, p99, cpu] = row(&name, callers, &theirs)?;
        let (times_said, spared) = (format!("{times:.1} x"), format!("{spared:.1} x"));
        let bar = met(times >= BAR).to_owned();
        table.row([name, callers, cores, busy, rate, p50, p99, cpu, times_said, spared, bar]);
    }
    table.write(out)?;
    hook::run(out)
}

/// What one pass brought.
struct Side {
    load: Load,
    /// Microseconds of processor time of the server per call.
    cpu: f64,
}

/// Returns what one side has of the machine and what it brings.
fn row(name: &str, callers: usize, passes: &[Side]) -> Result<[String; 8]> {
    let middle = |pick: fn(&Side) -> f64| median(passes.iter().map(pick));
    let cores = thread::available_parallelism().context("cannot count the cores")?;
    let milliseconds = |figure: f64| format!("{figure:.2} ms");
    Ok([
        name.to_owned(),
        callers.to_string(),
        cores.to_string(),
        format!("{:.1}", middle(|side| side.load.rate * side.cpu / 1e6)),
        whole(middle(|side| side.load.rate)),
        milliseconds(middle(|side| side.load.p50)),
        milliseconds(middle(|side| side.load.p99)),
        format!("{:.0} us", middle(|side| side.cpu)),
    ])
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
