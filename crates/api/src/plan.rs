//! Plans: held against the rules, submitted, clarified gap by gap, confirmed, attested, handed on.

mod given;
mod paper;
mod spoken;
mod standing;

pub use given::{
    AmendPlan, AnswerChange, BeginOperation, CheckPlan, ConfirmPlan, PlanAct, ResolveGap, ResolveOwnGap,
    SubmitPlan,
};
pub use paper::{
    AttestPlan, AttestationChecks, AttestedPlan, HandOffPlan, MAX_MADE_FILES, MadeFile, MadeFiles,
    VerifiedAttestation, VerifyAttestation,
};
pub use spoken::{
    AttestPlanAs, BeginOperationAs, CheckPlanUnder, ConfirmPlanAs, ListedPlan, ListedPlans,
    PlanListParameters, ResolveGapAs, SubmitPlanAs, ToldGap, ToldPlan,
};
pub use standing::{GapStatus, PlanStanding, ResolvedGap, SettledGap, WholePlan};

use schemars::{Schema, SchemaGenerator, json_schema};

fn plan_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "What somebody wants done, member by member: at most 256 KiB, every member named by letters, digits, _, $ and -.",
        "maxProperties": 1024,
    })
}
