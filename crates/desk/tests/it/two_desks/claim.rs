//! Something happens to a run while its driver sleeps in the middle of a report: another one takes it over, and the first records
//! nothing from then on; or others speak in it, and the first goes on from there.

use std::sync::{Arc, Mutex};

use demur_api::{
    code::Code,
    run::{ClaimId, ClaimRun, DriveReport, DriveStep, ReadRunParameters},
};
use demur_core::time::Timestamp;
use demur_desk::{data::DataFolder, owner::Owner, run::driver};
use demur_ledger::{entry::Entry, name::TraceId};
use demur_sequencer::Listener;
use demur_store::memory::MemoryStore;
use tempfile::TempDir;

use super::new_trace;
use crate::driver::{claim_id, ended, interrupt, kinds, orders, places, ready, report, started};

/// Does something once, right after the next commit of a desk and before that desk goes on.
#[derive(Default)]
struct Meanwhile(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Listener for Meanwhile {
    fn recorded(&self, _: TraceId, _: &[Entry]) {
        let act = self.0.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
    }
}

/// Two desks over one store, of which the first can be held after a commit.
struct Pair {
    here: Owner,
    elsewhere: Arc<Owner>,
    meanwhile: Arc<Meanwhile>,
    trace: TraceId,
    _folder: TempDir,
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path().to_owned());
        let store = Arc::new(MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap()));
        let [mut here, elsewhere] =
            [(); 2].map(|()| Owner::over(&data, &(Arc::clone(&store) as _)).unwrap().0);
        let meanwhile = Arc::<Meanwhile>::default();
        here.listen(Arc::clone(&meanwhile) as _);
        Self { here, elsewhere: Arc::new(elsewhere), meanwhile, trace: new_trace(), _folder: folder }
    }

    /// Has something happen elsewhere, right after the next commit here.
    fn after_a_commit(&self, act: impl FnOnce(&Owner, TraceId) + Send + 'static) {
        let (elsewhere, trace) = (Arc::clone(&self.elsewhere), self.trace);
        *self.meanwhile.0.lock().unwrap() = Some(Box::new(move || act(&elsewhere, trace)));
    }

    /// Returns the types of everything that is recorded.
    fn record(&self) -> Vec<String> {
        kinds(&driver::read_lines(&self.elsewhere, self.trace, &ReadRunParameters::default()).unwrap().lines)
    }
}

fn wanted(claim: ClaimId, abandoned: bool) -> ClaimRun {
    ClaimRun { claim, abandoned, orders: Some(orders("two")), began: None }
}

/// Returns what a driver reports at the end of the last call: the final statement takes a commit of its own.
fn last(pair: &Pair, claim: ClaimId) -> DriveReport {
    let drive = |report: &DriveReport| driver::drive(&pair.here, pair.trace, report).unwrap().step;
    driver::claim(&pair.here, pair.trace, &wanted(claim, false)).unwrap();
    drive(&report(claim));
    let one = started(drive(&DriveReport { ready: ready("one"), ..report(claim) }));
    let ended_one = Some(ended(one.started, "one"));
    let two = started(drive(&DriveReport { ended: ended_one, ready: ready("two"), ..report(claim) }));
    DriveReport { ended: Some(ended(two.started, "two")), ..report(claim) }
}

/// LED-16
#[test]
fn driver_whose_run_was_taken_over_in_the_middle_of_a_report_records_nothing_more() {
    let pair = Pair::new();
    let (first, second) = (claim_id(), claim_id());
    let last = last(&pair, first);
    pair.after_a_commit(move |elsewhere, trace| {
        driver::claim(elsewhere, trace, &wanted(second, true)).unwrap();
    });
    let refused = driver::drive(&pair.here, pair.trace, &last).map(|reply| kinds(&reply.events)).unwrap_err();
    assert_eq!(refused.code, Code::RunClaimed, "{refused:?}");
    let recorded = pair.record();
    assert_eq!(recorded.last().unwrap(), "claim_issued", "{recorded:?}");
    // Nor does it with the next report, and the second goes on where the record ends.
    assert_eq!(driver::drive(&pair.here, pair.trace, &last).unwrap_err().code, Code::RunClaimed);
    assert_eq!(pair.record(), recorded);
    let reply = driver::drive(&pair.elsewhere, pair.trace, &report(second)).unwrap();
    assert_eq!(kinds(&reply.events)[0], "final_statement_signed");
    assert!(matches!(reply.step, DriveStep::Keep(_)), "{:?}", reply.step);
}

#[test]
fn driver_tells_only_what_is_new_when_others_spoke_in_the_middle_of_a_report() {
    let pair = Pair::new();
    let last = last(&pair, claim_id());
    let length = pair.record().len() as u64;
    pair.after_a_commit(interrupt);
    let reply = driver::drive(&pair.here, pair.trace, &last).unwrap();
    assert_eq!(places(&reply.events), (length..reply.length).collect::<Vec<_>>());
    assert_eq!(kinds(&reply.events).iter().filter(|kind| *kind == "artifact_recorded").count(), 2);
    assert!(matches!(reply.step, DriveStep::Keep(_)), "{:?}", reply.step);
}
