//! The verifier of demur beside signet-core 0.11.0 and witness-log-core 0.6.1, each through its public API, on
//! records of its own kind in files. The sides take turns, first by processor time, where all have one thread, then
//! by the clock, where ours has a thread for each core. `cargo xtask bench peers` runs it; `docs/benchmarks.md` says what is compared.

mod contest;
mod ours;
mod signet;
mod witness;

use std::io;
use std::thread;

use anyhow::{Context as _, Result};

use self::contest::{Contest, Count};

fn main() -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for the records")?;
    let mut out = io::stdout().lock();
    contest::write_heading(&mut out)?;
    let cores = thread::available_parallelism().context("cannot count the cores")?.get();
    let sides = [(Count::OneCore, 1), (Count::AllCores, cores)];

    let ledger = ours::Ledger::create(&folder.path().join("ours-10k.jsonl"), TEN_THOUSAND)?;
    let audit = signet::Audit::create(&folder.path().join("signet"), TEN_THOUSAND)?;
    let bytes = (ledger.bytes, audit.bytes);
    for (count, threads) in sides {
        let signed =
            |name, bar| Contest { name, count, entries: TEN_THOUSAND, bytes, bar, bytes_count: false };
        signed("signet-core: chain and all signatures", Some(8.0)).run(
            &mut out,
            || ledger.verify(true, threads),
            || audit.verify(),
        )?;
        signed("signet-core: bare `verify`, receipts parsed", None).run(
            &mut out,
            || ledger.verify(true, threads),
            || audit.verify_parsed(),
        )?;
    }

    for (entries, name) in [
        (TEN_THOUSAND, "witness-log-core: 10k, hashes"),
        (HUNDRED_THOUSAND, "witness-log-core: 100k, hashes"),
    ] {
        let ledger = ours::Ledger::create(&folder.path().join("ours.jsonl"), entries)?;
        let dossier = witness::Dossier::create(&folder.path().join("dossier.json"), entries)?;
        for (count, threads) in sides {
            let bytes = (ledger.bytes, dossier.bytes);
            Contest { name, count, entries, bytes, bar: Some(1.0), bytes_count: true }.run(
                &mut out,
                || ledger.verify(false, threads),
                || dossier.verify(),
            )?;
        }
    }
    Ok(())
}

const TEN_THOUSAND: u64 = 10_000;
const HUNDRED_THOUSAND: u64 = 100_000;
