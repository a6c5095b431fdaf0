//! People and their passkeys in the registry: who vouches for whom, what only an operator's passkey does, and what remains.

use demur_core::{hash::sha256, key::SecretKey};
use demur_engine::Reply;
use demur_ledger::{
    author::{Author, Draft, Place},
    content::NameContent,
    event_type::{Content, Facts},
    facts::{
        CheckpointRecorded, ClientBound, ContentErased, KeyRegistered, KeyRevoked, PasskeyAdded,
        PasskeyRemoved, PasskeyReset, PasskeyRooted, PersonAdded, PersonChanged, PersonRemoved, PersonRole,
        RevocationReason, TokenRevoked,
    },
    name::{ClientId, PersonId, TokenId},
    role::Role,
    verify::{Code, Options, Pin, Verdict, verify_whole},
};
use demur_testing::authenticator::Authenticator;

use crate::{
    asking::{question, typed},
    passkey::{approved, sent},
    words::{list, text, whole},
    world::{Sent, To, World, position, refusal},
};

impl World {
    /// Has the desk record a checkpoint, as it must after a removal.
    pub(crate) fn checkpoint(&mut self) {
        position(&self.desk_says(CheckpointRecorded { root: sha256(b"root"), traces: whole(2) }));
    }

    /// Returns a store with a root and nothing else, and the operator.
    fn with_root(passkey: &Authenticator) -> (Self, PersonId) {
        let mut world = Self::new();
        let person = world.person(PersonRole::Operator);
        position(&world.root(passkey, person));
        (world, person)
    }

    fn by(&mut self, passkey: &Authenticator, role: Role, facts: impl Into<Facts>) -> Reply {
        self.touch(To::Registry, passkey, role, facts)
    }
}

fn root() -> Authenticator {
    Authenticator::es256(1)
}

#[track_caller]
fn refused(reply: &Reply, code: &str) {
    assert_eq!(refusal(reply).code, code);
}

/// ONE-10
#[test]
fn the_root_is_the_first_passkey_and_an_operators() {
    let mut world = World::new();
    let (ada, bob) = (world.person(PersonRole::Operator), world.person(PersonRole::Answerer));
    refused(&world.root(&root(), bob), "ROOT_ROLE");
    let stranger = PersonId::new(world.now, &mut world.random);
    refused(&world.root(&root(), stranger), "PERSON_STATE");
    let signer = Authenticator::ed25519(2);
    let facts = PasskeyRooted(root().enrolment(ada));
    refused(&world.by(&signer, Role::Person, facts), "KEY_UNKNOWN");
    let mut wrong = root().enrolment(ada);
    wrong.synced = true;
    refused(&world.by(&root(), Role::Person, PasskeyRooted(wrong)), "ENROLMENT");
    let mut wrong = root().enrolment(ada);
    wrong.rp = "example.com".to_owned().try_into().unwrap();
    refused(&world.by(&root(), Role::Person, PasskeyRooted(wrong)), "PASSKEY_INVALID");
    let (mut blind, unverified) = (world.clone(), root().unverified());
    refused(&blind.root(&unverified, ada), "PASSKEY_INVALID");
    position(&world.root(&root(), ada));
    refused(&world.root(&Authenticator::ed25519(2), ada), "ROOT_KNOWN");
    assert_eq!(world.failures(), []);
}

/// ONE-10
#[test]
fn later_passkeys_are_vouched_for() {
    let (first, second, third) = (root(), Authenticator::ed25519(2), Authenticator::es256(3).synced());
    let (mut world, ada) = World::with_root(&first);
    let bob = world.person(PersonRole::Answerer);
    let store = world.store();
    // Neither the command line nor the desk's key can add one.
    let facts = second.added(bob, store);
    refused(&world.desk_says(facts.clone()), "ROLE_FORBIDDEN");
    refused(&world.by(&second, Role::Person, facts.clone()), "KEY_UNKNOWN");
    position(&world.by(&first, Role::Operator, facts));
    // Whoever has one vouches alone for the next.
    let facts = third.added(bob, store);
    refused(&world.by(&first, Role::Operator, facts.clone()), "VOUCHER");
    position(&world.by(&second, Role::Person, facts));
    let another = Authenticator::ed25519(5);
    refused(&world.by(&second, Role::Person, another.added(ada, store)), "VOUCHER");
    assert_eq!(world.failures(), []);
}

