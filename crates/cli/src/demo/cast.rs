//! Who takes part: four agents with keys of their own, registered at the desk.

use demur_core::key::Fingerprint;
use demur_ledger::{author::Author, facts::Participant, role::Role};
use serde::Serialize;

use crate::{failure::Failure, output::Output, owner::Owner};

/// One agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) name: &'static str,
    pub(super) author: Author,
}

/// The four agents.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) planner: Agent,
    pub(super) executor: Agent,
    pub(super) critic: Agent,
    pub(super) auditor: Agent,
}

/// What is told about an agent.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Introduction {
    pub(super) fingerprint: Fingerprint,
    pub(super) name: &'static str,
    pub(super) role: Role,
}

impl Cast {
    /// Returns four agents whose keys were registered, all kept in the data folder.
    pub(super) fn gather(owner: &mut Owner) -> Result<Self, Failure> {
        let join = |name, role| owner.enrol(name, role).map(|author| Agent { name, author });
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
        for agent in self.introductions() {
            let (name, role, key) = (agent.name, agent.role.as_str(), agent.fingerprint.short());
            output.tell(&format!("  {name:<5} {role:<9} key {key}"))?;
        }
        Ok(())
    }

    /// Returns what is told about each agent.
    pub(super) fn introductions(&self) -> [Introduction; 4] {
        self.agents().map(|agent| Introduction {
            fingerprint: agent.author.public().fingerprint(),
            name: agent.name,
            role: agent.author.role(),
        })
    }

    /// Returns who takes part as what, in the order the format asks for.
    pub(super) fn participants(&self) -> Vec<Participant> {
        let participant =
            |agent: &Agent| Participant { principal: agent.author.principal(), role: agent.author.role() };
        let mut participants: Vec<Participant> = self.agents().into_iter().map(participant).collect();
        participants.sort_unstable();
        participants
    }

    fn agents(&self) -> [&Agent; 4] {
        [&self.planner, &self.executor, &self.critic, &self.auditor]
    }
}
