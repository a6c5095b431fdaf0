//! Clients: keys bound to them, tokens made and taken back, and one client in roles that judge each other.

use std::collections::BTreeSet;

use demur_core::random::Seeded;
use demur_ledger::{
    content::PolicyDocument,
    desk::DeskError,
    facts::{ClientBound, ProposalCreated, TokenMade, TokenRevoked, TokenScope, VerificationProfile},
    name::{ClientId, PersonId, Sequence, TokenId},
    registry::{RegistryError, Standing, TokenStanding},
    role::Role,
    verify::{Code, FindingSeverity, Options, Pin, Verdict},
};

use crate::{
    export::{eventful, export, export_without_names},
    registry::registry_error,
    state::{refused, refuses},
    verify::{check, default, fails},
    world::{World, list, usual_policy},
};

impl World {
    fn client(&self, seed: u64) -> ClientId {
        ClientId::new(self.now, &mut Seeded::from_number(seed))
    }

    /// Binds the key of whoever plays this role to a client.
    fn bind(&mut self, role: Role, client: ClientId) -> Result<(), DeskError> {
        let key = self.agent(role).public().fingerprint();
        self.state(ClientBound { client, key }).map(drop)
    }
}

fn distinct() -> PolicyDocument {
    PolicyDocument { distinct_clients: true, ..PolicyDocument::of_numbers(usual_policy()) }
}

fn token(world: &World, scopes: &[TokenScope]) -> TokenMade {
    TokenMade {
        client: world.client(1),
        expires: Some(world.now),
        people: None,
        principal: None,
        scopes: list(scopes),
        token: TokenId::new(world.now, &mut Seeded::from_number(7)),
    }
}

/// LED-41
#[test]
fn every_client_that_speaks_with_a_key_is_bound_to_it_once() {
    let mut world = World::new();
    let (first, second) = (world.client(1), world.client(2));
    let before = world.desk.registry().head().sequence;
    world.bind(Role::Critic, first).unwrap();
    world.bind(Role::Critic, second).unwrap();
    let again = registry_error(world.bind(Role::Critic, second));
    assert!(matches!(again, RegistryError::KeyBound), "{again}");
    let principal = world.agent(Role::Critic).principal();
    let registry = world.desk.registry();
    assert_eq!(registry.clients_of(principal).collect::<BTreeSet<_>>(), BTreeSet::from([first, second]));
    // The first one spoke from the beginning, the second from when that was recorded.
    assert_eq!(registry.speaking_clients(principal, before).collect::<Vec<_>>(), [first]);
    assert_eq!(registry.clients_at(principal, before).count(), 0);
    let planner = world.agent(Role::Planner).principal();
    assert_eq!(world.desk.registry().clients_of(planner).count(), 0);
}

#[test]
fn key_that_follows_another_is_the_same_clients() {
    let mut world = World::new();
    let author = world.new_author(Role::Critic);
    world.register(&author).unwrap();
    let (client, key) = (world.client(1), author.public().fingerprint());
    world.state(ClientBound { client, key }).unwrap();
    let new = world.rotate(&author, &author).unwrap().public().fingerprint();
    assert_eq!(world.desk.registry().key(&new).unwrap().clients, [client]);
    let error = registry_error(world.state(ClientBound { client, key: new }));
    assert!(matches!(error, RegistryError::KeyBound), "{error}");
}

#[test]
fn only_a_key_that_may_speak_is_bound() {
    let mut world = World::new();
    let author = world.new_author(Role::Critic);
    let (client, key) = (world.client(1), author.public().fingerprint());
    let unknown = registry_error(world.state(ClientBound { client, key }));
    assert!(matches!(unknown, RegistryError::Subject(Standing::Unknown)), "{unknown}");
    world.register(&author).unwrap();
    let revocation = world.revocation(&author);
    world.state(revocation).unwrap();
    let revoked = registry_error(world.state(ClientBound { client, key }));
    assert!(matches!(revoked, RegistryError::Subject(Standing::Revoked { .. })), "{revoked}");
}

