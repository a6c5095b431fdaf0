//! What happened to a question: every event that is about it, with who and when.

use demur_api::{operation::SEEING, question::QuestionId, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_ledger::{
    envelope::Event,
    event_type::{Content, EventType, Facts},
    name::Sequence,
    question::touched,
};

use crate::{
    access::{Caller, seen_question},
    desk::Desk,
    key_directory::KeyDirectory,
    record,
};

/// What happened, and whether that is all.
#[derive(Clone, Debug, Default)]
pub struct QuestionHistory {
    /// The events, in their order.
    pub events: Vec<QuestionEvent>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// One thing that happened to a question.
#[derive(Clone, Debug)]
pub struct QuestionEvent {
    /// Its place in the trace.
    pub sequence: Sequence,
    /// What it is; none where this version does not know.
    pub kind: Option<EventType>,
    /// The name of whoever did it, or of whoever it was done for.
    pub who: String,
    /// When.
    pub time: Timestamp,
}

impl Desk {
    /// Returns what happened to a question. May block.
    pub fn question_history(&self, caller: &Caller, id: QuestionId) -> Result<QuestionHistory, Refusal> {
        let by = self.admit(caller, SEEING)?;
        let owner = &*self.owner()?;
        seen_question(owner, by.caller(), id)?;
        let key_directory = owner.key_directory()?;
        let (mut history, mut read) = (QuestionHistory::default(), 0);
        record::walk(owner.sequencer().store(), id.trace, id.sequence, |event, content| {
            if read == MAX_READ_EVENTS || history.events.len() == MAX_SHOWN_EVENTS {
                history.is_cut = true;
                return Ok::<_, Refusal>(false);
            }
            read += 1;
            if is_about(&event, id.sequence) {
                history.events.push(happened(&key_directory, &event, content.as_ref()));
            }
            Ok(true)
        })?;
        Ok(history)
    }
}

fn is_about(event: &Event, question: Sequence) -> bool {
    let mentions = event.said().is_ok_and(|said| match said.facts {
        Facts::QuestionDelivered(facts) => facts.question == question,
        Facts::AnswerClaimed(facts) => facts.question == question,
        _ => false,
    });
    mentions || touched(event).any(|sequence| sequence == question)
}

fn happened(key_directory: &KeyDirectory, event: &Event, content: Option<&Content>) -> QuestionEvent {
    let who = content.and_then(person).unwrap_or_else(|| key_directory.name(event.envelope().actor));
    QuestionEvent {
        sequence: event.position().sequence,
        kind: event.said().ok().and_then(|said| said.facts.event_type()),
        who: who.to_owned(),
        time: event.envelope().time,
    }
}

/// Returns the person behind an event that the desk recorded.
fn person(content: &Content) -> Option<&str> {
    match content {
        Content::QuestionAnswered(words) | Content::AnswerSuperseded(words) => words.by.as_deref(),
        Content::GapAccepted(words)
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
