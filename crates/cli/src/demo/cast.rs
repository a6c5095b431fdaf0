//! Who takes part: four agents with keys of their own, and the desk that registers them.

use demur_core::key::{Fingerprint, SecretKey};
use demur_ledger::{
    author::{Author, Place},
    desk::{Desk, Recorded},
    facts::Participant,
    name::PrincipalId,
    role::Role,
};
use serde::Serialize;

use crate::{
    book::{Book, DESK},
    data::DataFolder,
    durable,
    error::CommandError,
    keystore::{KeyFile, Keystore},
    output::Output,
    world::World,
};

/// One agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) name: &'static str,
    pub(super) author: Author,
}

/// The four agents, and the registry events that brought their keys in.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) planner: Agent,
    pub(super) executor: Agent,
    pub(super) critic: Agent,
    pub(super) auditor: Agent,
    pub(super) registry: Vec<Recorded>,
}

/// What is told about an agent.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Introduction {
    pub(super) fingerprint: Fingerprint,
    pub(super) name: &'static str,
    pub(super) role: Role,
}

impl Cast {
    /// Returns a desk and four agents whose keys it registered, all kept in the data folder.
    pub(super) fn gather(data: &DataFolder, world: &mut World) -> Result<(Desk, Self), CommandError> {
        let keystore = Keystore::of(data);
        let secret = SecretKey::generate(world);
        let (mut desk, first) = Desk::create(secret.clone(), None, DESK, world.now()?, world)?;
        let principal = desk.registry().desk();
        keystore.add(&KeyFile { name: DESK.to_owned(), principal, role: Role::Desk, secret })?;

        let mut registry = vec![first];
        let mut join = |name, role| -> Result<Agent, CommandError> {
            let agent = Agent::new(name, role, &keystore, world)?;
            registry.push(agent.register(&mut desk, world)?);
            Ok(agent)
        };
        let planner = join("ada", Role::Planner)?;
        let executor = join("ben", Role::Executor)?;
        let critic = join("cleo", Role::Critic)?;
        let auditor = join("dora", Role::Auditor)?;

        let bytes = Book::of_desk(&desk, registry.clone()).to_bytes(desk.key(), world.now()?)?;
        let path = data.registry();
        durable::replace(&path, &bytes).map_err(|error| CommandError::file("write", &path, &error))?;
        Ok((desk, Self { planner, executor, critic, auditor, registry }))
    }

    /// Tells who is there.
    pub(super) fn introduce(&self, output: &mut Output) -> Result<(), CommandError> {
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

impl Agent {
    fn new(
        name: &'static str,
        role: Role,
        keystore: &Keystore,
        world: &mut World,
    ) -> Result<Self, CommandError> {
        let principal = PrincipalId::new(world.now()?, world);
        let secret = SecretKey::generate(world);
        keystore.add(&KeyFile { name: name.to_owned(), principal, role, secret: secret.clone() })?;
        Ok(Self { name, author: Author::new(secret, principal, role) })
    }

    fn register(&self, desk: &mut Desk, world: &mut World) -> Result<Recorded, CommandError> {
        let now = world.now()?;
        let chain = desk.registry_chain();
        let place = Place { store: desk.store(), trace: chain.trace(), seen: chain.head(), now };
        let submission = self.author.register(&place, None, self.name, world)?;
        Ok(desk.admit_key(submission, now)?)
    }
}
