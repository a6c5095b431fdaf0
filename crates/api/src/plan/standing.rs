//! Where a session stands, for people and for programs.

use std::collections::BTreeSet;

use demur_clarify::{attestation::Attestation, document::Document, gap, status::PlanStatus, uuid::Uuid};
use demur_ledger::{
    facts::Assurance,
    name::{PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plan_schema;

/// Where a session stands.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanStanding {
    /// Its name in the protocol.
    pub session_id: Option<Uuid>,
    /// Its trace.
    pub trace: Option<TraceId>,
    /// The agent that submitted the plan.
    #[serde(default)]
    pub agent: Option<String>,
    /// What the plan calls itself.
    #[serde(default)]
    pub subject: Option<String>,
    /// `needs_clarification`, `ready_to_proceed`, `plan_accepted`, `attested` or `withdrawn`.
    #[schemars(with = "String")]
    pub status: PlanStatus,
    /// How many gaps must be answered.
    pub blocking_count: u64,
    /// How many are to be confirmed.
    pub warning_count: u64,
    /// Those that are open, as the clarification protocol writes them.
    pub gaps: Vec<gap::Gap>,
    /// The names of those among them that nobody is asked about now: declined, withdrawn, or not answered in time.
    #[serde(default)]
    pub unasked: Vec<String>,
    /// Those that are settled, and how.
    pub settled: Vec<SettledGap>,
    /// The fields of the plan that no rule reads: nobody checked them.
    #[serde(default)]
    pub unread: Vec<String>,
    /// SHA-256 of the rules.
    pub rules: String,
    /// The signed document while gaps are open.
    pub document: Option<Document>,
    /// The signed attestation of the plan as it was confirmed; none before that.
    pub attestation: Option<Attestation>,
    /// The names of those gaps that take one of their suggestions and nothing else.
    #[serde(skip)]
    pub closed: BTreeSet<String>,
}

/// A gap that was settled.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettledGap {
    /// Its name in the session.
    pub id: String,
    /// The field of the plan.
    pub field: String,
    /// What became of it.
    #[schemars(with = "String")]
    pub outcome: OutcomeKind,
    /// The event that settled it.
    pub event: Option<Sequence>,
    /// Whose key; none for a person.
    pub by: Option<PrincipalId>,
    /// How sure one can be who it was.
    pub assurance: Option<Assurance>,
}

/// What became of an answer to a gap.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedGap {
    /// The gap's name in the session.
    pub gap_id: String,
    /// `resolved`, `escalated` where the answer does not settle it, or `revoked` where it was taken back.
    #[schemars(with = "String")]
    pub status: GapStatus,
    /// The answer that counts.
    pub accepted_answer: Option<String>,
    /// Why it does not settle the gap.
    pub reason: Option<String>,
    /// Where the plan stands now.
    pub session: PlanStanding,
}

/// What became of an answer to a gap, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapStatus {
    /// It settles the gap.
    Resolved,
    /// It does not, and the gap is put again.
    Escalated,
    /// It was taken back, and the gap is open again.
    Revoked,
}

impl GapStatus {
    /// Returns the word of the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Escalated => "escalated",
            Self::Revoked => "revoked",
        }
    }
}

/// A plan in which nothing is missing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WholePlan {
    /// The plan with every answer in it.
    #[schemars(schema_with = "plan_schema")]
    pub plan: Map<String, Value>,
}

impl PlanStanding {
    /// Returns what a check found.
    pub fn new(status: PlanStatus, gaps: Vec<gap::Gap>, rules: String, document: Option<Document>) -> Self {
        let count = |severity| gaps.iter().filter(|gap| gap.severity() == severity).count() as u64;
        Self {
            session_id: None,
            trace: None,
            agent: None,
            subject: None,
            status,
            blocking_count: count(gap::Severity::Block),
            warning_count: count(gap::Severity::Warn),
            gaps,
            unasked: Vec::new(),
            settled: Vec::new(),
            unread: Vec::new(),
            rules,
            document,
            attestation: None,
            closed: BTreeSet::new(),
        }
    }
}
