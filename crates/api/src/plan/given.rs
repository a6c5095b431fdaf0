//! What somebody sends about a plan.

use demur_clarify::uuid::Uuid;
use demur_core::limit::Text;
use demur_ledger::{content::OperationObject, name::Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plan_schema;

/// A plan to be held against the rules.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckPlan {
    /// The plan.
    #[schemars(schema_with = "plan_schema")]
    pub plan: Map<String, Value>,
}

/// A plan to be submitted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitPlan {
    /// The plan.
    #[schemars(schema_with = "plan_schema")]
    pub plan: Map<String, Value>,
    /// The name of the session: the same plan under the same name is recorded once. Otherwise the server chooses one.
    #[serde(default)]
    pub session_id: Option<Uuid>,
    /// The agent in whose name the user of this machine submits; otherwise `agent`. A token speaks as itself.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}

/// A plan in the place of the one that was submitted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendPlan {
    /// The whole plan. A field that somebody answered may be left out: it keeps the answer.
    #[schemars(schema_with = "plan_schema")]
    pub plan: Map<String, Value>,
    /// The agent in whose name the user of this machine amends it; otherwise whoever submitted the plan.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}

/// Who no longer wants an answer or a plan, or wants a question put again.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanAct {
    /// The agent in whose name the user of this machine says so; otherwise the user does, as a person. Whoever submitted the plan
    /// speaks as itself.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
    /// The person who says so, where that one speaks through somebody else.
    #[serde(default)]
    pub by: Option<Text<1, 256>>,
    /// Why.
    #[serde(default)]
    pub reason: Option<Text<1, 4096>>,
}

/// What settles a gap.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveGap {
    /// The answer; none to accept a warning as it is.
    #[serde(default)]
    pub answer: Option<Text<1, 4000>>,
    /// Why.
    #[serde(default)]
    pub note: Option<Text<1, 4096>>,
    /// Who says so, where a person speaks through somebody else.
    #[serde(default)]
    pub by: Option<Text<1, 256>>,
}

/// What settles a gap by the word of whoever submitted the plan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveOwnGap {
    /// The answer; none only with `change`, to take one back.
    #[serde(default)]
    pub answer: Option<Text<1, 4000>>,
    /// Why.
    #[serde(default)]
    pub note: Option<Text<1, 4096>>,
    /// What becomes of an answer that the same one gave before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<AnswerChange>,
}

/// What becomes of one's own answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerChange {
    /// Another answer takes its place.
    Replace,
    /// It is taken back, and the gap is open again.
    Revoke,
}

/// An operation that is to begin.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginOperation {
    /// Its name, as gaps name what they block.
    pub operation: Operation,
    /// The exact operation, as any JSON object; needed once a confirmation was asked for in this work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<OperationObject>,
    /// The agent in whose name the user of this machine begins it; otherwise whoever submitted the plan.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}

/// A plan to be confirmed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmPlan {
    /// The agent in whose name the user of this machine confirms it; otherwise whoever submitted the plan.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}
