//! Power cuts before and after every write and sync of a recorded process, with whatever the disk may have kept of what
//! was not synced; and disks that say they synced and did not.
//!
//! A child works under the shim; its record is played on a model of a disk, which is cut at each step. What is left is
//! written into a folder and opened.

mod disk;
mod lie;
mod record;

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use demur_ledger::name::{Position, TraceId};
use demur_store::{
    contract::{Cursor, Store as _},
    sqlite::SqliteStore,
};
use demur_testing::{office::Office, sample::rounds};
use rusqlite::Connection;

use self::{
    disk::{Disk, Image, Loss},
    record::{ACKNOWLEDGEMENTS, Before, Step},
};
use super::{
    child::{self, Child},
    dice::Dice,
    in_memory,
    shim::Shim,
    work::{self, Bustle, Ledgered},
};

/// ONE-05 LED-22
#[test]
fn proof_power_cuts_lose_nothing_acknowledged() {
    if let Some(root) = child::folder() {
        return work_and_come_back(&root);
    }
    let recording = Recording::of(WORKING, |root| {
        let desk = work::create(&root.join(STORE), 3, &|_, _| ());
        desk.sequencer.close().unwrap();
    });
    recording.cut_everywhere(rounds(1, 100), 5);
}

/// ONE-05
#[test]
fn proof_power_cuts_while_a_store_is_created_leave_a_store_or_none() {
    if let Some(root) = child::folder() {
        let acknowledgements = Acknowledgements::new(&root);
        drop(work::create(&root.join(STORE), 1, &|trace, position| acknowledgements.note(trace, position)));
        return;
    }
    Recording::of(CREATING, |_| ()).cut_everywhere(rounds(1, 16), 6);
}

/// The proofs above rest on the model: what no sync ever covered must be gone.
#[test]
fn a_disk_without_syncs_loses_what_was_acknowledged() {
    if let Some(root) = child::folder() {
        let acknowledgements = Acknowledgements::new(&root);
        let desk = Office::at(Arc::new(SqliteStore::open(root.join(STORE)).unwrap())).unwrap();
        work::go_on(&desk, ALL, &|trace, position| acknowledgements.note(trace, position)).unwrap();
        return;
    }
    let recording = Recording::of(UNSYNCED, |root| drop(work::create(&root.join(STORE), 1, &|_, _| ())));
    let (mut disk, mut acknowledged) = (recording.before.disk.clone(), Vec::new());
    for step in &recording.steps {
        match step {
            Step::SyncFile { .. } => {}
            Step::Acknowledge { trace, position } => acknowledged.push((*trace, *position)),
            step => disk.take(step),
        }
    }
    let place = in_memory();
    let root = place.path().join("root");
    disk.cut(Loss::Everything, &mut Dice::new(0)).write(&root);
    let store = SqliteStore::open(root.join(STORE)).unwrap();
    let [(trace, position)] = acknowledged[..] else { panic!("one run went on") };
    assert_eq!(store.hash(trace, position.sequence).unwrap(), None);
}

