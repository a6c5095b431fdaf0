//! What came through a door. Everything that holds without knowing the trace was checked when a command is made,
//! so that the costly part (signature, content, artifact) runs outside of any queue.

use demur_ledger::{
    admission::Checked,
    author::Artifact,
    content::{NoteContent, QuestionContent, ReasonContent},
    entry::{Address, ArtifactPlace},
    event_type::{Content, EventType, Facts},
    name::{Position, Sequence},
    registry::Registry,
    role::Role,
    statement::{Fresh, Submission},
};

use crate::refusal::RuleRefusal;

/// A command to one trace.
#[derive(Clone, Debug)]
pub enum Command {
    /// An author said something.
    Submit(Box<Submitted>),
    /// The operator told the desk to end the run.
    Abort(ReasonContent),
    /// The desk came back after a crash and found the trace whole (LED-22).
    Recover(NoteContent),
    /// The desk says something itself, or records what a person did.
    Record(Box<Told>),
}

impl Command {
    /// Returns the place of the question it is about, if a decision needs its words.
    pub fn answered(&self) -> Option<Sequence> {
        let facts = match self {
            Self::Submit(submitted) => &submitted.checked().statement().facts,
            Self::Record(told) => &told.first.facts,
            Self::Abort(_) | Self::Recover(_) => return None,
        };
        match facts {
            Facts::QuestionAnswered(facts) => Some(facts.question.sequence),
            Facts::AnswerSuperseded(facts) => Some(facts.answer.question.sequence),
            Facts::QuestionDefaulted(facts) => Some(facts.question),
            _ => None,
        }
    }
}

/// What the desk says on its own word, as one or more events: the first, and those that follow from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The first.
    pub first: Saying,
    /// What follows from it, in the same commit.
    pub rest: Consequences,
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
    /// In order.
    pub sayings: Vec<Saying>,
}

/// A statement that its author signed, with the artifact it records.
#[derive(Clone, Debug)]
pub struct Submitted {
    checked: Checked,
    artifact: Result<Option<ArtifactPlace>, RuleRefusal>,
    consequences: Consequences,
}

impl Submitted {
    /// Returns the submission once its signature holds. Everything else that is wrong with it is said by
    /// [`crate::decide`], so that the refusal can be recorded.
    pub fn new(
        submission: Submission,
        artifact: Option<&Artifact>,
        registry: &Registry,
    ) -> Result<Self, RuleRefusal> {
        let size = artifact.and_then(|_| artifact_size(&submission));
        let checked = Checked::new(submission, Some(registry))?;
        let artifact = place(&checked.statement().facts, artifact, size);
        Ok(Self { checked, artifact, consequences: Consequences::default() })
    }

    /// Returns what an author in this process said a moment ago, without an artifact.
    pub fn fresh(fresh: Fresh, registry: &Registry) -> Result<Self, RuleRefusal> {
        let checked = Checked::fresh(fresh, registry)?;
        let artifact = place(&checked.statement().facts, None, None);
        Ok(Self { checked, artifact, consequences: Consequences::default() })
    }

    /// Returns the submission with what the desk adds to it in the same commit.
    #[must_use]
    pub fn with_consequences(self, consequences: Consequences) -> Self {
        Self { consequences, ..self }
    }

    /// Returns what the desk adds to it.
    pub const fn consequences(&self) -> &Consequences {
        &self.consequences
    }

    /// Returns the checked statement.
    pub const fn checked(&self) -> &Checked {
        &self.checked
    }

    /// Returns where the artifact belongs that the statement records, if it is what the facts commit to.
    pub fn artifact(&self) -> Option<&ArtifactPlace> {
        self.artifact.as_ref().ok()?.as_ref()
    }

    pub(crate) fn into_parts(self) -> Result<(Checked, Option<ArtifactPlace>), RuleRefusal> {
        Ok((self.checked, self.artifact?))
    }
}

/// Returns where the artifact belongs that the facts record, if it is what they commit to.
fn place(
    facts: &Facts,
    artifact: Option<&Artifact>,
    size: Option<u64>,
) -> Result<Option<ArtifactPlace>, RuleRefusal> {
    match (facts, artifact) {
        (Facts::ArtifactRecorded(facts), Some(artifact)) => {
            if artifact.bytes.len() > ARTIFACT_LIMIT {
                return Err(RuleRefusal::artifact_too_large(artifact.bytes.len(), ARTIFACT_LIMIT));
            }
            if artifact.facts() != *facts {
                return Err(RuleRefusal::artifact_mismatch());
            }
            if let Some(named) = size.filter(|named| *named != artifact.bytes.len() as u64) {
                return Err(RuleRefusal::artifact_size(named, artifact.bytes.len()));
            }
            Ok(Some(ArtifactPlace { address: Address::of(&artifact.bytes), salt: artifact.salt }))
        }
        (Facts::ArtifactRecorded(_), None) => Err(RuleRefusal::artifact_missing()),
        (_, Some(_)) => Err(RuleRefusal::artifact_unasked()),
        (_, None) => Ok(None),
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
fn artifact_size(submission: &Submission) -> Option<u64> {
    let opening = submission.opening.as_ref()?;
    match Content::parse(EventType::ArtifactRecorded, &opening.bytes) {
        Ok(Content::ArtifactRecorded(content)) => Some(content.size.as_u64()),
        _ => None,
    }
}

/// How many bytes an artifact may have. An export carries it in one line of base64, and a line has at most 64 MiB.
pub const ARTIFACT_LIMIT: usize = 32 << 20;
