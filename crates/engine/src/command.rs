//! What came through a door. Everything that holds without knowing the trace was checked when a command is made,
//! so that the costly part (signature, content, artifact) runs outside of any queue.

use demur_core::{hash::Digest, key::Fingerprint, time::Timestamp};
use demur_ledger::{
    admission::Checked,
    author::Artifact,
    content::{CheckContent, NoteContent, QuestionContent, ReasonContent},
    entry::{Address, ArtifactPlace},
    event_type::{Content, EventType, Facts},
    facts::Attribution,
    meaning::Meaning,
    name::{CommandId, Position, Sequence},
    role::Role,
};

use crate::{refusal::RuleRefusal, state::State};

/// A command to one trace.
#[derive(Clone, Debug)]
pub enum Command {
    /// An author said something. [`Command::submit`] makes it.
    Submit {
        /// The statement, known to be its author's.
        said: Box<Checked>,
        /// Where the artifact belongs that it records; or what is wrong with that, which [`crate::decide`] says.
        artifact: Result<Option<ArtifactPlace>, RuleRefusal>,
        /// What the desk adds to it in the same commit.
        rest: Consequences,
        /// What the desk states beside it in the same commit: in the registry every event has a key. The desk has seen what
        /// the author has.
        stated: Vec<Checked>,
    },
    /// The operator told the desk to end the run, in this way.
    Abort(Box<Attribution>, ReasonContent),
    /// The desk came back after a crash and found the trace whole (LED-22).
    Recover(NoteContent),
    /// The desk says something itself, or records what a person did.
    Record {
        /// What it says first.
        first: Box<Saying>,
        /// What follows from it, in the same commit.
        rest: Consequences,
    },
}

impl Command {
    /// Returns the command that records what an author said, with the artifact that came along and what the desk adds in the
    /// same commit. What is wrong with any of it is said by [`crate::decide`], so that the refusal can be recorded.
    pub fn submit(said: Checked, artifact: Option<&Artifact>, rest: Consequences) -> Self {
        let artifact = place(&said, artifact);
        Self::Submit { said: Box::new(said), artifact, rest, stated: Vec::new() }
    }

    /// Returns the command that records a statement to the registry, and in the same commit what the desk states beside it.
    pub fn submit_stated(said: Checked, stated: Vec<Checked>) -> Self {
        let artifact = place(&said, None);
        Self::Submit { said: Box::new(said), artifact, rest: Consequences::default(), stated }
    }

    /// Returns the command that records what the desk says itself, or what a person did, with what follows from it in the same
    /// commit.
    pub fn record(first: Saying, rest: Consequences) -> Self {
        Self::Record { first: Box::new(first), rest }
    }

    /// Returns what an author said, where one did.
    pub fn said(&self) -> Option<&Checked> {
        match self {
            Self::Submit { said, .. } => Some(said),
            Self::Abort(..) | Self::Recover(_) | Self::Record { .. } => None,
        }
    }

    /// Returns under what the desk signed documents among its words.
    pub(crate) const fn signing(&self) -> Option<Signing> {
        match self {
            Self::Submit { rest, .. } | Self::Record { rest, .. } => rest.signing,
            Self::Abort(..) | Self::Recover(_) => None,
        }
    }

    /// Returns the author's key and its name for the command, where an author spoke.
    pub fn id(&self) -> Option<(Fingerprint, CommandId)> {
        self.said().map(|said| (said.key(), said.statement().command))
    }

    /// Returns the place of the question it is about, if a decision needs its words.
    pub fn answered(&self) -> Option<Sequence> {
        let facts = match self {
            Self::Submit { said, .. } => &said.statement().facts,
            Self::Record { first, .. } => &first.facts,
            Self::Abort(..) | Self::Recover(_) => return None,
        };
        answered(facts)
    }

    /// Returns the artifacts and reports whose bytes a decision in this state needs to know, by digest.
    pub fn artifacts(&self, state: &State) -> Vec<Sequence> {
        match self.said().map(|said| &said.statement().facts) {
            Some(Facts::ToolExecutionStarted(facts)) => facts.input.into_iter().collect(),
            Some(Facts::ClaimIssued(facts)) => facts.evidence.to_vec(),
            Some(Facts::ClaimRevised(facts)) => facts.evidence.to_vec(),
            Some(Facts::VerificationRunCompleted(_)) => {
                state.run().map_or_else(Vec::new, |run| run.reports().to_vec())
            }
            _ => Vec::new(),
        }
    }