#[test]
fn a_token_is_made_once_and_taken_back_once() {
    let mut world = World::new();
    let made = token(&world, &[TokenScope::Ask, TokenScope::Read]);
    let token = made.token;
    let unmade = registry_error(world.state(TokenRevoked { token }));
    assert!(matches!(unmade, RegistryError::TokenUnknown), "{unmade}");
    world.state(made.clone()).unwrap();
    assert_eq!(world.desk.registry().token(token), Some(TokenStanding::Made));
    let again = registry_error(world.state(made.clone()));
    assert!(matches!(again, RegistryError::TokenKnown), "{again}");
    world.state(TokenRevoked { token }).unwrap();
    assert_eq!(world.desk.registry().token(token), Some(TokenStanding::Revoked));
    let spent = registry_error(world.state(TokenRevoked { token }));
    assert!(matches!(spent, RegistryError::TokenSpent), "{spent}");
    let known = registry_error(world.state(made));
    assert!(matches!(known, RegistryError::TokenKnown), "{known}");
}

#[test]
fn lists_of_a_token_ascend_and_name_everything_once() {
    let mut world = World::new();
    for scopes in [[TokenScope::Answer, TokenScope::Ask], [TokenScope::Ask; 2]] {
        let made = token(&world, &scopes);
        let error = registry_error(world.state(made));
        assert!(matches!(error, RegistryError::TokenScopes), "{error}");
    }
    let person = |seed| PersonId::new(world.now, &mut Seeded::from_number(seed));
    let mut people = [person(1), person(2)];
    people.sort();
    people.reverse();
    for people in [people, [people[0]; 2]] {
        let made = TokenMade { people: Some(list(people)), ..token(&world, &[TokenScope::Relay]) };
        let error = registry_error(world.state(made));
        assert!(matches!(error, RegistryError::TokenPeople), "{error}");
    }
}

/// LED-41: at the door, when the policy is recorded.
#[test]
fn a_policy_that_wants_distinct_clients_refuses_one_that_judges_its_own_work() {
    for (work, judge) in [(Role::Planner, Role::Critic), (Role::Executor, Role::Auditor)] {
        let mut world = World::new();
        let opening = world.opening(usual_policy());
        let client = world.client(1);
        world.bind(work, client).unwrap();
        world.bind(judge, client).unwrap();
        world.say(opening).unwrap();
        let outcome = world.record_policy(distinct());
        refused(&world, 1, outcome, "CLIENT_HELD_ROLES");
        // Where nobody forbids it, it happens, and is shown.
        world.record_policy(PolicyDocument::of_numbers(usual_policy())).unwrap();
    }
}

/// LED-41: at the door, when a client speaks that was not known before.
#[test]
fn client_that_shows_later_to_hold_a_second_role_may_not_speak() {
    let mut world = World::opened_under(distinct());
    let (one, other) = (world.client(1), world.client(2));
    world.bind(Role::Planner, one).unwrap();
    world.bind(Role::Executor, one).unwrap();
    world.bind(Role::Auditor, other).unwrap();
    world.propose();
    world.bind(Role::Critic, one).unwrap();
    refuses(&mut world, ProposalCreated { fallback_for: None, replaces: None }, "CLIENT_HELD_ROLES");
}

/// LED-41: who speaks with a key later than the run does not judge it; who speaks in it does.
#[test]
fn a_second_client_of_a_key_counts_from_when_it_is_on_record() {
    let mut world = World::opened_under(distinct());
    let (one, other) = (world.client(1), world.client(2));
    world.bind(Role::Planner, one).unwrap();
    world.bind(Role::Critic, other).unwrap();
    world.propose();
    let before = default(&export(&world, &[]));
    world.bind(Role::Critic, one).unwrap();
    let after = default(&export(&world, &[]));
    assert_eq!(after.verdict, before.verdict, "{}", after.to_text());
    refuses(&mut world, ProposalCreated { fallback_for: None, replaces: None }, "CLIENT_HELD_ROLES");
}

/// LED-41
#[test]
fn one_client_in_several_roles_is_a_warning_that_strict_fails_on() {
    let (mut world, artifacts) = eventful();
    let client = world.client(1);
    for role in [Role::Planner, Role::Executor, Role::Critic] {
        world.bind(role, client).unwrap();
    }
    let file = export(&world, &artifacts);
    let report = default(&file);
    assert_eq!(report.verdict, Verdict::PassWithWarnings, "{}", report.to_text());
    let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    assert_eq!((finding.code, finding.severity), (Code::ClientHeldRoles, FindingSeverity::Warning));
    assert_eq!(finding.message, "one client held planner, executor and critic");
    let strict = Options { profile: VerificationProfile::Strict, ..Options::default() };
    fails(&file, &strict, Code::ClientHeldRoles);
}

