//! From a question to its answer over HTTP, both durable, signed and chained: beside empty round trips of the same HTTP
//! library and two raw durable appends in the same run, and beside LangGraph.

mod feed;
mod langgraph;
mod limit;
pub(crate) mod load;
pub(crate) mod ours;
mod scale;

use std::{io::Write, thread};

use anyhow::{Context as _, Result};
use demur_bench::{
    measure::median,
    table::{Table, met, whole},
};

use self::ours::Ours;

/// Measures round trips of many callers, of one caller, and of LangGraph with as many.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let (mut passes, mut single) = (Vec::new(), Vec::new());
    for pass in 1..=PASSES {
        eprintln!("ask: pass {pass} of {PASSES}");
        passes.push(measure()?);
        single.push(ours::round_trips(1)?.0);
    }
    limits(&passes)?.write(out)?;
    let many: Vec<Ours> = passes.into_iter().map(|pass| pass.ours).collect();
    beside_langgraph(&[(1, single), (CALLERS, many)])?.write(out)?;
    scale::run(out)
}

/// Returns the table of many callers beside what there could be.
fn limits(passes: &[Pass]) -> Result<Table> {
    let middle = |pick: fn(&Pass) -> f64| median(passes.iter().map(pick));
    let ratio = middle(|pass| pass.ours.rate / pass.ceiling());
    let cores = thread::available_parallelism().context("cannot count the cores")?;
    let heading = format!("{CALLERS} callers, {cores} cores for server and clients");
    let mut table = Table::new([&heading, "per second"]);
    let mut row = |name: &str, figure: String| table.row([name.to_owned(), figure]);
    row("empty round trips, axum, in memory", whole(middle(|pass| pass.http)));
    row("raw durable appends, signed, grouped", whole(middle(|pass| pass.appends)));
    row("ceiling", whole(middle(Pass::ceiling)));
    row("**ours over HTTP**", format!("**{}**", whole(middle(|pass| pass.ours.rate))));
    row("ours beside the ceiling", format!("{:.1} % (bar 40 %: {})", ratio * 100.0, met(ratio >= 0.4)));
    row("processor time of the server per round trip", format!("{:.0} us", middle(|pass| pass.ours.cpu)));
    row("time of one round trip, middle", format!("{:.2} ms", middle(|pass| pass.ours.p50)));
    row("of a hundred the slowest", format!("{:.2} ms", middle(|pass| pass.ours.p99)));
    Ok(table)
}

/// Returns the table of ours beside LangGraph, with equal numbers of callers and what each side had of the machine.
fn beside_langgraph(ours: &[(usize, Vec<Ours>)]) -> Result<Table> {
    let cores = thread::available_parallelism().context("cannot count the cores")?;
    let headings = ["", "callers", "cores to use", "cores busy", "per second", "ours beside it", "bar 40 x"];
    let mut table = Table::new(headings);
    let theirs = langgraph::rates()?;
    if theirs.is_none() {
        eprintln!("LangGraph was not measured: `cargo xtask bench ask` fetches it with pip, if there is one");
    }
    for (callers, passes) in ours {
        let middle = |pick: fn(&Ours) -> f64| median(passes.iter().map(pick));
        let (rate, busy) = (middle(|pass| pass.rate), middle(|pass| pass.busy));
        let row = |name: &str, rate: f64, busy: f64| {
            [name.to_owned(), callers.to_string(), cores.to_string(), format!("{busy:.1}"), whole(rate)]
        };
        table.row(row("ours over HTTP, server and clients", rate, busy));
        for side in theirs.iter().flatten().filter(|side| side.threads == *callers) {
            let times = rate / side.rate;
            let [name, callers, cores, busy, theirs] = row(&side.name, side.rate, side.busy);
            table.row([
                name,
                callers,
                cores,
                busy,
                theirs,
                format!("{times:.0} x"),
                met(times >= 40.0).into(),
            ]);
        }
    }
    Ok(table)
}

/// One pass of many callers; rates per second.
struct Pass {
    http: f64,
    appends: f64,
    ours: Ours,
}

impl Pass {
    /// Returns how many round trips there could be if nothing but the HTTP and the two appends took time.
    fn ceiling(&self) -> f64 {
        1.0 / (1.0 / self.http + 2.0 / self.appends)
    }
}

fn measure() -> Result<Pass> {
    let http = limit::round_trips()?;
    let (ours, rows) = ours::round_trips(CALLERS)?;
    let appends = limit::appends(&rows)?;
    Ok(Pass { http, appends, ours })
}

/// How many pairs of asker and answerer there are.
const CALLERS: usize = 64;
/// Odd, so that there is a middle one.
const PASSES: usize = 3;
