//! Plans by the word of a key of this data folder, under rules that travel along: what the command line sends and hears.

use std::collections::BTreeSet;

use demur_clarify::{status::PlanStatus, uuid::Uuid};
use demur_core::{limit::Text, time::Timestamp};
use demur_ledger::{
    content::OperationObject,
    name::{Operation, Sequence, TraceId},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{GapStatus, MadeFiles, PlanStanding, plan_schema};

/// A plan to be held against rules that travel along.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckPlanUnder {
    /// The plan.
    #[schemars(schema_with = "plan_schema")]
    pub plan: Map<String, Value>,
    /// The rules: every pack in one document, as the ledger keeps it.
    pub rules: String,
}

/// A plan that a key of this data folder submits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitPlanAs {
    /// Whose key signs it.
    pub author: Text<1, 256>,
    /// The plan.
    #[schemars(schema_with = "plan_schema")]
    pub plan: Map<String, Value>,
    /// The rules: every pack in one document, as the ledger keeps it.
    pub rules: String,
    /// The name of the session: the same plan under the same name is recorded once.
    #[serde(default)]
    pub session_id: Option<Uuid>,
}

/// What settles a gap, by the word of a key of this data folder or of a person at its terminal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveGapAs {
    /// The answer; none to accept a warning as it is.
    #[serde(default)]
    pub answer: Option<String>,
    /// Whose key signs it; otherwise a person says it.
    #[serde(default)]
    pub author: Option<Text<1, 256>>,
    /// The person at the terminal.
    pub by: Text<1, 256>,
    /// Why.
    #[serde(default)]
    pub note: Option<Text<1, 4096>>,
}

/// An operation that a key of this data folder begins.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginOperationAs {
    /// Whose key signs it.
    pub author: Text<1, 256>,
    /// The operation, as gaps name what they block.
    pub operation: Operation,
    /// The exact operation, as any JSON object; needed once a confirmation was asked for in this work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<OperationObject>,
}

/// A plan that a key of this data folder confirms.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmPlanAs {
    /// Whose key signs it.
    pub author: Text<1, 256>,
}

/// What was made of a plan, by the word of a key of this data folder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttestPlanAs {
    /// Whose key signs it.
    pub author: Text<1, 256>,
    /// The folder.
    pub output_path: Text<1, 1024>,
    /// Every file in it, each path once.
    pub files: MadeFiles,
    /// The version of the program that made them.
    pub program_version: Text<1, 64>,
}

/// Where a plan stands, with what people at a terminal are told beside it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToldPlan {
    /// Where it stands.
    pub standing: PlanStanding,
    /// The gaps that take one of their suggestions and nothing else.
    pub closed: BTreeSet<String>,
    /// The event that a receipt can be had for, if one was recorded.
    pub event: Option<Sequence>,
}

/// What became of an answer to a gap, with what people at a terminal are told beside it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToldGap {
    /// `resolved`, or `escalated` where the answer does not settle it.
    #[schemars(with = "String")]
    pub status: GapStatus,
    /// Why it does not settle the gap.
    pub reason: Option<String>,
    /// Where the plan stands now.
    pub plan: ToldPlan,
}

/// Which plans to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanListParameters {
    /// The last trace of the page before.
    pub after: Option<TraceId>,
    /// How many at most, up to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// One page of plans.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedPlans {
    /// What to give as `after` for the next page; none at the end.
    pub next: Option<TraceId>,
    /// The newest first.
    pub plans: Vec<ListedPlan>,
}

/// A plan in a list.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedPlan {
    /// Who submitted it; none where the plan cannot be read.
    pub agent: Option<String>,
    /// When something last happened.
    pub changed: Timestamp,
    /// How many gaps are open.
    pub open: Option<u64>,
    /// Its session.
    pub session: Uuid,
    /// Where it stands; none where it cannot be read.
    #[schemars(with = "Option<String>")]
    pub status: Option<PlanStatus>,
    /// What it is about.
    pub subject: Option<String>,
    /// When it was submitted.
    pub submitted: Timestamp,
    /// Its trace.
    pub trace: TraceId,
}

impl ToldPlan {
    /// Returns where a plan stands, to be told.
    pub fn new(standing: PlanStanding, event: Option<Sequence>) -> Self {
        Self { closed: standing.closed.clone(), standing, event }
    }

    /// Returns where the plan stands.
    pub fn into_standing(self) -> PlanStanding {
        PlanStanding { closed: self.closed, ..self.standing }
    }
}
