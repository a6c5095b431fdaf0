//! Syncs that lie: what was acknowledged may be gone, but never does a store show something else than what was recorded
//! as if it held.

use std::{path::Path, sync::Arc};

use demur_store::sqlite::SqliteStore;
use demur_testing::{office::Office, sample::rounds};

use super::{ALL, Cut, Loss, Recording, STORE, Step, check_all, work_and_come_back};
use crate::crash::{
    child,
    dice::Dice,
    work::{self, Ledgered},
};

/// ONE-05 LED-18
#[test]
fn proof_syncs_that_lie_never_make_a_false_record_hold() {
    if let Some(root) = child::folder() {
        return work_and_come_back(&root);
    }
    let recording = Recording::of(LYING, |root| {
        let desk = work::create(&root.join(STORE), 3, &|_, _| ());
        desk.sequencer.close().unwrap();
    });
    let syncs = recording.syncs();
    assert!(syncs.len() > 20);
    let mut dice = Dice::new(7);
    let check = |path: &Path, _: &Cut| tells_the_truth(path, &recording.events);
    let lies = check_all(&check, |put| {
        for place in syncs {
            if dice.index(rounds(1, 8)) == 0 {
                for lie in [Lie::Late, Lie::Lost].repeat(rounds(8, 1)) {
                    put(recording.lie(place, lie, &mut dice));
                }
            }
        }
    });
    eprintln!("{lies} lies");
}

/// What a disk does instead of a sync.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// It leaves the work to the next sync.
    Late,
    /// It drops some of it for good.
    Lost,
}

impl Recording {
    fn syncs(&self) -> Vec<usize> {
        let is_sync = |step: &Step| matches!(step, Step::SyncFile { .. } | Step::SyncFolder { .. });
        (0..self.steps.len()).filter(|place| is_sync(&self.steps[*place])).collect()
    }

    /// Has one sync lie and cuts the power some time later.
    fn lie(&self, place: usize, lie: Lie, dice: &mut Dice) -> Cut {
        let mut disk = self.before.disk.clone();
        let left = self.steps.len() - place;
        // Soon, mostly: a later sync would make up for it. What is lost for good shows at any time.
        let reach = if dice.roll(4) == 0 { left } else { left.min(60) };
        let end = place + 1 + dice.index(reach);
        for (number, step) in self.steps.iter().enumerate().take(end) {
            match (number == place, lie, step) {
                (true, Lie::Lost, Step::SyncFile { file }) => disk.lose(*file, dice),
                (true, _, _) => {}
                _ => disk.take(step),
            }
        }
        let loss = [Loss::Everything, Loss::Nothing, Loss::Writes, Loss::Sectors][dice.index(4)];
        let name = format!("{loss:?} lost at step {end} and a sync that lied at step {place}: {lie:?}");
        Cut { image: disk.cut(loss, dice), acknowledged: Arc::default(), name }
    }
}

/// Makes sure that whatever a store still shows is what was recorded, and that it says so where something is broken.
fn tells_the_truth(path: &Path, events: &Ledgered) {
    let Ok(store) = SqliteStore::open(path) else { return };
    let Ok(desk) = Office::at(Arc::new(store)) else { return };
    let (_, all_hold) = work::expect_the_truth(&desk, events);
    assert!(
        all_hold || work::damage(desk.sequencer.store()).is_some(),
        "a trace is broken and nobody says so"
    );
    // What holds can be gone on with and still holds; the rest is refused.
    if work::go_on(&desk, ALL, &|_, _| ()).is_ok() && all_hold {
        for (trace, _) in desk.sequencer.store().heads().unwrap() {
            work::expect_whole(&desk, trace);
        }
    }
}

const LYING: &str = concat!(module_path!(), "::proof_syncs_that_lie_never_make_a_false_record_hold");
