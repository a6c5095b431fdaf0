//! From a question to its answer over HTTP, both durable, signed and chained: beside empty round trips of the same HTTP
//! library and two raw durable appends in the same run, and beside LangGraph.

mod langgraph;
mod limit;
pub(crate) mod load;
pub(crate) mod ours;
mod scale;

use std::io::Write;

use anyhow::Result;
use demur_bench::measure::median;

/// Measures round trips of many callers.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let mut passes = Vec::new();
    for pass in 1..=PASSES {
        eprintln!("ask: pass {pass} of {PASSES}");
        passes.push(measure()?);
    }
    let middle = |pick: fn(&Pass) -> f64| median(passes.iter().map(pick));
    let ratio = middle(|pass| pass.ours / pass.ceiling());
    writeln!(out)?;
    writeln!(out, "{:<52} {:>10}", format!("ask to answered, {CALLERS} callers"), "per s")?;
    let mut row = |name: &str, rate: f64| writeln!(out, "{name:<52} {rate:>10.0}");
    row("empty round trips, axum, in memory", middle(|pass| pass.http))?;
    row("raw durable appends, signed, grouped", middle(|pass| pass.appends))?;
    row("ceiling: a round trip and two appends", middle(Pass::ceiling))?;
    row("ours over HTTP", middle(|pass| pass.ours))?;
    writeln!(
        out,
        "{:<52} {:>9.1}%  bar 40 %: {}",
        "ours beside the ceiling",
        ratio * 100.0,
        met(ratio >= 0.4)
    )?;
    writeln!(
        out,
        "{:<52} {:>10.0}",
        "processor time of the server per round trip, us",
        middle(|pass| pass.cpu)
    )?;
    writeln!(out, "{:<52} {:>10.2}", "time of one round trip, middle, ms", middle(|pass| pass.p50))?;
    writeln!(
        out,
        "{:<52} {:>10.2}",
        "time of one round trip, of a hundred the slowest, ms",
        middle(|pass| pass.p99)
    )?;
    match langgraph::rates()? {
        Some(sides) => {
            for side in sides {
                let times = middle(|pass| pass.ours) / side.rate;
                let words = format!("{}, {} threads", side.name, side.threads);
                writeln!(
                    out,
                    "{words:<52} {:>10.1}  ours {times:.0} x, bar 40 x: {}",
                    side.rate,
                    met(times >= 40.0)
                )?;
            }
        }
        None => writeln!(
            out,
            "LangGraph was not measured: `cargo xtask bench ask` fetches it with pip, if there is one"
        )?,
    }
    scale::run(out)
}

/// One pass: rates per second, times in milliseconds, processor time in microseconds.
struct Pass {
    http: f64,
    appends: f64,
    ours: f64,
    cpu: f64,
    p50: f64,
    p99: f64,
}

impl Pass {
    /// Returns how many round trips there could be if nothing but the HTTP and the two appends took time.
    fn ceiling(&self) -> f64 {
        1.0 / (1.0 / self.http + 2.0 / self.appends)
    }
}

fn measure() -> Result<Pass> {
    let http = limit::round_trips()?;
    let (load, rows) = ours::round_trips()?;
    let appends = limit::appends(&rows)?;
    Ok(Pass { http, appends, ours: load.rate, cpu: load.cpu, p50: load.p50, p99: load.p99 })
}

const fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

/// How many pairs of asker and answerer there are.
const CALLERS: usize = 64;
/// Odd, so that there is a middle one.
const PASSES: usize = 3;
