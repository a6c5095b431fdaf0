//! What follows the end of a run, and what does not become of a run for it.

use demur_api::run::{DriveReport, DriveStep, RunStop};
use demur_core::hash::sha256;
use demur_desk::run::driver;
use demur_ledger::{
    facts::{Attribution, Door, Root},
    state::Phase,
};

use crate::driver::{Place, claim_id, ended, orders, ready, report, started};

/// Drives a run that has begun to its end.
fn drive_to_the_end(place: &Place) -> RunStop {
    let (claim, one) = place.begun();
    let drive = |report: &DriveReport| place.drive(report).unwrap().step;
    let ended_one = Some(ended(one.started, "one"));
    let two = started(drive(&DriveReport { ended: ended_one, ready: ready("two"), ..report(claim) }));
    let found = drive(&DriveReport { ended: Some(ended(two.started, "two")), ..report(claim) });
    let DriveStep::Keep(found) = found else { panic!("expected a report to keep, found {found:?}") };
    let kept = Some(sha256(found.report.as_bytes()));
    match drive(&DriveReport { kept, ..report(claim) }) {
        DriveStep::Over(over) => over,
        other => panic!("expected the end, found {other:?}"),
    }
}

/// Makes the store refuse to keep how far the reactor of ended runs has read.
fn refuse_effects(place: &Place) {
    let database = rusqlite::Connection::open(place.folder.path().join("ledger.db")).unwrap();
    let trigger = "CREATE TRIGGER full BEFORE INSERT ON records WHEN NEW.key LIKE 'reactor/%'
                   BEGIN SELECT RAISE(ABORT, 'no more room'); END";
    database.execute_batch(trigger).unwrap();
}

#[test]
fn run_ends_well_where_its_checkpoint_cannot_be_recorded() {
    let place = Place::new();
    refuse_effects(&place);
    let over = drive_to_the_end(&place);
    assert!(over.phase.is_final(), "{over:?}");
    // The claim is given back.
    place.claim(claim_id(), false, Some(orders("two"))).unwrap();
}

#[test]
fn run_is_aborted_where_its_checkpoint_cannot_be_recorded() {
    let place = Place::new();
    refuse_effects(&place);
    place.begun();
    driver::abort(
        place.owner(),
        place.trace,
        Attribution::new(Door::Socket, Root::SameUser),
        "no".try_into().unwrap(),
    )
    .unwrap();
    let phase = place.owner().sequencer().store().trace(place.trace).unwrap().unwrap().phase;
    assert_eq!(phase, Some(Phase::Aborted));
}
