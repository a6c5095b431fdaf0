//! Erasure: words are gone, everything else still holds, and nobody erases behind the record.

use demur_ledger::{
    desk::DeskError,
    event_type::{Content, EventType},
    facts::{ContentErased, SessionAborted},
    name::Sequence,
    role::Role,
    verify::{Code, Options, Verdict},
};

use crate::{
    export::{eventful, export, export_without},
    verify::{default, fails},
    world::{World, fitting},
};

/// ONE-04 ONE-12
#[test]
fn whatever_is_erased_of_a_run_everything_else_still_holds() {
    let (world, _) = eventful();
    for recorded in &world.events {
        let event = recorded.event.position().sequence;
        let (mut world, artifacts) = eventful();
        if world.say(ContentErased { event }).is_err() {
            assert_eq!(recorded.opening, None, "event {event} has words");
            continue;
        }
        let report = default(&export_without(&world, &artifacts, &[event]));
        assert_eq!(report.verdict, Verdict::NotEstablished, "{}", report.to_text());
        assert_eq!(report.code(), None, "event {event}: {}", report.to_text());
        let [row] = report.erased.as_slice() else { panic!("{}", report.to_text()) };
        assert_eq!((row.event, row.why.as_deref()), (event, Some("asked to")));
        let operator = world.agent(Role::Operator).principal();
        assert_eq!(row.by, Some(operator));
        let words = format!("#{event} was erased on {} because “asked to”", row.time);
        assert!(report.to_text().contains(&words), "{}", report.to_text());
        assert!(report.to_html().contains("was erased on"));
        fails(&export(&world, &artifacts), &Options::default(), Code::NotErased);
    }
}

#[test]
fn what_nobody_recorded_as_erased_fails() {
    let (world, artifacts) = eventful();
    let first = Sequence::FIRST;
    let report =
        fails(&export_without(&world, &artifacts, &[first]), &Options::default(), Code::ErasureUnrecorded);
    assert!(report.erased.is_empty());
    // Nobody calls it erased where it was.
    assert!(!report.to_text().contains("was erased on"));
}

#[test]
fn words_are_erased_once_by_operators_and_where_there_are_some() {
    let refused = |world: &mut World, role, event: u32| match world.say_as(role, erasing(event)) {
        Err(DeskError::Guard(error)) => error.code(),
        Err(DeskError::Admission(error)) => error.code(),
        other => panic!("expected a refusal, found {other:?}"),
    };
    let (mut world, _) = eventful();
    let bare = world.events.iter().find(|recorded| recorded.opening.is_none()).unwrap();
    assert_eq!(bare.event.said().unwrap().kind.as_str(), "verification_run_started");
    let bare = u32::try_from(bare.event.position().sequence.number()).unwrap();
    world.say(erasing(2)).unwrap();
    assert_eq!(refused(&mut world, Role::Operator, 2), "ALREADY_ERASED");
    assert_eq!(refused(&mut world, Role::Operator, bare), "NOTHING_TO_ERASE");
    assert_eq!(refused(&mut world, Role::Operator, 1000), "CITES_UNSEEN");
    for role in [Role::Planner, Role::Executor, Role::Critic, Role::Auditor] {
        assert_eq!(refused(&mut world, role, 3), "ROLE_FORBIDDEN", "{role}");
    }
}

/// The desk says so as itself, and never in the name of an operator.
#[test]
fn the_desk_erases_in_its_own_name_at_any_time() {
    let mut world = World::opened();
    world.say(SessionAborted { attribution: None }).unwrap();
    let content = fitting(&erasing(0).into()).unwrap();
    let mut record = |role, event, content: &Content| {
        let said = (EventType::ContentErased, role, erasing(event).into());
        world.desk.record(&mut world.run, said, content, None, world.now, &mut world.random)
    };
    assert!(
        matches!(record(Role::Operator, 0, &content), Err(DeskError::Guard(error)) if error.code() == "ROLE_FORBIDDEN")
    );
    assert!(
        matches!(record(Role::Desk, 9, &content), Err(DeskError::Guard(error)) if error.code() == "EVENT_UNKNOWN")
    );
    record(Role::Desk, 0, &content).unwrap();
}

fn erasing(event: u32) -> ContentErased {
    ContentErased { event: event.into() }
}
