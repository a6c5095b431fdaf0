//! What is counted in a data folder, and what the server remembers there about itself.

use demur_api::{refusal::Refusal, scope::Scope};
use demur_ledger::question::OutcomeKind;

use crate::{
    access::{Caller, LOOKING, admit},
    desk::Desk,
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
        admit(caller, COUNTING)?;
        let owner = self.owner()?;
        let recorded = owner.ledger().figures();
        Ok(DeskFigures {
            events: recorded.events,
            commits: recorded.commits,
            refusals: recorded.refusals,
            queued: recorded.waiting,
            questions: owner.ledger().store().question_counts()?,
        })
    }

    /// Returns how many questions have each outcome; outcomes that none has are left out. May block.
    pub fn question_counts(&self, caller: &Caller) -> Result<Vec<(OutcomeKind, u64)>, Refusal> {
        admit(caller, LOOKING)?;
        Ok(self.owner()?.ledger().store().question_counts()?)
    }

    /// Returns whether a question is open. May block.
    pub fn has_open_question(&self) -> Result<bool, Refusal> {
        let counts = self.owner()?.ledger().store().question_counts()?;
        Ok(counts.iter().any(|(kind, count)| *kind == OutcomeKind::Open && *count > 0))
    }

    /// Returns the port at which the folder was served last, if anybody noted it. May block.
    pub fn remembered_port(&self) -> Result<Option<u16>, Refusal> {
        let note = self.owner()?.ledger().store().note(PORT_NOTE)?;
        Ok(note.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok()))
    }

    /// Notes the port at which the folder is served. May block.
    pub fn remember_port(&self, port: u16) -> Result<(), Refusal> {
        Ok(self.owner()?.ledger().store().set_note(PORT_NOTE, port.to_string().as_bytes())?)
    }
}

/// Who may see what is counted.
const COUNTING: &[Scope] = &[Scope::Metrics];
/// Where the store keeps the port.
const PORT_NOTE: &str = "port";
