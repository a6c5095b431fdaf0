//! The confirmations of a trace: which operation waits for a yes, who gave or refused it, what was carried out on it
//! (`docs/format.md` 11; ONE-09, AEP-14). A confirmation is no question: neither is answered in the place of the other. The same
//! rules run at the desk and in the verifier.

mod error;
mod guard;
mod judge;

use std::{collections::BTreeMap, fmt};

use demur_core::{hash::Digest, time::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use error::ConfirmationError;
pub(crate) use judge::call_digest;

use crate::{
    envelope::Event,
    event_type::Facts,
    facts::{Assurance, ConfirmationAsked},
    meaning::Meaning,
    name::{PrincipalId, Sequence},
    question::{Given, author},
    state::Step,
};

/// Every confirmation of a trace by the event that asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmations(BTreeMap<Sequence, Confirmation>);

/// A confirmation as far as later events are decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    hash: Digest,
    /// Whoever asked: the desk, where that asks for whoever wants to act.
    asker: PrincipalId,
    facts: ConfirmationAsked,
    /// The digest of the operation, where the words are known.
    digest: Option<Digest>,
    outcome: ConfirmationOutcome,
    /// The newest event that changed it.
    changed: Sequence,
    /// The starts that were made on it. The rules allow one; a file may show more.
    starts: Vec<Sequence>,
    /// How the operation that was started on it ended, as its agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<OperationEnd>,
}

/// The end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationEnd {
    /// The event that says so.
    pub at: Sequence,
    /// Whether it failed.
    pub failed: bool,
}

/// What became of a confirmation so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationOutcome {
    /// Nobody has said anything. The operation waits.
    Open,
    /// Somebody said yes.
    Given(Given),
    /// Somebody said no.
    Refused(Given),
    /// The deadline passed. That is a no.
    Expired,
}

/// What became of a confirmation, without who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationStanding {
    /// See [`ConfirmationOutcome::Open`].
    Open,
    /// See [`ConfirmationOutcome::Given`].
    Given,
    /// See [`ConfirmationOutcome::Refused`].
    Refused,
    /// See [`ConfirmationOutcome::Expired`].
    Expired,
}

impl ConfirmationStanding {
    /// Every standing, in the order of the format.
    pub const ALL: [Self; 4] = [Self::Open, Self::Given, Self::Refused, Self::Expired];

    /// Returns the word people read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Given => "given",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }

    /// Returns the standing of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.as_str() == word)
    }
}

impl fmt::Display for ConfirmationStanding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl ConfirmationOutcome {
    /// Returns the outcome without who did it.
    pub const fn standing(&self) -> ConfirmationStanding {
        match self {
            Self::Open => ConfirmationStanding::Open,
            Self::Given(_) => ConfirmationStanding::Given,
            Self::Refused(_) => ConfirmationStanding::Refused,
            Self::Expired => ConfirmationStanding::Expired,
        }
    }

    /// Returns whether a person said yes, and not an agent with a key.
    pub fn is_yes_of_a_person(&self) -> bool {
        matches!(self, Self::Given(given) if given.assurance >= Assurance::Relayed)
    }

    /// Returns the yes or the no that counts, if somebody said one.
    pub const fn said(&self) -> Option<Given> {
        match self {
            Self::Given(given) | Self::Refused(given) => Some(*given),
            Self::Open | Self::Expired => None,
        }
    }
}

impl Confirmation {
    /// Returns what became of it so far.
    pub const fn outcome(&self) -> &ConfirmationOutcome {
        &self.outcome
    }

    /// Returns what was decided when it was asked for.
    pub const fn facts(&self) -> &ConfirmationAsked {
        &self.facts
    }

    /// Returns whoever asked.
    pub const fn asker(&self) -> PrincipalId {
        self.asker
    }

    /// Returns the hash of the event that asked.
    pub const fn hash(&self) -> &Digest {
        &self.hash
    }

    /// Returns the digest of the operation; none where the words are not known.
    pub const fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// Returns the newest event that changed it: the asking, a yes, a no, its end, a start on it.
    pub const fn changed(&self) -> Sequence {
        self.changed
    }

    /// Returns the starts that were made on it, in order.
    pub fn starts(&self) -> &[Sequence] {
        &self.starts
    }

    /// Returns how the operation that was started on it ended; none while nobody said so.
    pub const fn end(&self) -> Option<OperationEnd> {
        self.end
    }

    /// Returns the yes on which nothing was started yet.
    pub fn unspent(&self) -> Option<Given> {
        match self.outcome {
            ConfirmationOutcome::Given(given) if self.starts.is_empty() => Some(given),
            _ => None,
        }
    }

    /// Returns whether a yes or a no comes in time now.
    pub fn in_time(&self, now: Timestamp) -> bool {
        self.facts.deadline.is_none_or(|deadline| now < deadline)
    }
}

