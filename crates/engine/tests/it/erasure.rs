//! Words that the desk erases: in runs and in the registry, once, where there are some.

use demur_core::hash::sha256;
use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying},
};
use demur_ledger::{
    content::ErasureContent,
    event_type::Content,
    facts::{CheckpointRecorded, ContentErased},
    name::Sequence,
    role::Role,
};

use crate::{
    words::abort,
    world::{To, World, position, refusal},
};

impl World {
    fn erase(&mut self, to: To, role: Role, event: u32) -> Reply {
        let content = Content::ContentErased(ErasureContent { why: "asked to".try_into().unwrap() });
        let facts = ContentErased { event: event.into() }.into();
        let first = Saying { role, facts, content: Some(content) };
        self.command(to, Command::record(first, Consequences::default()))
    }
}

#[test]
fn the_desk_erases_once_at_any_time_and_in_its_own_name() {
    let mut world = World::opened();
    let says_no = |reply: &Reply| refusal(reply).code;
    assert_eq!(says_no(&world.erase(To::Run, Role::Operator, 0)), "ROLE_FORBIDDEN");
    assert_eq!(says_no(&world.erase(To::Run, Role::Desk, 900)), "EVENT_UNKNOWN");
    position(&world.erase(To::Run, Role::Desk, 0));
    assert_eq!(says_no(&world.erase(To::Run, Role::Desk, 0)), "ALREADY_ERASED");
    position(&world.command(To::Run, abort()));
    position(&world.erase(To::Run, Role::Desk, 1));
    let erasures = world.run.state.trace().unwrap().erasures().unwrap();
    assert_eq!(erasures.erased().map(Sequence::number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_name_in_the_registry_is_erased_like_other_words() {
    let mut world = World::opened();
    let says_no = |reply: &Reply| refusal(reply).code;
    assert_eq!(says_no(&world.erase(To::Registry, Role::Operator, 1)), "ROLE_FORBIDDEN");
    position(&world.erase(To::Registry, Role::Desk, 1));
    assert_eq!(says_no(&world.erase(To::Registry, Role::Desk, 1)), "ALREADY_ERASED");
    // Whoever speaks next goes by the registry with the erasure in it.
    let head = world.known_registry().head();
    let reply = world.erase(To::Run, Role::Desk, 0);
    let recorded = world.run.entries.last().unwrap();
    assert_eq!(recorded.event.position(), position(&reply));
    assert_eq!(recorded.event.envelope().registry, Some(head));
}

/// What has no words is a fact, and facts stay.
#[test]
fn there_is_nothing_to_erase_where_nothing_was_said() {
    let mut world = World::new();
    let checkpoint = world.registry.entries.len();
    let facts = CheckpointRecorded { root: sha256(b"root"), traces: 1_u64.try_into().unwrap() };
    position(&world.desk_says(facts));
    let event = u32::try_from(checkpoint).unwrap();
    assert_eq!(refusal(&world.erase(To::Registry, Role::Desk, event)).code, "NOTHING_TO_ERASE");
}
