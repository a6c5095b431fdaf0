//! The registry: possession, rotation, recovery, retirement, revocation, epochs, all by position.

use demur_core::{
    commitment::Salt,
    hash::{Digest, Purpose},
    key::SecretKey,
    limit::List,
};
use demur_ledger::{
    admission::AdmissionError,
    author::{Author, Draft},
    content::{NameContent, NoteContent},
    desk::{Desk, DeskError, Recorded},
    envelope::{Body, Event, Record, Stamp},
    event_type::{Content, EventType, Facts},
    facts::{
        CheckpointRecorded, KeyRegistered, KeyRetired, KeyRevoked, KeyRotated, RevocationReason,
        SessionAborted, StoreRestored,
    },
    name::{CommandId, PrincipalId, Sequence},
    registry::{KeyOrigin, KeyRecord, Registry, RegistryError, Standing},
    role::Role,
};

use serde_json::{Value, json};

use crate::{
    format::changed,
    world::{World, text, whole},
};

impl World {
    /// Has the desk state this about a key or the store.
    pub(crate) fn state(&mut self, facts: impl Into<Facts>) -> Result<Recorded, DeskError> {
        let facts = facts.into();
        let note = NoteContent { note: text("as asked") };
        let content = match &facts {
            Facts::KeyRevoked(_) => Some(Content::KeyRevoked(note)),
            Facts::StoreRestored(_) => Some(Content::StoreRestored(note)),
            Facts::ClientBound(_) => Some(Content::ClientBound(NameContent { name: text("claude") })),
            Facts::TokenMade(_) => Some(Content::TokenMade(NameContent { name: text("claude") })),
            _ => None,
        };
        let recorded = self.desk.state_key(facts, content, self.now, &mut self.random)?;
        self.registry.push(recorded.clone());
        Ok(recorded)
    }

    pub(crate) fn revocation(&self, author: &Author) -> KeyRevoked {
        KeyRevoked {
            key: author.public().fingerprint(),
            reason: RevocationReason::Compromised,
            root: *self.registry[0].event.hash(),
            traces: whole(1),
        }
    }

    /// Rotates `author` to a new key, signed by `signer`.
    pub(crate) fn rotate(&mut self, signer: &Author, author: &Author) -> Result<SecretKey, DeskError> {
        let new = SecretKey::generate(&mut self.random);
        let place = self.registry_place();
        let old = author.public().fingerprint();
        let submission = signer.rotate(&place, old, &new, None, &mut self.random).unwrap();
        let recorded = self.desk.admit_key(submission, self.now)?;
        self.registry.push(recorded);
        Ok(new)
    }

    /// Registers an author's key and the key that recovers it.
    fn register_with(&mut self, author: &Author, recovery: &Author) -> Result<(), DeskError> {
        let place = self.registry_place();
        let submission = author.register(&place, Some(recovery.public()), "x", &mut self.random).unwrap();
        let recorded = self.desk.admit_key(submission, self.now)?;
        self.registry.push(recorded);
        Ok(())
    }

    /// Returns a draft for the next registry event, to be signed with any key.
    fn drafted(&mut self, role: Role, facts: impl Into<Facts>, content: Option<Content>) -> Draft {
        let place = self.registry_place();
        Draft {
            command: CommandId::new(place.now, &mut self.random),
            content,
            facts: facts.into(),
            not_after: place.now,
            role,
            seen: place.seen,
            store: Some(place.store),
            trace: place.trace,
        }
    }

    fn last(&self) -> Sequence {
        self.desk.registry().head().sequence
    }
}

#[track_caller]
pub(crate) fn registry_error(outcome: Result<impl std::fmt::Debug, DeskError>) -> RegistryError {
    match outcome {
        Err(DeskError::Registry(error)) => error,
        other => panic!("expected the registry to refuse, found {other:?}"),
    }
}

#[test]
fn folding_the_events_again_gives_the_same_registry() {
    let mut world = World::new();
    let author = world.new_author(Role::Critic);
    world.register(&author).unwrap();
    world.rotate(&author, &author).unwrap();
    let mut registry = Registry::open(&world.registry[0].event).unwrap();
    for recorded in &world.registry[1..] {
        registry.apply(&recorded.event).unwrap();
    }
    assert_eq!(registry, *world.desk.registry());
    assert_eq!(registry.head(), world.registry.last().unwrap().event.position());
}

#[test]
fn every_key_is_listed() {
    let world = World::new();
    let listed: Vec<_> = world.desk.registry().keys().map(|(fingerprint, _)| *fingerprint).collect();
    let mut expected: Vec<_> = world.agents.iter().map(|agent| agent.public().fingerprint()).collect();
    expected.push(world.desk.key().public().fingerprint());
    expected.sort();
    assert_eq!(listed, expected);
}

