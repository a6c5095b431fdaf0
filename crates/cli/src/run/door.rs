//! The door of an agent in a process of its own. What follows from its `hello` is decided in `demur-run`; here stands what
//! takes a look at the record: no final statement and no verdict that it does not bear.

use demur_ledger::{
    event_type::Facts,
    facts::VerificationStatus,
    statement::{Statement, Submission},
    verify::Options,
};
use demur_run::line::{Hello, Refused};

use super::{desk::Desk, turn::Interrupted};
use crate::{
    audit::{self, audit},
    error::CommandError,
    verify::threads,
};

/// Returns why a statement is refused before the ledger is asked, if it is.
pub(super) fn refuse(
    desk: &Desk<'_>,
    hello: &Hello,
    submission: &Submission,
) -> Result<Option<Refused>, Interrupted> {
    // What cannot be read is refused by the ledger, with better words.
    let Ok(statement) = Statement::parse(&submission.statement) else { return Ok(None) };
    let speaker = desk.ledger.registry().key(&submission.proof.key).map(|record| record.principal);
    let refused = hello.refuse(&statement, submission.opening.as_ref(), speaker);
    if let Some(refused) = refused.map_err(|error| CommandError::bug(&error))? {
        return Ok(Some(refused));
    }
    match &statement.facts {
        Facts::FinalStatementSigned(_) => {
            desk.check_before_the_end().map(|()| None).map_err(Interrupted::Here)
        }
        Facts::VerificationRunCompleted(facts) => verdict(desk, facts.status),
        _ => Ok(None),
    }
}

/// A verdict can be worse than what the verifier finds, never better.
fn verdict(desk: &Desk<'_>, status: VerificationStatus) -> Result<Option<Refused>, Interrupted> {
    let profile = desk.history.profile.unwrap_or(Options::default().profile);
    let options = Options { profile, threads: threads(), ..Options::default() };
    let report = audit(desk.ledger, desk.trace, &options, &mut |_| ())?.map_err(CommandError::from)?;
    if status >= audit::status(&report) {
        return Ok(None);
    }
    let message = "expected a verdict no better than what the verifier finds, found a better one";
    let cure = "verify an export of the run, and say what came of it";
    let refused = Refused::new("VERDICT_UNFOUNDED", "facts.status", message, cure);
    Ok(Some(refused.map_err(|error| CommandError::bug(&error))?))
}
