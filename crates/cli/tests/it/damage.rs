//! Stores that were damaged: each damage is told with exit code 2, and nothing is changed or repaired.

use std::{fmt::Write as _, fs, ops::Range, os::unix::fs::symlink};

use demur_core::random::{Random as _, Seeded};
use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::Value;

use crate::sandbox::{Sandbox, count, redact};

/// A way to damage the file of a database.
type Damage = fn(&[u8]) -> Vec<u8>;

const FILES: &[(&str, Damage)] = &[
    ("empty", |_| Vec::new()),
    ("garbage", |_| b"\x01\x02garbage\n".to_vec()),
    ("an export", |_| b"{\"header\":{\"format\":1}}\n".to_vec()),
    ("only its beginning", |bytes| bytes[..64].to_vec()),
    ("half of it", |bytes| bytes[..bytes.len() / 2].to_vec()),
    ("nothing after its beginning", |bytes| {
        let mut bytes = bytes.to_vec();
        bytes[100..].fill(0);
        bytes
    }),
    ("another program's", |bytes| with(bytes, 68, &[0, 0, 0, 7])),
    ("nobody's", |bytes| with(bytes, 68, &[0, 0, 0, 0])),
    ("a newer version", |bytes| with(bytes, 60, &[0, 0, 0, 99])),
];

fn with(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

#[test]
fn every_damaged_file_is_told_and_nothing_changes() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let whole = fs::read(sandbox.database()).unwrap();
    let mut told = String::new();
    for (name, damage) in FILES {
        fs::write(sandbox.database(), damage(&whole)).unwrap();
        let before = sandbox.contents();
        let error = sandbox.json_error(&["keys", "list"], 2);
        let writing = sandbox.json_error(&["keys", "new", "carol", "--role", "critic"], 2);
        assert_eq!(error["code"], writing["code"], "{name}");
        assert_eq!(sandbox.contents(), before, "{name}");
        let message = error["message"].as_str().unwrap().replace(sandbox.path("").to_str().unwrap(), "");
        writeln!(told, "{name}: {}: {message}", error["code"].as_str().unwrap()).unwrap();
    }
    assert_snapshot!(told, @r"
    empty: STORE_DAMAGED: the database is damaged: data/ledger.db is empty; restore a backup, and keep the damaged files
    garbage: STORE_FOREIGN: data/ledger.db is not a database of demur: it does not begin as one; name another folder
    an export: STORE_FOREIGN: data/ledger.db is not a database of demur: it does not begin as one; name another folder
    only its beginning: STORE_DAMAGED: the database is damaged: database disk image is malformed; restore a backup, and keep the damaged files
    half of it: STORE_DAMAGED: the database is damaged: database disk image is malformed; restore a backup, and keep the damaged files
    nothing after its beginning: STORE_DAMAGED: the database is damaged: database disk image is malformed; restore a backup, and keep the damaged files
    another program's: STORE_FOREIGN: data/ledger.db is not a database of demur: it belongs to another program; name another folder
    nobody's: STORE_FOREIGN: data/ledger.db is not a database of demur: it belongs to another program; name another folder
    a newer version: STORE_NEWER: the database has version 99, this demur knows up to 6: use a newer version of demur
    ");
    fs::write(sandbox.database(), whole).unwrap();
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
}

/// What somebody with the file could do to the registry in it. Event 1 registers alice, event 2 bob.
const ROWS: &[(&str, &str)] = &[
    ("another name", "UPDATE events SET content = CAST('{\"name\":\"mallory\"}' AS BLOB) WHERE sequence = 1"),
    ("another salt", "UPDATE events SET content_salt = randomblob(32) WHERE sequence = 1"),
    ("no name", "UPDATE events SET content = NULL, content_salt = NULL WHERE sequence = 1"),
    (
        "another role",
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '[\"planner\"]', '[\"auditor\"]') AS BLOB)",
    ),
    (
        "another time",
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"time\":\"20', '\"time\":\"21') AS BLOB)
         WHERE sequence = 2",
    ),
    ("another hash", "UPDATE events SET hash = randomblob(32) WHERE sequence = 1"),
    ("without an event", "DELETE FROM events WHERE sequence = 1"),
    ("without its first event", "DELETE FROM events WHERE sequence = 0"),
    ("without its head", "UPDATE events SET head = NULL WHERE sequence = 2"),
    (
        "the head of an earlier day",
        "UPDATE events SET head = (SELECT head FROM events WHERE sequence = 1) WHERE sequence = 2",
    ),
    (
        "two events exchanged",
        "UPDATE events SET sequence = 9 WHERE sequence = 1; UPDATE events SET sequence = 1 WHERE sequence = 2;
         UPDATE events SET sequence = 2 WHERE sequence = 9",
    ),
    ("no JSON", "UPDATE events SET bytes = x'00' WHERE sequence = 1"),
];

