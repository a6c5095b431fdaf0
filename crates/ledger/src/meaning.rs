//! What the guards of a run need of an event's content: tools, calls, texts and digests, reduced to a few bytes
//! (`docs/format.md` 10). Content can be erased and withheld, so whoever folds events says what is known; of the rest
//! nothing is judged.

mod error;

use std::collections::BTreeMap;

use demur_core::hash::{Digest, sha256};

pub use error::MeaningError;

use crate::{
    content::{Opening, PolicyDocument},
    event_type::{Content, EventType},
    facts::{Policy, Risk},
    name::Sequence,
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
}

/// What a policy demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyMeaning {
    /// The numbers that the opening of the run repeats.
    pub numbers: Policy,
    /// Whether no client may both do the work and judge it.
    pub distinct_clients: bool,
    /// The least risk of every tool that may run, by the digest of its name; none where any may.
    pub tools: Option<BTreeMap<Digest, Risk>>,
}

/// A tool with its input: the same call again is the same tool with the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
            _ => return None,
        })
    }

    /// Returns what the guards need of the content beside a recorded event of this type, where that can be read.
    pub fn of_opening(kind: EventType, opening: &Opening) -> Option<Self> {
        if !is_needed(kind) {
            return None;
        }
        Content::parse(kind, &opening.bytes).ok().as_ref().and_then(Self::of)
    }
}

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
    )
}

fn of_policy(document: &PolicyDocument) -> PolicyMeaning {
    let floors = |tools: &crate::content::PolicyTools| {
        tools.iter().map(|(name, tool)| (digest(name), tool.risk)).collect()
    };
    PolicyMeaning {
        numbers: document.numbers(),
        distinct_clients: document.distinct_clients,
        tools: document.tools.as_ref().map(floors),
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

/// The SHA-256 of the bytes of recorded artifacts, by the event that records each. Unsalted, so it stays where the bytes
/// themselves are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArtifactDigests(Vec<(Sequence, Digest)>);

impl ArtifactDigests {
    /// Returns no digests.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds an artifact that was recorded after all the others.
    pub fn push(&mut self, artifact: Sequence, digest: Digest) {
        debug_assert!(self.0.last().is_none_or(|(last, _)| *last < artifact), "artifacts come in order");
        self.0.push((artifact, digest));
    }

    /// Returns the digest of an artifact's bytes, where it is known.
    pub fn find(&self, artifact: Sequence) -> Option<&Digest> {
        let index = self.0.binary_search_by_key(&artifact, |(at, _)| *at).ok()?;
        self.0.get(index).map(|(_, digest)| digest)
    }

    /// Forgets the oldest, as long as there are more than so many and they came before this event.
    pub fn keep_newest(&mut self, count: usize, before: Sequence) {
        let more = self.0.len().saturating_sub(count);
        let older = self.0.partition_point(|(at, _)| *at < before);
        self.0.drain(..more.min(older));
    }

    /// Forgets what was recorded from this event on.
    pub fn forget_from(&mut self, event: Sequence) {
        self.0.truncate(self.0.partition_point(|(at, _)| *at < event));
    }
}

impl FromIterator<(Sequence, Digest)> for ArtifactDigests {
    /// Takes artifacts in any order.
    fn from_iter<I: IntoIterator<Item = (Sequence, Digest)>>(artifacts: I) -> Self {
        let mut artifacts: Vec<_> = artifacts.into_iter().collect();
        artifacts.sort_unstable();
        artifacts.dedup_by_key(|(at, _)| *at);
        Self(artifacts)
    }
}

impl IntoIterator for ArtifactDigests {
    type Item = (Sequence, Digest);
    type IntoIter = std::vec::IntoIter<(Sequence, Digest)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_differ_by_tool_and_by_input() {
        let calls = [("wc", b"a"), ("wc", b"b"), ("cat", b"a")]
            .map(|(tool, input)| IntendedCall::new(tool, sha256(input)));
        assert!(calls[0].id != calls[1].id && calls[0].id != calls[2].id && calls[1].id != calls[2].id);
        assert_eq!(calls[0], IntendedCall::new("wc", sha256(b"a")));
    }

    #[test]
    fn artifacts_are_found_by_the_event_that_records_them() {
        let at = |number: u32| Sequence::from(number);
        let mut artifacts: ArtifactDigests =
            [(at(9), sha256(b"9")), (at(4), sha256(b"4"))].into_iter().collect();
        artifacts.push(at(12), sha256(b"12"));
        assert_eq!(artifacts.find(at(4)), Some(&sha256(b"4")));
        assert_eq!(artifacts.find(at(5)), None);
        artifacts.forget_from(at(12));
        artifacts.keep_newest(1, at(4));
        assert_eq!(artifacts.0.len(), 2, "nothing came before event 4");
        artifacts.keep_newest(1, at(12));
        assert_eq!(artifacts.0, [(at(9), sha256(b"9"))]);
    }
}
