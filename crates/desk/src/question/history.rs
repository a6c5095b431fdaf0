//! What happened to a question: every event that is about it, with who and when; and what was done on answers that no longer
//! count.

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation as op,
    question::{QuestionEvent, QuestionHistory, QuestionId},
    refusal::Refusal,
};
use demur_ledger::{
    envelope::Event,
    event_type::{Content, Facts},
    name::Sequence,
    question::{RestedBook, touched},
};
use demur_store::contract::Store;

use super::view::act_assurance;
use crate::{
    access::{Admitted, seen_question},
    desk::Desk,
    entry::{Handle, Handled},
    key_directory::KeyDirectory,
    record,
};

impl Handle<op::ShowQuestionHistory> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::ShowQuestionHistory>,
    ) -> Handled<op::ShowQuestionHistory> {
        let (owner, id) = (&*self.owner()?, request.path.question);
        seen_question(owner, by.caller(), id)?;
        let key_directory = owner.key_directory()?;
        let (mut history, mut rested, mut read) = (QuestionHistory::default(), RestedBook::new(), 0);
        let store = owner.sequencer().store();
        record::walk(store, id.trace, id.sequence, |event, content| {
            if read == MAX_READ_EVENTS || history.events.len() == MAX_SHOWN_EVENTS {
                history.is_cut = true;
                return Ok::<_, Refusal>(false);
            }
            read += 1;
            if let Ok(said) = event.said() {
                learn_intent(store, id, said.facts, &mut rested)?;
                rested.take(event.position().sequence, said.facts, tool(content.as_ref()));
            }
            if is_about(&event, id.sequence) {
                history.events.push(happened(&key_directory, &event, content.as_ref()));
            }
            Ok(true)
        })?;
        let rested = rested.into_events().into_iter();
        history.rested = rested.filter(|rested| rested.question == id.sequence).collect();
        Ok(ApiReply::new(history))
    }
}

fn tool(content: Option<&Content>) -> Option<&str> {
    match content {
        Some(Content::ToolIntentSigned(content)) => Some(&content.tool),
        _ => None,
    }
}

/// Looks up the proposal and the tool of an intent that was signed before the question and starts now.
fn learn_intent(
    store: &dyn Store,
    id: QuestionId,
    facts: &Facts,
    rested: &mut RestedBook,
) -> Result<(), Refusal> {
    let Facts::ToolExecutionStarted(started) = facts else { return Ok(()) };
    if started.intent < id.sequence {
        let (event, content) = record::read(store, id.trace, started.intent)?;
        if let Ok(Facts::ToolIntentSigned(intent)) = event.said().map(|said| said.facts) {
            rested.learn_intent(started.intent, intent.proposal, tool(content.as_ref()));
        }
    }
    Ok(())
}

fn is_about(event: &Event, question: Sequence) -> bool {
    let mentions = event.said().is_ok_and(|said| match said.facts {
        Facts::QuestionDelivered(facts) => facts.question == question,
        _ => false,
    });
    mentions || touched(event).any(|sequence| sequence == question)
}

fn happened(key_directory: &KeyDirectory, event: &Event, content: Option<&Content>) -> QuestionEvent {
    let who = content.and_then(person).unwrap_or_else(|| key_directory.name(event.envelope().actor));
    QuestionEvent {
        sequence: event.position().sequence,
        kind: event.said().ok().and_then(|said| said.facts.event_type()).map(|kind| kind.as_str().to_owned()),
        who: who.to_owned(),
        assurance: act_assurance(event),
        time: event.envelope().time,
    }
}

/// Returns the person behind an event that the desk recorded.
fn person(content: &Content) -> Option<&str> {
    match content {
        Content::QuestionAnswered(words) | Content::AnswerSuperseded(words) => words.by.as_deref(),
        Content::GapAccepted(words)
        | Content::AnswerRevoked(words)
        | Content::QuestionDeclined(words)
        | Content::QuestionPassedOn(words)
        | Content::QuestionExtended(words)
        | Content::QuestionCancelled(words) => words.by.as_deref(),
        Content::QuestionDelivered(words) => Some(&words.to),
        _ => None,
    }
}

/// How many events are read for one history.
const MAX_READ_EVENTS: usize = 5000;
/// How many events a history has.
const MAX_SHOWN_EVENTS: usize = 100;
