//! Clients and the roles they hold in a run. Roles are held by principals and bound to keys; that two of them are one program
//! only the registry tells, which says for each key which clients speak with it. The desk and the verifier go by the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{
    attribution::ClientNames,
    confirmation::ConfirmationError,
    event_type::Facts,
    meaning::{Meaning, MeaningError},
    name::{ClientId, PrincipalId, Sequence},
    question::author,
    registry::Registry,
    role::Role,
    state::{State, Step},
    trace_state::TraceState,
};

/// A client that both does the work of a run and judges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRoles {
    /// The client.
    pub client: ClientId,
    /// Its roles, ascending.
    pub roles: Vec<Role>,
}

impl fmt::Display for HeldRoles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (last, rest) = match self.roles.split_last() {
            Some((last, rest)) => (last.as_str(), rest),
            None => return Ok(()),
        };
        let rest: Vec<_> = rest.iter().map(|role| role.as_str()).collect();
        write!(formatter, "one client held {} and {last}", rest.join(", "))
    }
}

/// Returns the clients that do the work of a run and also judge it, as far as the registry told at this position. What was
/// bound later spoke later.
pub fn held_roles(run: &State, registry: &Registry, at: Sequence) -> Vec<HeldRoles> {
    held_with(run, (registry, at), BTreeMap::new())
}

/// Returns the same, given the roles of some clients that the registry does not tell of.
fn held_with(
    run: &State,
    (registry, at): (&Registry, Sequence),
    mut held: BTreeMap<ClientId, BTreeSet<Role>>,
) -> Vec<HeldRoles> {
    for (principal, role) in run.participants() {
        // The desk is no client: what it decides follows from the record and can be computed again.
        for client in registry.speaking_clients(principal, at).filter(|client| !registry.is_desk(*client)) {
            held.entry(client).or_default().insert(role);
        }
    }
    let both = |roles: &BTreeSet<Role>| {
        let has = |any: [Role; 2]| any.iter().any(|role| roles.contains(role));
        has([Role::Planner, Role::Executor]) && has([Role::Critic, Role::Auditor])
    };
    let held = held.into_iter().filter(|(_, roles)| both(roles));
    held.map(|(client, roles)| HeldRoles { client, roles: roles.into_iter().collect() }).collect()
}

/// Returns the clients of a participant in words, with the names that the desk gives them.
pub fn words(clients: &[ClientId], desk: PrincipalId, names: &ClientNames) -> String {
    let word =
        |client: &ClientId| if *client == desk.into() { "demur".to_owned() } else { names.words(*client) };
    match clients {
        [] => "client not recorded".to_owned(),
        clients => clients.iter().map(word).collect::<Vec<_>>().join(" and "),
    }
}

/// Checks that a client may speak in a role, where the policy keeps those who judge apart: its key may have been made for
/// another. Only the door knows that; the file shows whom the key was made for.
pub fn check_speaker(
    run: &State,
    registry: &Registry,
    client: ClientId,
    role: Role,
) -> Result<(), MeaningError> {
    if !wants_distinct(run) || registry.is_desk(client) {
        return Ok(());
    }
    let roles = BTreeSet::from([role]);
    let held = held_with(run, (registry, registry.head().sequence), BTreeMap::from([(client, roles)]));
    let own = held.into_iter().find(|held| held.client == client);
    own.map_or(Ok(()), |held| Err(MeaningError::ClientHeldRoles(held)))
}

/// Checks that whoever confirms or refuses an operation, with whichever key, is no client of those whose operation it is, as the
/// registry was at this position.
pub fn check_confirming(
    trace: &TraceState,
    registry: &Registry,
    at: Sequence,
    step: &Step<'_>,
) -> Result<(), ConfirmationError> {
    let confirmation = match step.said.facts {
        Facts::ConfirmationGiven(facts) => facts.confirmation.sequence,
        Facts::ConfirmationRefused(facts) => facts.confirmation.sequence,
        _ => return Ok(()),
    };
    let asked = trace.confirmations().and_then(|confirmations| confirmations.find(confirmation));
    let (Some(asked), Some(speaker)) = (asked, author(step)) else { return Ok(()) };
    if is_client_of(trace, (registry, at), asked.asker(), registry.speaking_clients(speaker, at)) {
        return Err(ConfirmationError::OwnClient);
    }
    Ok(())
}

/// Returns whether one of these clients wants what this one asked to have confirmed: it speaks for the asker, or for those whose
/// operations are carried out in the trace.
pub fn is_client_of(
    trace: &TraceState,
    (registry, at): (&Registry, Sequence),
    asker: PrincipalId,
    clients: impl Iterator<Item = ClientId>,
) -> bool {
    let acting = trace.acting().into_iter().chain([asker]);
    let theirs: BTreeSet<_> = acting.flat_map(|principal| registry.speaking_clients(principal, at)).collect();
    // The desk is no client: whatever it asks is somebody else's operation.
    let mut clients = clients.filter(|client| !registry.is_desk(*client));
    clients.any(|client| theirs.contains(&client))
}

/// Returns what one knows of whether the clients that judge a run are others than those that do its work, as the registry was at
/// this position: a role whose client is not on record may be anybody's.
pub fn distinct_words(run: &State, registry: &Registry, at: Sequence) -> String {
    if let Some(held) = held_roles(run, registry, at).first() {
        return format!("NOT SO: {held}");
    }
    let is_unknown =
        |(principal, _): &(PrincipalId, Role)| registry.speaking_clients(*principal, at).next().is_none();
    let mut unknown: Vec<_> = run.participants().filter(is_unknown).map(|(_, role)| role).collect();
    unknown.sort_unstable();
    let unknown: Vec<_> = unknown.into_iter().map(Role::as_str).collect();
    if unknown.is_empty() {
        "so it is by the clients on record".to_owned()
    } else {
        format!("not established: no client is on record for {}", unknown.join(", "))
    }
}

/// Returns whether the policy of a run, where it is known, wants its work judged by other clients.
pub fn wants_distinct(run: &State) -> bool {
    run.recorded_policy().is_some_and(|policy| policy.distinct_clients == Some(true))
}

/// Checks that no client does the work of a run and judges it, where its policy says so: all of them when the policy is
/// recorded, and later whoever speaks, as the registry was at this position. Whoever speaks then has a client on record.
pub fn check_distinct(
    run: &State,
    registry: &Registry,
    at: Sequence,
    step: &Step<'_>,
) -> Result<(), MeaningError> {
    let is_recorded = wants_distinct(run);
    let is_meant = matches!(step.known.meaning, Some(Meaning::Policy(policy)) if policy.distinct_clients);
    let held = match (is_recorded, is_meant) {
        (_, true) => held_roles(run, registry, at).into_iter().next(),
        (true, false) if Role::OF_A_RUN.contains(&step.said.role) => {
            let own: BTreeSet<_> = registry.speaking_clients(step.actor, at).collect();
            // Nobody can tell whether one that is not on record is another.
            if own.is_empty() {
                return Err(MeaningError::ClientUnrecorded { role: step.said.role });
            }
            held_roles(run, registry, at).into_iter().find(|held| own.contains(&held.client))
        }
        _ => None,
    };
    held.map_or(Ok(()), |held| Err(MeaningError::ClientHeldRoles(held)))
}
