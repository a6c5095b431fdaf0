//! What the guards of a run need of an event's content: tools, calls, texts and digests, reduced to a few bytes
//! (`docs/format.md` 10). Content can be erased and withheld, so whoever folds events says what is known; of the rest
//! nothing is judged.

mod artifacts;
mod error;

use std::collections::BTreeMap;

use demur_core::{
    canonical,
    hash::{Digest, sha256},
    limit::Limits,
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

pub use artifacts::ArtifactDigests;
pub use error::MeaningError;

use crate::{
    content::{
        AnswerValue, CheckContent, Opening, OperationObject, PolicyDocument, PolicySandbox, PolicyTool,
        operation_digest,
    },
    event_type::{Content, EventType},
    facts::{Policy, Risk},
};

/// What an event's content says, as far as a guard goes by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The policy of a run.
    Policy(Box<PolicyMeaning>),
    /// The tools that a proposal needs, by the digests of their names, ascending.
    Proposal(Box<[Digest]>),
    /// The call that an intent is about.
    Intent(Box<IntendedCall>),
    /// The digest of a claim's text.
    Claim(Digest),
    /// The digests of the texts in a final statement, in its order.
    Bundle(Box<[Digest]>),
    /// SHA-256 of the report that a verdict names.
    Verdict(Digest),
    /// What must be true of an artifact.
    Check(Box<CheckMeaning>),
    /// An operation that is put before somebody, or begun.
    Operation(OperationMeaning),
    /// An operation begins, and its words do not say which. That is not the same as words that nobody can read.
    Untold,
    /// The digest of the operation that somebody confirmed or refused, or that is over.
    Digest(Digest),
    /// The field of a gap.
    Field(Box<str>),
    /// An answer, as it may stand in a plan.
    Answer(AnswerMeaning),
    /// A plan as its agent amended it.
    Plan(Box<Map<String, Value>>),
}

/// An answer by the digests of what it can be in a plan: itself, and a text also as a list with commas between its entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerMeaning {
    /// The value itself.
    pub value: Digest,
    /// The list.
    pub list: Option<Digest>,
    /// Its entries one by one, in case other answers replace some; none where they are many.
    pub entries: Box<[Digest]>,
}

/// An operation by digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationMeaning {
    /// What the content says its digest is.
    pub said: Digest,
    /// What it is.
    pub found: Digest,
}

/// A check, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckMeaning {
    /// The check.
    pub check: CheckContent,
    /// Whether it is true; none where nobody has looked at the bytes.
    pub holds: Option<bool>,
}

/// What a policy demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyMeaning {
    /// The numbers that the opening of the run repeats.
    pub numbers: Policy,
    /// Whether no client may both do the work and judge it.
    pub distinct_clients: bool,
    /// How closely the tools are held that demur starts.
    pub sandbox: Option<PolicySandbox>,
    /// What is demanded of every tool that may run, by the digest of its name; none where any may.
    pub tools: Option<BTreeMap<Digest, ToolDemands>>,
}

/// What a policy demands of the calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolDemands {
    /// The programs that a call may start, by the digests of their names.
    pub programs: Box<[Digest]>,
    /// Whether a person confirms each of them before it starts.
    pub confirm: bool,
    /// What each risks at least.
    pub risk: Risk,
}

/// A tool with its input: the same call again is the same tool with the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntendedCall {
    /// The name of the tool.
    pub tool: Box<str>,
    /// The digest of tool and input together.
    pub id: Digest,
    /// SHA-256 of the input.
    pub input: Digest,
}

impl IntendedCall {
    fn new(tool: &str, input: Digest) -> Self {
        // The input has a fixed length and comes first, so that no two calls have the same bytes.
        let id = sha256(&[input.as_bytes(), tool.as_bytes()].concat());
        Self { tool: tool.into(), id, input }
    }
}

impl AnswerMeaning {
    /// Returns what an answer can be in a plan; none for a secret, which is in none.
    fn of(answer: &AnswerValue) -> Option<Self> {
        let list = |text: &str| text.split(',').map(|entry| Value::from(entry.trim())).collect::<Vec<_>>();
        let (value, list) = match answer {
            AnswerValue::Text(text) => (Value::from(text.trim()), Some(list(text))),
            AnswerValue::Flag(flag) => (Value::from(*flag), None),
            AnswerValue::Number(number) => (Value::from(number.clone()), None),
            AnswerValue::Sealed(_) => return None,
        };
        let entries = list.iter().filter(|list| list.len() <= MAX_ENTRIES).flatten().filter_map(digest_of);
        let entries = entries.collect();
        let list = list.map(Value::from).as_ref().and_then(digest_of);
        Some(Self { value: digest_of(&value)?, list, entries })
    }

