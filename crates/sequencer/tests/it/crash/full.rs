//! A disk that is full: a clear word, nothing acknowledged lost, and the same open ledger works again with room.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
};

use demur_ledger::name::{Position, TraceId};
use demur_sequencer::SequencerError;
use demur_store::{contract::StoreError, sqlite::SqliteStore};
use demur_testing::{office::Office, sample::rounds};

use super::{
    child::{self, Child},
    work::{self, Desk, Hears, Ledgered},
};

/// ONE-05 LED-12
#[test]
fn proof_a_full_disk_is_told_and_works_again_with_room() {
    if let Some(folder) = child::folder() {
        return fill_again_and_again(&folder);
    }
    let place = tempfile::tempdir().unwrap();
    Child::start(on_a_small_disk(place.path())).finish();
}

/// Returns the command that runs this test as a child with a disk of its own mounted at this place. The mount is the
/// child's alone and goes away with it.
fn on_a_small_disk(place: &Path) -> Command {
    let mine = |command: &mut Command| command.arg("true").status().is_ok_and(|status| status.success());
    let ways: [&[&str]; 2] = [&["--mount"], &["--mount", "--map-root-user"]];
    let way = ways.into_iter().find(|way| mine(Command::new("unshare").args(*way)));
    let way =
        way.expect("a small disk can only be mounted by root or where users may have name spaces: `unshare`");
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", "mount -t tmpfs -o size=6m tmpfs \"$0\" && exec \"$@\""]).arg(place);
    command.arg(env::current_exe().unwrap()).args(child::arguments(NAME));
    let child = child::command(NAME, place);
    command.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// The life of the child: each time the disk gets full at another moment.
fn fill_again_and_again(mount: &Path) {
    let path = mount.join("store");
    let acknowledged = Mutex::new(Ledgered::new());
    let hears = |trace: TraceId, position: Position| {
        acknowledged.lock().unwrap().insert((trace, position.sequence), position.hash);
    };
    let mut desk = work::create(&path, 3, &hears);
    let rooms = rounds(200, 20);
    for pages in 0..rooms {
        let ballast = Ballast::leave(mount, pages % 40 * PAGE);
        until_full(&desk, &hears);
        // Who only reads does not notice.
        work::expect_all(desk.sequencer.store(), &acknowledged.lock().unwrap());
        expect_all_whole(&desk);
        if pages % 5 == 4 {
            desk = reopen_full(desk, &path, ballast);
        } else {
            ballast.remove();
        }
        let mut ready = work::go_on(&desk, ALL, &hears).unwrap();
        ready[0].call(&desk, &hears).unwrap();
        // A fresh store before the disk is too small for the log.
        if pages % 10 == 9 {
            work::expect_all(desk.sequencer.store(), &acknowledged.lock().unwrap());
            expect_all_whole(&desk);
            drop(desk);
            fs::remove_dir_all(&path).unwrap();
            acknowledged.lock().unwrap().clear();
            desk = work::create(&path, 3, &hears);
        }
    }
}

/// Appends until there is no room, then makes sure that everything says so.
fn until_full(desk: &Desk, hears: Hears<'_>) {
    let mut told = 0;
    for attempt in 0..10_000 {
        let outcome = work::go_on(desk, ALL, hears).and_then(|mut ready| {
            let place = attempt % ready.len();
            if attempt % 3 == 0 { ready[place].record(desk, hears) } else { ready[place].call(desk, hears) }
        });
        if let Err(error) = outcome {
            assert!(is_full(&error), "{error}");
            told += 1;
        }
        if told == 6 {
            return;
        }
    }
    panic!("the disk never got full");
}

fn is_full(error: &SequencerError) -> bool {
    match error {
        SequencerError::Store(error) => matches!(error, StoreError::Full),
        SequencerError::Commit(error) => matches!(**error, StoreError::Full),
        _ => false,
    }
}

/// Closes the store while the disk is full, opens it again with room.
fn reopen_full(desk: Desk, path: &Path, ballast: Ballast) -> Desk {
    drop(desk);
    let open = || Office::at(Arc::new(SqliteStore::open(path)?));
    if let Err(error) = open() {
        assert!(is_full(&error), "{error}");
    }
    ballast.remove();
    open().unwrap()
}

fn expect_all_whole(desk: &Desk) {
    for (trace, _) in desk.sequencer.store().heads().unwrap() {
        work::expect_whole(desk, trace);
    }
}

/// A file that fills the disk.
struct Ballast(PathBuf);

impl Ballast {
    /// Fills the disk and leaves so many bytes of room.
    fn leave(mount: &Path, room: usize) -> Self {
        let path = mount.join("ballast");
        let mut file = File::create(&path).unwrap();
        while file.write_all(&[7; PAGE]).is_ok() {}
        let length = file.metadata().unwrap().len();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(length.saturating_sub(room as u64)).unwrap();
        Self(path)
    }

    fn remove(self) {
        fs::remove_file(self.0).unwrap();
    }
}

const NAME: &str = concat!(module_path!(), "::proof_a_full_disk_is_told_and_works_again_with_room");

/// The unit in which the disk gives room.
const PAGE: usize = 4096;

/// As many traces as there are.
const ALL: usize = 1000;