/// ONE-10
#[test]
fn a_new_passkey_shows_that_somebody_holds_it() {
    let (first, second) = (root(), Authenticator::ed25519(2));
    let (mut world, ada) = World::with_root(&first);
    let store = world.store();
    let good = second.added(ada, store);
    let other = Authenticator::es256(3);
    let bob = PersonId::new(world.now, &mut world.random);
    let spoiled = [
        ("POSSESSION", PasskeyAdded { possession: other.added(ada, store).possession, ..good.clone() }),
        ("PASSKEY_INVALID", PasskeyAdded { possession: second.added(bob, store).possession, ..good.clone() }),
        ("PASSKEY_INVALID", PasskeyAdded { possession: second.assert(&[sha256(b"a leaf")]), ..good.clone() }),
        ("PASSKEY_INVALID", PasskeyAdded { eligible: true, ..good.clone() }),
        ("ENROLMENT", PasskeyAdded { synced: true, ..good.clone() }),
        (
            "PASSKEY_INVALID",
            PasskeyAdded { origin: "http://localhost:1".to_owned().try_into().unwrap(), ..good.clone() },
        ),
        ("PASSKEY_INVALID", second.clone().unverified().added(ada, store)),
        ("KEY_KNOWN", first.added(ada, store)),
        ("KEY_KNOWN", Authenticator::of_key(&world.speakers[0].key).added(ada, store)),
    ];
    for (code, facts) in spoiled {
        refused(&world.by(&first, Role::Person, facts), code);
    }
    position(&world.by(&first, Role::Person, good));
}

/// What a key of an agent signs is never taken for a passkey's, nor the other way round.
///
/// ONE-10
#[test]
fn no_key_has_the_bytes_of_a_passkey() {
    let key = SecretKey::from_seed(&[7; 32]);
    let passkey = Authenticator::of_key(&key);
    let (mut world, ada) = World::with_root(&passkey);
    let speaker = world.new_speaker(Role::Agent);
    let registered = KeyRegistered {
        key: key.public(),
        principal: speaker.principal,
        recovery: None,
        roles: list([Role::Agent]),
    };
    let draft = world.draft(To::Registry, Role::Holder, registered);
    let registered = world.sign(draft, &key);
    refused(&world.send(To::Registry, &registered), "KEY_KNOWN");
    // And nobody is a person and the holder of keys.
    let taken = PersonId::from(world.speakers[0].principal);
    refused(&world.desk_says(PersonAdded { person: taken, role: PersonRole::Answerer }), "PERSON_STATE");
    let own = KeyRegistered {
        key: speaker.key.public(),
        principal: ada.principal(),
        recovery: None,
        roles: list([Role::Agent]),
    };
    let draft = world.draft(To::Registry, Role::Holder, own);
    let own = world.sign(draft, &speaker.key);
    refused(&world.send(To::Registry, &own), "PERSON_STATE");
}

/// ONE-10
#[test]
fn once_there_is_a_root_operators_are_made_and_unmade_by_touch() {
    let mut world = World::new();
    let (ada, bob) = (world.person(PersonRole::Operator), world.person(PersonRole::Answerer));
    position(&world.desk_says(PersonChanged { person: bob, role: PersonRole::Operator }));
    position(&world.desk_says(PersonChanged { person: bob, role: PersonRole::Answerer }));
    position(&world.root(&root(), ada));
    let carl = PersonId::new(world.now, &mut world.random);
    let made = PersonAdded { person: carl, role: PersonRole::Operator };
    let raised = PersonChanged { person: bob, role: PersonRole::Operator };
    refused(&world.desk_says(made), "PASSKEY_NEEDED");
    refused(&world.desk_says(raised), "PASSKEY_NEEDED");
    refused(&world.desk_says(PersonChanged { person: ada, role: PersonRole::Answerer }), "PASSKEY_NEEDED");
    refused(&world.desk_says(PersonRemoved { person: ada }), "PASSKEY_NEEDED");
    // Others are the desk's to administer until they have a passkey.
    position(&world.desk_says(PersonChanged { person: bob, role: PersonRole::Auditor }));
    let own = Authenticator::ed25519(2);
    let added = own.added(bob, world.store());
    position(&world.by(&root(), Role::Operator, added));
    refused(&world.desk_says(PersonRemoved { person: bob }), "PASSKEY_NEEDED");
    refused(&world.desk_says(PersonChanged { person: bob, role: PersonRole::Answerer }), "PASSKEY_NEEDED");
    refused(&world.by(&own, Role::Operator, raised), "KEY_ROLE_MISMATCH");
    position(&world.by(&root(), Role::Operator, made));
    position(&world.by(&root(), Role::Operator, raised));
    position(&world.by(&own, Role::Operator, PersonChanged { person: carl, role: PersonRole::Answerer }));
    assert_eq!(world.failures(), []);
}

