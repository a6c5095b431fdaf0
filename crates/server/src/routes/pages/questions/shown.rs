//! Whoever may answer and was shown a question is on record, once. Nobody waits for the record, and no page fails for it.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use demur_api::{
    question::{QuestionId, QuestionView},
    refusal::Refusal,
    scope::Scope,
};
use demur_core::limit::Text;
use demur_desk::{access::Caller, owner::Owner, question, session::Speaker};
use demur_ledger::content::Wording;
use demur_web::frame::Level;

use crate::service::Shared;

/// Notes that somebody was shown these questions.
pub(super) fn note(service: &Shared, caller: &Caller, questions: &[QuestionView], level: Level) {
    let Caller::Token(token) = caller else { return };
    if !token.scopes.contains(&Scope::Person) || !caller.may(&[Scope::Answer]) || !service.desk.is_open() {
        return;
    }
    let name = token.name.as_str().to_owned();
    let waiting = questions.iter().filter(|question| question.is_open() && question.people);
    // Claimed before it is recorded: two pages at once are one showing.
    let claimed: Vec<QuestionId> = waiting.map(|shown| shown.id).filter(|id| claim(*id, &name)).collect();
    if claimed.is_empty() {
        return;
    }
    let (service, caller, wording) = (Shared::clone(service), caller.clone(), wording(level));
    tokio::spawn(async move {
        let noted = service.work(move |_, owner| {
            let speaker = caller.answerer(owner, None)?;
            for id in claimed {
                record(owner, id, &speaker, wording).inspect_err(|_| give_back(id, &name))?;
            }
            Ok(())
        });
        if let Err(problem) = noted.await {
            tracing::debug!(code = problem.code().as_str(), "what was shown is not on record");
        }
    });
}

/// Returns the wording of a level, as the record names it.
pub(in crate::routes::pages) const fn wording(level: Level) -> Wording {
    match level {
        Level::Terse => Wording::Terse,
        Level::Normal => Wording::Normal,
        Level::Detailed => Wording::Detailed,
    }
}

fn record(owner: &Owner, id: QuestionId, speaker: &Speaker, wording: Wording) -> Result<(), Refusal> {
    question::deliver_shown(owner, id, speaker, &Text::try_from(CHANNEL)?, wording).map(|_| ())
}

fn claim(id: QuestionId, name: &str) -> bool {
    let mut claimed = claimed();
    if claimed.len() >= MOST {
        // The record itself is looked at before anything is recorded twice.
        claimed.clear();
    }
    claimed.insert((id, name.to_owned()))
}

fn give_back(id: QuestionId, name: &str) {
    claimed().remove(&(id, name.to_owned()));
}

fn claimed() -> MutexGuard<'static, BTreeSet<(QuestionId, String)>> {
    static CLAIMED: Mutex<BTreeSet<(QuestionId, String)>> = Mutex::new(BTreeSet::new());
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way these questions went.
const CHANNEL: &str = "web";
/// How many showings are remembered.
const MOST: usize = 16_384;
