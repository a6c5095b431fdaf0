//! Writers that are killed at any moment: what they acknowledged is there, every trace holds, the next one goes on.

use std::{collections::BTreeSet, env, path::PathBuf, sync::Arc, time::Duration};

use demur_ledger::name::TraceId;
use demur_store::{contract::Store, sqlite::SqliteStore};
use demur_testing::{
    office::Office,
    sample::{keep_record, rounds},
};
use tempfile::TempDir;

use super::{
    child::{self, ACKNOWLEDGED, Child},
    dice::Dice,
    in_memory,
    work::{self, Bustle, Desk, Ledgered},
};

/// ONE-05 LED-22
#[test]
fn proof_killed_writers_lose_nothing_acknowledged() {
    if let Some(folder) = child::folder() {
        return write_until_killed(folder);
    }
    let (mut dice, mut acknowledged) = (Dice::new(1), 0);
    let lives = rounds(100, 1);
    for life in 0..lives {
        // Most of the work is done in memory, some of it where a sync takes its time.
        let mut folder = Used::new(life % 8 == 3);
        for round in 0..REUSED {
            folder.kill_one(&mut dice);
            folder.examine(round, &mut dice);
        }
        acknowledged += folder.acknowledged.len();
        folder.close();
    }
    eprintln!("{} writers were killed, {acknowledged} events had been acknowledged", lives * REUSED);
}

/// The life of a child.
fn write_until_killed(folder: PathBuf) {
    child::say(OPENING);
    let desk = Office::at(Arc::new(SqliteStore::open(folder).unwrap())).unwrap();
    let ready = work::go_on(&desk, OF_LATE, &child::acknowledge).unwrap();
    if env::var_os(LOADS).is_some() {
        fill_the_log(desk.sequencer.store());
    }
    Bustle { threads: 4, steps: usize::MAX, besides: Some(50_000) }.run(&desk, &ready, &child::acknowledge);
}

/// Makes the log as long as it gets: it is moved into the database from here on.
fn fill_the_log(store: &dyn Store) {
    for megabyte in 0..18 {
        if megabyte == 15 {
            child::say(LOADED);
        }
        keep_record(store, "load", &vec![megabyte; 1 << 20]).unwrap();
    }
}

/// A folder that one process after the other has written to.
struct Used {
    place: TempDir,
    acknowledged: Ledgered,
    /// Traces that somebody wrote to since they were verified.
    touched: BTreeSet<TraceId>,
}

impl Used {
    fn new(on_disk: bool) -> Self {
        let place = if on_disk { tempfile::tempdir().unwrap() } else { in_memory() };
        drop(work::create(&place.path().join("store"), 3, &|_, _| ()));
        Self { place, acknowledged: Ledgered::new(), touched: BTreeSet::new() }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("store")
    }

    /// Starts a writer, kills it, and notes what it acknowledged.
    fn kill_one(&mut self, dice: &mut Dice) {
        let mut command = child::command(NAME, &self.path());
        // A sign, how often it is awaited, and how many microseconds may pass then.
        let (sign, times, longest) = match dice.roll(16) {
            0 => ("", 0, 8_000),
            1..4 => (OPENING, 1, 8_000),
            4 => (LOADED, 1, 30_000),
            5 => (ACKNOWLEDGED, 1, 30_000),
            _ => (ACKNOWLEDGED, dice.roll(60), 3_000),
        };
        if sign == LOADED {
            command.env(LOADS, "");
        }
        let mut writer = Child::start(command);
        for _ in 0..times {
            writer.hear(sign);
        }
        writer.listen(Duration::from_micros(dice.roll(longest)));
        let heard = writer.kill();
        for (trace, position) in heard.iter().filter_map(|line| child::acknowledged(line)) {
            self.acknowledged.insert((trace, position.sequence), position.hash);
            self.touched.insert(trace);
        }
    }

    /// Looks at what the killed writer left: as a reader, so that its log stays for the next writer to find, or as the
    /// next owner.
    fn examine(&mut self, round: usize, dice: &mut Dice) {
        if dice.roll(4) > 0 {
            let store = Arc::new(SqliteStore::open_read_only(self.path()).unwrap());
            work::expect_all(&*store, &self.acknowledged);
            if round.is_multiple_of(VERIFIED) {
                self.verify(&Office::beside(store).unwrap());
            }
            return;
        }
        let desk = Office::at(Arc::new(SqliteStore::open(self.path()).unwrap())).unwrap();
        work::expect_all(desk.sequencer.store(), &self.acknowledged);
        work::go_on(&desk, OF_LATE, &|_, _| ()).unwrap();
        self.verify(&desk);
        if dice.roll(2) == 0 {
            desk.sequencer.close().unwrap();
        }
    }

    fn verify(&mut self, desk: &Desk) {
        for trace in std::mem::take(&mut self.touched) {
            work::expect_whole(desk, trace);
        }
    }

    /// Looks at everything in the folder for the last time.
    fn close(self) {
        let desk = Office::at(Arc::new(SqliteStore::open(self.path()).unwrap())).unwrap();
        work::expect_all(desk.sequencer.store(), &self.acknowledged);
        assert!(!self.acknowledged.is_empty());
        assert_eq!(desk.sequencer.store().check(&mut |_| ()).unwrap(), []);
        for summary in desk.sequencer.store().traces(None, 1000).unwrap() {
            work::expect_whole(&desk, summary.trace);
        }
    }
}

const NAME: &str = concat!(module_path!(), "::proof_killed_writers_lose_nothing_acknowledged");

/// What a writer says before it touches the folder.
const OPENING: &str = "opening";

/// What a writer says when the log is almost as long as it gets.
const LOADED: &str = "loaded";

/// Tells a writer to begin with a long log.
const LOADS: &str = "DEMUR_TEST_CRASH_LOADS";

/// How many writers use one folder.
const REUSED: usize = 20;

/// In how many rounds a reader verifies once.
const VERIFIED: usize = 5;

/// How many runs a process goes on with.
const OF_LATE: usize = 6;
