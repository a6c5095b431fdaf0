//! What became of a question, for everybody who comes later: who, when and how (ONE-02).

use demur_api::question::{Ending, QuestionView};
use demur_core::time::Timestamp;
use demur_ledger::{facts::Assurance, question::OutcomeKind};

use super::value_words;
use crate::{
    text::{self, Html, Writer},
    when::When,
    words::ENGLISH,
};

/// What became of a question.
#[derive(Clone, Debug)]
pub struct Closed {
    /// Answered, declined, cancelled and so on.
    pub word: &'static str,
    /// Who.
    pub by: Html,
    /// When.
    pub when: When,
    /// How sure one can be who it was.
    pub how: Option<&'static str>,
    /// The answer, or what holds now.
    pub value: Option<Html>,
    /// Why, in their words.
    pub note: Option<Html>,
    /// What it means for what waits.
    pub meaning: &'static str,
    /// The number of the event.
    pub event: String,
}

impl Closed {
    /// Returns what became of a question, as seen now.
    pub fn new(question: &QuestionView, ending: &Ending, now: Timestamp) -> Self {
        let name = ending.by.as_deref().unwrap_or(ENGLISH.the_desk);
        let writer = Writer::Named(name);
        Self {
            word: word(ending.state),
            by: text::line(name),
            when: When::new(ending.time, now),
            how: ending.assurance.map(how_known),
            value: ending.value.as_ref().map(|value| value_words(question, value)),
            note: ending.note.as_deref().map(|note| text::block(note, None, &writer)),
            meaning: meaning(ending.state),
            event: ending.event.to_string(),
        }
    }
}

/// Returns how somebody was known, in words.
pub const fn how_known(assurance: Assurance) -> &'static str {
    match assurance {
        Assurance::Agent => ENGLISH.how_agent,
        Assurance::Relayed => ENGLISH.how_relayed,
        Assurance::Terminal => ENGLISH.how_terminal,
        Assurance::SignedIn => ENGLISH.how_signed_in,
        Assurance::Passkey => ENGLISH.how_passkey,
    }
}

/// Returns what became of a question, in one word.
const fn word(state: OutcomeKind) -> &'static str {
    match state {
        OutcomeKind::Open => ENGLISH.is_open,
        OutcomeKind::Answered => ENGLISH.was_answered,
        OutcomeKind::Accepted => ENGLISH.was_accepted,
        OutcomeKind::Declined => ENGLISH.was_declined,
        OutcomeKind::Expired => ENGLISH.was_expired,
        OutcomeKind::Defaulted => ENGLISH.was_defaulted,
        OutcomeKind::Cancelled => ENGLISH.was_cancelled,
        OutcomeKind::Withdrawn => ENGLISH.was_withdrawn,
    }
}

const fn meaning(state: OutcomeKind) -> &'static str {
    if state.is_left() { ENGLISH.still_waits } else { ENGLISH.goes_on }
}
