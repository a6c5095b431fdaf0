//! The roles of a run: who held each, and which client that was. Several roles of one client are told apart from those of
//! several, and a seat that the desk played from both.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Names, Walk};
use crate::{
    client::words,
    name::{ClientId, PrincipalId},
    role::Role,
    trace_state::TraceState,
};

/// Who held a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoleReport {
    /// The role.
    pub role: Role,
    /// Whoever held it.
    pub principal: PrincipalId,
    /// The clients its keys were made for; none where that is not recorded, the desk's principal where the desk played it.
    pub clients: Vec<ClientId>,
    /// The same in words.
    pub words: String,
}

/// Returns the roles of a run, in their order.
pub(super) fn reports(walk: &Walk<'_>, names: &Names) -> Vec<RoleReport> {
    let Some(run) = walk.state.as_ref().and_then(TraceState::run) else { return Vec::new() };
    let report = |(principal, role): (PrincipalId, Role)| {
        let clients: Vec<_> = walk.registry.speaking_clients(principal, walk.trail.pin()).collect();
        let mut words = words(&clients, walk.registry.desk(), &names.clients);
        if role == Role::Critic
            && clients.iter().any(|client| walk.registry.is_desk(*client))
            && let Some(hash) = &walk.policy_hash
        {
            let hash = hash.to_string();
            words = format!("{words}, by policy {}", hash.get(..SHORT).unwrap_or(&hash));
        }
        RoleReport { role, principal, clients, words }
    };
    let mut reports: Vec<_> = run.participants().map(report).collect();
    reports.sort_by_key(|report| (report.role, report.principal));
    reports
}

/// Returns a role as one line.
pub(super) fn row(report: &RoleReport) -> String {
    format!("{}: {}", report.role, report.words)
}

/// How many digits of a hash are shown.
const SHORT: usize = 16;
