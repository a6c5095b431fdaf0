//! Keys bound to clients: in the same commit as the key, and what a policy makes of them.

use demur_core::random::Seeded;
use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying},
};
use demur_ledger::{
    admission::Checked,
    content::{PolicyContent, PolicyDocument},
    event_type::{Content, EventType},
    facts::{ClientBound, PolicyRecorded, ProposalCreated, TokenMade, TokenRevoked, TokenScope},
    name::{ClientId, TokenId},
    role::Role,
    verify::Verdict,
};

use crate::{
    words::list,
    world::{Sent, To, World, position, refusal, usual_policy},
};

impl World {
    fn client(&self, seed: u64) -> ClientId {
        ClientId::new(self.now, &mut Seeded::from_number(seed))
    }

    pub(crate) fn bind(&mut self, role: Role, client: ClientId) -> Reply {
        let key = self.speaker(role).key.public().fingerprint();
        self.desk_says(ClientBound { client, key })
    }

    /// Returns a registration with what the desk states beside it, as one command.
    fn registration_bound(&mut self, sent: &Sent, bound: ClientBound) -> Command {
        let draft = self.draft(To::Registry, Role::Desk, bound);
        let key = self.desk.clone();
        let stated = self.sign(draft, &key);
        let checked =
            |sent: &Sent| Checked::new(sent.submission.clone(), Some(self.known_registry())).unwrap();
        Command::submit_stated(checked(sent), vec![checked(&stated)])
    }
}

#[test]
fn a_key_is_registered_and_bound_in_one_commit() {
    let mut world = World::new();
    let newcomer = world.new_speaker(Role::Critic);
    let (client, key) = (world.client(1), newcomer.key.public().fingerprint());
    let sent = world.registration(&newcomer);
    let command = world.registration_bound(&sent, ClientBound { client, key });
    let before = world.registry.entries.len();
    position(&world.command(To::Registry, command));
    let kinds: Vec<_> = world.registry.entries[before..]
        .iter()
        .map(|entry| entry.event.said().unwrap().kind.to_string())
        .collect();
    assert_eq!(kinds, [EventType::KeyRegistered.as_str(), EventType::ClientBound.as_str()]);
    assert_eq!(world.known_registry().key(&key).unwrap().clients, [client]);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn if_the_binding_does_not_hold_the_key_is_not_registered_either() {
    let mut world = World::new();
    let newcomer = world.new_speaker(Role::Critic);
    let (client, other) = (world.client(1), world.speaker(Role::Critic).key.public().fingerprint());
    position(&world.bind(Role::Critic, client));
    let sent = world.registration(&newcomer);
    let command = world.registration_bound(&sent, ClientBound { client, key: other });
    let before = world.registry.state.clone();
    assert_eq!(refusal(&world.command(To::Registry, command)).code, "KEY_BOUND");
    assert_eq!(world.registry.state, before);
}

#[test]
fn tokens_are_made_and_taken_back_once() {
    let mut world = World::new();
    let token = TokenId::new(world.now, &mut Seeded::from_number(3));
    let made = |world: &World, scopes: &[TokenScope]| TokenMade {
        client: world.client(1),
        expires: None,
        people: None,
        principal: None,
        scopes: list(scopes),
        token,
    };
    assert_eq!(refusal(&world.desk_says(TokenRevoked { token })).code, "TOKEN_STATE");
    let unordered = made(&world, &[TokenScope::Relay, TokenScope::Ask]);
    assert_eq!(refusal(&world.desk_says(unordered)).code, "TOKEN_LIST");
    let ordered = made(&world, &[TokenScope::Ask, TokenScope::Relay]);
    position(&world.desk_says(ordered.clone()));
    assert_eq!(refusal(&world.desk_says(ordered)).code, "TOKEN_STATE");
    position(&world.desk_says(TokenRevoked { token }));
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// Has the desk record a policy that wants distinct clients.
fn record_distinct(world: &mut World) -> Reply {
    let document = PolicyDocument { distinct_clients: true, ..PolicyDocument::of_numbers(usual_policy()) };
    let content = Some(Content::PolicyRecorded(PolicyContent { document, hash: None }));
    let saying = Saying { role: Role::Desk, facts: PolicyRecorded {}.into(), content };
    world.command(To::Run, Command::record(saying, Consequences::default()))
}

/// LED-41
#[test]
fn client_that_judges_its_own_work_is_refused_where_the_policy_says_so() {
    let mut world = World::new();
    let opening = world.opening(usual_policy());
    world.say(opening);
    let (one, other) = (world.client(1), world.client(2));
    position(&world.bind(Role::Planner, one));
    position(&world.bind(Role::Auditor, one));
    assert_eq!(refusal(&record_distinct(&mut world)).code, "CLIENT_HELD_ROLES");

    let mut world = World::new();
    let opening = world.opening(usual_policy());
    world.say(opening);
    position(&world.bind(Role::Planner, one));
    position(&record_distinct(&mut world));
    // Whoever shows later to hold a second role may not speak, in none of them.
    position(&world.bind(Role::Critic, one));
    let proposal = || ProposalCreated { fallback_for: None, replaces: None };
    let refused = world.refuses(proposal());
    assert_eq!(refused.code, "CLIENT_HELD_ROLES");
    assert!(refused.message.contains("one client held planner and critic"), "{}", refused.message);
    position(&world.bind(Role::Auditor, other));
}
