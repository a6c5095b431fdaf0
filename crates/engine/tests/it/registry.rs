//! The registry is decided like everything else.

use demur_core::{hash::sha256, key::SecretKey};
use demur_engine::{command::Command, context::Context, decide};
use demur_ledger::{
    author::{Author, Place},
    facts::{
        CheckpointRecorded, KeyRegistered, KeyRetired, KeyRevoked, ProposalCreated, RevocationReason,
        StoreRestored,
    },
    meaning::Known,
    name::Sequence,
    registry::{KeyOrigin, Standing},
    role::Role,
    verify::Verdict,
};

use crate::{
    words::{list, note, whole},
    world::{Sent, Speaker, To, World, position, refusal, submitted},
};

fn rotation(world: &mut World, by: &Speaker, old: &Speaker, new: &SecretKey) -> Sent {
    let tip = *world.registry.state.tip();
    let place = Place { store: world.store(), trace: tip.trace(), seen: tip.head(), now: world.now };
    let author = Author::new(by.key.clone(), by.principal, by.role);
    let old = old.key.public().fingerprint();
    let submission = author.rotate(&place, old, new, None, &mut world.random).unwrap();
    Sent { submission, artifact: None }
}

fn revocation(speaker: &Speaker) -> KeyRevoked {
    let key = speaker.key.public().fingerprint();
    KeyRevoked { key, reason: RevocationReason::Lost, root: sha256(b"root"), traces: whole(1) }
}

fn proposal() -> ProposalCreated {
    ProposalCreated { fallback_for: None, replaces: None }
}

/// Returns what stands against a key now.
fn standing(world: &World, speaker: &Speaker) -> Option<Standing> {
    let registry = world.known_registry();
    registry.speaker(&speaker.key.public().fingerprint(), registry.head().sequence).err()
}

/// Asserts that the registry refuses this and stays as it was.
#[track_caller]
fn refuses(world: &mut World, sent: &Sent, code: &str) {
    let before = world.registry.state.clone();
    assert_eq!(refusal(&world.send(To::Registry, sent)).code, code);
    assert_eq!(world.registry.state, before);
}

