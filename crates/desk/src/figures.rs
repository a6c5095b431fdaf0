//! What is counted in a data folder, and what the server remembers there about itself.

use demur_api::{refusal::Refusal, scope::Scope};
use demur_ledger::{confirmation::ConfirmationStanding, question::OutcomeKind};
use demur_store::contract::{ConfirmationFilter, RecordKey, Swap, Version};

use crate::{
    aaep,
    access::{Caller, LOOKING},
    desk::Desk,
    records,
};

/// What is counted.
#[derive(Clone, Debug, Default)]
pub struct DeskFigures {
    /// Events recorded since the folder was opened.
    pub events: u64,
    /// Commits that carried them.
    pub commits: u64,
    /// Commands refused since the folder was opened.
    pub refusals: u64,
    /// Callers in line to have something recorded.
    pub queued: u64,
    /// How many questions have each outcome; outcomes that none has are left out.
    pub questions: Vec<(OutcomeKind, u64)>,
}

impl Desk {
    /// Returns what is counted. May block.
    pub fn figures(&self, caller: &Caller) -> Result<DeskFigures, Refusal> {
        self.admit(caller, COUNTING)?;
        let owner = self.owner()?;
        let recorded = owner.sequencer().figures();
        Ok(DeskFigures {
            events: recorded.events,
            commits: recorded.commits,
            refusals: recorded.refusals,
            queued: recorded.waiting,
            questions: owner.sequencer().store().question_counts()?,
        })
    }

    /// Returns how many questions have each outcome; outcomes that none has are left out. May block.
    pub fn question_counts(&self, caller: &Caller) -> Result<Vec<(OutcomeKind, u64)>, Refusal> {
        self.admit(caller, LOOKING)?;
        Ok(self.owner()?.sequencer().store().question_counts()?)
    }

    /// Returns whether a question or a confirmation waits for somebody. May block.
    pub fn is_anybody_asked(&self) -> Result<bool, Refusal> {
        let owner = self.owner()?;
        let store = owner.sequencer().store();
        let counts = store.question_counts()?;
        let is_open = counts.iter().any(|(kind, count)| *kind == OutcomeKind::Open && *count > 0);
        let open = ConfirmationFilter {
            outcomes: Some(vec![ConfirmationStanding::Open]),
            ..ConfirmationFilter::default()
        };
        let is_prompted = || aaep::has_open_prompt(store);
        Ok(is_open || !store.confirmations(&open, None, 1)?.is_empty() || is_prompted()?)
    }

    /// Returns the port at which the folder was served last, if anybody kept it. May block.
    pub fn remembered_port(&self) -> Result<Option<u16>, Refusal> {
        let found = records::find(self.owner()?.sequencer().store(), &RecordKey::new(PORT)?)?;
        Ok(found.map(|(_, port)| port))
    }

    /// Keeps the port at which the folder is served. May block.
    pub fn remember_port(&self, port: u16) -> Result<(), Refusal> {
        let (owner, key) = (self.owner()?, RecordKey::new(PORT)?);
        for _ in 0..records::ATTEMPTS {
            let was = match records::find::<u16>(owner.sequencer().store(), &key)? {
                Some((_, known)) if known == port => return Ok(()),
                found => found.map_or(Version::ABSENT, |(version, _)| version),
            };
            let next = Some(records::value(&port, None)?);
            if records::swap(&owner, vec![Swap { key: key.clone(), was, next }])? {
                return Ok(());
            }
        }
        Err(records::contended())
    }
}

/// Who may see what is counted.
const COUNTING: &[Scope] = &[Scope::Metrics];
/// The record of the port.
const PORT: &str = "server/port";