    /// Returns the yes or no that it is, if it is one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        [true, false].into_iter().find(|flag| self.is(&Value::from(*flag)))
    }

    /// Returns whether a value of a plan is this answer.
    pub(crate) fn is(&self, value: &Value) -> bool {
        digest_of(value).is_some_and(|found| found == self.value || Some(found) == self.list)
    }

    /// Returns whether a value of a plan is this answer as a list, but for the entries that other answers replaced or added.
    pub(crate) fn is_but(&self, value: &Value, is_replaced: impl Fn(usize) -> bool) -> bool {
        let Some(found) = value.as_array().filter(|_| !self.entries.is_empty()) else { return false };
        let stands =
            |(place, entry)| is_replaced(place) || self.entries.get(place) == digest_of(entry).as_ref();
        found.len() >= self.entries.len() && found.iter().enumerate().all(stands)
    }
}

/// How many entries of a list are remembered one by one.
const MAX_ENTRIES: usize = 64;

fn digest_of(value: &Value) -> Option<Digest> {
    Some(sha256(&canonical::to_vec(value).ok()?))
}

impl Meaning {
    /// Returns what the guards need of this content; none where they need nothing.
    pub fn of(content: &Content) -> Option<Self> {
        Some(match content {
            Content::PolicyRecorded(content) => Self::Policy(Box::new(of_policy(&content.document))),
            Content::ProposalCreated(content) => {
                let mut tools: Vec<_> = content.required_tools.iter().map(|tool| digest(tool)).collect();
                tools.sort_unstable();
                Self::Proposal(tools.into())
            }
            Content::ToolIntentSigned(content) => {
                Self::Intent(Box::new(IntendedCall::new(&content.tool, content.input_hash)))
            }
            Content::ClaimIssued(content) | Content::ClaimRevised(content) => {
                Self::Claim(digest(&content.text))
            }
            Content::FinalStatementSigned(content) => {
                Self::Bundle(content.claims.iter().map(|claim| digest(&claim.text)).collect())
            }
            Content::VerificationRunCompleted(content) => Self::Verdict(content.report),
            Content::CheckStated(check) => {
                Self::Check(Box::new(CheckMeaning { check: check.clone(), holds: None }))
            }
            Content::ConfirmationAsked(content) => of_operation(content.digest, &content.operation)?,
            Content::ConfirmationGiven(content) => Self::Digest(content.digest),
            Content::ConfirmationRefused(content) => Self::Digest(content.digest),
            Content::OperationStarted(content) => match (content.digest, &content.operation) {
                (Some(digest), Some(operation)) => of_operation(digest, operation)?,
                _ => Self::Untold,
            },
            Content::OperationEnded(content) => Self::Digest(content.digest?),
            Content::GapFound(content) => Self::Field(content.field.as_ref()?.as_str().into()),
            Content::QuestionAnswered(content) | Content::AnswerSuperseded(content) => {
                Self::Answer(AnswerMeaning::of(&content.answer)?)
            }
            Content::PlanAmended(content) => Self::Plan(Box::new(content.plan.clone())),
            _ => return None,
        })
    }

    /// Returns the check that is stated, if one is.
    pub fn check(&self) -> Option<&CheckMeaning> {
        match self {
            Self::Check(check) => Some(check),
            _ => None,
        }
    }

    /// Returns the tool that an intent is for, if this is one.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Intent(call) => Some(&call.tool),
            _ => None,
        }
    }

    /// Takes note of whether the check that is stated is true.
    pub fn settle_check(&mut self, holds: Option<bool>) {
        if let Self::Check(check) = self {
            check.holds = holds;
        }
    }

    /// Returns what the guards need of the content beside a recorded event of this type, where that can be read.
    pub fn of_opening(kind: EventType, opening: &Opening) -> Option<Self> {
        if !is_needed(kind) {
            return None;
        }
        Content::parse(kind, &opening.bytes).ok().as_ref().and_then(Self::of)
    }
}

