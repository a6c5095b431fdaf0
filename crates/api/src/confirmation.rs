//! Confirmations: one operation is put before somebody, who gives or refuses a yes to exactly that one, and it is started once
//! (ONE-09). None of this is a question.

use std::{borrow::Cow, fmt, str::FromStr};

use demur_core::{
    hash::Digest,
    limit::{Text, Whole},
    time::Timestamp,
};
use demur_ledger::{
    confirmation::ConfirmationStanding,
    content::OperationObject,
    facts::{Assurance, Risk},
    name::{Operation, PrincipalId, Sequence, TraceId},
    question::UNNAMED,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::question::{Answering, QuestionId, Whom};

/// A confirmation by trace and place: its trace, a dot, and the number of the event that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfirmationId(pub QuestionId);

impl ConfirmationId {
    /// Returns the confirmation that was asked for there.
    pub const fn new(trace: TraceId, sequence: Sequence) -> Self {
        Self(QuestionId { trace, sequence })
    }
}

impl fmt::Display for ConfirmationId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for ConfirmationId {
    type Err = NotAConfirmation;

    fn from_str(text: &str) -> Result<Self, NotAConfirmation> {
        text.parse().map(Self).map_err(|_| NotAConfirmation)
    }
}

/// Something that names no confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the id of a confirmation: 26 characters, a dot and a number, as `demur confirm list` shows them"
)]
pub struct NotAConfirmation;

impl JsonSchema for ConfirmationId {
    fn schema_name() -> Cow<'static, str> {
        "ConfirmationId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A confirmation: its trace, a dot, the number of the event that asked.",
            "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}(\\.(0|[1-9][0-9]{0,15}))?$"
        })
    }
}

/// An operation that is put before somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskConfirmation {
    /// What is to be done, in words.
    pub action: Text<1, 4096>,
    /// What follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Text<1, 4096>>,
    /// The exact operation, as any JSON object: a yes is for these bytes. In a run it is that of the intent, and is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationObject>,
    /// How risky it is.
    #[serde(default = "high")]
    pub risk: Risk,
    /// How long it waits, in seconds; then it is refused. Otherwise as long as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<Whole<1, 31_536_000>>,
    /// Who may give or refuse it.
    #[serde(default)]
    pub answering: Answering,
    /// The least assurance of a yes or a no, if more is wanted than `answering` implies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// The language of the words, as a BCP 47 tag.
    #[serde(default = "english")]
    pub language: Text<2, 64>,
    /// The trace of the asker's work; otherwise it has a trace of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// In a run: the intent that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Sequence>,
}

const fn high() -> Risk {
    Risk::High
}

fn english() -> Text<2, 64> {
    // Unwrap safety: two letters.
    Text::try_from("en").expect("two letters fit")
}

/// How a confirmation is asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskConfirmationParameters {
    /// How many seconds to wait for a yes or a no, up to 300.
    #[schemars(range(max = 300))]
    pub wait: Option<u64>,
    /// The name under which the user of this machine asks.
    #[serde(rename = "as")]
    #[schemars(length(min = 1, max = 64))]
    pub asker: Option<String>,
}

/// Which confirmations to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationListParameters {
    /// Only those in these states, with commas between them: `open`, `given`, `refused`, `expired`.
    pub state: Option<String>,
    /// Only those of this trace.
    pub trace: Option<TraceId>,
    /// The newest first.
    pub newest: Option<bool>,
    /// The cursor that the page before gave.
    pub after: Option<String>,
    /// How many at most, up to 200.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

/// A confirmation and how it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmationView {
    /// Its name.
    pub id: ConfirmationId,
    /// Its trace.
    pub trace: TraceId,
    /// The hash of the event that asked: a yes or a no belongs to it.
    pub hash: Digest,
    /// `open`, `given`, `refused` or `expired`.
    pub state: ConfirmationStanding,
    /// What is to be done; none once it was erased.
    pub action: Option<String>,
    /// What follows from it.
    pub consequence: Option<String>,
    /// The exact operation.
    pub operation: Option<OperationObject>,
    /// SHA-256 of the canonical JSON of the operation.
    pub digest: Option<Digest>,
    /// How risky its asker says it is.
    pub risk: Option<Risk>,
    /// The language of the words.
    pub language: Option<String>,
    /// In a run: the intent that waits.
    pub about: Option<Sequence>,
    /// When it was asked.
    pub asked: Timestamp,
    /// When it ends refused.
    pub deadline: Option<Timestamp>,
    /// Who asks.
    pub asker: Whom,
    /// Whether people may give or refuse it.
    pub people: bool,
    /// The least assurance of a yes or a no.
    pub assurance: Assurance,
    /// Who said yes or no, or that nobody did; none while it is open.
    pub outcome: Option<ConfirmationEnding>,
    /// The event that was started on it.
    pub started: Option<Sequence>,
    /// How that ended, as whoever carried it out says; none while nobody said so.
    #[serde(default)]
    pub ended: Option<OperationEnding>,
}

/// The end of an operation that was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationEnding {
    /// The event that says so.
    pub event: Sequence,
    /// Whether it failed.
    pub failed: bool,
}

impl ConfirmationView {
    /// Returns whether it waits for a yes or a no.
    pub fn is_open(&self) -> bool {
        self.state == ConfirmationStanding::Open
    }
}

/// What became of a confirmation: who, when and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmationEnding {
    /// Who, by name; none where the deadline passed.
    pub by: Option<String>,
    /// Whose key; none for a person or the desk.
    pub principal: Option<PrincipalId>,
    /// How sure one can be who it was.
    pub assurance: Option<Assurance>,
    /// When.
    pub time: Timestamp,
    /// The event.
    pub event: Sequence,
    /// Why, in their words.
    pub note: Option<String>,
    /// An operation they would confirm; it needs a confirmation of its own.
    pub instead: Option<OperationObject>,
}

/// A page of confirmations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedConfirmations {
    /// The confirmations, in order.
    pub confirmations: Vec<ConfirmationView>,
    /// The cursor for the next page, if there is one.
    pub next: Option<String>,
}

/// A yes to exactly one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GiveConfirmation {
    /// The digest of the operation that was shown.
    pub digest: Digest,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Text<1, 4096>>,
    /// The person who said it, where a relay passes it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text<1, 256>>,
}

/// A no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefuseConfirmation {
    /// The digest of the operation that was shown.
    pub digest: Digest,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Text<1, 4096>>,
    /// The person who said it, where a relay passes it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text<1, 256>>,
    /// An operation they would confirm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<OperationObject>,
}

/// The start of an operation that was confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartOperation {
    /// The exact operation that starts: refused unless it is the one that was confirmed.
    pub operation: OperationObject,
    /// The name that open questions may block it under. Without one it waits for every question that blocks something.
    #[serde(default = "unnamed")]
    pub name: Operation,
    /// What for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Text<1, 4096>>,
}

fn unnamed() -> Operation {
    // Unwrap safety: one plain word.
    Operation::try_from(UNNAMED.to_owned()).expect("one word is a name")
}

/// The end of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndOperation {
    /// Whether it failed.
    #[serde(default)]
    pub failed: bool,
}