#[test]
fn a_key_is_registered_rotated_and_retired() {
    let mut world = World::new();
    let newcomer = world.new_speaker(Role::Critic);
    assert_eq!(standing(&world, &newcomer), Some(Standing::Unknown));
    world.register(&newcomer);
    assert_eq!(standing(&world, &newcomer), None);
    let successor = Speaker { key: SecretKey::generate(&mut world.random), ..newcomer.clone() };
    let sent = rotation(&mut world, &newcomer, &newcomer, &successor.key);
    let rotation = position(&world.send(To::Registry, &sent)).sequence;
    let key = successor.key.public().fingerprint();
    assert_eq!(world.known_registry().key(&key).unwrap().origin, KeyOrigin::RotatedByKey);
    assert_eq!((standing(&world, &newcomer), standing(&world, &successor)), (None, None));
    let facts = KeyRetired { key: newcomer.key.public().fingerprint(), rotation };
    let since = position(&world.desk_says(facts)).sequence;
    assert_eq!(standing(&world, &newcomer), Some(Standing::Retired { since }));
    assert_eq!(standing(&world, &successor), None);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn a_revoked_key_says_nothing_more_from_then_on() {
    let mut world = World::opened();
    let planner = world.speaker(Role::Planner).clone();
    let (before, after) = (world.saying(proposal()), world.saying(proposal()));
    position(&world.send(To::Run, &before));
    position(&world.desk_says(revocation(&planner)));
    assert_eq!(refusal(&world.send(To::Run, &after)).code, "KEY_REVOKED");
    // What was recorded before is still recorded.
    assert!(matches!(world.send(To::Run, &before), demur_engine::Reply::Repeated { .. }));
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// A decision made by an older registry than the one before it could bring a revoked key back.
#[test]
fn an_event_that_goes_by_an_older_registry_does_not_follow() {
    let mut world = World::opened();
    let old = world.known_registry().clone();
    let planner = world.speaker(Role::Planner).clone();
    let sent = world.saying(proposal());
    position(&world.desk_says(revocation(&planner)));
    position(&world.command(To::Run, Command::Recover(note())));
    let command = submitted(sent.submission, None, &old).unwrap();
    let context = Context { registry: &old, ..world.context(&world.run, &command) };
    let decision = decide(&world.run.state, &context, command, world.now, &mut world.random.clone());
    let mut state = world.run.state.clone();
    assert!(state.apply(&decision.events[0].event, Known::NOTHING).is_err());
    assert_eq!(state, world.run.state);
}

#[test]
fn a_checkpoint_and_a_restored_store_are_recorded() {
    let mut world = World::opened();
    let facts = CheckpointRecorded { root: sha256(b"root"), traces: whole(2) };
    let at = position(&world.desk_says(facts)).sequence;
    assert_eq!(world.known_registry().root(at), Some((sha256(b"root"), 2)));
    let restored = position(&world.desk_says(StoreRestored { epoch: whole(2) })).sequence;
    assert_eq!(world.known_registry().epoch_at(restored), 2);
    assert_eq!(world.registry.entries.last().unwrap().event.envelope().epoch, 2);
    // What follows is of the new epoch, in the registry and in runs.
    world.say(proposal());
    assert_eq!(world.run.entries.last().unwrap().event.envelope().epoch, 2);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn a_rotated_desk_key_goes_on_signing() {
    let mut world = World::opened();
    let principal = world.known_registry().desk();
    let desk = Speaker { key: world.desk.clone(), principal, role: Role::Desk };
    let key = SecretKey::generate(&mut world.random);
    let sent = rotation(&mut world, &desk, &desk, &key);
    let rotation = position(&world.send(To::Registry, &sent)).sequence;
    world.desk = key;
    let old = desk.key.public().fingerprint();
    position(&world.desk_says(KeyRetired { key: old, rotation }));
    world.say(proposal());
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn what_breaks_the_rules_of_the_registry_leaves_it_unchanged() {
    let mut world = World::new();
    let (planner, critic) = (world.speaker(Role::Planner).clone(), world.speaker(Role::Critic).clone());
    let newcomer = world.new_speaker(Role::Critic);
    let new = &newcomer.key.clone();
    let again = world.registration(&planner);
    refuses(&mut world, &again, "KEY_KNOWN");
    let desk = world.known_registry().desk();
    let as_desk = world.registration(&Speaker { principal: desk, ..newcomer.clone() });
    refuses(&mut world, &as_desk, "DESK_PRINCIPAL");
    let roles = world.registration(&Speaker { role: Role::Desk, ..newcomer.clone() });
    refuses(&mut world, &roles, "KEY_ROLES");
    let sent = rotation(&mut world, &critic, &planner, new);
    refuses(&mut world, &sent, "SIGNER_NOT_ENTITLED");
    let sent = rotation(&mut world, &planner, &planner, &critic.key);
    refuses(&mut world, &sent, "KEY_KNOWN");
    let of_desk = [
        (revocation(&newcomer).into(), "KEY_STATE"),
        (
            KeyRetired { key: planner.key.public().fingerprint(), rotation: Sequence::FIRST }.into(),
            "ROTATION",
        ),
        (StoreRestored { epoch: whole(3) }.into(), "EPOCH"),
        (revocation(&Speaker { key: world.desk.clone(), ..newcomer }).into(), "LAST_DESK_KEY"),
    ];
    for (facts, code) in of_desk {
        let facts: demur_ledger::event_type::Facts = facts;
        let draft = world.draft(To::Registry, Role::Desk, facts);
        let key = world.desk.clone();
        let sent = world.sign(draft, &key);
        refuses(&mut world, &sent, code);
    }
}

#[test]
fn only_the_desk_speaks_for_the_store() {
    let mut world = World::new();
    let planner = world.speaker(Role::Planner).clone();
    let facts = CheckpointRecorded { root: sha256(b"root"), traces: whole(1) };
    for (role, code) in [(Role::Desk, "KEY_ROLE"), (Role::Planner, "ROLE_FORBIDDEN")] {
        let draft = world.draft(To::Registry, role, facts.clone());
        let sent = world.sign(draft, &planner.key);
        refuses(&mut world, &sent, code);
    }
}

#[test]
fn events_stay_in_the_kind_of_trace_they_belong_to() {
    let mut world = World::opened();
    let planner = world.speaker(Role::Planner).key.clone();
    let draft = world.draft(To::Registry, Role::Planner, proposal());
    let sent = world.sign(draft, &planner);
    refuses(&mut world, &sent, "NOT_REGISTRY");
    let opening = world.opening(crate::world::usual_policy());
    let draft = world.draft(To::Registry, Role::Planner, opening);
    let sent = world.sign(draft, &planner);
    refuses(&mut world, &sent, "TRACE_EXISTS");
    let newcomer = world.new_speaker(Role::Critic);
    let facts = KeyRegistered {
        key: newcomer.key.public(),
        principal: newcomer.principal,
        recovery: None,
        roles: list([newcomer.role]),
    };
    let draft = world.draft(To::Run, Role::Holder, facts);
    let sent = world.sign(draft, &newcomer.key);
    let before = world.run.state.clone();
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "NOT_OF_A_RUN");
    assert_eq!(world.run.state, before);
    assert_eq!(standing(&world, &newcomer), Some(Standing::Unknown));
}

/// Without a key the desk could sign nothing any more, not even the head over this event.
#[test]
fn the_last_key_of_the_desk_is_neither_revoked_nor_retired() {
    let mut world = World::opened();
    let principal = world.known_registry().desk();
    let old = Speaker { key: world.desk.clone(), principal, role: Role::Desk };
    let new = Speaker { key: SecretKey::generate(&mut world.random), ..old.clone() };
    let sent = rotation(&mut world, &old, &old, &new.key);
    let rotation = position(&world.send(To::Registry, &sent)).sequence;
    position(&world.desk_says(revocation(&new)));
    let before = world.registry.state.clone();
    let retired = KeyRetired { key: old.key.public().fingerprint(), rotation };
    assert_eq!(refusal(&world.desk_says(retired)).code, "LAST_DESK_KEY");
    assert_eq!(refusal(&world.desk_says(revocation(&old))).code, "LAST_DESK_KEY");
    assert_eq!(world.registry.state, before);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}