#[test]
fn every_change_to_the_registry_is_told_by_event() {
    let mut told = String::new();
    for (name, sql) in ROWS {
        let sandbox = Sandbox::with_keys();
        sandbox.tamper(sql);
        let before = sandbox.contents();
        let error = sandbox.json_error(&["keys", "list"], 2);
        let writing = sandbox.json_error(&["keys", "new", "carol", "--role", "critic"], 2);
        assert_eq!(error, writing, "{name}");
        assert_eq!(sandbox.contents(), before, "{name}");
        let message = redact(error["message"].as_str().unwrap());
        writeln!(told, "{name}: {}: {message}", error["code"].as_str().unwrap()).unwrap();
    }
    assert_snapshot!(told, @r"
    another name: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 1: COMMITMENT_MISMATCH
    another salt: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 1: COMMITMENT_MISMATCH
    no name: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 1: NOT_DISCLOSED
    another role: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 1: CHAIN_BREAK
    another time: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 2: CHAIN_BREAK
    another hash: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 1: CHAIN_BREAK
    without an event: STORE_DAMAGED: the database is damaged: events are missing, in the table or in its index; restore a backup, and keep the damaged files
    without its first event: STORE_DAMAGED: the database is damaged: events are missing, in the table or in its index; restore a backup, and keep the damaged files
    without its head: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 2: HEAD_INVALID
    the head of an earlier day: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 2: HEAD_INVALID
    two events exchanged: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 1: CHAIN_BREAK
    no JSON: RECORD_DAMAGED: the record of trace [ULID] is damaged at event 1: SCHEMA_INVALID
    ");
}

/// An earlier state of the store is whole in itself: receipts and checkpoints kept elsewhere tell. What was not taken
/// away with the event is found.
#[test]
fn event_cut_off_at_the_end_is_found_by_a_check() {
    let sandbox = Sandbox::with_keys();
    sandbox.tamper("DELETE FROM events WHERE sequence = 2");
    assert!(!sandbox.json(&["keys", "list"]).to_string().contains("bob"));
    sandbox.run(&["store", "check"]).expect_code(1);
}

#[test]
fn damage_reads_as_one_sentence_and_a_cure() {
    let sandbox = Sandbox::with_keys();
    sandbox.tamper(ROWS[0].1);
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: the record of trace [ULID] is damaged at event 1: COMMITMENT_MISMATCH
    hint: `demur store check` says what else is wrong
    ");
    sandbox.rest();
    fs::write(sandbox.database(), "").unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: the database is damaged: [DIR]/data/ledger.db is empty; restore a backup, and keep the damaged files
    hint: nothing was changed; `demur store check` says what is wrong
    ");
}

#[test]
fn damage_ends_every_command_alike() {
    let sandbox = Sandbox::new();
    let asked = sandbox.run(&["ask", "Name?", "--no-wait"]);
    let id = asked.expect_code(0).stdout.trim().to_owned();
    sandbox.run(&["stop"]).expect_code(0);
    sandbox.tamper("UPDATE events SET bytes = x'00' WHERE trace = 2");
    for arguments in [["show", &id], ["export", "last"]] {
        let error = sandbox.run(&arguments);
        assert!(error.expect_code(2).stderr.contains("is damaged"), "{arguments:?}: {}", error.stderr);
    }
}

#[test]
fn folder_or_loop_in_its_place_is_told() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    fs::remove_file(sandbox.database()).unwrap();
    fs::create_dir(sandbox.database()).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: expected [DIR]/data/ledger.db to be a file, found something else
    hint: nothing was changed; restore a backup, or use another data folder
    ");
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(2);
    fs::remove_dir(sandbox.database()).unwrap();
    symlink("ledger.db", sandbox.database()).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "list"]), @r"
    exit 2
    --- stderr
    error: cannot read [DIR]/data/ledger.db: Too many levels of symbolic links (os error 40)
    hint: nothing was changed; name another data folder with --data
    ");
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(2);
    assert!(sandbox.database().is_symlink());
    fs::remove_file(sandbox.database()).unwrap();
    symlink("nowhere", sandbox.database()).unwrap();
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(2);
    assert!(sandbox.database().is_symlink());
}

