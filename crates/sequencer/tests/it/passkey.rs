//! What follows the end of a passkey: a checkpoint, whoever records something next.

use std::sync::Arc;

use demur_core::{commitment::Salt, id::Ulid, random::Seeded};
use demur_ledger::{
    author::{Draft, Prepared},
    content::{LabelContent, NameContent},
    envelope::Event,
    event_type::{Content, Facts},
    facts::{PasskeyRemoved, PasskeyRooted, PersonAdded, PersonRole},
    name::{CommandId, PersonId, Sequence},
    role::Role,
};
use demur_sequencer::System as _;
use demur_store::memory::MemoryStore;
use demur_testing::{authenticator::Authenticator, office::Office, sample::text};

fn prepare(office: &Office, facts: impl Into<Facts>, content: Option<Content>) -> Prepared {
    let registry = office.sequencer.registry();
    let (now, mut seed) = (office.clock.now(), [0; 32]);
    office.clock.fill(&mut seed);
    let mut random = Seeded::new(seed);
    let draft = Draft {
        command: CommandId::new(now, &mut random),
        content,
        facts: facts.into(),
        not_after: now.plus_millis(600_000),
        role: Role::Person,
        seen: Some(registry.head()),
        store: Some(registry.store()),
        trace: registry.trace(),
    };
    draft.prepare(Salt::draw(&mut random)).unwrap()
}

/// Returns an office where a passkey has ended, and its process with it: the checkpoint is missing.
fn owing(store: &Arc<MemoryStore>) -> Office {
    let office = Office::create(Arc::clone(store) as _);
    let (first, second) = (Authenticator::es256(1), Authenticator::ed25519(2));
    let person = PersonId::from(Ulid::from_u128(7));
    let name = Content::PersonAdded(NameContent { name: text("ada") });
    office.sequencer.state(PersonAdded { person, role: PersonRole::Operator }, Some(name)).unwrap();
    let label = || LabelContent { label: text("phone") };
    let rooted =
        prepare(&office, PasskeyRooted(first.enrolment(person)), Some(Content::PasskeyRooted(label())));
    office.sequencer.submit(first.approve_one(rooted), None).unwrap();
    let added = second.added(person, office.sequencer.registry().store());
    let added = prepare(&office, added, Some(Content::PasskeyAdded(label())));
    office.sequencer.submit(first.approve_one(added), None).unwrap();
    let removed = prepare(&office, PasskeyRemoved { key: first.fingerprint() }, None);
    office.sequencer.submit(second.approve_one(removed), None).unwrap();
    assert!(office.sequencer.registry().owes_checkpoint());
    office
}

fn newest(office: &Office) -> Vec<String> {
    let trace = office.sequencer.registry().trace();
    let stored = office.sequencer.store().events(trace, Sequence::FIRST, 1000).unwrap();
    let kinds =
        stored.iter().map(|stored| Event::parse(&stored.bytes).unwrap().said().unwrap().kind.to_string());
    let kinds: Vec<_> = kinds.collect();
    kinds[kinds.len() - 3..].to_vec()
}

/// ONE-10
#[test]
fn checkpoint_that_is_owed_comes_before_whatever_is_said_next() {
    let store = Arc::new(MemoryStore::new());
    let mut office = owing(&store);
    // A key that comes in speaks for itself.
    office.register(Role::Agent);
    assert_eq!(newest(&office), ["passkey_removed", "checkpoint_recorded", "key_registered"]);
    let mut office = owing(&Arc::new(MemoryStore::new()));
    // What demur states.
    let name = Content::PersonAdded(NameContent { name: text("zoe") });
    let person = PersonId::from(Ulid::from_u128(8));
    office.sequencer.state(PersonAdded { person, role: PersonRole::Answerer }, Some(name)).unwrap();
    assert_eq!(newest(&office), ["passkey_removed", "checkpoint_recorded", "person_added"]);
    // Another process, after a crash.
    let store = Arc::new(MemoryStore::new());
    office = owing(&store);
    store.reopen();
    let mut office = office.reopen(store as _);
    office.register(Role::Answerer);
    assert_eq!(newest(&office), ["passkey_removed", "checkpoint_recorded", "key_registered"]);
}