/// The day of a recorded child: alone and in a crowd, over a checkpoint of the log, over a restart.
fn work_and_come_back(root: &Path) {
    let (path, acknowledgements) = (root.join(STORE), Acknowledgements::new(root));
    let hears = |trace: TraceId, position: Position| acknowledgements.note(trace, position);
    let desk = Office::at(Arc::new(SqliteStore::open(&path).unwrap())).unwrap();
    let ready = work::go_on(&desk, ALL, &hears).unwrap();
    let crowd = Bustle { threads: 8, steps: 3, besides: Some(20_000) };
    Bustle { threads: 1, steps: 6, ..crowd }.run(&desk, &ready, &hears);
    crowd.run(&desk, &ready, &hears);
    // What the thread of the store does when the log is long: the log begins anew and old frames follow new ones.
    let checkpoint = || {
        let connection = Connection::open(path.join("ledger.db")).unwrap();
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(checkpoint(), 0);
    crowd.run(&desk, &ready, &hears);
    thread::scope(|scope| {
        scope.spawn(checkpoint);
        crowd.run(&desk, &ready, &hears);
    });
    desk.sequencer.close().unwrap();
    let desk = Office::at(Arc::new(SqliteStore::open(&path).unwrap())).unwrap();
    let ready = work::go_on(&desk, ALL, &hears).unwrap();
    Bustle { threads: 2, ..crowd }.run(&desk, &ready, &hears);
}

/// Where a recorded child notes what was acknowledged: the shim sees it between the writes.
struct Acknowledgements(File);

impl Acknowledgements {
    fn new(root: &Path) -> Self {
        Self(File::create(root.join(ACKNOWLEDGEMENTS)).unwrap())
    }

    fn note(&self, trace: TraceId, position: Position) {
        let line = child::acknowledgement(trace, position) + "\n";
        (&self.0).write_all(line.as_bytes()).unwrap();
    }
}

/// What a child did.
struct Recording {
    before: Before,
    steps: Vec<Step>,
    /// Every event there was in the end.
    events: Ledgered,
}

/// A disk after a power cut, and what must be on it.
struct Cut {
    image: Image,
    /// How much of the recording's list of acknowledgements had been given.
    acknowledged: Arc<Ledgered>,
    name: String,
}

impl Recording {
    /// Runs a test as a child under the shim, in a folder that was prepared.
    fn of(test: &str, prepare: impl FnOnce(&Path)) -> Self {
        let (place, shim) = (in_memory(), Shim::compile());
        let root = fs::canonicalize(place.path()).unwrap();
        prepare(&root);
        let before = Before::at(&root);
        let mut command = child::command(test, &root);
        shim.record(&mut command, &root);
        Child::start(command).finish();
        let steps = before.steps(&shim.recorded());
        let store = SqliteStore::open_read_only(root.join(STORE)).unwrap();
        let events = work::all_events(&store);
        assert_eq!(events.len(), store.changes(Cursor::START, usize::MAX >> 1).unwrap().len());
        Self { before, steps, events }
    }

    /// Cuts the power at one step of `sparse`, in each way, and looks at what is left.
    fn cut_everywhere(&self, sparse: usize, seed: u64) {
        let mut dice = Dice::new(seed);
        let cuts = check_all(&survives, |put| {
            let (mut disk, mut acknowledged) = (self.before.disk.clone(), Ledgered::new());
            let mut shared = Arc::new(acknowledged.clone());
            for (place, step) in self.steps.iter().enumerate() {
                disk.take(step);
                if let Step::Acknowledge { trace, position } = step {
                    acknowledged.insert((*trace, position.sequence), position.hash);
                    shared = Arc::new(acknowledged.clone());
                }
                if dice.index(sparse) > 0 {
                    continue;
                }
                for loss in losses(&disk, step) {
                    let (image, name) = (disk.cut(loss, &mut dice), format!("{loss:?} lost at step {place}"));
                    put(Cut { image, acknowledged: Arc::clone(&shared), name });
                }
            }
        });
        let given = self.steps.iter().filter(|step| matches!(step, Step::Acknowledge { .. })).count();
        assert!(given > 0);
        eprintln!("{cuts} power cuts over {} steps and {given} acknowledgements", self.steps.len());
    }
}

/// Returns in which ways the power can be cut after a step, each giving something new.
fn losses(disk: &Disk, step: &Step) -> Vec<Loss> {
    if !disk.is_pending() {
        return vec![Loss::Everything];
    }
    let mut losses = vec![Loss::Nothing, Loss::Writes, Loss::Sectors, Loss::End];
    // Between two syncs the kept part stays the same; what was promised does not.
    if matches!(step, Step::SyncFile { .. } | Step::SyncFolder { .. } | Step::Acknowledge { .. }) {
        losses.push(Loss::Everything);
    }
    losses
}

/// Makes sure that a store is in order after a power cut.
fn survives(path: &Path, cut: &Cut) {
    assert!(cut.acknowledged.is_empty() || path.join("ledger.db").exists(), "the store is gone");
    let desk = work::reach(path);
    work::expect_all(desk.sequencer.store(), &cut.acknowledged);
    work::go_on(&desk, ALL, &|_, _| ()).unwrap();
    for (trace, _) in desk.sequencer.store().heads().unwrap() {
        work::expect_whole(&desk, trace);
    }
}

/// Writes every image that `make` puts into a folder of its own and looks at it, on all cores; returns how many.
fn check_all(check: &(dyn Fn(&Path, &Cut) + Sync), make: impl FnOnce(&mut dyn FnMut(Cut))) -> usize {
    let cores = thread::available_parallelism().unwrap().get();
    let (sender, cuts) = mpsc::sync_channel::<Cut>(2 * cores);
    let (cuts, mut count) = (Arc::new(Mutex::new(cuts)), 0);
    thread::scope(|scope| {
        for _ in 0..cores {
            // The last one to go takes the receiver along, so that nobody sends to it any more.
            let cuts = Arc::clone(&cuts);
            scope.spawn(move || {
                let place = in_memory();
                let next = || cuts.lock().unwrap().recv();
                while let Ok(cut) = next() {
                    let root = place.path().join("root");
                    cut.image.write(&root);
                    let doing = Doing(&cut.name);
                    check(&root.join(STORE), &cut);
                    drop(doing);
                    fs::remove_dir_all(&root).unwrap();
                }
            });
        }
        drop(cuts);
        make(&mut |cut| {
            count += 1;
            sender.send(cut).unwrap();
        });
        drop(sender);
    });
    count
}

/// Says what was being looked at when a test panics.
struct Doing<'a>(&'a str);

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("while looking at a disk with {}", self.0);
        }
    }
}

const WORKING: &str = concat!(module_path!(), "::proof_power_cuts_lose_nothing_acknowledged");
const UNSYNCED: &str = concat!(module_path!(), "::a_disk_without_syncs_loses_what_was_acknowledged");
const CREATING: &str =
    concat!(module_path!(), "::proof_power_cuts_while_a_store_is_created_leave_a_store_or_none");

/// The name of the store's folder.
const STORE: &str = "store";

/// As many traces as there are.
const ALL: usize = 1000;
