//! Plans: held against the rules, submitted, clarified gap by gap, confirmed, attested, handed on.

mod given;
mod paper;
mod spoken;
mod standing;

pub use given::{
    AnswerChange, BeginOperation, CheckPlan, ConfirmPlan, ResolveGap, ResolveOwnGap, SubmitPlan,
};
pub use paper::{
    AttestPlan, AttestationChecks, AttestedPlan, HandOffPlan, MadeFile, VerifiedAttestation,
    VerifyAttestation,
};
pub use spoken::{
    AttestPlanAs, BeginOperationAs, CheckPlanUnder, ConfirmPlanAs, ListedPlan, ListedPlans,
    PlanListParameters, ResolveGapAs, SubmitPlanAs, ToldGap, ToldPlan,
};
pub use standing::{GapStatus, PlanStanding, ResolvedGap, SettledGap, WholePlan};

use demur_clarify::uuid::Uuid;
use demur_core::id::Ulid;
use demur_ledger::name::TraceId;
use schemars::{Schema, SchemaGenerator, json_schema};

/// Returns the trace of a session: the same 128 bits under another name.
pub fn trace_of(session: Uuid) -> TraceId {
    Ulid::from_u128(session.as_u128()).into()
}

fn plan_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "What somebody wants done, member by member: at most 256 KiB, every member named by letters, digits, _, $ and -.",
        "maxProperties": 1024,
    })
}
