//! A reply to the prompt of a question is an answer like any other, at the assurance that its credential has. Who is first, the ledger
//! says.

use demur_aaep::{
    form::SubscriptionId,
    prompt::{PromptOutcome, ReplySender},
    reply::Response,
};
use demur_api::{
    question::{Answer, QuestionId},
    refusal::Refusal,
    scope::Scope,
};
use demur_core::limit::Text;
use demur_ledger::content::AnswerValue;

use crate::{
    aaep::{
        audience::{Viewpoint, replier},
        kept::KeptPrompt,
        receive::Reply,
    },
    access::Caller,
    desk::Desk,
    owner::Owner,
    question,
};

impl Desk {
    /// Takes a reply to the prompt of a question. Returns why it does not count.
    pub(in crate::aaep) fn answer_question(
        &self,
        owner: &Owner,
        caller: &Caller,
        (from, subscription): (&Viewpoint, SubscriptionId),
        (id, kept): (QuestionId, &KeptPrompt),
        reply: &Reply,
    ) -> Result<Option<String>, Refusal> {
        let sender = ReplySender { subscription, is_entitled: from.replies_to(&kept.audience) };
        // Only looked at: what becomes of the prompt follows from the ledger.
        let step = reply.hand_to(&mut kept.prompt.clone(), &sender, self.now()?);
        let response = match (step.refusal, step.resolution.map(|resolution| resolution.outcome)) {
            (None, Some(PromptOutcome::Answered { response, .. })) => response,
            (refusal, _) => return Ok(Some(refusal.map_or_else(unanswered, |refusal| refusal.to_string()))),
        };
        match give(owner, caller, id, reply, &response) {
            Ok(()) => self.tell_question(owner, id).map(|()| None),
            // The sender is not told; whoever looks after the server may look into the log.
            Err(refusal) if refusal.code.status() < 500 => Ok(Some(refusal.to_string())),
            Err(refusal) => Err(refusal),
        }
    }
}

/// Gives the answer.
fn give(
    owner: &Owner,
    caller: &Caller,
    id: QuestionId,
    reply: &Reply,
    response: &Response,
) -> Result<(), Refusal> {
    let shown = question::view(owner, id)?;
    let by = spoken_for(caller, reply.claims());
    let speaker = caller.answerer(owner, by.clone())?;
    let given = Answer { answer: value(response), note: None, request: shown.request, by };
    question::answer(owner, &shown, &speaker, &given).map(drop)
}

/// Returns the person whom a caller has to name, where it has to.
fn spoken_for(caller: &Caller, claimed: Option<&str>) -> Option<Text<1, 256>> {
    let has_to = match caller {
        Caller::Local { .. } => true,
        Caller::Token(token) => token.scopes.contains(&Scope::Relay),
        Caller::Stranger => false,
    };
    let named = replier(caller, claimed).filter(|_| has_to)?;
    Text::cut(named.strip_prefix("user:").unwrap_or(&named)).ok()
}

fn value(response: &Response) -> AnswerValue {
    match response {
        Response::Text(text) => AnswerValue::Text(text.clone()),
        Response::YesNo(yes) => AnswerValue::Flag(*yes),
        Response::Number(number) => AnswerValue::Number(number.clone()),
    }
}

fn unanswered() -> String {
    "the time of the prompt is over".to_owned()
}
