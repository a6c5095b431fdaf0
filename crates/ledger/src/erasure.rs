//! Erasure: an operator had the words of an event removed (`docs/format.md` 13). The event, its facts and every hash stay, so
//! everything else still holds. The same rules say at the desk what is removed, and in a verifier what must not be there.

use serde::{Deserialize, Serialize};

use crate::{
    content::ContentRule,
    event_type::Facts,
    name::Sequence,
    state::{Blame, SequenceSet},
};

/// What was erased in a trace, and what can be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasures {
    /// The events without content and without an artifact.
    bare: SequenceSet,
    /// The events that a later paper may quote.
    quoted: SequenceSet,
    /// The papers, which repeat what others said.
    papers: SequenceSet,
    erased: SequenceSet,
}

impl Erasures {
    /// Returns the state before the first event.
    pub const fn new() -> Self {
        Self {
            bare: SequenceSet::new(),
            quoted: SequenceSet::new(),
            papers: SequenceSet::new(),
            erased: SequenceSet::new(),
        }
    }

    /// Returns whether the words of an event were erased.
    pub fn contains(&self, event: Sequence) -> bool {
        self.erased.contains(event)
    }

    /// Returns every event whose words were erased, in order.
    pub fn erased(&self) -> impl Iterator<Item = Sequence> {
        self.erased.iter()
    }

    /// Returns whether the words of an event, which is there, were never any.
    pub fn is_bare(&self, event: Sequence) -> bool {
        self.bare.contains(event)
    }

    /// Returns what an erasure that comes now removes: the event, and every paper since that may quote it. What was erased
    /// before is not named again.
    pub fn gone_with(&self, event: Sequence) -> Vec<Sequence> {
        let quotes = self.quoted.contains(event);
        let papers = self.papers.after(event).filter(|_| quotes);
        std::iter::once(event).chain(papers).filter(|one| !self.contains(*one)).collect()
    }

    /// Says why an erasure may not stand at this place, if it may not.
    pub(crate) fn guard(&self, at: Sequence, facts: &Facts) -> Result<(), ErasureError> {
        let Facts::ContentErased(facts) = facts else { return Ok(()) };
        let event = facts.event;
        if event >= at {
            return Err(ErasureError::NotThere { event });
        }
        if self.is_bare(event) {
            return Err(ErasureError::Nothing { event });
        }
        if self.contains(event) { Err(ErasureError::Already { event }) } else { Ok(()) }
    }

    /// Folds an event in that a guard let through.
    pub fn fold(&mut self, at: Sequence, facts: &Facts) {
        let kind = facts.event_type().map(|kind| kind.rule().content);
        if kind == Some(ContentRule::Absent) && facts.recorded_bytes().is_none() {
            self.bare.insert(at);
        }
        match facts {
            Facts::PlanSubmitted(_)
            | Facts::PlanConfirmed(_)
            | Facts::GapFound(_)
            | Facts::GapAccepted(_)
            | Facts::GapWithdrawn(_)
            | Facts::QuestionAnswered(_)
            | Facts::AnswerClaimed(_)
            | Facts::AnswerRejected(_)
            | Facts::AnswerRevoked(_)
            | Facts::AnswerSuperseded(_) => self.quoted.insert(at),
            // A record of rounds repeats the rounds before it, and the agent's attestation the record.
            Facts::PaperRecorded(_) | Facts::PlanAttested(_) => {
                self.quoted.insert(at);
                self.papers.insert(at);
            }
            Facts::ContentErased(facts) => {
                for event in self.gone_with(facts.event) {
                    self.erased.insert(event);
                }
            }
            _ => {}
        }
    }
}

/// An erasure that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErasureError {
    /// Of an event that is still to come.
    #[error("expected an earlier event of this trace, found {event}, which is not there")]
    NotThere {
        /// The event.
        event: Sequence,
    },
    /// Of an event that has nothing to erase.
    #[error("expected an event with content or an artifact, found {event}, which has neither")]
    Nothing {
        /// The event.
        event: Sequence,
    },
    /// A second time.
    #[error("expected content that is there, found that the content of {event} was erased before")]
    Already {
        /// The event.
        event: Sequence,
    },
}

impl ErasureError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotThere { .. } => "EVENT_UNKNOWN",
            Self::Nothing { .. } => "NOTHING_TO_ERASE",
            Self::Already { .. } => "ALREADY_ERASED",
        }
    }

    /// Returns who has to do something about it.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::NotThere { .. } | Self::Nothing { .. } => Blame::Malformed,
            Self::Already { .. } => Blame::Forbidden,
        }
    }

    /// Returns what to do instead.
    pub const fn cure(&self) -> &'static str {
        match self {
            Self::NotThere { .. } => "name an event of this trace: `demur trace show` lists them by number",
            Self::Nothing { .. } => "leave it: its facts hold no words, and facts are never erased",
            Self::Already { .. } => "nothing is left to do",
        }
    }
}
