//! Files that are not what they should be: reported with one clear sentence, never repaired, never changed.

use std::{fs, path::Path};

use demur_ledger::name::Sequence;
use demur_store::{
    contract::{Cursor, Store as _, StoreError, StoreProblem},
    sqlite::{SqliteStore, VERSION},
};
use demur_testing::sample::rounds;
use rusqlite::Connection;

use super::Filled;

/// Returns what opening says, and makes sure that the file is as it was.
fn refusal(path: &Path) -> StoreError {
    let database = path.join("ledger.db");
    let before = fs::read(&database).unwrap();
    let error = SqliteStore::open(path).unwrap_err();
    let reading = SqliteStore::open_read_only(path).unwrap_err();
    assert_eq!(reading.to_string(), error.to_string());
    assert_eq!(fs::read(&database).unwrap(), before);
    error
}

#[test]
fn newer_version_is_refused() {
    let filled = Filled::new();
    filled.raw().pragma_update(None, "user_version", VERSION + 1).unwrap();
    let error = refusal(&filled.path());
    assert!(matches!(error, StoreError::Newer { found, known: VERSION } if found == VERSION + 1));
}

#[test]
fn earlier_version_is_refused_in_one_sentence() {
    let filled = Filled::new();
    for version in 1..VERSION {
        filled.raw().pragma_update(None, "user_version", version).unwrap();
        let error = refusal(&filled.path());
        assert!(matches!(error, StoreError::Older { found, known: VERSION } if found == version));
        assert!(!error.to_string().contains(". "), "{error}");
    }
}

#[test]
fn database_of_another_program_is_refused() {
    let filled = Filled::new();
    filled.raw().pragma_update(None, "application_id", 0).unwrap();
    assert!(matches!(refusal(&filled.path()), StoreError::Foreign { .. }));

    let folder = tempfile::tempdir().unwrap();
    let other = Connection::open(folder.path().join("ledger.db")).unwrap();
    other.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    assert!(matches!(refusal(folder.path()), StoreError::Foreign { .. }));
}

#[test]
fn file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [b"once upon a time, and so on".as_slice(), b"SQLite", b"\0"] {
        fs::write(folder.path().join("ledger.db"), bytes).unwrap();
        assert!(matches!(refusal(folder.path()), StoreError::Foreign { .. }));
    }
}

#[test]
fn empty_or_cut_off_file_is_damage() {
    let filled = Filled::new();
    let whole = fs::read(filled.database()).unwrap();
    for length in [0, 100, 4096, 3 * 4096 + 17] {
        fs::write(filled.database(), &whole[..length]).unwrap();
        let found = match SqliteStore::open_read_only(filled.path()) {
            Ok(store) => !store.check(&mut |_| {}).unwrap().is_empty(),
            Err(error) => matches!(error, StoreError::Corrupt { .. } | StoreError::Foreign { .. }),
        };
        assert!(found, "cut to {length} bytes");
        assert_eq!(fs::read(filled.database()).unwrap(), &whole[..length]);
    }
    fs::write(filled.database(), b"").unwrap();
    assert!(matches!(refusal(&filled.path()), StoreError::Corrupt { .. }));
}

#[test]
fn no_overwritten_page_goes_unnoticed_and_none_is_repaired() {
    let filled = Filled::new();
    let whole = fs::read(filled.database()).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 15);
    for page in 1..pages {
        let mut damaged = whole.clone();
        damaged[page * 4096..page * 4096 + 64].fill(0xff);
        fs::write(filled.database(), &damaged).unwrap();
        match SqliteStore::open_read_only(filled.path()) {
            // A page of the schema: SQLite reads it before anything else.
            Err(error) => assert!(matches!(error, StoreError::Corrupt { .. }), "page {page}: {error}"),
            Ok(store) => {
                let problems = store.check(&mut |_| {}).unwrap();
                assert!(
                    problems.iter().any(|one| matches!(one, StoreProblem::Database { .. })),
                    "page {page}"
                );
            }
        }
        assert_eq!(fs::read(filled.database()).unwrap(), damaged, "page {page}");
    }
}

/// Reads what a column is for.
type Read<'a> = &'a dyn Fn() -> Result<(), StoreError>;

