//! Our side: an export in a file, verified as `demur verify` does it.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use demur_bench::fixture::{Artifacts, Plan};
use demur_ledger::verify::{Options, Verdict, verify};

/// An export whose events are all signed, with contents and one artifact.
pub(crate) struct Ledger {
    path: PathBuf,
    pub(crate) bytes: u64,
}

impl Ledger {
    /// Writes an export of this many events.
    pub(crate) fn create(path: &Path, events: u64) -> Result<Self> {
        // The peers store no artifacts, so neither do we.
        let plan = Plan { events, artifacts: Artifacts::Shared, seed: 1 };
        let written = plan.write(&mut BufWriter::new(File::create(path)?), &mut |_| {})?;
        Ok(Self { path: path.to_owned(), bytes: written.bytes })
    }

    /// Makes every check, or every one but signatures, with this many threads for the lines.
    pub(crate) fn verify(&self, signatures: bool, threads: usize) -> Result<()> {
        let reader = BufReader::with_capacity(1 << 18, File::open(&self.path)?);
        let options = Options { signatures, threads, ..Options::default() };
        let report = verify(reader, &options, &mut |_| {})?;
        let expected = if signatures { Verdict::Pass } else { Verdict::NotEstablished };
        ensure!(report.verdict == expected, "expected {expected:?}, found {:?}", report.verdict);
        Ok(())
    }
}
