//! Derived tables: written with the events, and the same when rebuilt from them.

use demur_core::time::Timestamp;
use demur_ledger::{
    facts::{Question, QuestionAsked},
    question::OutcomeKind,
    role::Role,
};
use demur_store::{
    contract::{
        Leases as _, QuestionFilter, RecordKey, RecordValue, Records as _, Store as _, StoreError,
        StoreProblem, StoreProgress, StoreStep, Swap, Version, Write, WriteOutcome,
    },
    sqlite::SqliteStore,
};
use demur_testing::{
    hall::question,
    sample::{done, writer},
};
use rusqlite::{Connection, types::Value};

use super::Filled;

/// Returns every row of the derived tables.
fn derived(raw: &Connection) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for sql in [
        "SELECT * FROM commands ORDER BY key, command",
        "SELECT * FROM key_changes ORDER BY fingerprint",
        "SELECT * FROM runs ORDER BY trace",
        "SELECT * FROM participants ORDER BY trace, principal, role",
        "SELECT * FROM questions ORDER BY ordinal",
    ] {
        let mut statement = raw.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|index| row.get(index)).collect();
        rows.extend(statement.query_map([], row).unwrap().map(Result::unwrap));
    }
    rows
}

/// A store whose registry has changed keys and whose runs stand in several phases.
fn varied() -> Filled {
    let mut filled = Filled::new();
    let store = filled.open();
    let mut open = filled.sample.open();
    for deadline in [None, Some(Timestamp::from_millis(1_999_999_999_000).unwrap())] {
        filled.sample.say(&mut open, QuestionAsked(Question { deadline, ..question() }));
    }
    done(&store, &[filled.sample.append(&mut open)]);
    filled.sample.register(Role::Operator);
    filled.sample.revoke(Role::Auditor);
    done(&store, &[filled.sample.registry_append()]);
    drop(store);
    filled
}

#[test]
fn rebuilt_equals_written() {
    let filled = varied();
    let written = derived(&filled.raw());
    // One command per event, six keys, three runs with four participants each, two questions.
    assert_eq!(written.len(), 36 + 6 + 3 + 12 + 2);
    let store = filled.open();
    super::post(&store, "log", b"told");
    let posts = super::posts(&store, "log");
    store.rebuild().unwrap();
    assert_eq!(derived(&filled.raw()), written);
    assert_eq!(super::posts(&store, "log"), posts, "what was posted stays");
    assert_eq!(store.check(&mut |_| {}).unwrap(), []);
}

#[test]
fn derived_rows_that_do_not_follow_are_found_and_mended() {
    for (sql, table, missing, extra) in [
        ("DELETE FROM commands WHERE event IN (8, 9)", "commands", 2, 0),
        ("INSERT INTO commands VALUES (x'00', x'00', 9)", "commands", 0, 1),
        ("UPDATE key_changes SET sequence = 0 WHERE sequence = 1", "key_changes", 1, 1),
        ("UPDATE runs SET phase = 'completed' WHERE trace = 3", "runs", 1, 1),
        ("DELETE FROM runs", "runs", 3, 0),
        ("DELETE FROM participants WHERE trace = 3", "participants", 4, 0),
        ("UPDATE participants SET role = 'desk' WHERE role = 'critic' AND trace = 2", "participants", 1, 1),
        ("DELETE FROM questions", "questions", 2, 0),
        ("UPDATE questions SET outcome = 'answered' WHERE deadline IS NULL", "questions", 1, 1),
        ("UPDATE questions SET deadline = NULL WHERE deadline IS NOT NULL", "questions", 1, 1),
        ("UPDATE questions SET ordinal = 3 WHERE deadline IS NULL", "questions", 1, 1),
    ] {
        let filled = varied();
        let written = derived(&filled.raw());
        filled.raw().execute(sql, []).unwrap();
        let store = filled.open();
        let expected = StoreProblem::Derived { table, missing, extra };
        assert_eq!(store.check(&mut |_| {}).unwrap(), [expected], "{sql}");
        store.rebuild().unwrap();
        assert_eq!(store.check(&mut |_| {}).unwrap(), []);
        assert_eq!(derived(&filled.raw()), written);
    }
}

/// Takes everything out of an index that this does not hold for. The index stays a whole tree, as a flipped bit may
/// leave it.
fn hide(raw: &Connection, index: &str, unless: &str) {
    let schema = |set: &str| {
        format!(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = {set} WHERE name = '{index}';
             PRAGMA writable_schema = RESET;"
        )
    };
    let whole: String =
        raw.query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [index], |row| row.get(0)).unwrap();
    let joint = if whole.contains(" WHERE ") { "AND" } else { "WHERE" };
    let quoted = whole.replace('\'', "''");
    raw.execute_batch(&format!(
        "{} REINDEX {index}; {}",
        schema(&format!("'{quoted} {joint} {unless}'")),
        schema(&format!("'{quoted}'"))
    ))
    .unwrap();
}