#[test]
fn a_registry_event_left_out_or_moved_is_refused() {
    let world = World::new();
    let open = || Registry::open(&world.registry[0].event).unwrap();
    assert!(matches!(open().apply(&world.registry[2].event), Err(RegistryError::Chain { .. })));
    assert!(matches!(open().apply(&world.registry[0].event), Err(RegistryError::Chain { .. })));
    assert!(Registry::open(&world.registry[1].event).is_err());
}

/// LED-02
#[test]
fn an_event_of_a_run_is_not_one_of_the_registry_whoever_records_it() {
    let world = World::new();
    let registry = world.desk.registry();
    let stamp =
        Stamp { store: Some(registry.store()), epoch: 1, registry: Some(registry.head()), now: world.now };
    // The operator may abort a run, the desk may not.
    for role in [Role::Operator, Role::Desk] {
        let kind = EventType::SessionAborted;
        let record = Record {
            cause: None,
            facts: SessionAborted { attribution: None }.into(),
            role,
            kind: kind.into(),
        };
        let tip = world.desk.registry_chain().tip();
        let event = tip.envelop(&stamp, registry.desk(), Body::Record(record.into(), None)).unwrap();
        let error = registry.clone().apply(&event).unwrap_err();
        assert!(matches!(error, RegistryError::NotRegistry { .. }), "{role}: {error}");
    }
}

#[test]
fn a_store_begins_with_an_event_of_no_store() {
    let world = World::new();
    let other = json!(Digest::from_bytes([5; 32]).to_string());
    let bytes = changed(&world.registry[0].event, |event| {
        event["store"] = other.clone();
        event["statement"]["store"] = other.clone();
        event["registry"] = json!({"hash": other, "sequence": 0});
    });
    let event = Event::parse(&bytes).unwrap();
    assert!(event.agree().is_ok(), "envelope and statement tell one story");
    assert!(matches!(Registry::open(&event), Err(RegistryError::Chain { .. })));
}

#[test]
fn each_part_of_an_events_place_counts() {
    let world = World::new();
    let other = json!(Digest::from_bytes([5; 32]).to_string());
    let stranger = json!(world.run.chain().trace().to_string());
    let changes: [(&[&str], Value, &str); 7] = [
        (&["/previous"], other.clone(), "Chain"),
        (&["/sequence"], json!(2), "Chain"),
        (&["/registry/hash"], other.clone(), "Pin"),
        (&["/registry/sequence"], json!(1), "Pin"),
        (&["/store", "/statement/store"], other, "Pin"),
        (&["/trace", "/statement/trace"], stranger, "Pin"),
        (&["/epoch"], json!(2), "Epoch"),
    ];
    for (paths, value, expected) in changes {
        let bytes = changed(&world.registry[1].event, |event| {
            for path in paths {
                *event.pointer_mut(path).unwrap() = value.clone();
            }
        });
        let mut registry = Registry::open(&world.registry[0].event).unwrap();
        let before = registry.clone();
        let error = registry.apply(&Event::parse(&bytes).unwrap()).unwrap_err();
        assert!(format!("{error:?}").starts_with(expected), "{paths:?}: {error:?}");
        assert_eq!(registry, before, "a refused event changed the registry");
        // An event of a later version has a place too.
        assert!(registry.pass_over(&Event::parse(&bytes).unwrap()).is_err(), "{paths:?}");
        assert_eq!(registry, before);
    }
}

#[test]
fn a_restoration_says_its_epoch_twice_and_the_same() {
    let mut world = World::new();
    let recorded = world.state(StoreRestored { epoch: whole(2) }).unwrap();
    let earlier = world.registry.len() - 1;
    for (path, value) in [("/epoch", 1), ("/epoch", 3), ("/statement/facts/epoch", 3)] {
        let bytes = changed(&recorded.event, |event| *event.pointer_mut(path).unwrap() = json!(value));
        let mut registry = Registry::open(&world.registry[0].event).unwrap();
        for before in &world.registry[1..earlier] {
            registry.apply(&before.event).unwrap();
        }
        let error = registry.apply(&Event::parse(&bytes).unwrap()).unwrap_err();
        assert!(matches!(error, RegistryError::Epoch { .. }), "{path} {value}: {error:?}");
    }
}

