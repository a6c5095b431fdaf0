//! Pages of a closed database that were damaged: whatever is still shown is what was recorded, the file is not changed
//! by looking at it, and going on does not hide the damage.

use std::{fs, path::Path, sync::Arc};

use demur_sequencer::SequencerError;
use demur_store::sqlite::SqliteStore;
use demur_testing::{office::Office, sample::rounds};

use super::{
    dice::Dice,
    in_memory,
    work::{self, Bustle, Damage, Desk, Ledgered},
};

/// LED-18 ONE-05
#[test]
fn fuzz_damaged_pages_are_told_and_never_show_a_false_record() {
    let place = in_memory();
    let path = place.path().join("store");
    let database = path.join("ledger.db");
    let events = fill(&path);
    let whole = fs::read(&database).unwrap();
    let (mut dice, mut shown, mut told) = (Dice::new(9), 0, 0);
    for round in 0..rounds(4000, 40) {
        for rest in ["ledger.db-wal", "ledger.db-shm", "ledger.db-journal"] {
            let _ = fs::remove_file(path.join(rest));
        }
        let bytes = damaged(&whole, &mut dice);
        fs::write(&database, &bytes).unwrap();
        let seen = look(&path, &events);
        assert!(fs::read(&database).unwrap() == bytes, "round {round}: looking changed the file");
        shown += seen.holding;
        told += usize::from(seen.damage);
        // Going on may work or be refused; either way what is broken does not become whole.
        if let Ok(desk) = own(&path) {
            let _ = work::go_on(&desk, 10, &|_, _| ());
        }
        assert!(!seen.broken || look_again(&path), "round {round}: the damage was hidden");
    }
    eprintln!("damage was told {told} times, and {shown} traces could still be shown");
    assert!(told > 0 && shown > 0);
}

/// Fills a store, closes it, and returns what is in it.
fn fill(path: &Path) -> Ledgered {
    let desk = work::create(path, 2, &|_, _| ());
    desk.whole_run();
    let ready = work::go_on(&desk, 10, &|_, _| ()).unwrap();
    Bustle { threads: 1, steps: 12, besides: Some(9_000) }.run(&desk, &ready, &|_, _| ());
    let events = work::all_events(desk.sequencer.store());
    desk.sequencer.close().unwrap();
    events
}

/// Returns the database with a few bytes of one page flipped, a part of a page overwritten, or a page exchanged for
/// another.
fn damaged(whole: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let page = dice.index(whole.len() / PAGE) * PAGE;
    match dice.roll(4) {
        0 => {
            let other = dice.index(whole.len() / PAGE) * PAGE;
            bytes[page..page + PAGE].copy_from_slice(&whole[other..other + PAGE]);
        }
        1 => {
            let start = page + dice.index(PAGE / 512) * 512;
            bytes[start..start + 512].fill(0);
        }
        _ => {
            for _ in 0..=dice.roll(8) {
                bytes[page + dice.index(PAGE)] ^= 1 << dice.roll(8);
            }
        }
    }
    bytes
}

/// What a look at a damaged store shows.
#[derive(Default)]
struct Seen {
    /// How many traces hold.
    holding: usize,
    /// Whether damage shows at all.
    damage: bool,
    /// Whether a trace is broken. Other damage may lie where going on writes anew: in what is derived, in counters.
    broken: bool,
}

/// Looks at the store without owning it.
fn look(path: &Path, events: &Ledgered) -> Seen {
    let told = Seen { damage: true, ..Seen::default() };
    let Ok(store) = SqliteStore::open_read_only(path) else { return told };
    let damage = work::damage(&store);
    let Ok(desk) = Office::beside(Arc::new(store)) else { return told };
    let (holding, all) = work::expect_the_truth(&desk, events);
    assert!(all || damage.is_some(), "a trace is broken and the check does not find it");
    Seen { holding, damage: damage.is_some(), broken: !all && damage == Some(Damage::Record) }
}

fn look_again(path: &Path) -> bool {
    SqliteStore::open_read_only(path).map_or(true, |store| work::damage(&store).is_some())
}

fn own(path: &Path) -> Result<Desk, SequencerError> {
    Office::at(Arc::new(SqliteStore::open(path)?))
}

const PAGE: usize = 4096;