/// LED-41
#[test]
fn file_fails_where_its_policy_wants_distinct_clients() {
    let mut world = World::opened_under(distinct());
    let client = world.client(1);
    world.bind(Role::Planner, client).unwrap();
    world.bind(Role::Critic, client).unwrap();
    for profile in [VerificationProfile::Default, VerificationProfile::Lenient] {
        let options = Options { profile, ..Options::default() };
        let report = fails(&export(&world, &[]), &options, Code::ClientHeldRoles);
        let failure = report.findings.iter().find(|finding| finding.code == Code::ClientHeldRoles).unwrap();
        assert_eq!(failure.sequence.map(Sequence::number), Some(1));
        assert_eq!(failure.message, "one client held planner and critic, and the policy forbids it");
    }
}

#[test]
fn desk_is_no_client_and_several_clients_are_no_warning() {
    let (mut world, artifacts) = eventful();
    let (desk, worker, judge) = (world.desk.registry().desk(), world.client(1), world.client(2));
    world.bind(Role::Planner, desk.into()).unwrap();
    world.bind(Role::Executor, worker).unwrap();
    world.bind(Role::Critic, desk.into()).unwrap();
    world.bind(Role::Auditor, judge).unwrap();
    let report = default(&export(&world, &artifacts));
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
}

/// LED-41: as text, as a page, as JSON.
#[test]
fn every_report_says_which_client_held_which_role() {
    let (mut world, artifacts) = eventful();
    let (desk, worker) = (world.desk.registry().desk(), world.client(1));
    world.bind(Role::Planner, worker).unwrap();
    world.bind(Role::Critic, desk.into()).unwrap();
    let report = check(&export(&world, &artifacts), &Options::default());
    let rows = [
        format!("planner: client {worker}, which demur calls \u{201c}claude\u{201d}"),
        "executor: client not recorded".to_owned(),
        "critic: demur".to_owned(),
        "auditor: client not recorded".to_owned(),
    ];
    let (text, page) = (report.to_text(), report.to_html());
    for row in &rows {
        assert!(text.contains(row), "{row} is not in\n{text}");
        assert!(page.contains(row), "{row} is not in\n{page}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["roles"][0]["clients"][0], worker.to_string());
    assert_eq!(json["roles"][1]["words"], "client not recorded");
}

/// ONE-12: a report that names clients rests on what they are called. One that no role was held by is not named.
#[test]
fn name_of_a_client_that_held_a_role_and_is_gone_fails_strict() {
    let (mut world, artifacts) = eventful();
    let (desk, worker, stranger) = (world.desk.registry().desk(), world.client(1), world.client(2));
    world.bind(Role::Planner, worker).unwrap();
    let named = world.desk.registry().head().sequence;
    world.bind(Role::Critic, desk.into()).unwrap();
    let played = world.desk.registry().head().sequence;
    world.state(TokenMade { client: stranger, ..token(&world, &[TokenScope::Ask]) }).unwrap();
    let made = world.desk.registry().head().sequence;
    let strict = Options { profile: VerificationProfile::Strict, ..Options::default() };
    let holds = check(&export_without_names(&world, &artifacts, &[made, played]), &strict);
    assert_eq!(holds.verdict, Verdict::Pass, "{}", holds.to_text());
    let file = export_without_names(&world, &artifacts, &[named]);
    let report = fails(&file, &strict, Code::NameMissing);
    assert_eq!(report.findings[0].message, format!("the name of client {worker} is not in the file"));
    let told = format!("planner: client {worker}, whose name is not established: erased or withheld");
    assert!(report.to_text().contains(&told), "{}", report.to_text());
    assert_eq!(default(&file).verdict, Verdict::Pass, "only whoever is strict asks for names");
    // The reader knows whose key it is.
    let fingerprint = world.agent(Role::Planner).public().fingerprint();
    let pin = Pin { name: "ada".to_owned(), fingerprint };
    let pinned = check(&file, &Options { pins: vec![pin], ..strict });
    assert!(pinned.findings.iter().all(|finding| finding.code != Code::NameMissing), "{}", pinned.to_text());
}

/// ONE-12: another event that names the client is enough.
#[test]
fn client_that_is_named_twice_keeps_a_name() {
    let (mut world, artifacts) = eventful();
    let worker = world.client(1);
    world.bind(Role::Planner, worker).unwrap();
    let named = world.desk.registry().head().sequence;
    world.bind(Role::Executor, worker).unwrap();
    let strict = Options { profile: VerificationProfile::Strict, ..Options::default() };
    let report = check(&export_without_names(&world, &artifacts, &[named]), &strict);
    assert_eq!(report.verdict, Verdict::Pass, "{}", report.to_text());
}