#[test]
fn registration_shows_possession() {
    let mut world = World::new();
    let (holder, thief) = (world.new_author(Role::Planner), world.new_author(Role::Planner));
    let place = world.registry_place();
    let mut submission = holder.register(&place, None, "x", &mut world.random).unwrap();
    let other = thief.register(&place, None, "x", &mut world.random).unwrap();
    submission.proof = other.proof;
    assert!(matches!(world.desk.admit_key(submission, world.now), Err(DeskError::Admission(_))));
}

#[test]
fn a_key_enters_once() {
    let mut world = World::new();
    let author = world.new_author(Role::Planner);
    world.register(&author).unwrap();
    assert!(matches!(registry_error(world.register(&author)), RegistryError::KeyKnown));
}

#[test]
fn a_second_key_for_a_principal_is_the_desks_word() {
    let mut world = World::new();
    let first = world.new_author(Role::Planner);
    world.register(&first).unwrap();
    let second = Author::new(SecretKey::generate(&mut world.random), first.principal(), Role::Planner);
    world.register(&second).unwrap();
    let origin = |author: &Author| world.desk.registry().key(&author.public().fingerprint()).unwrap().origin;
    assert_eq!(origin(&first), KeyOrigin::First);
    assert_eq!(origin(&second), KeyOrigin::DeskWord);
}

#[test]
fn a_rotated_key_speaks_until_it_is_retired() {
    let mut world = World::new();
    let author = world.new_author(Role::Planner);
    world.register(&author).unwrap();
    let old = author.public().fingerprint();
    let new = world.rotate(&author, &author).unwrap().public().fingerprint();
    let rotation = world.last();
    let registry = world.desk.registry();
    assert!(registry.speaker(&old, rotation).is_ok());
    assert_eq!(registry.speaker(&new, rotation).unwrap().origin, KeyOrigin::RotatedByKey);
    assert_eq!(registry.key(&new).unwrap().principal, author.principal());
    world.state(KeyRetired { key: old, rotation }).unwrap();
    let registry = world.desk.registry();
    assert_eq!(registry.speaker(&old, world.last()), Err(Standing::Retired { since: world.last() }));
    // Position decides: before the retirement the old key spoke.
    assert!(registry.speaker(&old, rotation).is_ok());
    assert_eq!(registry.speaker(&new, Sequence::FIRST), Err(Standing::Unknown));
}

#[test]
fn a_key_is_retired_once_and_revoked_once_and_ends_with_the_first() {
    let mut world = World::new();
    let author = world.new_author(Role::Planner);
    world.register(&author).unwrap();
    let key = author.public().fingerprint();
    world.rotate(&author, &author).unwrap();
    let rotation = world.last();
    world.state(KeyRetired { key, rotation }).unwrap();
    let retired = world.last();
    assert!(matches!(
        registry_error(world.state(KeyRetired { key, rotation })),
        RegistryError::Subject(Standing::Retired { .. })
    ));
    let revocation = world.revocation(&author);
    world.state(revocation.clone()).unwrap();
    assert!(matches!(
        registry_error(world.state(revocation)),
        RegistryError::Subject(Standing::Revoked { .. })
    ));
    assert_eq!(world.desk.registry().speaker(&key, world.last()), Err(Standing::Retired { since: retired }));
}

#[test]
fn one_recovery_key_may_serve_several_keys_but_never_one_that_speaks() {
    let mut world = World::new();
    let recovery = world.new_author(Role::Planner);
    for _ in 0..2 {
        let author = world.new_author(Role::Planner);
        world.register_with(&author, &recovery).unwrap();
    }
    let (author, speaking) = (world.new_author(Role::Planner), world.new_author(Role::Critic));
    world.register(&speaking).unwrap();
    let error = registry_error(world.register_with(&author, &speaking));
    assert!(matches!(error, RegistryError::Recovery), "{error}");
}

#[test]
fn only_the_old_key_or_its_recovery_key_rotates() {
    let mut world = World::new();
    let author = world.new_author(Role::Planner);
    world.register(&author).unwrap();
    let stranger = world.new_author(Role::Planner);
    world.register(&stranger).unwrap();
    let error = registry_error(world.rotate(&stranger, &author).map(|_| ()));
    assert!(matches!(error, RegistryError::Signer { .. }), "{error}");
}

#[test]
fn a_recovery_key_names_a_successor_even_for_a_revoked_key() {
    let mut world = World::new();
    let author = world.new_author(Role::Planner);
    let recovery = world.new_author(Role::Planner);
    world.register_with(&author, &recovery).unwrap();
    let revocation = world.revocation(&author);
    world.state(revocation).unwrap();
    assert!(matches!(
        registry_error(world.rotate(&author, &author).map(|_| ())),
        RegistryError::Subject(Standing::Revoked { .. })
    ));
    let new = world.rotate(&recovery, &author).unwrap();
    let record = world.desk.registry().key(&new.public().fingerprint()).unwrap();
    assert_eq!(record.origin, KeyOrigin::RotatedByRecovery);
    // A recovery key does nothing else.
    let place = world.place();
    let facts = world.opening(crate::world::usual_policy());
    let content = crate::world::fitting(&facts.clone().into());
    let submission = recovery.say(&place, facts, content, &mut world.random).unwrap();
    assert!(world.submit(submission).is_err());
}

