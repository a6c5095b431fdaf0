//! The verifier of demur beside signet-core 0.11.0 and witness-log-core 0.6.1, each through its public API, on
//! records of its own kind in files. The sides take turns: on one core each, by processor time; on all cores each, by the
//! clock; and ours on all cores beside the one that their API uses. `cargo xtask bench peers` runs it;
//! `docs/benchmarks.md` says what is compared.

mod contest;
mod ours;
mod signet;
mod witness;

use std::io;
use std::thread;

use anyhow::{Context as _, Result};

use self::contest::{Contest, Cores};

fn main() -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for the records")?;
    let mut table = contest::table();
    let all = thread::available_parallelism().context("cannot count the cores")?.get();
    // Equal cores first; then all of ours beside the one that their API uses.
    let sides = [(1, 1), (all, all), (all, 1)].map(|(ours, theirs)| Cores { ours, theirs });

    let ledger = ours::Ledger::create(&folder.path().join("ours-10k.jsonl"), TEN_THOUSAND)?;
    let audit = signet::Audit::create(&folder.path().join("signet"), TEN_THOUSAND)?;
    let bytes = (ledger.bytes, audit.bytes);
    for cores in sides {
        let signed =
            |name, bar| Contest { name, cores, entries: TEN_THOUSAND, bytes, bar, bytes_count: false };
        let verify = || ledger.verify(true, cores.ours);
        let whole = signed("signet-core 0.11.0, chain and all signatures, 10,000", Some(8.0));
        table.row(whole.run(verify, || audit.verify())?);
        let bare = signed("signet-core 0.11.0, bare `verify`, receipts parsed before", None);
        table.row(bare.run(verify, || audit.verify_parsed())?);
    }

    for (entries, name) in [
        (TEN_THOUSAND, "witness-log-core 0.6.1, 10,000 leaves, hashes only"),
        (HUNDRED_THOUSAND, "witness-log-core 0.6.1, 100,000 leaves, hashes only"),
    ] {
        let ledger = ours::Ledger::create(&folder.path().join("ours.jsonl"), entries)?;
        let dossier = witness::Dossier::create(&folder.path().join("dossier.json"), entries)?;
        for cores in sides {
            let bytes = (ledger.bytes, dossier.bytes);
            let contest = Contest { name, cores, entries, bytes, bar: Some(1.0), bytes_count: true };
            table.row(contest.run(|| ledger.verify(false, cores.ours), || dossier.verify())?);
        }
    }
    table.write(&mut io::stdout().lock())?;
    Ok(())
}

const TEN_THOUSAND: u64 = 10_000;
const HUNDRED_THOUSAND: u64 = 100_000;