/// ONE-10
#[test]
fn an_operators_passkey_remains() {
    let (first, second) = (root(), Authenticator::ed25519(2));
    let (mut world, ada) = World::with_root(&first);
    let last = "LAST_OPERATOR_PASSKEY";
    let removed = PasskeyRemoved { key: first.fingerprint() };
    refused(&world.by(&first, Role::Person, removed), last);
    refused(&world.by(&first, Role::Operator, PersonRemoved { person: ada }), last);
    let lowered = PersonChanged { person: ada, role: PersonRole::Answerer };
    refused(&world.by(&first, Role::Operator, lowered), last);
    // That of somebody who is no operator is not enough.
    let bob = world.person(PersonRole::Answerer);
    let added = second.added(bob, world.store());
    position(&world.by(&first, Role::Operator, added));
    refused(&world.by(&first, Role::Person, removed), last);
    position(&world.by(&first, Role::Operator, PersonChanged { person: bob, role: PersonRole::Operator }));
    position(&world.by(&second, Role::Operator, PersonRemoved { person: ada }));
    refused(
        &world.desk_says(TokenRevoked { token: TokenId::new(world.now, &mut world.random.clone()) }),
        "CHECKPOINT_OWED",
    );
    world.checkpoint();
    refused(&world.by(&first, Role::Person, removed), "KEY_REVOKED");
    assert_eq!(world.failures(), []);
}

/// ONE-10
#[test]
fn keys_and_passkeys_are_ended_by_their_own_events() {
    let (first, second) = (root(), Authenticator::ed25519(2));
    let (mut world, ada) = World::with_root(&first);
    let added = second.added(ada, world.store());
    position(&world.by(&first, Role::Person, added));
    let key = second.fingerprint();
    let revoked = KeyRevoked { key, reason: RevocationReason::Lost, root: sha256(b"root"), traces: whole(1) };
    refused(&world.desk_says(revoked), "KEY_STATE");
    let client = ClientId::new(world.now, &mut world.random);
    refused(&world.desk_says(ClientBound { client, key }), "KEY_STATE");
    refused(&world.desk_says(PasskeyRemoved { key }), "ROLE_FORBIDDEN");
    let agent = world.speakers[0].key.public().fingerprint();
    refused(&world.by(&first, Role::Person, PasskeyRemoved { key: agent }), "KEY_STATE");
    position(&world.by(&first, Role::Person, PasskeyRemoved { key }));
}

/// ONE-10
#[test]
fn a_reset_takes_the_recovery_key_of_the_newest_desk_key() {
    let mut world = World::new();
    let (recovery, newer) = (SecretKey::from_seed(&[1; 32]), SecretKey::from_seed(&[2; 32]));
    let ada = world.person(PersonRole::Operator);
    position(&world.root(&root(), ada));
    let new = Authenticator::ed25519(2);
    let reset = |world: &mut World, key: &SecretKey| {
        let facts = PasskeyReset(new.added(ada, world.store()));
        let draft = world.draft(To::Registry, Role::Desk, facts);
        let said = world.sign(draft, key);
        world.send(To::Registry, &said)
    };
    let desk = world.desk.clone();
    refused(&reset(&mut world, &desk), "NO_RECOVERY");
    for (next, recovery) in [([3; 32], &recovery), ([4; 32], &newer)] {
        let next = SecretKey::from_seed(&next);
        let tip = *world.registry.state.tip();
        let place = Place { store: world.store(), trace: tip.trace(), seen: tip.head(), now: world.now };
        let author = Author::new(world.desk.clone(), world.known_registry().desk(), Role::Desk);
        let old = world.desk.public().fingerprint();
        let said = author.rotate(&place, old, &next, Some(recovery.public()), &mut world.random).unwrap();
        position(&world.send(To::Registry, &sent(said)));
        world.desk = next;
    }
    let desk = world.desk.clone();
    refused(&reset(&mut world, &desk), "SIGNER_NOT_ENTITLED");
    refused(&reset(&mut world, &recovery), "SIGNER_NOT_ENTITLED");
    position(&reset(&mut world, &newer));
    world.checkpoint();
    let registry = world.known_registry();
    let head = registry.head().sequence;
    assert!(registry.passkey_speaker(&root().fingerprint(), head).is_err());
    assert!(registry.passkey_speaker(&new.fingerprint(), head).is_ok());
    assert_eq!(world.failures(), []);
}