    /// Returns the check that is stated, and the artifact it looks into: a decision needs to know whether it is true.
    pub fn check(&self) -> Option<(Sequence, &CheckContent)> {
        let said = self.said()?;
        match (&said.statement().facts, said.meaning()?.check()) {
            (Facts::CheckStated(facts), Some(stated)) => Some((facts.artifact, &stated.check)),
            _ => None,
        }
    }

    /// Returns the input of a tool that starts: a decision in this state needs to know which program it names.
    pub fn input(&self, state: &State) -> Option<Sequence> {
        match self.said().map(|said| &said.statement().facts) {
            Some(Facts::ToolExecutionStarted(facts)) if state.run()?.names_programs() => facts.input,
            _ => None,
        }
    }

    /// Returns whether a decision has to look at bytes, which only the store has.
    pub fn looks_at_bytes(&self, state: &State) -> bool {
        self.report().is_some() || self.check().is_some() || self.input(state).is_some()
    }

    /// Returns the digest of the report that a verdict names: a decision needs to know what it says.
    pub fn report(&self) -> Option<&Digest> {
        match self.said()?.meaning()? {
            Meaning::Verdict(report) => Some(report),
            _ => None,
        }
    }
}

/// Returns the place of the question whose words decide about these facts.
pub(crate) const fn answered(facts: &Facts) -> Option<Sequence> {
    match facts {
        Facts::QuestionAnswered(facts) => Some(facts.question.sequence),
        Facts::AnswerSuperseded(facts) => Some(facts.answer.question.sequence),
        Facts::QuestionDefaulted(facts) => Some(facts.question),
        _ => None,
    }
}

/// One thing the desk says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saying {
    /// `desk`, or `person` for what a person did.
    pub role: Role,
    /// All that decides anything.
    pub facts: Facts,
    /// The words, where the type has any.
    pub content: Option<Content>,
}

/// What the desk adds to an event in the same commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consequences {
    /// The newest event of the trace that they were worked out from. If there is another by now, nothing is recorded
    /// and they have to be worked out again; none where they hold in any case.
    pub after: Option<Position>,
    /// Under what the desk signed documents among them, if it did.
    pub signing: Option<Signing>,
    /// In order.
    pub sayings: Vec<Saying>,
}

/// Under what the desk signed documents that stand in its words. Everything is recorded so; if clock, trace or registry
/// have moved on, the documents have to be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signing {
    /// The time that stands in them.
    pub at: Timestamp,
    /// The newest registry event, by which the desk's key may speak.
    pub registry: Position,
}

/// Returns where the artifact belongs that a statement records, if it is what the facts commit to.
fn place(said: &Checked, artifact: Option<&Artifact>) -> Result<Option<ArtifactPlace>, RuleRefusal> {
    match (said.statement().facts.recorded_bytes(), artifact) {
        (Some(commitment), Some(artifact)) => {
            if artifact.bytes.len() > ARTIFACT_LIMIT {
                return Err(RuleRefusal::artifact_too_large(artifact.bytes.len(), ARTIFACT_LIMIT));
            }
            if artifact.commitment() != *commitment {
                return Err(RuleRefusal::artifact_mismatch());
            }
            if let Some(named) = artifact_size(said).filter(|named| *named != artifact.bytes.len() as u64) {
                return Err(RuleRefusal::artifact_size(named, artifact.bytes.len()));
            }
            Ok(Some(ArtifactPlace { address: Address::of(&artifact.bytes), salt: artifact.salt }))
        }
        (Some(_), None) => Err(RuleRefusal::artifact_missing()),
        (None, Some(_)) => Err(RuleRefusal::artifact_unasked()),
        (None, None) => Ok(None),
    }
}

/// Returns the words of a question, if these bytes are those.
pub fn question(bytes: &[u8]) -> Option<Box<QuestionContent>> {
    // Both types that ask have the same content.
    match Content::parse(EventType::QuestionAsked, bytes) {
        Ok(Content::QuestionAsked(content)) => Some(Box::new(content)),
        _ => None,
    }
}

/// Returns the size that the content of an `artifact_recorded` names.
fn artifact_size(said: &Checked) -> Option<u64> {
    match Content::parse(EventType::ArtifactRecorded, &said.opening()?.bytes) {
        Ok(Content::ArtifactRecorded(content)) => Some(content.size.as_u64()),
        _ => None,
    }
}

/// How many bytes an artifact may have. An export carries it in one line of base64, and a line has at most 64 MiB.
pub const ARTIFACT_LIMIT: usize = 32 << 20;