#[test]
fn a_successor_begins_anew_whatever_became_of_the_key_before_it() {
    let mut world = World::new();
    let (author, recovery) = (world.new_author(Role::Planner), world.new_author(Role::Planner));
    world.register_with(&author, &recovery).unwrap();
    let key = author.public().fingerprint();
    world.rotate(&author, &author).unwrap();
    let rotation = world.last();
    world.state(KeyRetired { key, rotation }).unwrap();
    let revocation = world.revocation(&author);
    world.state(revocation).unwrap();
    let new = world.rotate(&recovery, &author).unwrap().public();
    let expected = KeyRecord {
        replaces: Some(key),
        public: new,
        principal: author.principal(),
        roles: vec![Role::Planner],
        origin: KeyOrigin::RotatedByRecovery,
        since: world.last(),
        rotated: None,
        retired: None,
        revoked: None,
        recovery: None,
        clients: Vec::new(),
    };
    assert_eq!(world.desk.registry().speaker(&new.fingerprint(), world.last()), Ok(&expected));
}

#[test]
fn a_recovery_key_does_not_serve_the_successor() {
    let mut world = World::new();
    let (author, recovery) = (world.new_author(Role::Planner), world.new_author(Role::Planner));
    world.register_with(&author, &recovery).unwrap();
    let new = world.rotate(&author, &author).unwrap();
    let successor = Author::new(new, author.principal(), Role::Planner);
    let error = registry_error(world.rotate(&recovery, &successor).map(|_| ()));
    assert!(matches!(error, RegistryError::Signer { .. }), "{error}");
    assert!(world.rotate(&successor, &successor).is_ok(), "the successor was not to be rotated");
}

#[test]
fn a_rotation_shows_possession_of_the_new_key() {
    let mut world = World::new();
    let key = SecretKey::generate(&mut world.random);
    let author = Author::new(
        SecretKey::from_seed(&key.seed()),
        PrincipalId::new(world.now, &mut world.random),
        Role::Planner,
    );
    world.register(&author).unwrap();
    let new = SecretKey::generate(&mut world.random);
    let facts = KeyRotated {
        key: new.public(),
        old: key.public().fingerprint(),
        possession: key.sign(Purpose::Possession, b"signed by the old key instead"),
        recovery: None,
    };
    let submission =
        world.drafted(Role::Holder, facts, None).sign(&key, Salt::draw(&mut world.random)).unwrap();
    let error = registry_error(world.desk.admit_key(submission, world.now));
    assert!(matches!(error, RegistryError::Possession), "{error}");
}

#[test]
fn the_desk_key_follows_the_same_rules() {
    let mut world = World::new();
    let old = world.desk.key().public().fingerprint();
    let last = registry_error(world.state(KeyRevoked {
        key: old,
        reason: RevocationReason::Lost,
        root: *world.registry[0].event.hash(),
        traces: whole(1),
    }));
    assert!(matches!(last, RegistryError::LastDeskKey), "{last}");
    let signer =
        Author::new(SecretKey::from_seed(&world.desk.key().seed()), world.desk.registry().desk(), Role::Desk);
    let new = world.rotate(&signer, &signer).unwrap();
    let rotation = world.last();
    world.desk.use_key(new).unwrap();
    world.state(KeyRetired { key: old, rotation }).unwrap();
    let registry = world.desk.registry();
    assert!(registry.desk_key(&old, world.last()).is_err());
    assert!(registry.desk_key(&world.desk.key().public().fingerprint(), world.last()).is_ok());
    let stranger = SecretKey::generate(&mut world.random);
    assert!(world.desk.use_key(stranger).is_err());
}

#[test]
fn a_desk_opens_on_its_registry_with_its_own_key_only() {
    let world = World::new();
    let (registry, chain) = (world.desk.registry().clone(), world.desk.registry_chain().clone());
    let own = SecretKey::from_seed(&world.desk.key().seed());
    let reopened = Desk::open(own, registry.clone(), chain.clone()).unwrap();
    assert_eq!(reopened.store(), world.desk.store());
    assert!(Desk::open(SecretKey::from_seed(&[9; 32]), registry, chain).is_err());
}

