//! The list of questions in a store that an earlier version wrote.

use std::sync::Arc;

use demur_ledger::{
    facts::{Question, QuestionCancelled, Severity},
    question::OutcomeKind,
    role::Role,
};
use demur_store::{
    contract::{QuestionFilter, QuestionSummary, Store, StoreError},
    sqlite::{SqliteStore, VERSION},
};
use rusqlite::Connection;
use tempfile::TempDir;

use demur_testing::{
    hall::question,
    inquiry::{Inquiry, typed},
    sample::list,
};

/// A store with questions in several traces, as version 1 left it, and what its list should be.
struct Old {
    folder: TempDir,
    list: Vec<QuestionSummary>,
}

impl Old {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::create(folder.path()).unwrap());
        let inquiry = Inquiry::new(&store);
        let (mut answered, asked) = inquiry.ask(question());
        inquiry.tell(&mut answered, Role::Person, typed(asked));
        let mut plan = inquiry.plan();
        let gap = inquiry.find(&mut plan, question());
        inquiry.find(&mut plan, Question { repeats: Some(gap.sequence), ..question() });
        let warning = Question { severity: Severity::Warn, blocks: list([]), ..question() };
        let (mut cancelled, asked) = inquiry.ask(warning);
        inquiry.ask(question());
        inquiry.say(0, &mut cancelled, QuestionCancelled { question: asked.sequence });
        let list = store.questions(&QuestionFilter::default(), None, 100).unwrap();
        drop(inquiry);
        drop(store);
        let old = Self { folder, list };
        old.raw().execute_batch("DROP TABLE questions; PRAGMA user_version = 1").unwrap();
        old
    }

    fn raw(&self) -> Connection {
        Connection::open(self.folder.path().join("ledger.db")).unwrap()
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(self.folder.path()).unwrap()
    }
}

#[test]
fn store_of_version_1_has_its_list_once_it_is_opened() {
    let old = Old::new();
    assert_eq!(old.list.len(), 4);
    let error = SqliteStore::open_read_only(old.folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Trouble { .. }), "{error}");
    for _ in 0..2 {
        let store = old.open();
        assert_eq!(store.questions(&QuestionFilter::default(), None, 100).unwrap(), old.list);
        let expected = [(OutcomeKind::Open, 2), (OutcomeKind::Answered, 1), (OutcomeKind::Cancelled, 1)];
        assert_eq!(store.question_counts().unwrap(), expected);
        assert_eq!(store.check(&mut |_| {}).unwrap(), []);
    }
    let version: u32 = old.raw().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, VERSION);
}

/// Otherwise nobody could find out what is wrong with it.
#[test]
fn damaged_trace_keeps_no_store_of_version_1_from_being_opened() {
    let old = Old::new();
    let damaged = old.list[1].trace;
    let sql = "DROP TRIGGER events_stay;
               UPDATE events SET bytes = x'7b7d' WHERE ordinal = ?1";
    let raw = old.raw();
    raw.execute_batch(&sql.replace("?1", &old.list[1].cursor.number().to_string())).unwrap();
    drop(raw);
    let store = old.open();
    let whole: Vec<_> = old.list.iter().filter(|one| one.trace != damaged).copied().collect();
    assert_eq!(store.questions(&QuestionFilter::default(), None, 100).unwrap(), whole);
    assert_ne!(store.check(&mut |_| {}).unwrap(), []);
}
