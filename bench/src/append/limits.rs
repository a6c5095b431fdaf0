//! What the machine does alone: syncs, signatures, checks. The other tables are read beside these.

use std::{fs::File, io::Write, os::unix::fs::FileExt as _, path::Path, time::Instant};

use anyhow::{Context as _, Result};
use demur_bench::table::{Table, whole};
use demur_core::{hash::Purpose, key::SecretKey, random::Seeded};

/// Measures one thread.
pub(super) fn run(out: &mut impl Write) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let key = SecretKey::generate(&mut Seeded::from_number(1));
    let message = [b'm'; 600];
    let signature = key.sign(Purpose::Statement, &message);
    let public = key.public();
    let mut table = Table::new(["the machine alone, one thread", "per s"]);
    let mut row = |name: &str, rate: f64| table.row([name.to_owned(), whole(rate)]);
    row("4 KiB overwritten, fdatasync", syncs(&folder.path().join("overwritten"), true)?);
    row("4 KiB appended, fdatasync", syncs(&folder.path().join("appended"), false)?);
    let made = rate(|_| {
        std::hint::black_box(key.sign(Purpose::Statement, &message));
        Ok(())
    });
    row("Ed25519 signatures made, 600 bytes", made?);
    row(
        "Ed25519 signatures checked at the door",
        rate(|_| Ok(public.admit(Purpose::Statement, &message, &signature)?))?,
    );
    table.write(out)?;
    Ok(())
}

fn syncs(path: &Path, overwrite: bool) -> Result<f64> {
    let file = File::create(path).context("cannot make a file")?;
    let block = [7; 4096];
    if overwrite {
        file.write_all_at(&vec![0; 4096 * 256], 0)?;
        file.sync_all()?;
    }
    rate(|round| {
        let place = if overwrite { round % 256 } else { round };
        file.write_all_at(&block, place * 4096)?;
        Ok(file.sync_data()?)
    })
}

/// Returns how often the work is done in a second.
fn rate(mut work: impl FnMut(u64) -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    let mut rounds = 0_u32;
    while begin.elapsed().as_secs_f64() < SECONDS {
        work(rounds.into())?;
        rounds += 1;
    }
    Ok(f64::from(rounds) / begin.elapsed().as_secs_f64())
}

const SECONDS: f64 = 1.5;
