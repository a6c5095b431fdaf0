//! Artifacts come with the event that records them, and are what it commits to.

use demur_engine::command::ARTIFACT_LIMIT;
use demur_ledger::{
    author::Artifact,
    entry::Address,
    event_type::{Content, Facts},
    facts::{ProposalCreated, ProposalDecision, ProposalReviewed},
    role::Role,
    verify::Verdict,
};

use crate::{
    words::{SIZE, whole},
    world::{Sent, To, World, position, refusal},
};

/// Returns a world in which artifacts may be recorded.
fn executing() -> World {
    let mut world = World::opened();
    let proposal = world.say(ProposalCreated { fallback_for: None, replaces: None });
    let decision = ProposalDecision::Approved;
    world.say(ProposalReviewed { conditions: whole(0), decision, proposal });
    world
}

fn artifact(world: &mut World, bytes: &[u8]) -> Artifact {
    Artifact::new(bytes.to_vec(), &mut world.random)
}

/// Returns a statement that records an artifact of this size, without its bytes.
fn statement(world: &mut World, artifact: &Artifact) -> Sent {
    let mut draft = world.draft(To::Run, Role::Executor, artifact.facts());
    if let Some(Content::ArtifactRecorded(content)) = &mut draft.content {
        content.size = whole(artifact.bytes.len() as u64);
    }
    let key = world.speaker(Role::Executor).key.clone();
    world.sign(draft, &key)
}

/// LED-12 LED-27
#[test]
fn an_artifact_is_placed_with_its_event() {
    let mut world = executing();
    let artifact = artifact(&mut world, b"words");
    let sent = Sent { artifact: Some(artifact.clone()), ..statement(&mut world, &artifact) };
    position(&world.send(To::Run, &sent));
    let place = world.run.entries.last().unwrap().artifact.unwrap();
    assert_eq!(place.address, Address::of(b"words"));
    assert_eq!(place.salt, artifact.salt);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// LED-17
#[test]
fn the_same_bytes_have_one_address_whatever_their_salt() {
    let mut world = executing();
    let (one, other) = (artifact(&mut world, b"words"), artifact(&mut world, b"words"));
    assert_ne!(one.facts(), other.facts());
    for artifact in [one, other] {
        let sent = Sent { artifact: Some(artifact.clone()), ..statement(&mut world, &artifact) };
        position(&world.send(To::Run, &sent));
    }
    assert_eq!(world.artifacts.len(), 1);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// LED-12
#[test]
fn an_artifact_that_is_not_what_the_facts_commit_to_is_refused() {
    let mut world = executing();
    let (good, other) = (artifact(&mut world, b"words"), artifact(&mut world, b"other"));
    let salted = Artifact { salt: other.salt, ..good.clone() };
    for (sent_along, code) in
        [(None, "ARTIFACT_MISSING"), (Some(other), "ARTIFACT_MISMATCH"), (Some(salted), "ARTIFACT_MISMATCH")]
    {
        let sent = Sent { artifact: sent_along, ..statement(&mut world, &good) };
        let before = world.run.entries.len();
        assert_eq!(refusal(&world.send(To::Run, &sent)).code, code);
        assert_eq!(world.run.entries.len(), before + 1, "{code} was not recorded");
    }
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn the_size_in_the_content_is_the_size_of_the_bytes() {
    let mut world = executing();
    let long = artifact(&mut world, &[b'x'; SIZE + 1]);
    let facts: Facts = long.facts().into();
    let sent = Sent { artifact: Some(long), ..world.saying(facts) };
    let refused = refusal(&world.send(To::Run, &sent));
    assert_eq!((refused.code, refused.field), ("ARTIFACT_SIZE", Some("content.size")));
}

#[test]
fn bytes_beside_another_event_are_refused() {
    let mut world = executing();
    let unasked = artifact(&mut world, b"words");
    let sent = world.saying(demur_ledger::facts::SessionAborted { attribution: None });
    let sent = Sent { artifact: Some(unasked), ..sent };
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "ARTIFACT_UNASKED");
}

/// A larger one could be recorded and never be exported.
#[test]
fn the_largest_artifact_still_fits_a_line_of_an_export() {
    let mut world = executing();
    let mut bytes = vec![b'x'; ARTIFACT_LIMIT + 1];
    let too_large = Artifact::new(bytes.clone(), &mut world.random);
    let sent = Sent { artifact: Some(too_large.clone()), ..statement(&mut world, &too_large) };
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "ARTIFACT_TOO_LARGE");
    bytes.pop();
    let largest = Artifact::new(bytes, &mut world.random);
    let sent = Sent { artifact: Some(largest.clone()), ..statement(&mut world, &largest) };
    position(&world.send(To::Run, &sent));
    assert_ne!(world.verified().verdict, Verdict::Fail);
}
