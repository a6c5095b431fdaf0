//! The auditor: verifies once the executor has concluded, and closes the run with the verdict (LED-15, LED-34).

use demur_ledger::{facts::VerificationRunStarted, state::Phase};

use super::{Brief, Move, say};

pub(super) fn next(brief: &Brief<'_>) -> Option<Move> {
    if brief.history.state().phase() != Phase::Auditing {
        return None;
    }
    Some(match brief.history.verification {
        None => say(VerificationRunStarted { profile: brief.plan.task().profile }, None),
        Some(_) => Move::Verify,
    })
}
