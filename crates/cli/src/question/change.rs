//! `demur answer --replace` and `demur answer --revoke`: an answer is changed by whoever gave it.

use demur_api::{
    call::ApiRequest,
    operation::{Nothing, OfQuestion, ReplaceAnswer, RevokeAnswer, ShowQuestionHistory},
    question::{Answer, Done, QuestionId, QuestionView, Replacement, RevokeParameters},
};
use demur_core::limit::Text;
use demur_ledger::question::{OutcomeKind, RestedEvent};
use serde::Serialize;

use super::{act_on, lines, told};
use crate::{
    client::Client,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Paint, Reply},
};

/// Puts an answer in the place of the one that was just shown.
pub(super) fn replace(
    context: &mut Context<'_>,
    client: &Client,
    shown: &QuestionView,
    given: Answer,
) -> Result<Exit, Failure> {
    let answered = shown.outcome.as_ref().filter(|ending| ending.state == OutcomeKind::Answered);
    let replacement = Replacement::new(given, answered.map(|ending| ending.event));
    told(context, client, shown.id, act_on::<ReplaceAnswer>(client, shown.id, replacement))
}

/// Takes the answer back.
pub(super) fn revoke(
    context: &mut Context<'_>,
    client: &Client,
    id: QuestionId,
    reason: Option<Text<1, 1000>>,
) -> Result<Exit, Failure> {
    let given = RevokeParameters { reason, by: None, answer: None };
    let done = client.call(ApiRequest::<RevokeAnswer>::get(OfQuestion { question: id }, given));
    match done {
        Ok(done) => {
            context.output.reply(&Revoked(done))?;
            Ok(Exit::Success)
        }
        refused => told(context, client, id, refused),
    }
}

/// Returns what was done on answers to a question that no longer count.
pub(super) fn rested(client: &Client, id: QuestionId) -> Result<Vec<RestedEvent>, Failure> {
    let request = ApiRequest::<ShowQuestionHistory>::get(OfQuestion { question: id }, Nothing {});
    Ok(client.call(request)?.rested)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Revoked(Done);

impl Reply for Revoked {
    fn lines(&self, paint: Paint) -> Vec<String> {
        lines::revoked(&self.0, paint)
    }
}
