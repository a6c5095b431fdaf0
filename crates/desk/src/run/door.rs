//! What an agent in a process of its own may say, before the ledger is asked. What follows from its `hello` is decided in
//! `demur-run`; what takes a look at the whole record is the same for everybody.

use demur_api::refusal::Refusal;
use demur_ledger::{
    event_type::Facts,
    name::TraceId,
    statement::{Statement, Submission},
};
use demur_run::{
    history::History,
    line::{Hello, Refused},
};
use demur_sequencer::Sequencer;

use super::{check_record, unfounded};

/// Returns why a statement is refused before the ledger is asked, if it is.
pub(super) fn refuse(
    ledger: &Sequencer,
    (trace, history): (TraceId, &History),
    hello: &Hello,
    submission: &Submission,
) -> Result<Option<Refused>, Refusal> {
    // What cannot be read is refused by the ledger, with better words.
    let Ok(statement) = Statement::parse(&submission.statement) else { return Ok(None) };
    let speaker = ledger.registry().key(&submission.proof.key()).map(|record| record.principal);
    let refused = hello.refuse(&statement, submission.opening.as_ref(), speaker);
    if let Some(refused) = refused.map_err(|error| Refusal::bug(&error))? {
        return Ok(Some(refused));
    }
    match &statement.facts {
        Facts::FinalStatementSigned(_) => check_record(ledger, trace).map(|()| None),
        Facts::VerificationRunCompleted(facts) => unfounded(ledger, trace, history.profile, facts.status),
        _ => Ok(None),
    }
}