/// An index that lacks rows would hide questions from whoever lists them.
#[test]
fn hidden_questions_are_found_and_brought_back() {
    for index in ["questions_list", "questions_holder", "questions_trace", "questions_due"] {
        let filled = varied();
        let (list, open) = (QuestionFilter::default(), Some(vec![OutcomeKind::Open]));
        let open = QuestionFilter { outcomes: open, ..QuestionFilter::default() };
        let before = filled.open().questions(&list, None, 10).unwrap();
        hide(&filled.raw(), index, "ordinal < 0");
        let store = filled.open();
        let found = store.check(&mut |_| {}).unwrap();
        assert!(!found.is_empty() && found.iter().all(StoreProblem::is_derived), "{index}: {found:?}");
        store.rebuild().unwrap();
        assert_eq!(store.check(&mut |_| {}).unwrap(), [], "{index}");
        assert_eq!(store.questions(&open, None, 10).unwrap(), before);
    }
}

/// Whoever appended to a trace whose newest events are hidden would fork it.
#[test]
fn hidden_events_close_the_store_until_the_index_is_made_again() {
    let filled = varied();
    hide(&filled.raw(), "events_place", "sequence < 3");
    for opened in [SqliteStore::open(filled.path()), SqliteStore::open_read_only(filled.path())] {
        let error = opened.map(drop).unwrap_err();
        assert!(error.to_string().contains("events are missing, in the table or in its index"), "{error}");
    }
    let store = SqliteStore::open_to_mend(filled.path()).unwrap();
    let found = store.check(&mut |_| {}).unwrap();
    assert!(!found.is_empty() && found.iter().all(StoreProblem::is_derived), "{found:?}");
    store.rebuild().unwrap();
    assert_eq!(store.check(&mut |_| {}).unwrap(), []);
    drop(store);
    filled.open();
}

#[test]
fn event_gone_from_the_table_is_not_brought_back() {
    let filled = varied();
    // With everything that refers to it: what is left holds together.
    filled
        .raw()
        .execute_batch(
            "PRAGMA foreign_keys = OFF; DROP TRIGGER events_remain; DELETE FROM events WHERE ordinal = 20;
             DELETE FROM commands WHERE event = 20; DELETE FROM questions WHERE ordinal = 20",
        )
        .unwrap();
    let store = SqliteStore::open_to_mend(filled.path()).unwrap();
    let found = store.check(&mut |_| {}).unwrap();
    let message = "events are missing from the table".to_owned();
    assert!(found.contains(&StoreProblem::Database { message, is_derived: false }), "{found:?}");
    let error = store.rebuild().unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn rebuild_over_damaged_events_changes_nothing() {
    let filled = varied();
    let raw = filled.raw();
    raw.execute_batch("DROP TRIGGER events_stay; UPDATE events SET bytes = x'7b7d' WHERE ordinal = 9")
        .unwrap();
    let written = derived(&raw);
    let error = filled.open().rebuild().unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert_eq!(derived(&raw), written);
}

#[test]
fn check_tells_how_far_it_is() {
    let filled = varied();
    let mut steps = Vec::new();
    filled.open().check(&mut |progress| steps.push(progress)).unwrap();
    let end = StoreProgress { step: StoreStep::Events, done: 39, total: 39 };
    assert_eq!(steps.last(), Some(&end));
    assert_eq!(steps[0], StoreProgress { step: StoreStep::Structure, done: 0, total: 1 });
}

/// Records follow from no event.
#[test]
fn rebuild_keeps_records_and_leases() {
    let filled = varied();
    let store = filled.open();
    let (key, was) = (RecordKey::new("token/anna").unwrap(), Version::ABSENT);
    let value = RecordValue { bytes: b"hash".to_vec(), expires: None };
    let swap = Swap { key: key.clone(), was, next: Some(value) };
    assert_eq!(
        store.commit(&[Write::of_records(writer(&store).unwrap(), vec![swap])]).unwrap(),
        [WriteOutcome::Done]
    );
    let kept = (store.record(&key).unwrap(), store.leases().unwrap());
    store.rebuild().unwrap();
    assert_eq!((store.record(&key).unwrap(), store.leases().unwrap()), kept);
    assert_eq!(store.check(&mut |_| {}).unwrap(), []);
}
