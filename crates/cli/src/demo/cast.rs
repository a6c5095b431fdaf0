//! Who takes part: four agents with keys of their own, registered at the desk.

use std::collections::BTreeMap;

use demur_core::{key::Fingerprint, limit::Text};
use demur_desk::run::seat_name;
use demur_ledger::role::Role;
use serde::Serialize;

use super::DemoDesk;
use crate::{failure::Failure, output::Output};

/// One agent, as it is told about. The desk keeps its key under the name `NAME.ROLE`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Agent {
    pub(super) fingerprint: Fingerprint,
    pub(super) name: &'static str,
    pub(super) role: Role,
}

/// The four agents.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) planner: Agent,
    pub(super) executor: Agent,
    pub(super) critic: Agent,
    pub(super) auditor: Agent,
}

impl Cast {
    /// Returns four agents whose keys were registered, all kept in the data folder.
    pub(super) fn gather(desk: &DemoDesk) -> Result<Self, Failure> {
        let join = |name, role| {
            let fingerprint = desk.register(&seat_name(name, role), role)?;
            Ok::<_, Failure>(Agent { fingerprint, name, role })
        };
        Ok(Self {
            planner: join("ada", Role::Planner)?,
            executor: join("ben", Role::Executor)?,
            critic: join("cleo", Role::Critic)?,
            auditor: join("dora", Role::Auditor)?,
        })
    }

    /// Tells who is there.
    pub(super) fn introduce(&self, output: &mut Output) -> Result<(), Failure> {
        output
            .tell("The desk opened a registry and four agents registered, each with a key of its own:\n")?;
        for agent in self.agents() {
            let (name, role, key) = (agent.name, agent.role.as_str(), agent.fingerprint.short());
            output.tell(&format!("  {name:<5} {role:<9} key {key}"))?;
        }
        Ok(())
    }

    /// Returns who takes part as what.
    pub(super) fn players(&self) -> Result<BTreeMap<Role, Text<1, 64>>, Failure> {
        self.agents().into_iter().map(|agent| Ok((agent.role, agent.name.try_into()?))).collect()
    }

    /// Returns all of them, in the order in which they are told about.
    pub(super) fn agents(&self) -> [&Agent; 4] {
        [&self.planner, &self.executor, &self.critic, &self.auditor]
    }
}