impl Confirmations {
    /// Returns none.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns every confirmation with what became of it, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Sequence, &Confirmation)> {
        self.0.iter().map(|(at, asked)| (*at, asked))
    }

    /// Returns the confirmation that this event asked for.
    pub fn find(&self, at: Sequence) -> Option<&Confirmation> {
        self.0.get(&at)
    }

    /// Returns the confirmation about this intent.
    pub fn about(&self, intent: Sequence) -> Option<(Sequence, &Confirmation)> {
        self.iter().find(|(_, asked)| asked.facts.about == Some(intent))
    }

    /// Returns the newest yes to exactly this operation on which nothing was started.
    pub fn unspent(&self, digest: &Digest) -> Option<Sequence> {
        let is_yes = |asked: &Confirmation| matches!(asked.outcome, ConfirmationOutcome::Given(_));
        let fits = |asked: &Confirmation| {
            asked.digest.as_ref() == Some(digest) && is_yes(asked) && asked.starts.is_empty()
        };
        self.0.iter().rev().find(|(_, asked)| fits(asked)).map(|(at, _)| *at)
    }

    /// Returns those that wait for a yes or a no.
    pub fn open(&self) -> impl Iterator<Item = (Sequence, &Confirmation)> {
        self.iter().filter(|(_, asked)| asked.outcome == ConfirmationOutcome::Open)
    }

    /// Returns whether this principal asked, or may say yes by name.
    pub fn involves(&self, principal: PrincipalId) -> bool {
        self.0.values().any(|asked| {
            let named = asked.facts.answerers.principals.as_ref();
            asked.asker == principal || named.is_some_and(|named| named.contains(&principal))
        })
    }

    /// Folds an event in that the guards let through.
    pub(crate) fn fold(&mut self, step: &Step<'_>, hash: Digest) {
        let said =
            |assurance: Assurance| Given { at: step.sequence, by: author(step), assurance, time: step.time };
        match step.said.facts {
            Facts::ConfirmationAsked(facts) => {
                let digest = match step.known.meaning {
                    Some(Meaning::Operation(operation)) => Some(operation.said),
                    _ => None,
                };
                let (asker, facts, outcome) = (step.actor, facts.clone(), ConfirmationOutcome::Open);
                let (changed, starts, end) = (step.sequence, Vec::new(), None);
                let confirmation = Confirmation { hash, asker, facts, digest, outcome, changed, starts, end };
                self.0.insert(step.sequence, confirmation);
            }
            Facts::ConfirmationGiven(facts) => {
                let outcome = ConfirmationOutcome::Given(said(facts.assurance));
                self.close(step, facts.confirmation.sequence, outcome);
            }
            Facts::ConfirmationRefused(facts) => {
                let outcome = ConfirmationOutcome::Refused(said(facts.assurance));
                self.close(step, facts.confirmation.sequence, outcome);
            }
            Facts::ConfirmationExpired(facts) => {
                self.close(step, facts.confirmation, ConfirmationOutcome::Expired);
            }
            Facts::OperationStarted(facts) => self.spend(step.sequence, facts.confirmation),
            Facts::ToolExecutionStarted(facts) => {
                let spent = self.about(facts.intent).map(|(at, _)| at);
                self.spend(step.sequence, spent);
            }
            _ => {}
        }
    }

    /// Takes note of the end of an operation that was started on this confirmation.
    pub(crate) fn end(&mut self, confirmation: Sequence, end: OperationEnd) {
        if let Some(asked) = self.0.get_mut(&confirmation) {
            asked.end = Some(end);
        }
    }

    fn close(&mut self, step: &Step<'_>, confirmation: Sequence, outcome: ConfirmationOutcome) {
        let Some(asked) = self.0.get_mut(&confirmation) else { return };
        (asked.outcome, asked.changed) = (outcome, step.sequence);
        // Where the words that asked are gone, the yes or the no still says what it was about.
        if let (None, Some(Meaning::Digest(said))) = (asked.digest, step.known.meaning) {
            asked.digest = Some(*said);
        }
    }

    fn spend(&mut self, at: Sequence, confirmation: Option<Sequence>) {
        if let Some(asked) = confirmation.and_then(|confirmation| self.0.get_mut(&confirmation)) {
            asked.starts.push(at);
            asked.changed = at;
        }
    }
}

/// What an event does to a confirmation, said once: lists, caches and waiters go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationEffect<'a> {
    /// It asks for this one.
    Asked(&'a ConfirmationAsked),
    /// That confirmation stands so now.
    Ended(Sequence, ConfirmationStanding),
    /// An operation was started on that confirmation.
    Spent(Sequence),
}

/// Returns what an event does to a confirmation, as far as its facts name one. The start of a tool names its intent: only the
/// state tells which confirmation that spends.
pub const fn confirmation_effect(facts: &Facts) -> Option<ConfirmationEffect<'_>> {
    use ConfirmationEffect as Effect;
    Some(match facts {
        Facts::ConfirmationAsked(facts) => Effect::Asked(facts),
        Facts::ConfirmationGiven(facts) => {
            Effect::Ended(facts.confirmation.sequence, ConfirmationStanding::Given)
        }
        Facts::ConfirmationRefused(facts) => {
            Effect::Ended(facts.confirmation.sequence, ConfirmationStanding::Refused)
        }
        Facts::ConfirmationExpired(facts) => Effect::Ended(facts.confirmation, ConfirmationStanding::Expired),
        Facts::OperationStarted(facts) => match facts.confirmation {
            Some(confirmation) => Effect::Spent(confirmation),
            None => return None,
        },
        _ => return None,
    })
}

/// Returns the confirmation that an event asks for or changes, by its facts.
pub fn touched_confirmation(event: &Event) -> Option<Sequence> {
    match confirmation_effect(event.said().ok()?.facts)? {
        ConfirmationEffect::Asked(_) => Some(event.envelope().sequence),
        ConfirmationEffect::Ended(confirmation, _) | ConfirmationEffect::Spent(confirmation) => {
            Some(confirmation)
        }
    }
}
