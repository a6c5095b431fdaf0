//! What happened to a question, in words.

use demur_api::question::QuestionEvent;
use demur_core::time::Timestamp;
use demur_ledger::event_type::EventType;
use demur_web::{
    question::{Happening, how_known},
    text,
    when::When,
    words::ENGLISH,
};

/// Returns what a page says about something that happened.
pub(super) fn happening(event: &QuestionEvent, now: Timestamp) -> Happening {
    Happening {
        who: text::line(&event.who),
        how: event.assurance.map(how_known),
        what: event.kind.as_deref().and_then(EventType::from_name).map_or(ENGLISH.event_other, words),
        when: When::new(event.time, now),
        event: event.sequence.to_string(),
    }
}

const fn words(kind: EventType) -> &'static str {
    match kind {
        EventType::QuestionAsked => ENGLISH.event_asked,
        EventType::GapFound => ENGLISH.event_found,
        EventType::QuestionAnswered => ENGLISH.event_answered,
        EventType::AnswerSuperseded => ENGLISH.event_superseded,
        EventType::AnswerRevoked => ENGLISH.event_revoked,
        EventType::AnswerClaimed => ENGLISH.event_claimed,
        EventType::GapAccepted => ENGLISH.event_accepted,
        EventType::GapWithdrawn => ENGLISH.event_withdrawn,
        EventType::QuestionDeclined => ENGLISH.event_declined,
        EventType::QuestionDelivered => ENGLISH.event_delivered,
        EventType::QuestionEscalated => ENGLISH.event_escalated,
        EventType::QuestionPassedOn => ENGLISH.event_passed,
        EventType::QuestionExtended => ENGLISH.event_extended,
        EventType::QuestionCancelled => ENGLISH.event_cancelled,
        EventType::QuestionExpired => ENGLISH.event_expired,
        EventType::QuestionDefaulted => ENGLISH.event_defaulted,
        _ => ENGLISH.event_other,
    }
}
