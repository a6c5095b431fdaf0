//! Every fixture is a run that the verifier passes, and the seed decides every byte of it.

use demur_bench::fixture::{Artifacts, Plan, Written};
use demur_ledger::verify::{Options, Report, Verdict, verify};

fn write(plan: Plan) -> (Vec<u8>, Written) {
    let mut bytes = Vec::new();
    let written = plan.write(&mut bytes, &mut |_| {}).unwrap();
    (bytes, written)
}

fn check(bytes: &[u8]) -> Report {
    let options = Options { threads: 2, ..Options::default() };
    verify(bytes, &options, &mut |_| {}).unwrap()
}

#[test]
fn fixtures_pass_with_as_many_events_as_planned() {
    for events in [200, 2_000] {
        for artifacts in [Artifacts::Small, Artifacts::Shared] {
            let (bytes, written) = write(Plan { events, artifacts, seed: 3 });
            let report = check(&bytes);
            assert_eq!(report.verdict, Verdict::Pass, "{:?}", report.findings);
            assert_eq!(report.scope.events, events);
            assert_eq!(report.scope.state, Some("completed"));
            assert_eq!(written, Written { events, bytes: bytes.len() as u64 });
        }
    }
}

#[test]
fn every_length_from_the_least_on_is_met() {
    for events in 27..60 {
        let (bytes, _) = write(Plan { events, artifacts: Artifacts::Small, seed: events });
        let report = check(&bytes);
        assert_eq!((report.verdict, report.scope.events), (Verdict::Pass, events));
    }
}

#[test]
fn seed_decides_every_byte() {
    for events in [200, 2_000] {
        let plan = Plan { events, artifacts: Artifacts::Small, seed: 5 };
        let (bytes, _) = write(plan);
        assert!(bytes == write(plan).0, "the same plan gave other bytes");
        assert!(bytes != write(Plan { seed: 6, ..plan }).0, "another seed gave the same bytes");
    }
}

#[test]
fn changed_fixture_fails() {
    let (mut bytes, _) = write(Plan::usual(200));
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    assert_eq!(check(&bytes).verdict, Verdict::Fail);
}

#[test]
fn refuses_a_plan_without_room_for_a_whole_run() {
    let error = Plan::usual(26).write(&mut Vec::new(), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "expected at least 27 events, found 26");
}

#[test]
fn progress_ends_with_the_last_event() {
    let mut told = Vec::new();
    Plan::usual(200).write(&mut Vec::new(), &mut |events| told.push(events)).unwrap();
    assert_eq!(told.last(), Some(&200));
    assert!(told.is_sorted());
}
