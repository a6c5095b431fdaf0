//! Accountable runs over HTTP (seed 002): opened, spoken in by whoever takes part, audited, looked at.

use demur_api::operation as op;

use crate::api::Api;

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::OpenRun>().mount::<op::ShowRun>().mount::<op::SayInRun>().mount::<op::AuditRun>()
}