/// ONE-14
#[test]
fn an_operator_administers_with_a_passkey() {
    let (mut world, _) = World::with_root(&root());
    let client = ClientId::new(world.now, &mut world.random);
    let key = world.speakers[0].key.public().fingerprint();
    let bound = ClientBound { client, key };
    refused(&world.by(&root(), Role::Person, bound.clone()), "ROLE_FORBIDDEN");
    position(&world.by(&root(), Role::Operator, bound));
    let erased = ContentErased { event: 1_u32.into() };
    refused(&world.by(&root(), Role::Person, erased), "ROLE_FORBIDDEN");
    position(&world.by(&root(), Role::Operator, erased));
    let key = world.speakers[1].key.public().fingerprint();
    let one = world.prepare(To::Registry, Role::Operator, ClientBound { client, key });
    let many = root().assert(&[one.leaf(), sha256(b"another")]);
    refused(&world.send(To::Registry, &sent(one.assert(many))), "PASSKEY_INVALID");
}

/// ONE-10
#[test]
fn a_late_root_is_said_to_be_perhaps_an_agents() {
    let (mut world, _, asked) = World::rooted(&root(), question());
    position(&world.touch(To::Run, &root(), Role::Person, approved(asked)));
    let report = world.verified();
    let late = report.findings.iter().find(|finding| finding.code == Code::RootLate).unwrap();
    assert!(late.message.ends_with("perhaps it is an agent's"), "{}", late.message);
    assert_eq!(report.verdict, Verdict::PassWithWarnings);
    let strict = Options { profile: demur_ledger::facts::VerificationProfile::Strict, ..Options::default() };
    let judged = |options: &Options| {
        let report = verify_whole(&world.export(), options).unwrap();
        let of_root = report.findings.iter().find(|finding| finding.code == Code::RootLate);
        of_root.map(|finding| finding.severity)
    };
    assert_eq!(judged(&strict), Some(demur_ledger::verify::FindingSeverity::Failure));
    let pin = Pin { name: "ada".to_owned(), fingerprint: root().fingerprint() };
    assert_eq!(judged(&Options { pins: vec![pin], ..strict }), None);
}

/// ONE-10
#[test]
fn the_report_says_whose_passkey_it_is_and_who_vouches() {
    let (first, second) = (root(), Authenticator::ed25519(2).synced());
    let (mut world, ada, asked) = World::rooted(&first, question());
    let added = second.added(ada, world.store());
    position(&world.by(&first, Role::Person, added));
    position(&world.touch(To::Run, &second, Role::Person, approved(asked)));
    let how = |world: &World, pins: Vec<Pin>| {
        let report = verify_whole(&world.export(), &Options { pins, ..Options::default() }).unwrap();
        (report.questions[0].how.clone().unwrap(), report.anchors.pins)
    };
    let (said, _) = how(&world, Vec::new());
    let (one, other) = (first.fingerprint().short(), second.fingerprint().short());
    assert_eq!(
        said,
        format!(
            "passkey {other} of person {ada}, whom demur calls \u{201c}Ada\u{201d}, verified user, synced by its own flags, vouched for by \
             root {one} (root: nobody vouches, pin it), signed exactly this answer; that the page showed it is recorded by \
             demur; with a touch of its own"
        )
    );
    // What a passkey signed, the desk's word does not take away.
    position(&world.by(&first, Role::Operator, PersonChanged { person: ada, role: PersonRole::Operator }));
    let pin = Pin { name: "ada".to_owned(), fingerprint: first.fingerprint() };
    let (said, pins) = how(&world, vec![pin]);
    assert!(said.contains("of person \u{201c}Ada Lovelace\u{201d}, verified user"), "{said}");
    assert!(said.contains(&format!("vouched for by root {one} (pinned as ada)")), "{said}");
    assert_eq!(pins[0].through, Some(asked.sequence.next()));
}

/// ONE-10
#[test]
fn an_act_without_a_touch_of_somebody_who_has_a_passkey_says_so() {
    let (mut world, ada, asked) = World::rooted(&root(), question());
    let mut facts = Facts::from(typed(asked));
    let way = crate::words::way_of(&facts);
    facts.attribute(demur_ledger::facts::Attribution { person: Some(ada), ..way });
    position(&world.told(Role::Person, facts));
    let report = world.verified();
    let how = report.questions[0].how.as_deref().unwrap();
    assert_eq!(
        how,
        format!(
            "same user, recorded by demur although person {ada}, whom demur calls \u{201c}Ada\u{201d} has a passkey"
        )
    );
}

#[test]
fn names_of_people_are_content() {
    let mut world = World::new();
    let person = PersonId::new(world.now, &mut world.random);
    let mut draft: Draft =
        world.draft(To::Registry, Role::Desk, PersonAdded { person, role: PersonRole::Operator });
    draft.content = Some(Content::PersonAdded(NameContent { name: text("Grace") }));
    let desk = world.desk.clone();
    let said: Sent = world.sign(draft, &desk);
    let statement = String::from_utf8(said.submission.statement.clone()).unwrap();
    assert!(!statement.contains("Grace"));
    position(&world.send(To::Registry, &said));
}