#[test]
fn agents_do_not_sign_for_the_desk() {
    let mut world = World::new();
    let key = SecretKey::generate(&mut world.random);
    let author = Author::new(
        SecretKey::from_seed(&key.seed()),
        PrincipalId::new(world.now, &mut world.random),
        Role::Planner,
    );
    world.register(&author).unwrap();
    let facts = CheckpointRecorded { root: *world.registry[0].event.hash(), traces: whole(1) };
    let submission =
        world.drafted(Role::Desk, facts, None).sign(&key, Salt::draw(&mut world.random)).unwrap();
    assert!(matches!(
        world.desk.admit_key(submission, world.now),
        Err(DeskError::Admission(AdmissionError::KeyRole { role: Role::Desk }))
    ));
}

#[test]
fn only_the_desk_retires_a_key_and_begins_a_store() {
    let mut world = World::new();
    let author = world.new_author(Role::Planner);
    world.register(&author).unwrap();
    let key = author.public().fingerprint();
    world.rotate(&author, &author).unwrap();
    let rotation = world.last();
    let earlier = world.desk.registry().clone();
    let retired = world.state(KeyRetired { key, rotation }).unwrap();
    let operator = world.agent(Role::Operator);
    let (signer, actor) = (json!(operator.public().fingerprint()), json!(operator.principal().to_string()));
    for (paths, value) in [(&["/proof/ed25519/key"][..], signer), (&["/actor"][..], actor)] {
        let bytes = changed(&retired.event, |event| {
            for path in paths {
                *event.pointer_mut(path).unwrap() = value.clone();
            }
        });
        let mut registry = earlier.clone();
        assert!(registry.apply(&Event::parse(&bytes).unwrap()).is_err(), "{paths:?}");
        assert_eq!(registry, earlier);
    }
    let bytes = changed(&world.registry[0].event, |event| event["statement"]["role"] = json!("operator"));
    let error = Registry::open(&Event::parse(&bytes).unwrap()).unwrap_err();
    assert!(matches!(error, RegistryError::Role { role: Role::Operator, .. }), "{error}");
}

#[test]
fn nobody_registers_a_key_for_the_desk() {
    let mut world = World::new();
    let desk = world.desk.registry().desk();
    let pretender = Author::new(SecretKey::generate(&mut world.random), desk, Role::Operator);
    let error = registry_error(world.register(&pretender));
    assert!(matches!(error, RegistryError::DeskPrincipal), "{error}");
    let operator = world.agent(Role::Operator).public().fingerprint();
    assert_eq!(world.desk.registry().desk_key(&operator, world.last()), Err(Standing::NotTheDesk));
}

#[test]
fn a_restored_store_begins_the_next_epoch() {
    let mut world = World::new();
    let error = registry_error(world.state(StoreRestored { epoch: whole(3) }));
    assert!(matches!(error, RegistryError::Epoch { expected: 2, .. }), "{error}");
    let before = world.last();
    world.state(StoreRestored { epoch: whole(2) }).unwrap();
    assert_eq!(world.desk.registry().epoch_at(before), 1);
    assert_eq!(world.desk.registry().epoch_at(world.last()), 2);
    let opening = world.opening(crate::world::usual_policy());
    world.say(opening).unwrap();
    assert_eq!(world.events[0].event.envelope().epoch, 2);
}

#[test]
fn a_root_is_remembered_with_its_number_of_traces() {
    let mut world = World::new();
    let root = *world.registry[0].event.hash();
    world.state(CheckpointRecorded { root, traces: whole(4) }).unwrap();
    assert_eq!(world.desk.registry().root(world.last()), Some((root, 4)));
    assert_eq!(world.desk.registry().root(Sequence::FIRST), None);
}

#[test]
fn keys_hold_only_roles_of_their_own() {
    let mut world = World::new();
    let key = SecretKey::generate(&mut world.random);
    for roles in
        [vec![Role::Desk], vec![Role::Holder], vec![Role::Critic, Role::Planner], vec![Role::Critic; 2]]
    {
        let principal = PrincipalId::new(world.now, &mut world.random);
        let facts = KeyRegistered {
            key: key.public(),
            principal,
            recovery: None,
            roles: List::try_from(roles).unwrap(),
        };
        let name = Content::KeyRegistered(NameContent { name: text("x") });
        let draft = world.drafted(Role::Holder, facts, Some(name));
        let submission = draft.sign(&key, Salt::draw(&mut world.random)).unwrap();
        let error = registry_error(world.desk.admit_key(submission, world.now));
        assert!(matches!(error, RegistryError::Roles), "{error}");
    }
}
