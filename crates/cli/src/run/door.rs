//! The door of an agent in a process of its own. The ledger's rules come after it: here stands what only holds because the
//! desk gave this process one role in one run, with these files.

use demur_ledger::{
    content::Opening,
    event_type::{Content, EventType, Facts},
    facts::{Participant, SessionInitialized, VerificationStatus},
    statement::{Statement, Submission},
    verify::Options,
};
use demur_run::line::Refused;

use super::{desk::Desk, folder::Orders, turn::Interrupted};
use crate::{
    audit::{self, audit},
    error::CommandError,
    verify::threads,
};

/// Returns why a statement is refused before the ledger is asked, if it is.
pub(super) fn refuse(
    desk: &mut Desk<'_>,
    player: Participant,
    orders: &Orders,
    submission: &Submission,
) -> Result<Option<Refused>, Interrupted> {
    // What cannot be read is refused by the ledger, with better words.
    let Ok(statement) = Statement::parse(&submission.statement) else { return Ok(None) };
    let registry = desk.ledger.registry();
    let speaker = registry.key(&submission.proof.key).map(|record| record.principal);
    if (statement.trace, statement.role) != (desk.trace, player.role) {
        let message = "expected a statement in the trace and the role of the hello, found another";
        return no("AGENT_SCOPE", "statement.trace", message, "say only what your role says in this run");
    }
    if speaker.is_some_and(|speaker| speaker != player.principal) {
        let message = "expected a signature with a key of the principal of the hello, found another's";
        return no("AGENT_SCOPE", "proof.key", message, "sign with your own key");
    }
    match &statement.facts {
        Facts::SessionInitialized(facts) => opening(desk, orders, facts, submission.opening.as_ref()),
        Facts::FinalStatementSigned(_) => {
            desk.check_before_the_end().map(|()| None).map_err(Interrupted::Here)
        }
        Facts::VerificationRunCompleted(facts) => verdict(desk, facts.status),
        _ => Ok(None),
    }
}

/// The run opens as its files say, whoever opens it.
fn opening(
    desk: &Desk<'_>,
    orders: &Orders,
    facts: &SessionInitialized,
    words: Option<&Opening>,
) -> Result<Option<Refused>, Interrupted> {
    if *facts.participants != desk.participants[..] || facts.policy != orders.demands() {
        let message = "expected the participants and the policy of the hello, found others";
        return no("OPENING_DIFFERS", "facts", message, "open the run as the hello says");
    }
    let content = words.and_then(|words| Content::parse(EventType::SessionInitialized, &words.bytes).ok());
    let named = |line: &String| match &content {
        Some(Content::SessionInitialized(content)) => {
            content.constraints.iter().any(|one| one.as_str() == line)
        }
        _ => false,
    };
    if orders.bound.iter().all(named) {
        return Ok(None);
    }
    let message = "expected every constraint of the hello among those of the opening, found one missing";
    no("OPENING_DIFFERS", "content.constraints", message, "name the constraints of the hello")
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
    no("VERDICT_UNFOUNDED", "facts.status", message, "verify an export of the run, and say what came of it")
}

fn no(code: &str, field: &str, message: &str, cure: &str) -> Result<Option<Refused>, Interrupted> {
    let code = code.to_owned().try_into().map_err(|error| CommandError::bug(&error))?;
    let (cure, field, message) = (cure.to_owned(), Some(field.to_owned()), message.to_owned());
    Ok(Some(Refused { code, cure, field, message }))
}
