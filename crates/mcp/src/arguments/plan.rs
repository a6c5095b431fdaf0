//! What the tools about plans take: the names of members are those of the clarification and attestation protocols.

use demur_api::plan::AnswerChange;
use demur_clarify::{
    attestation::Attestation,
    name::{FilePath, GapId},
    seal::Sha256,
    uuid::Uuid,
};
use demur_core::{
    canonical,
    limit::{Limits, List, Text},
};
use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::at;
use crate::reply::Stop;

/// A plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenPlan {
    /// The whole plan.
    #[serde(alias = "plan")]
    #[schemars(schema_with = "object")]
    pub(crate) plan_object: JsonObject,
    /// To go on with one.
    #[serde(default)]
    #[schemars(schema_with = "name")]
    pub(crate) session_id: Option<Uuid>,
    /// Seconds to wait at most.
    #[serde(default)]
    pub(crate) wait_s: Option<u32>,
}

impl GivenPlan {
    /// Returns the plan, if it is within the limits of a document.
    pub(crate) fn checked(&self) -> Result<JsonObject, Stop> {
        checked(&self.plan_object)
    }
}

/// Returns a plan, if it is within the limits of a document.
pub(crate) fn checked(plan: &JsonObject) -> Result<JsonObject, Stop> {
    let text = canonical::to_vec(plan).map_err(at("plan_object"))?;
    canonical::scan(&text, &Limits::CONTENT).map_err(at("plan_object"))?;
    Ok(plan.clone())
}

/// A plan, as an object or member by member.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ScaffoldPlan {
    /// Or its members beside this.
    #[serde(default, alias = "plan")]
    #[schemars(schema_with = "object")]
    plan_object: Option<JsonObject>,
    #[serde(default)]
    #[schemars(schema_with = "name")]
    session_id: Option<Uuid>,
    #[serde(default)]
    wait_s: Option<u32>,
    /// description, standards, languages, libraries ...
    #[serde(flatten)]
    members: JsonObject,
}

impl ScaffoldPlan {
    /// Returns the plan, which comes in one of the two ways.
    pub(crate) fn into_given(self) -> Result<GivenPlan, Stop> {
        let Self { plan_object, session_id, wait_s, members } = self;
        let plan_object = match (plan_object, members.is_empty()) {
            (Some(plan), true) => plan,
            (None, false) if members.contains_key("description") => members,
            // A misspelt argument is no plan.
            (None, false) => {
                return Err(at("plan_object")(
                    "expected a plan as an object, or its members with a description; found neither",
                ));
            }
            (Some(_), false) => {
                return Err(at("plan_object")(
                    "expected the plan as an object or member by member, found both",
                ));
            }
            (None, true) => return Err(at("plan_object")("expected a plan, found none")),
        };
        Ok(GivenPlan { plan_object, session_id, wait_s })
    }
}

/// An answer to a gap.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveGap {
    #[schemars(schema_with = "name")]
    pub(crate) session_id: Uuid,
    #[schemars(schema_with = "name")]
    pub(crate) gap_id: GapId,
    /// Leave out only with change: revoke.
    #[serde(default)]
    pub(crate) answer: Option<Text<1, 4000>>,
    /// Of your own earlier answer.
    #[serde(default)]
    pub(crate) change: Option<AnswerChange>,
}

/// What becomes of a plan that is not confirmed, or of a gap of it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangePlan {
    #[schemars(schema_with = "name")]
    pub(crate) session_id: Uuid,
    pub(crate) change: PlanChange,
    /// With amend: the whole plan.
    #[serde(default, alias = "plan")]
    #[schemars(schema_with = "object")]
    pub(crate) plan_object: Option<JsonObject>,
    /// With ask_again; with withdraw for one gap.
    #[serde(default)]
    #[schemars(schema_with = "name")]
    pub(crate) gap_id: Option<GapId>,
    #[serde(default)]
    pub(crate) reason: Option<Text<1, 4096>>,
}

/// How a plan changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlanChange {
    /// It is another plan now.
    Amend,
    /// It, or one gap of it, is taken back.
    Withdraw,
    /// A gap is put again.
    AskAgain,
}

/// A session by its name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenSession {
    #[schemars(schema_with = "name")]
    pub(crate) session_id: Uuid,
}

/// What was made of a plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Made {
    #[schemars(schema_with = "name")]
    pub(crate) session_id: Uuid,
    /// The folder.
    pub(crate) output_path: Text<1, 1024>,
    pub(crate) files: List<MadeFile, 1, 4_000>,
    /// Of the program that made them.
    pub(crate) program_version: Text<1, 64>,
}

/// One file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MadeFile {
    #[schemars(schema_with = "name")]
    pub(crate) path: FilePath,
    /// sha256: and 64 hex digits
    #[schemars(schema_with = "name")]
    pub(crate) sha256: Sha256,
}

/// An attestation, by itself or by its session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenAttestation {
    /// Otherwise that of the session.
    #[serde(default)]
    #[schemars(schema_with = "object")]
    pub(crate) attestation: Option<Attestation>,
    #[serde(default)]
    #[schemars(schema_with = "name")]
    pub(crate) session_id: Option<Uuid>,
}

/// Free in its members; the desk checks it.
fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object"})
}

/// A name that the desk checks: its pattern would only cost room here.
fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string"})
}
