//! Whose word it is: whoever plays a role in a run through a door does so with a key of its own for that role, `NAME.ROLE`,
//! which the desk keeps.

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    refusal::Refusal,
};
use demur_core::visible::visible;
use demur_ledger::{author::Author, name::PrincipalId, role::Role};

use crate::owner::Owner;

/// Returns the name of the key with which somebody plays a role.
pub fn seat_name(name: &str, role: Role) -> String {
    format!("{name}.{role}")
}

/// Returns everybody who plays or played a role under this name.
pub fn seats(owner: &Owner, name: &str) -> Result<Vec<(Role, PrincipalId)>, Refusal> {
    let key_directory = owner.key_directory()?;
    let names = Role::OF_A_RUN.map(|role| (role, seat_name(name, role)));
    let mut found = Vec::new();
    for (_, record) in key_directory.registry().keys() {
        let holder = key_directory.name(record.principal);
        let seat = names.iter().find(|(role, seat)| seat == holder && record.roles.contains(role));
        found.extend(seat.map(|(role, _)| (*role, record.principal)));
    }
    Ok(found)
}

/// Returns whoever plays a role under this name. No key is made here: one that is not there when a run opens is no
/// participant's.
pub fn author(owner: &Owner, name: &str, role: Role) -> Result<Arc<Author>, Refusal> {
    if !Role::OF_A_RUN.contains(&role) {
        let message = format!("expected planner, executor, critic or auditor, found {role}");
        return Err(Refusal::new(Code::RoleNotOfARun, message).about("role"));
    }
    owner.find_author(&seat_name(name, role), role)?.ok_or_else(|| {
        let name = visible(name);
        let message = format!(
            "{name} does not take part in this trace as {role}: only those named when it opened may speak"
        );
        Refusal::new(Code::Rule(RuleCode::NOT_PARTICIPANT), message)
            .about("statement.role")
            .with_cure("open a run that names this participant")
    })
}