#[test]
fn events_of_another_store_do_not_fit() {
    let (one, other) = (Sandbox::with_keys(), Sandbox::with_keys());
    other.rest();
    let foreign = other.database();
    one.tamper(&format!(
        "ATTACH '{}' AS foreign_store; DELETE FROM events WHERE sequence = 2;
         INSERT INTO events SELECT * FROM foreign_store.events WHERE sequence = 2",
        foreign.display()
    ));
    let error = one.json_error(&["keys", "list"], 2);
    assert_eq!(error["code"], "RECORD_DAMAGED", "{error}");
}

#[test]
fn registry_of_another_store_is_not_extended_with_our_key() {
    let (one, other) = (Sandbox::with_keys(), Sandbox::with_keys());
    one.rest();
    other.rest();
    fs::copy(other.database(), one.database()).unwrap();
    let before = one.contents();
    let error = one.json_error(&["keys", "new", "carol", "--role", "critic"], 2);
    assert_eq!(error["code"], "FILE_UNREADABLE", "{error}");
    assert_eq!(one.contents(), before);
}

#[test]
fn registry_is_exported_so_that_anybody_can_verify_it() {
    let sandbox = Sandbox::with_keys();
    let export = sandbox.run(&["export", "registry"]).stdout;
    let ran = sandbox.feed(&["verify", "-", "--json"], export.as_bytes());
    let reply: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    assert_eq!((&reply["verdict"], &reply["report"]["scope"]["events"]), (&"pass".into(), &3.into()));
}

/// Not every bit of a database means something. Those that do are noticed at once.
#[test]
fn fuzz_no_flipped_bit_goes_unnoticed() {
    let sandbox = Sandbox::with_keys();
    let said = sandbox.run(&["keys", "list", "--json"]).stdout;
    sandbox.rest();
    let whole = fs::read(sandbox.database()).unwrap();
    let leases = pages_of_leases(&sandbox);
    let mut random = Seeded::from_number(11);
    let mut noticed = 0;
    for _ in 0..count(150, 5000) {
        let mut draw = [0; 9];
        random.fill(&mut draw);
        let at = usize::from_le_bytes(draw[..8].try_into().unwrap()) % whole.len();
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (draw[8] % 8);
        for rest in ["ledger.db-wal", "ledger.db-shm"] {
            let _ = fs::remove_file(sandbox.data().join(rest));
        }
        fs::write(sandbox.database(), &bytes).unwrap();
        let ran = sandbox.run(&["keys", "list", "--json"]);
        let is_served = sandbox.data().join("socket").exists();
        sandbox.rest();
        let found = fs::read(sandbox.database()).unwrap();
        if is_served {
            let [found, bytes] = [found, bytes].map(|bytes| without(bytes, &leases));
            assert!(found == bytes, "byte {at}: reading changed something: {ran}");
        } else {
            assert!(found == bytes, "byte {at}: a failed opening changed something: {ran}");
        }
        match ran.code {
            Some(0) if ran.stdout == said => {}
            Some(2 | 4) => {
                assert!(!ran.stderr.contains("\"BUG\""), "byte {at}: {ran}");
                noticed += 1;
            }
            _ => panic!("byte {at}: {ran}"),
        }
    }
    assert!(noticed > 0, "no damage was ever noticed");
}

/// Returns where the pages of a database lie that change whenever a server takes the store and lets it go: those of its
/// lease, and of the number that the next lease has.
fn pages_of_leases(sandbox: &Sandbox) -> Vec<Range<usize>> {
    let connection = Connection::open(sandbox.database()).unwrap();
    let size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    let roots = "SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ('leases', 'sqlite_sequence')";
    let mut roots = connection.prepare(roots).unwrap();
    let pages = roots.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap);
    let places = pages.map(|page: u32| (page - 1) * size..page * size);
    places.map(|place| place.start as usize..place.end as usize).collect()
}

/// Returns the bytes of a database without these pages, and without what its header counts: changes.
fn without(mut bytes: Vec<u8>, pages: &[Range<usize>]) -> Vec<u8> {
    for place in pages.iter().cloned().chain([24..28, 92..100]) {
        bytes[place].fill(0);
    }
    bytes
}
