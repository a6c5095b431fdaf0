//! Erasure: an operator had the words of an event removed (`docs/format.md` 13). The event, its facts and every hash stay, so
//! everything else still holds. The same rules say at the desk what is removed, and in a verifier what must not be there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    content::ContentRule,
    envelope::Event,
    event_type::{EventType, Facts},
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
    /// The papers that are still there, which repeat what others said. Those that went are no longer looked at, so that many
    /// erasures in one trace cost no more than the papers they take along.
    papers: BTreeSet<Sequence>,
    erased: SequenceSet,
}

impl Erasures {
    /// Returns the state before the first event.
    pub const fn new() -> Self {
        Self {
            bare: SequenceSet::new(),
            quoted: SequenceSet::new(),
            papers: BTreeSet::new(),
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
        let first = std::iter::once(event).filter(|one| !self.contains(*one));
        if !self.quoted.contains(event) {
            return first.collect();
        }
        first.chain(self.papers.range(event.next()..).copied()).collect()
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
        let Some(kind) = facts.event_type() else { return };
        if kind.rule().content == ContentRule::Absent && facts.recorded_bytes().is_none() {
            self.bare.insert(at);
        }
        if is_quoted(kind) {
            self.quoted.insert(at);
        }
        if matches!(kind, EventType::PaperRecorded | EventType::PlanAttested) {
            self.papers.insert(at);
        }
        if let Facts::ContentErased(facts) = facts {
            for event in self.gone_with(facts.event) {
                self.erased.insert(event);
                self.papers.remove(&event);
            }
        }
    }
}

/// Returns whether papers quote events of this type. It goes by the name, as the format says, so that no later type is
/// forgotten: a record of rounds repeats the rounds before it, and the agent's attestation the record.
fn is_quoted(kind: EventType) -> bool {
    let name = kind.as_str();
    kind == EventType::QuestionAnswered
        || ["plan_", "gap_", "answer_", "paper_"].iter().any(|prefix| name.starts_with(prefix))
}

/// Returns whether an event erases another's words.
pub fn is_erasure(event: &Event) -> bool {
    event.said().is_ok_and(|said| matches!(said.facts, Facts::ContentErased(_)))
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