/// Returns the digest of the program that an input starts, where that has the form in which `demur run` records one: the canonical
/// JSON of an object with `call`, `command` and `stdin` and nothing else.
pub fn program(input: &[u8]) -> Option<Digest> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ToolInput {
        #[serde(rename = "call")]
        _call: IgnoredAny,
        command: Vec<String>,
        #[serde(rename = "stdin")]
        _stdin: IgnoredAny,
    }
    // Most artifacts are something else, and are not read.
    if !input.starts_with(br#"{"call":"#) {
        return None;
    }
    let input: ToolInput = canonical::from_canonical(input, &INPUT).ok()?;
    input.command.first().map(|program| digest(program))
}

/// How large an input is at most that is read.
const INPUT: Limits = Limits { bytes: 1 << 20, ..Limits::LINE };

/// Returns the digest that stands for a text.
pub(crate) fn digest(text: &str) -> Digest {
    sha256(text.as_bytes())
}

/// Returns whether a guard looks at the content of this type.
const fn is_needed(kind: EventType) -> bool {
    matches!(
        kind,
        EventType::PolicyRecorded
            | EventType::ProposalCreated
            | EventType::ToolIntentSigned
            | EventType::ClaimIssued
            | EventType::ClaimRevised
            | EventType::FinalStatementSigned
            | EventType::VerificationRunCompleted
            | EventType::CheckStated
            | EventType::ConfirmationAsked
            | EventType::ConfirmationGiven
            | EventType::ConfirmationRefused
            | EventType::OperationStarted
            | EventType::OperationEnded
            | EventType::GapFound
            | EventType::QuestionAnswered
            | EventType::AnswerSuperseded
            | EventType::PlanAmended
    )
}

fn of_operation(said: Digest, operation: &OperationObject) -> Option<Meaning> {
    let found = operation_digest(operation).ok()?;
    Some(Meaning::Operation(OperationMeaning { said, found }))
}

fn of_policy(document: &PolicyDocument) -> PolicyMeaning {
    let demands = |tools: &crate::content::PolicyTools| {
        let demands = |name: &str, tool: &PolicyTool| {
            let programs = match &tool.programs[..] {
                [] => [digest(name)].into(),
                programs => programs.iter().map(|program| digest(program)).collect(),
            };
            ToolDemands { programs, confirm: tool.confirm, risk: tool.risk }
        };
        tools.iter().map(|(name, tool)| (digest(name), demands(name, tool))).collect()
    };
    PolicyMeaning {
        numbers: document.numbers(),
        distinct_clients: document.distinct_clients,
        sandbox: document.sandbox,
        tools: document.tools.as_ref().map(demands),
    }
}

/// What is known beside an event when it is judged.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// What its content says; none where that is not disclosed.
    pub meaning: Option<&'a Meaning>,
    /// The bytes of earlier artifacts, by digest.
    pub artifacts: &'a ArtifactDigests,
}

impl Known<'_> {
    /// Nothing: only the order of events is judged.
    pub const NOTHING: Known<'static> = Known { meaning: None, artifacts: &NO_ARTIFACTS };
}

static NO_ARTIFACTS: ArtifactDigests = ArtifactDigests::new();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_told_by_an_input_of_exactly_the_form_of_a_call() {
        let awk = Some(digest("awk"));
        for (input, expected) in [
            (r#"{"call":"count","command":["awk","1"],"stdin":""}"#, awk),
            (r#"{"call":"count","command":[],"stdin":""}"#, None),
            (r#"{"call":"count","command":["awk"],"shell":true,"stdin":""}"#, None),
            (r#"{"call":"count","command":["awk"]}"#, None),
            (r#"{"call": "count","command":["awk"],"stdin":""}"#, None),
            (r#"{"call":"count","command":[1],"stdin":""}"#, None),
            ("not JSON", None),
        ] {
            assert_eq!(program(input.as_bytes()), expected, "{input}");
        }
    }

    #[test]
    fn calls_differ_by_tool_and_by_input() {
        let calls = [("wc", b"a"), ("wc", b"b"), ("cat", b"a")]
            .map(|(tool, input)| IntendedCall::new(tool, sha256(input)));
        assert!(calls[0].id != calls[1].id && calls[0].id != calls[2].id && calls[1].id != calls[2].id);
        assert_eq!(calls[0], IntendedCall::new("wc", sha256(b"a")));
    }
}
