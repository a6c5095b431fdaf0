//! What each proof says and demands, at the one place that knows it.

use demur_core::key::Batch;
use demur_ledger::{
    envelope::Event,
    proof::{Proof, ProofError, ProofKind, Subject},
    role::Role,
};
use serde_json::json;

use crate::{format::changed, world::World};

fn check(world: &World, event: &Event, batch: &mut Batch) -> Result<(), ProofError> {
    let subject = Subject::new(event, event.statement_bytes());
    event.envelope().proof.check(&subject, Some(world.desk.registry()), batch)
}

#[test]
fn a_proof_by_a_key_names_it_and_holds_for_its_own_statement_alone() {
    let world = World::opened();
    let event = &world.events[0].event;
    let planner = world.agent(Role::Planner).public().fingerprint();
    assert_eq!(event.envelope().proof.key(), Some(planner));
    let mut batch = Batch::new();
    check(&world, event, &mut batch).unwrap();
    assert_eq!((batch.len(), batch.verify()), (1, Ok(())));
    let bytes = changed(event, |event| event["statement"]["not_after"] = json!("2999-01-01T00:00:00.000Z"));
    check(&world, &Event::parse(&bytes).unwrap(), &mut batch).unwrap();
    assert_eq!(batch.verify(), Err(vec![1]));
}

#[test]
fn the_word_of_the_desk_names_no_key_and_leaves_nothing_to_check() {
    let world = World::opened();
    let (event, mut batch) = (&world.events[0].event, Batch::new());
    let subject = Subject::new(event, event.statement_bytes());
    Proof::None.check(&subject, Some(world.desk.registry()), &mut batch).unwrap();
    assert!(batch.is_empty());
    assert_eq!(Proof::None.key(), None);
    assert!(ProofKind::Ed25519.has_key() && !ProofKind::None.has_key());
}

#[test]
fn a_key_that_nobody_knows_proves_nothing() {
    let (mut world, mut batch) = (World::opened(), Batch::new());
    let stranger = world.new_author(Role::Planner).public().fingerprint();
    let bytes = changed(&world.events[0].event, |event| event["proof"]["ed25519"]["key"] = json!(stranger));
    let found = check(&world, &Event::parse(&bytes).unwrap(), &mut batch);
    assert_eq!(found, Err(ProofError::KeyUnknown { key: stranger }));
    let proof = &world.events[0].event.envelope().proof;
    let without = Subject::new(&world.events[0].event, None);
    let found = proof.check(&without, Some(world.desk.registry()), &mut batch);
    assert_eq!(found, Err(ProofError::NoStatement));
    assert!(batch.is_empty());
}

#[test]
fn a_key_comes_into_the_registry_by_its_own_signature() {
    let (world, mut batch) = (World::opened(), Batch::new());
    // Before the first event there is no registry.
    let created = &world.registry[0].event;
    created.envelope().proof.check(&Subject::of_registry(created), None, &mut batch).unwrap();
    let registered = &world.registry[1].event;
    registered.envelope().proof.check(&Subject::of_registry(registered), None, &mut batch).unwrap();
    assert_eq!((batch.len(), batch.verify()), (2, Ok(())));
    let plain = Subject::new(registered, registered.statement_bytes());
    assert!(registered.envelope().proof.check(&plain, None, &mut batch).is_err());
}
