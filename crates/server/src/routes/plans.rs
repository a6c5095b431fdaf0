//! Plans over HTTP: held against the rules, submitted, answered gap by gap, confirmed, attested, handed on (CLR-30).

use demur_api::operation as op;

use crate::api::Api;

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::CheckPlan>()
        .mount::<op::SubmitPlan>()
        .mount::<op::ShowPlan>()
        .mount::<op::ResolveGap>()
        .mount::<op::ResolveOwnGap>()
        .mount::<op::WithdrawGap>()
        .mount::<op::AskGapAgain>()
        .mount::<op::AmendPlan>()
        .mount::<op::WithdrawPlan>()
        .mount::<op::BeginOperation>()
        .mount::<op::ConfirmPlan>()
        .mount::<op::AttestPlan>()
        .mount::<op::AuditPlan>()
        .mount::<op::HandOffPlan>()
        .mount::<op::ShowWholePlan>()
        .mount::<op::ShowAttestation>()
        .mount::<op::VerifyAttestation>()
}
