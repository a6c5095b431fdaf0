//! The words of an event that outlive it: what a later event, or a report, calls it by.

use demur_core::{
    canonical,
    hash::Digest,
    limit::{Text, Whole},
};

use super::label::Label;
use crate::{
    content::{AnswerValue, ClaimContent, Terms},
    event_type::Content,
};

/// What is kept of an event's content.
#[derive(Debug)]
pub(crate) enum Words {
    /// The name of a store, of whoever holds a key, of a person or of a client.
    Name(Text<1, 256>),
    /// SHA-256 of the text that a policy was read from.
    Policy(Digest),
    /// A claim and how sure its author is.
    Claim(ClaimContent),
    /// The reason of a challenge or of its end.
    Reason(Text<1, 16384>),
    /// The tool of an intent.
    Tool(Label),
    /// Whether a tool was held to everything, in the words of whoever ran it.
    Sandbox(String),
    /// How an execution ended.
    Ended { duration_ms: u64, exit_status: Option<u64> },
    /// The name of an artifact.
    Artifact(Label),
    /// What the answer to a question is held against.
    Asked(Box<Terms>),
    /// An answer.
    Answer(Box<AnswerWords>),
    /// An answer that was rejected.
    Rejected,
    /// Who the desk says accepted, confirmed or refused something.
    Person(Text<1, 256>),
    /// Why something was erased.
    Erasure(Text<1, 4096>),
    /// An operation that starts, in canonical JSON.
    Operation(String),
    /// A default that took effect.
    Default(Box<AnswerValue>),
}

/// What is kept of an answer.
#[derive(Debug)]
pub(crate) struct AnswerWords {
    /// The answer.
    pub(crate) value: AnswerValue,
    /// The request it is about.
    pub(crate) request: Option<Digest>,
    /// Who the desk says it was, where no key stands behind it.
    pub(crate) by: Option<String>,
}

impl Words {
    /// Returns what is worth keeping; the rest is freed.
    pub(crate) fn of(content: Content) -> Option<Self> {
        Some(match content {
            Content::StoreCreated(content)
            | Content::KeyRegistered(content)
            | Content::ClientBound(content)
            | Content::TokenMade(content)
            | Content::PersonAdded(content)
            | Content::PersonChanged(content) => Self::Name(content.name),
            Content::PolicyRecorded(content) => Self::Policy(content.hash?),
            Content::ClaimIssued(content) | Content::ClaimRevised(content) => Self::Claim(content),
            Content::ClaimChallenged(content) | Content::ClaimResolved(content) => {
                Self::Reason(content.reason)
            }
            Content::ToolIntentSigned(content) => Self::Tool(Label::new(&content.tool)),
            Content::ToolExecutionStarted(content) => Self::Sandbox(content.sandbox()?.to_owned()),
            Content::ToolExecutionCompleted(content) => Self::Ended {
                duration_ms: content.duration_ms.as_u64(),
                exit_status: content.exit_status.map(Whole::as_u64),
            },
            Content::ToolExecutionFailed(content) => Self::Ended {
                duration_ms: content.duration_ms.as_u64(),
                exit_status: content.exit_status.map(Whole::as_u64),
            },
            Content::ArtifactRecorded(content) => Self::Artifact(Label::new(&content.name)),
            Content::QuestionAsked(content) | Content::GapFound(content) => {
                Self::Asked(Box::new(content.terms()))
            }
            Content::QuestionAnswered(content) | Content::AnswerSuperseded(content) => {
                Self::Answer(Box::new(AnswerWords {
                    value: content.answer,
                    request: content.request,
                    by: content.by.map(|by| by.to_string()),
                }))
            }
            Content::AnswerRejected(content) => {
                content.answer?;
                Self::Rejected
            }
            Content::OperationStarted(content) => {
                let told = canonical::to_vec(&content.operation?).ok()?;
                Self::Operation(String::from_utf8(told).ok()?)
            }
            Content::QuestionDefaulted(content) => Self::Default(Box::new(content.default)),
            Content::ContentErased(content) => Self::Erasure(content.why),
            Content::GapAccepted(content) => Self::Person(content.by?),
            Content::ConfirmationGiven(content) => Self::Person(content.by?),
            Content::ConfirmationRefused(content) => Self::Person(content.by?),
            _ => return None,
        })
    }
}
