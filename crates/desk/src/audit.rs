//! What the verifier says about a trace of the store in use: its export goes from one to the other through a pipe.

use std::{
    io::{self, BufReader, BufWriter},
    thread,
};

use demur_api::{code, refusal::Refusal};
use demur_ledger::{
    facts::VerificationStatus,
    name::{Sequence, TraceId},
    verify::{Check, Code, Finding, FindingSeverity, Options, Report, StatedChecks, Verdict, verify},
};
use demur_sequencer::{RootTrees, Sequencer, SequencerError};
use demur_store::contract::Kept;

use crate::key_directory::software;

/// Returns the verifier's report over the export of a trace, or why it could not be exported.
pub fn audit(
    ledger: &Sequencer,
    trace: TraceId,
    options: &Options,
    tell: &mut (dyn FnMut(u64) + Send),
) -> Result<Result<Report, SequencerError>, Refusal> {
    audit_under(ledger, None, trace, options, tell)
}

/// Returns the same with roots that were read before, for whoever looks at many traces.
pub fn audit_under(
    ledger: &Sequencer,
    trees: Option<&RootTrees>,
    trace: TraceId,
    options: &Options,
    tell: &mut (dyn FnMut(u64) + Send),
) -> Result<Result<Report, SequencerError>, Refusal> {
    let pipe =
        |error: io::Error| Refusal::new(code::Code::PipeTrouble, format!("cannot make a pipe: {error}"));
    // The export goes through once: what it will check is found in the store first.
    let options = &Options { checks: stated(ledger, trace)?, ..options.clone() };
    let (reader, writer) = io::pipe().map_err(pipe)?;
    let software = software()?;
    thread::scope(|scope| {
        let export = scope.spawn(move || {
            let writer = &mut BufWriter::with_capacity(PIPE_BUFFER_BYTES, writer);
            ledger.export_under(trees, trace, software, writer, tell)
        });
        let report = verify(BufReader::with_capacity(PIPE_BUFFER_BYTES, reader), options, &mut |_| ());
        let exported = export.join().map_err(|_| Refusal::bug(&"the export ended in a panic"))?;
        match (exported, report) {
            // The verifier may have seen enough before the end.
            (Ok(_) | Err(SequencerError::Output(_)), Ok(report)) => Ok(Ok(report)),
            (Err(error), _) => Ok(Err(error)),
            (Ok(_), Err(error)) => Err(Refusal::bug(&error)),
        }
    })
}

/// Returns the checks that a trace states.
fn stated(ledger: &Sequencer, trace: TraceId) -> Result<StatedChecks, Refusal> {
    let mut checks = StatedChecks::default();
    let mut next = Sequence::FIRST;
    loop {
        let page = ledger.store().events(trace, next, EVENTS_PER_READ)?;
        if page.is_empty() {
            return Ok(checks);
        }
        for stored in page {
            if let Kept::Here(opening) = &stored.content {
                checks.take(&stored.bytes, &opening.bytes);
            }
            next = next.next();
        }
    }
}

/// Returns an auditor's verdict over a run that waits for it.
///
/// That no verification has passed yet is no point against it, also where it weighs as a failure: this is the one.
pub fn status(report: &Report) -> VerificationStatus {
    let worst = |of_the_end: bool| {
        let checks = report.checks.iter().filter(|made| (made.check == Check::Finalization) == of_the_end);
        checks.filter_map(|made| made.worst).max()
    };
    let holds = matches!(report.verdict, Verdict::Pass | Verdict::PassWithWarnings);
    match worst(false) {
        Some(FindingSeverity::Failure | FindingSeverity::NotEstablished) => VerificationStatus::Fail,
        _ if !holds && worst(true) != Some(FindingSeverity::Failure) => VerificationStatus::Fail,
        Some(_) => VerificationStatus::PassWithWarnings,
        None => VerificationStatus::Pass,
    }
}

/// Returns what forbids a final statement (LED-25): anything that does not hold, but for an artifact that is missing,
/// which the audit will find (LED-19).
pub fn obstacle(report: &Report) -> Option<&Finding> {
    report
        .findings
        .iter()
        .filter(|finding| finding.severity == FindingSeverity::Failure)
        .find(|finding| !matches!(finding.code, Code::ArtifactMissing | Code::ClaimUnproven))
}

/// Returns how many threads a verification uses: as many as there are cores.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// How much goes through the pipe at a time.
const PIPE_BUFFER_BYTES: usize = 1 << 16;

/// How many events are looked at together.
const EVENTS_PER_READ: usize = 256;
