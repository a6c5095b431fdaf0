//! The journal: opened by the desk, one event for each sign-in, nothing else in it.

use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying},
};
use demur_ledger::{
    event_type::Facts,
    facts::{Attribution, Door, JournalOpened, PersonRole, Root, SessionOpened},
    name::{PersonId, SessionId},
    role::Role,
    verify::Code,
};
use demur_testing::authenticator::Authenticator;

use crate::{
    passkey::sent,
    world::{To, World, position, refusal},
};

impl World {
    /// Returns a store with a root, whose journal is open.
    fn journal(passkey: &Authenticator) -> (Self, PersonId) {
        let mut world = Self::new();
        let person = world.person(PersonRole::Operator);
        position(&world.root(passkey, person));
        position(&world.notes(Role::Desk, JournalOpened {}));
        (world, person)
    }

    fn notes(&mut self, role: Role, facts: impl Into<Facts>) -> Reply {
        let first = Saying { role, facts: facts.into(), content: None };
        self.command(To::Run, Command::record(first, Consequences::default()))
    }

    fn session(&mut self, person: PersonId) -> SessionOpened {
        let session = SessionId::new(self.now, &mut self.random);
        SessionOpened { attribution: None, by: None, person, session }
    }
}

/// ONE-10
#[test]
fn sign_ins_are_on_record_by_passkey_or_by_the_desks_word() {
    let passkey = Authenticator::es256(1);
    let (mut world, ada) = World::journal(&passkey);
    let session = world.session(ada);
    position(&world.touch(To::Run, &passkey, Role::Person, session));
    let way = Some(Box::new(Attribution::new(Door::Page, Root::SameUser)));
    let session = SessionOpened { attribution: way, ..world.session(ada) };
    position(&world.notes(Role::Person, session));
    let report = world.verified();
    assert_eq!((report.code(), report.scope.state), (None, Some("journal")), "{}", report.to_text());
}

/// ONE-10
#[test]
fn nobody_signs_in_as_another() {
    let (root, own) = (Authenticator::es256(1), Authenticator::ed25519(2));
    let (mut world, ada) = World::journal(&root);
    let bob = world.person(PersonRole::Auditor);
    let added = own.added(bob, world.store());
    position(&world.touch(To::Registry, &root, Role::Operator, added));
    let session = world.session(ada);
    let prepared = world.prepare(To::Run, Role::Person, session);
    let submission = own.approve_one(prepared);
    assert_eq!(refusal(&world.send(To::Run, &sent(submission.clone()))).code, "ACTOR_MISMATCH");
    let mut forged = world.clone();
    forged.forge(To::Run, submission, bob);
    assert_eq!(forged.failures(), [Code::ActorMismatch]);
    // An auditor signs in, and says nothing else.
    let session = world.session(bob);
    position(&world.touch(To::Run, &own, Role::Person, session));
    assert_eq!(world.failures(), []);
}

#[test]
fn a_sign_in_is_signed_with_a_touch_of_its_own() {
    let passkey = Authenticator::ed25519(1);
    let (mut world, ada) = World::journal(&passkey);
    let (one, other) = (world.session(ada), world.session(ada));
    let prepared =
        vec![world.prepare(To::Run, Role::Person, one), world.prepare(To::Run, Role::Person, other)];
    for submission in passkey.approve(prepared) {
        assert_eq!(refusal(&world.send(To::Run, &sent(submission))).code, "PASSKEY_INVALID");
    }
}

#[test]
fn nothing_else_stands_in_the_journal() {
    let passkey = Authenticator::es256(1);
    let (mut world, ada) = World::journal(&passkey);
    assert_eq!(refusal(&world.notes(Role::Desk, JournalOpened {})).code, "TRACE_EXISTS");
    let unsaid = world.session(ada);
    assert_eq!(refusal(&world.notes(Role::Person, unsaid)).code, "ASSURANCE_OVERSTATED");
    let session = world.session(ada);
    assert_eq!(refusal(&world.notes(Role::Desk, session)).code, "ROLE_FORBIDDEN");
    // A sign-in with a passkey is signed, and a link is somebody's.
    for root in [Root::Passkey, Root::Link] {
        let way = Attribution { person: Some(ada), ..Attribution::new(Door::Page, root) };
        let session = SessionOpened { attribution: Some(Box::new(way)), ..world.session(ada) };
        assert_eq!(refusal(&world.notes(Role::Person, session)).code, "ASSURANCE_OVERSTATED");
    }
    let way = Attribution { person: Some(ada), ..Attribution::new(Door::Page, Root::Link) };
    let session = SessionOpened { attribution: Some(Box::new(way)), by: Some(ada), ..world.session(ada) };
    position(&world.notes(Role::Person, session));
    let mut world = World::new();
    let session = world.session(ada);
    assert_eq!(refusal(&world.notes(Role::Person, session)).code, "NOT_OPENED");
}
