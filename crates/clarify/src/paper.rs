//! The papers of a session: what the agent signs when something happens, once, to be kept and read again. A key that
//! is replaced later changes none of them (seed 000, 2 and 7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{attestation::Attestation, audit::RecordSeal, document::Document, round::Round};

/// After a submission and each change: what is open now, and the record of what was settled so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentPaper {
    /// The document that asks; null where nothing is open.
    #[serde(deserialize_with = "Option::deserialize")]
    pub document: Option<Document>,
    /// What the record of every round so far is sealed with.
    pub record: RecordSeal,
}

/// After an answer, whether it settled its gap or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundPaper {
    /// What the record up to this round is sealed with.
    pub record: RecordSeal,
    /// The round.
    pub round: Round,
}

/// After the confirmation of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptancePaper {
    /// The attestation of the plan as it was confirmed; nothing is made of it yet.
    pub attestation: Attestation,
    /// What the record of every round before it is sealed with.
    pub record: RecordSeal,
}
