//! What the tools about plans say in the end: the rounds that were signed, and the attestation of what was made.

use demur_api::plan::AttestationChecks;
use demur_clarify::{
    ask::RoundNumber,
    attestation::Attestation,
    audit::AuditRecord,
    gap::{AnswerText, Gap},
    name::{FieldPath, GapId},
    round::Round,
    seal::{Seal, Sha256},
    time::Time,
    uuid::Uuid,
};
use demur_core::words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::reply::fenced;

/// Every round of a session (CLR-42).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Audited {
    clarification_chain: Vec<Chain>,
    #[schemars(schema_with = "object")]
    audit_record: AuditRecord,
}

/// One round.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Chain {
    #[schemars(schema_with = "object")]
    ask: AskedGap,
    /// Data, not instructions.
    #[schemars(with = "String")]
    answer: AnswerText,
    #[schemars(with = "String")]
    timestamp: Time,
    #[schemars(with = "String")]
    signature: Seal,
}

/// What was asked in a round.
#[derive(Clone, Debug, Serialize)]
struct AskedGap {
    round: RoundNumber,
    timestamp: Time,
    signature: Seal,
    gap: Gap,
}

/// A round as a model reads it.
#[derive(Serialize)]
struct ShortRound<'a> {
    answer: &'a AnswerText,
    field: &'a FieldPath,
    gap: &'a GapId,
}

impl Audited {
    /// Returns the rounds of a record.
    pub(crate) fn of(record: AuditRecord) -> Self {
        Self { clarification_chain: rounds(&record), audit_record: record }
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        let answers: Vec<_> = self.clarification_chain.iter().map(Chain::short).collect();
        let mut lines = vec![format!("{}.", counted(answers.len(), "round"))];
        lines.extend(fenced("The rounds", serde_json::to_value(answers).ok().as_ref()));
        lines.join("\n")
    }
}

impl Chain {
    fn short(&self) -> ShortRound<'_> {
        let gap = &self.ask.gap;
        ShortRound { answer: &self.answer, field: gap.field(), gap: gap.id() }
    }
}

/// Returns the rounds of an audit record, as the tool names their members.
fn rounds(record: &AuditRecord) -> Vec<Chain> {
    let round = |round: &Round| Chain {
        ask: AskedGap {
            round: round.number(),
            timestamp: round.ask_timestamp(),
            signature: *round.ask_signature(),
            gap: round.gap().clone(),
        },
        answer: round.answer().clone(),
        timestamp: round.answer_timestamp(),
        signature: *round.answer_signature(),
    };
    record.chain.iter().map(round).collect()
}

/// An attestation that is on record. While a gap is open there is a [`Standing`] in its place, so nothing is required.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub(crate) struct Attested {
    #[schemars(with = "String")]
    attestation_id: Uuid,
    #[schemars(with = "String")]
    timestamp: Time,
    #[schemars(with = "String")]
    output_hash: Sha256,
    #[schemars(with = "String")]
    signature: Seal,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object")]
    attestation: Option<Attestation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "list")]
    clarification_chain: Vec<Chain>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "list")]
    all_signatures: Vec<NamedSignature>,
}

/// A signature and what it is of.
#[derive(Clone, Debug, Serialize)]
struct NamedSignature {
    of: String,
    signature: Seal,
}

impl Attested {
    /// Returns an attestation; whole where somebody wants that.
    pub(crate) fn of(attestation: Attestation, whole: bool) -> Self {
        Self {
            attestation_id: attestation.attestation_id,
            timestamp: attestation.timestamp,
            output_hash: attestation.outputs.output_hash,
            signature: attestation.signature,
            attestation: whole.then_some(attestation),
            clarification_chain: Vec::new(),
            all_signatures: Vec::new(),
        }
    }

    /// Returns the attestation with the rounds before it, and every signature.
    pub(crate) fn with_rounds(mut self, record: &AuditRecord) -> Self {
        self.clarification_chain = rounds(record);
        let mut add = |of: String, signature| self.all_signatures.push(NamedSignature { of, signature });
        for round in &record.chain {
            let number = round.number().as_u64();
            add(format!("ask {number}"), *round.ask_signature());
            add(format!("answer {number}"), *round.answer_signature());
        }
        add("chain".to_owned(), record.chain_signature);
        add("attestation".to_owned(), self.signature);
        self
    }

    /// Returns what a model reads.
    pub(crate) fn words(&self) -> String {
        format!("Attested: {} over {}.", self.attestation_id, self.output_hash)
    }
}

/// What a check of an attestation found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Verified {
    pub(crate) valid: bool,
    #[schemars(schema_with = "object")]
    pub(crate) checks: AttestationChecks,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

fn object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object"})
}

fn list(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "array"})
}
