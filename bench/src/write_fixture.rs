//! The command `fixture`: a generated export in a file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use demur_bench::fixture::{Plan, Written};

use crate::arguments::FixtureOrder;

/// Writes the fixture that was ordered.
pub(crate) fn run(order: &FixtureOrder) -> Result<()> {
    let written = write(&order.plan(), &order.out)?;
    eprintln!("{} events, {} bytes in {}", written.events, written.bytes, order.out.display());
    Ok(())
}

/// Writes a fixture; says on stderr how far it is when it takes long.
pub(crate) fn write(plan: &Plan, path: &Path) -> Result<Written> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut told = Instant::now();
    let mut progress = |events: u64| {
        if told.elapsed() >= PATIENCE {
            eprintln!("fixture: {events} of {} events", plan.events);
            told = Instant::now();
        }
    };
    plan.write(&mut BufWriter::with_capacity(BUFFER, file), &mut progress)
}

/// How long nobody minds silence.
const PATIENCE: Duration = Duration::from_secs(5);
const BUFFER: usize = 1 << 18;
