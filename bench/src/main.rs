//! The benchmarks of demur: every figure stands beside a reference that runs in the same minute on the same
//! machine, because the speed of a shared machine drifts. `cargo xtask bench` runs them.

mod append;
mod arguments;
mod ask;
mod canonical;
mod event;
mod mcp;
mod passkey;
mod race;
mod report;
mod rules;
mod run;
mod signatures;
mod tenancy;
mod verify;
mod viewers;
mod write_fixture;

use std::io;

use anyhow::{Context as _, Result};
use clap::Parser as _;

use self::arguments::{Arguments, Benchmark, Command};
use self::report::Report;

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Run { names, full } => benchmark(&names, full),
        Command::Fixture(order) => write_fixture::run(&order),
        Command::Measure(job) => verify::measure(&job, &mut io::stdout().lock()),
    }
}

/// Runs the benchmarks with these names, or all of them.
fn benchmark(names: &[Benchmark], full: bool) -> Result<()> {
    let wanted = |name| names.is_empty() || names.contains(&name);
    let mut report = Report::new();
    if wanted(Benchmark::Canonical) {
        canonical::run(&mut report)?;
    }
    if wanted(Benchmark::Signatures) {
        signatures::run(&mut report)?;
    }
    report.write(&mut io::stdout().lock()).context("the table could not be written")?;
    if wanted(Benchmark::Verify) {
        verify::run(full, &mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Append) {
        append::run(full, &mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Run) {
        run::run(&mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Ask) {
        ask::run(&mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Mcp) {
        mcp::run(&mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Race) {
        race::run(&mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Viewers) {
        viewers::run(&mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Tenancy) {
        tenancy::run(&mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Passkey) {
        passkey::run(&mut io::stdout().lock())?;
    }
    if wanted(Benchmark::Rules) {
        rules::run(&mut io::stdout().lock())?;
    }
    Ok(())
}
