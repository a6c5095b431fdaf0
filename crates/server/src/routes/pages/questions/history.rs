//! What happened to a question: every event that is about it, with who and when.

use demur_api::{question::QuestionId, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_desk::{owner::Owner, record, roster::Roster};
use demur_ledger::{
    envelope::Event,
    event_type::{Content, Facts},
    name::Sequence,
    question::touched,
};
use demur_web::{question::Happening, text, when::When, words::ENGLISH};

/// What happened, and whether that is all.
pub(super) struct History {
    pub(super) happenings: Vec<Happening>,
    pub(super) is_cut: bool,
}

/// Returns what happened to a question.
pub(super) fn of(owner: &Owner, id: QuestionId, now: Timestamp) -> Result<History, Refusal> {
    let roster = owner.roster()?;
    let mut history = History { happenings: Vec::new(), is_cut: false };
    let mut read = 0;
    record::walk(owner.ledger().store(), id.trace, id.sequence, |event, content| {
        if read == MOST_READ || history.happenings.len() == MOST_SHOWN {
            history.is_cut = true;
            return Ok::<_, Refusal>(false);
        }
        read += 1;
        if is_about(&event, id.sequence) {
            history.happenings.push(happening(&roster, &event, content.as_ref(), now));
        }
        Ok(true)
    })?;
    Ok(history)
}

fn is_about(event: &Event, question: Sequence) -> bool {
    let mentions = event.said().is_ok_and(|said| match said.facts {
        Facts::QuestionDelivered(facts) => facts.question == question,
        Facts::AnswerClaimed(facts) => facts.question == question,
        _ => false,
    });
    mentions || touched(event).any(|sequence| sequence == question)
}

fn happening(roster: &Roster, event: &Event, content: Option<&Content>, now: Timestamp) -> Happening {
    let name = content.and_then(person).unwrap_or_else(|| roster.name(event.envelope().actor));
    Happening {
        who: text::line(name),
        what: event.said().map_or(ENGLISH.event_other, |said| words(said.facts)),
        when: When::new(event.envelope().time, now),
        event: event.position().sequence.to_string(),
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

const fn words(facts: &Facts) -> &'static str {
    match facts {
        Facts::QuestionAsked(_) => ENGLISH.event_asked,
        Facts::GapFound(_) => ENGLISH.event_found,
        Facts::QuestionAnswered(_) => ENGLISH.event_answered,
        Facts::AnswerSuperseded(_) => ENGLISH.event_superseded,
        Facts::AnswerRevoked(_) => ENGLISH.event_revoked,
        Facts::AnswerClaimed(_) => ENGLISH.event_claimed,
        Facts::GapAccepted(_) => ENGLISH.event_accepted,
        Facts::GapWithdrawn(_) => ENGLISH.event_withdrawn,
        Facts::QuestionDeclined(_) => ENGLISH.event_declined,
        Facts::QuestionDelivered(_) => ENGLISH.event_delivered,
        Facts::QuestionEscalated(_) => ENGLISH.event_escalated,
        Facts::QuestionPassedOn(_) => ENGLISH.event_passed,
        Facts::QuestionExtended(_) => ENGLISH.event_extended,
        Facts::QuestionCancelled(_) => ENGLISH.event_cancelled,
        Facts::QuestionExpired(_) => ENGLISH.event_expired,
        Facts::QuestionDefaulted(_) => ENGLISH.event_defaulted,
        _ => ENGLISH.event_other,
    }
}

/// How many events are read for one page.
const MOST_READ: usize = 5000;
/// How many happenings a page shows.
const MOST_SHOWN: usize = 100;
