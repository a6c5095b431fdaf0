//! What takes a look at the whole record before the ledger is asked: no final statement and no verdict that it does not bear.

use demur_api::{code::Code, refusal::Refusal};
use demur_ledger::{
    facts::{VerificationProfile, VerificationStatus},
    name::TraceId,
    verify::Options,
};
use demur_run::line::Refused;
use demur_sequencer::Sequencer;
use demur_store::contract::Failure;

use crate::audit::{audit, obstacle, status, threads};

/// Checks that a final statement may stand over this record (LED-25). One that does not hold is marked as failed (LED-18,
/// LED-30).
pub fn check_record(ledger: &Sequencer, trace: TraceId) -> Result<(), Refusal> {
    let options = Options { threads: threads(), ..Options::default() };
    let report = audit(ledger, trace, &options, &mut |_| ())??;
    let Some(finding) = obstacle(&report) else { return Ok(()) };
    let failure = Failure { sequence: finding.sequence, code: finding.code.as_str().to_owned() };
    ledger.mark_failed(trace, &failure)?;
    let message = format!("the record does not hold, and the run has failed: {}", finding.message);
    Err(Refusal::new(Code::RecordUnproven, message).with_cure("`demur store check` says what else is wrong"))
}

/// Returns why this verdict is refused, if it is: it can be worse than what the verifier finds, never better.
pub fn unfounded(
    ledger: &Sequencer,
    trace: TraceId,
    profile: Option<VerificationProfile>,
    given: VerificationStatus,
) -> Result<Option<Refused>, Refusal> {
    let profile = profile.unwrap_or(Options::default().profile);
    let options = Options { profile, threads: threads(), ..Options::default() };
    let report = audit(ledger, trace, &options, &mut |_| ())??;
    if given >= status(&report) {
        return Ok(None);
    }
    let message = "expected a verdict no better than what the verifier finds, found a better one";
    let cure = "verify an export of the run, and say what came of it";
    let refused = Refused::new(Code::VerdictUnfounded.as_str(), "facts.status", message, cure);
    refused.map(Some).map_err(|error| Refusal::bug(&error))
}
