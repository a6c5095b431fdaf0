//! Accountable runs over HTTP (seed 002): opened, spoken in by whoever takes part, driven, audited, looked at.

use demur_api::operation as op;

use crate::api::Api;

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    let api = api.mount::<op::OpenRun>().mount::<op::ShowRun>();
    let api = api.mount::<op::SayInRun>().mount::<op::AuditRun>();
    let api = api.mount::<op::ClaimRun>().mount::<op::DriveRun>().mount::<op::SubmitInRun>();
    api.mount::<op::ReadRun>().mount::<op::AbortRun>()
}
