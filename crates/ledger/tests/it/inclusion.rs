//! What stood under a root that the registry recorded: the trace as it is in the file, or nothing.

use demur_core::{
    hash::Digest,
    merkle::{self, Scheme},
};
use demur_ledger::{
    export::{ExportWriter, Header},
    facts::{KeyRevoked, RevocationReason},
    name::TraceId,
    role::Role,
    signed::{Inclusion, TraceLeaf},
    verify::{Check, Code, Options, Report, Verdict},
};

use crate::{
    verify::check,
    world::{World, list, text, whole},
};

/// Returns the leaf of the run after so many events.
fn leaf(world: &World, length: usize) -> TraceLeaf {
    let head = *world.events[length - 1].event.hash();
    TraceLeaf { head, length: whole(length as u64), trace: world.run.chain().trace() }
}

/// Returns a run in which the planner spoke twice, first and second.
fn spoken() -> World {
    let mut world = World::opened();
    world.propose();
    world
}

fn shown(world: &mut World, leaves: &[TraceLeaf]) -> Report {
    check(&revoked(world, leaves), &Options::default())
}

/// Revokes the planner's key over a root of these leaves; returns a file that shows the first.
fn revoked(world: &mut World, leaves: &[TraceLeaf]) -> Vec<u8> {
    let hashes: Vec<Digest> = leaves.iter().map(|leaf| leaf.hash().unwrap()).collect();
    let revocation = KeyRevoked {
        key: world.agent(Role::Planner).public().fingerprint(),
        reason: RevocationReason::Lost,
        root: merkle::root(Scheme::DEMUR, &hashes),
        traces: whole(leaves.len() as u64),
    };
    world.state(revocation).unwrap();
    let inclusion = Inclusion {
        index: whole(0),
        leaf: leaves[0].clone(),
        path: list(merkle::inclusion(Scheme::DEMUR, &hashes, 0)),
        registry: world.desk.registry().head().sequence,
    };
    export_with(world, &inclusion)
}

fn export_with(world: &World, inclusion: &Inclusion) -> Vec<u8> {
    let (store, trace) = (world.desk.store(), world.run.chain().trace());
    let header = Header { format: 1, software: text("demur test"), store, trace };
    let (mut writer, mut file) = ExportWriter::begin(&header).unwrap();
    for (events, chain) in
        [(&world.registry, world.desk.registry_chain()), (&world.events, world.run.chain())]
    {
        for recorded in events {
            file.extend(writer.event(&recorded.event, recorded.opening.as_ref()).unwrap());
        }
        file.extend(writer.head(&world.desk.head(chain).unwrap().unwrap()).unwrap());
    }
    file.extend(writer.inclusion(inclusion).unwrap());
    let (head, registry) = (world.run.chain().head().unwrap(), world.desk.registry().head());
    file.extend(writer.finish(head, (registry, 1), world.now, world.desk.key()).unwrap());
    file
}

fn found(report: &Report, code: Code) -> bool {
    report.findings.iter().any(|finding| finding.code == code)
}

#[test]
fn what_stood_under_the_root_was_said_before_the_revocation() {
    let mut world = spoken();
    let other = TraceLeaf { trace: TraceId::new(world.now, &mut world.random), ..leaf(&world, 1) };
    let leaves = [leaf(&world, 3), other];
    let report = shown(&mut world, &leaves);
    assert_eq!(report.verdict, Verdict::PassWithWarnings, "{}", report.to_text());
    assert!(!found(&report, Code::OrderRestsOnDesk), "{}", report.to_text());
    let made = report.checks.iter().find(|check| check.check == Check::Inclusion).unwrap();
    assert_eq!((made.made, made.findings), (true, 0));
}

#[test]
fn what_came_after_the_root_rests_on_the_desk() {
    let mut world = spoken();
    let leaves = [leaf(&world, 1)];
    let report = shown(&mut world, &leaves);
    assert!(!found(&report, Code::InclusionInvalid), "{}", report.to_text());
    assert!(found(&report, Code::OrderRestsOnDesk), "{}", report.to_text());
}

/// The desk makes the root and can put any leaf under it: only a leaf of this file shows anything.
#[test]
fn a_leaf_of_another_trace_or_another_history_shows_nothing() {
    for other_trace in [true, false] {
        let mut world = spoken();
        let mut other = leaf(&world, 2);
        if other_trace {
            other.trace = TraceId::new(world.now, &mut world.random);
        } else {
            other.head = Digest::from_bytes([5; 32]);
        }
        let report = shown(&mut world, &[other]);
        assert_eq!((report.verdict, report.code()), (Verdict::Fail, Some(Code::InclusionInvalid)));
        assert!(found(&report, Code::OrderRestsOnDesk), "{}", report.to_text());
    }
}

#[test]
fn no_event_and_no_head_follows_an_inclusion() {
    let mut world = spoken();
    let leaves = [leaf(&world, 2)];
    let file = String::from_utf8(revoked(&mut world, &leaves)).unwrap();
    let inclusion = file.lines().find(|line| line.starts_with("{\"inclusion\":")).unwrap();
    for start in ["{\"event\":", "{\"head\":"] {
        let line = file.lines().rfind(|line| line.starts_with(start)).unwrap();
        let more = file.replacen(inclusion, &format!("{inclusion}\n{line}"), 1);
        let report = check(more.as_bytes(), &Options::default());
        assert_eq!(report.code(), Some(Code::FileMalformed), "{}", report.to_text());
        assert_eq!(report.findings[0].message, "expected no more events or heads here");
    }
}