/// A version that knows more phases, roles and outcomes than this one damages nothing.
#[test]
fn word_that_a_newer_version_may_have_written_is_refused_and_no_damage() {
    let filled = Filled::new();
    let raw = filled.raw();
    raw.execute_batch(
        "DROP TRIGGER traces_stay;
         INSERT INTO questions SELECT ordinal, trace, sequence, 'open', 'block', 1, zeroblob(16), NULL, NULL, 0
             FROM events WHERE trace = 2 AND sequence = 0;",
    )
    .unwrap();
    let store = filled.open();
    let trace = filled.work.trace();
    let phase = || store.trace(trace).map(drop);
    let kind = || store.traces(None, 9).map(drop);
    let role = || store.participants(trace).map(drop);
    let outcomes = || store.question_counts().map(drop);
    let question = || store.question(trace, Sequence::FIRST).map(drop);
    let reads: [(&str, &str, Read<'_>); 5] = [
        ("runs SET phase", "phase of a run", &phase),
        ("participants SET role", "role", &role),
        ("questions SET severity", "severity", &question),
        ("questions SET outcome", "outcome of a question", &outcomes),
        ("traces SET kind", "kind of trace", &kind),
    ];
    for (column, expected, read) in reads {
        let put = |word: &str| raw.execute(&format!("UPDATE OR IGNORE {column} = ?1"), [word]);
        put("paused_for_now").unwrap();
        let error = read().unwrap_err();
        assert!(
            matches!(&error, StoreError::WordNewer { what, word } if (*what, word.as_str()) == (expected, "paused_for_now")),
            "{error}"
        );
        put("Not a word!").unwrap();
        assert!(matches!(read().unwrap_err(), StoreError::Corrupt { .. }), "{column}");
    }
}

#[test]
fn damaged_page_is_an_error_of_the_read_that_needs_it() {
    let filled = Filled::new();
    let root: u32 = filled
        .raw()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'", [], |row| row.get(0))
        .unwrap();
    let mut bytes = fs::read(filled.database()).unwrap();
    let start = (root as usize - 1) * 4096;
    bytes[start..start + 64].fill(0xff);
    fs::write(filled.database(), &bytes).unwrap();
    let store = filled.open();
    let error = store.trace(filled.work.trace()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    // Another table is still whole.
    assert_eq!(store.registry().unwrap(), Some(filled.sample.desk.registry_chain().trace()));
}

/// LED-29
#[test]
fn every_column_that_says_something_else_than_the_event_is_found() {
    for sql in [
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), 'planner', 'auditor') AS BLOB)",
        "UPDATE events SET hash = zeroblob(32) WHERE ordinal = 8",
        "UPDATE events SET time = time + 1 WHERE ordinal = 8",
        "UPDATE events SET sequence = sequence + 1 WHERE trace = 3 AND sequence = 13",
        "UPDATE events SET trace = 2, sequence = 14 WHERE trace = 3 AND sequence = 13",
        "UPDATE events SET content = x'7b7d' WHERE ordinal = 8",
        "UPDATE events SET content_salt = zeroblob(32) WHERE ordinal = 8",
        "UPDATE events SET content = NULL, content_salt = NULL WHERE ordinal = 8",
        "UPDATE events SET artifact_salt = zeroblob(32) WHERE ordinal = 10",
        "UPDATE events SET artifact = zeroblob(32) WHERE ordinal = 10",
        "UPDATE events SET artifact = zeroblob(32), artifact_salt = zeroblob(32) WHERE ordinal = 8",
    ] {
        let filled = Filled::new();
        let raw = filled.raw();
        raw.execute_batch("DROP TRIGGER events_stay; DROP TRIGGER events_beside").unwrap();
        assert!(raw.execute(sql, []).unwrap() > 0, "{sql}");
        drop(raw);
        let store = SqliteStore::open_to_mend(filled.path()).unwrap();
        let problems = store.check(&mut |_| {}).unwrap();
        assert!(problems.iter().any(|one| matches!(one, StoreProblem::Event { .. })), "{sql}: {problems:?}");
    }
}

#[test]
fn missing_and_damaged_artifacts_are_found() {
    let filled = Filled::new();
    let store = filled.open();
    let address = demur_ledger::entry::Address::of(b"two").to_string();
    let file = filled.path().join("artifacts").join(&address[..2]).join(&address[2..]);
    fs::write(&file, b"tWo").unwrap();
    let count = |store: &SqliteStore| {
        let problems = store.check(&mut |_| {}).unwrap();
        assert!(problems.iter().all(|one| matches!(one, StoreProblem::Event { .. })));
        problems.len()
    };
    assert_eq!(count(&store), 10);
    fs::remove_file(&file).unwrap();
    assert_eq!(count(&store), 10);
}

#[test]
fn fuzz_flipped_bytes_never_panic_and_never_change_the_file() {
    let filled = Filled::new();
    let whole = fs::read(filled.database()).unwrap();
    let mut place = 99_991;
    let mut found = 0;
    for round in 0..rounds(5000, 60) {
        let mut damaged = whole.clone();
        for _ in 0..8 {
            place = (place * 48_271) % 2_147_483_647;
            damaged[place % whole.len()] ^= 1 << (round % 8);
        }
        fs::write(filled.database(), &damaged).unwrap();
        match SqliteStore::open_read_only(filled.path()) {
            Err(_) => found += 1,
            Ok(store) => {
                found += usize::from(store.check(&mut |_| {}).is_ok_and(|problems| !problems.is_empty()));
                let _ = (store.changes(Cursor::START, 1000), store.heads(), store.traces(None, 10));
            }
        }
        assert_eq!(fs::read(filled.database()).unwrap(), damaged);
    }
    assert!(found > 0);
}
