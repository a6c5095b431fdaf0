//! A call in two rounds over HTTP (`input_required`, 2026-07-28): ours, where question and answer are durable, signed and
//! chained, beside the MCP SDK for Python, which keeps nothing. One client for both, in the same run.

mod rounds;
mod theirs;

use std::io::Write;

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
    writeln!(out, "{:<52} {:>10} {:>8} {:>8}", "call in two rounds over HTTP", "per s", "p50 ms", "p99 ms")?;
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
        let theirs: Vec<Load> = theirs.into_iter().map(|(load, _)| load).collect();
        write_side(out, &name, &theirs)?;
        let times = median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours.rate / theirs.rate));
        let verdict = if times >= BAR { "met" } else { "missed" };
        writeln!(out, "{:<52} {:>8.1} x  bar {BAR} x: {verdict}", "ours beside theirs", times)?;
    }
    Ok(())
}

fn write_side(out: &mut impl Write, name: &str, passes: &[Load]) -> Result<()> {
    let middle = |pick: fn(&Load) -> f64| median(passes.iter().map(pick));
    let (rate, p50, p99) = (middle(|load| load.rate), middle(|load| load.p50), middle(|load| load.p99));
    writeln!(out, "{name:<52} {rate:>10.0} {p50:>8.2} {p99:>8.2}")?;
    Ok(())
}

fn measure_ours(callers: usize) -> Result<Load> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let server = Server::start(&folder.path().join("data"))?;
    // The token of an agent whose client may pass on what its user says.
    let token = server.token_with("agent", &["ask", "relay"])?;
    measure(callers, &Target { address: server.address, token: Some(token) })
}

fn measure_theirs(callers: usize) -> Result<Option<(Load, String)>> {
    let Some(server) = Theirs::start()? else { return Ok(None) };
    let load = measure(callers, &Target { address: server.address, token: None })?;
    Ok(Some((load, server.version.clone())))
}

fn measure(callers: usize, target: &Target) -> Result<Load> {
    let clients = load::runtime()?;
    Ok(load::drive(&clients, callers, |number| rounds::go(target.clone(), number))?.0)
}

/// How many callers there are.
const CALLERS: [usize; 2] = [1, 32];
/// Odd, so that there is a middle one.
const PASSES: usize = 3;
/// How many times as fast ours has to be.
const BAR: f64 = 5.0;
