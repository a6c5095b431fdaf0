//! The verifier of demur beside signet-core 0.11.0 and witness-log-core 0.6.1, each through its public API, on
//! records of its own kind in files. All sides run on one thread's worth of work and take turns; rates are per
//! second of processor time. `cargo xtask bench peers` runs it; `docs/benchmarks.md` says what is compared.

mod contest;
mod ours;
mod signet;
mod witness;

use std::io;

use anyhow::{Context as _, Result};

use self::contest::Contest;

fn main() -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for the records")?;
    let mut out = io::stdout().lock();
    contest::write_heading(&mut out)?;

    let ledger = ours::Ledger::create(&folder.path().join("ours-10k.jsonl"), TEN_THOUSAND)?;
    let audit = signet::Audit::create(&folder.path().join("signet"), TEN_THOUSAND)?;
    let signed = |name, bar| Contest { name, entries: TEN_THOUSAND, bytes: (ledger.bytes, audit.bytes), bar };
    signed("signet-core: chain and all signatures", Some(8.0)).run(
        &mut out,
        || ledger.verify(true),
        || audit.verify(),
    )?;
    signed("signet-core: bare `verify`, receipts parsed", None).run(
        &mut out,
        || ledger.verify(true),
        || audit.verify_parsed(),
    )?;

    for (entries, name) in [
        (TEN_THOUSAND, "witness-log-core: 10k, hashes"),
        (HUNDRED_THOUSAND, "witness-log-core: 100k, hashes"),
    ] {
        let ledger = ours::Ledger::create(&folder.path().join("ours.jsonl"), entries)?;
        let dossier = witness::Dossier::create(&folder.path().join("dossier.json"), entries)?;
        Contest { name, entries, bytes: (ledger.bytes, dossier.bytes), bar: Some(1.0) }.run(
            &mut out,
            || ledger.verify(false),
            || dossier.verify(),
        )?;
    }
    Ok(())
}

const TEN_THOUSAND: u64 = 10_000;
const HUNDRED_THOUSAND: u64 = 100_000;
