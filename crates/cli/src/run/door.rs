//! The door of an agent in a process of its own. What follows from its `hello` is decided in `demur-run`; what takes a look at
//! the record (no final statement and no verdict that it does not bear) in `demur-desk`, for every door.

use demur_desk::run::{check_record, unfounded};
use demur_ledger::{
    event_type::Facts,
    statement::{Statement, Submission},
};
use demur_run::line::{Hello, Refused};

use super::{desk::Desk, turn::Interrupted};
use crate::failure::Failure;

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
    if let Some(refused) = refused.map_err(|error| Failure::bug(&error))? {
        return Ok(Some(refused));
    }
    match &statement.facts {
        Facts::FinalStatementSigned(_) => {
            check_record(desk.ledger, desk.trace).map(|()| None).map_err(Interrupted::from)
        }
        Facts::VerificationRunCompleted(facts) => {
            Ok(unfounded(desk.ledger, desk.trace, desk.history.profile, facts.status)?)
        }
        _ => Ok(None),
    }
}
