//! Applies unsigned events to a state: where the guards alone are under test, signing would only cost time.

use std::collections::BTreeMap;

use demur_ledger::{
    chain::Chain,
    envelope::{Body, Event, Record, Stamp},
    event_type::{EventType, Facts},
    meaning::Known,
    name::{Position, PrincipalId},
    role::Role,
    state::{GuardError, State},
};

use crate::world::World;

/// What was said so far.
pub(crate) type Saying = Vec<(EventType, Position)>;

/// A run that only its state looks at.
pub(crate) struct Walker {
    pub(crate) chain: Chain,
    pub(crate) state: State,
    /// Who speaks in each role; the same principals throughout.
    pub(crate) speakers: BTreeMap<Role, PrincipalId>,
    pub(crate) said: Saying,
}

impl Walker {
    /// Returns a run of these agents that nobody has opened.
    pub(crate) fn new(world: &World) -> Self {
        let mut speakers: BTreeMap<_, _> =
            world.agents.iter().map(|agent| (agent.role(), agent.principal())).collect();
        for by_the_desk in [Role::Desk, Role::Person] {
            speakers.insert(by_the_desk, world.desk.registry().desk());
        }
        Self { chain: Chain::new(world.run.chain().trace()), state: State::new(), speakers, said: Vec::new() }
    }

    /// Has whoever may say this say it.
    pub(crate) fn say(&mut self, world: &World, kind: EventType, facts: Facts) -> Result<Event, GuardError> {
        let role = voice(kind);
        let record = Record { cause: None, facts, role, kind: kind.into() };
        let registry = Some(world.desk.registry().head());
        let stamp = Stamp { store: Some(world.desk.store()), epoch: 1, registry, now: world.now };
        let event = self
            .chain
            .tip()
            .envelop(&stamp, self.speakers[&role], Body::Record(record.into(), None))
            .unwrap();
        self.state.follow(&event, Known::NOTHING)?;
        self.chain.push(&event);
        self.said.push((kind, event.position()));
        Ok(event)
    }
}

/// Returns a role that may say this without a key: nothing here is signed.
pub(crate) fn voice(kind: EventType) -> Role {
    let roles = kind.rule().roles;
    let unsigned = [Role::Person, Role::Desk].into_iter().find(|role| roles.contains(role));
    unsigned.unwrap_or(roles[0])
}
