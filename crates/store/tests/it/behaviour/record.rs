//! What records promise: compare and swap, taken once, with their event or not at all.

use std::{slice, sync::Barrier, thread};

use demur_core::time::Timestamp;
use demur_ledger::name::Sequence;
use demur_store::contract::{
    Conflict, KeptRecord, RecordKey, RecordValue, Store, StoreError, Swap, Version, Write, WriteOutcome,
};
use demur_testing::sample::{Sample, done, rounds, writer};

use super::PROPOSAL;

const REFUSED: WriteOutcome = WriteOutcome::Refused(Conflict::Record);

fn key(text: &str) -> RecordKey {
    RecordKey::new(text).unwrap()
}

fn value(bytes: &[u8]) -> RecordValue {
    RecordValue { bytes: bytes.to_vec(), expires: None }
}

fn due_at(millis: u64) -> RecordValue {
    RecordValue { expires: Some(Timestamp::from_millis(millis).unwrap()), ..value(b"due") }
}

fn put(text: &str, was: Version, next: RecordValue) -> Swap {
    Swap { key: key(text), was, next: Some(next) }
}

fn take(record: &KeptRecord) -> Swap {
    Swap { key: record.key.clone(), was: record.version, next: None }
}

/// Returns a write under a lease that lives.
fn of_records(store: &dyn Store, swaps: Vec<Swap>) -> Write {
    Write::of_records(writer(store).unwrap(), swaps)
}

fn swap(store: &dyn Store, swaps: &[Swap]) -> WriteOutcome {
    store.commit(&[of_records(store, swaps.to_vec())]).unwrap()[0]
}

fn create(store: &dyn Store, text: &str, value: RecordValue) -> KeptRecord {
    assert_eq!(swap(store, &[put(text, Version::ABSENT, value)]), WriteOutcome::Done);
    store.record(&key(text)).unwrap().unwrap()
}

fn keys(records: Vec<KeptRecord>) -> Vec<String> {
    records.into_iter().map(|record| record.key.to_string()).collect()
}

behaviour! {
    #[test]
    fn record_is_created_changed_and_taken(store) {
        assert_eq!(store.record(&key("name/anna")).unwrap(), None);
        let first = create(&**store, "name/anna", due_at(7));
        assert_eq!((first.key.as_str(), &first.value), ("name/anna", &due_at(7)));

        assert_eq!(swap(&**store, &[put("name/anna", first.version, value(b""))]), WriteOutcome::Done);
        let second = store.record(&first.key).unwrap().unwrap();
        assert_eq!(second.value, value(b""));

        assert_eq!(swap(&**store, &[take(&second)]), WriteOutcome::Done);
        assert_eq!(store.record(&first.key).unwrap(), None);
    }

    #[test]
    fn record_changes_only_from_what_it_was(store) {
        let first = create(&**store, "a", value(b"first"));
        let other = create(&**store, "b", value(b"other"));
        assert_ne!(first.version, Version::ABSENT);
        for was in [Version::ABSENT, other.version] {
            assert_eq!(swap(&**store, &[put("a", was, value(b"late"))]), REFUSED);
            assert_eq!(swap(&**store, &[Swap { was, ..take(&first) }]), REFUSED);
        }
        assert_eq!(swap(&**store, &[put("c", first.version, value(b"from nothing"))]), REFUSED);
        assert_eq!(store.records("", None, 10).unwrap(), [first, other]);
    }

    /// Whoever read a record before it was taken and made again must not change the new one.
    #[test]
    fn version_never_comes_back(store) {
        let mut seen = Vec::new();
        for _ in 0..3 {
            let record = create(&**store, "claim", value(b"same"));
            assert_eq!(swap(&**store, &[put("claim", record.version, value(b"same"))]), WriteOutcome::Done);
            let changed = store.record(&record.key).unwrap().unwrap();
            seen.extend([record.version, changed.version]);
            assert_eq!(swap(&**store, &[take(&changed)]), WriteOutcome::Done);
            for was in &seen {
                assert_eq!(swap(&**store, &[Swap { was: *was, ..take(&changed) }]), REFUSED);
            }
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 6);
    }

    #[test]
    fn swaps_of_one_write_happen_together_or_not_at_all(store) {
        let kept = create(&**store, "kept", value(b"kept"));
        let good = put("new", Version::ABSENT, value(b"new"));
        let bad = put("kept", Version::ABSENT, value(b"late"));
        for swaps in [[good.clone(), bad.clone()], [bad.clone(), good.clone()]] {
            let third = put("third", Version::ABSENT, value(b"third"));
            let writes = [swaps.to_vec(), vec![third]].map(|swaps| of_records(&**store, swaps));
            // The write beside it is not hindered.
            assert_eq!(store.commit(&writes).unwrap(), [REFUSED, WriteOutcome::Done]);
            let third = store.record(&key("third")).unwrap().unwrap();
            assert_eq!(store.records("", None, 10).unwrap(), [kept.clone(), third.clone()]);
            assert_eq!(swap(&**store, &[take(&third)]), WriteOutcome::Done);
        }
        assert_eq!(swap(&**store, &[good, take(&kept)]), WriteOutcome::Done);
        assert_eq!(keys(store.records("", None, 10).unwrap()), ["new"]);
    }

    /// A later write of a commit sees what an earlier one did.
    #[test]
    fn one_name_is_given_once_within_a_commit(store) {
        let write = |bytes| of_records(&**store, vec![put("name/anna", Version::ABSENT, value(bytes))]);
        let outcomes = store.commit(&[write(b"first"), write(b"second")]).unwrap();
        assert_eq!(outcomes, [WriteOutcome::Done, REFUSED]);
        assert_eq!(store.record(&key("name/anna")).unwrap().unwrap().value, value(b"first"));
    }

    #[test]
    fn swap_happens_with_its_event_or_not_at_all(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        done(&**store, &[sample.append(&mut work)]);
        let mut late = work.clone();
        for work in [&mut work, &mut late] {
            sample.say(work, PROPOSAL);
        }
        let writer = writer(&**store).unwrap();
        let [append, late] = [&mut work, &mut late].map(|work| Some(sample.append(work)));
        let free = put("claim", Version::ABSENT, value(b"mine"));
        let taken = create(&**store, "taken", value(b"theirs"));
        let blocked = put("taken", Version::ABSENT, value(b"mine"));

        // The record stands against the event.
        let write = Write { append: append.clone(), ..Write::of_records(writer, vec![free.clone(), blocked]) };
        assert_eq!(store.commit(&[write]).unwrap(), [REFUSED]);
        assert_eq!(store.events(work.trace(), Sequence::FIRST, 10).unwrap().len(), 2);
        // Nothing stands against either.
        let write = Write { append, ..Write::of_records(writer, vec![free.clone(), take(&taken)]) };
        assert_eq!(store.commit(&[write]).unwrap(), [WriteOutcome::Done]);
        assert_eq!(store.events(work.trace(), Sequence::FIRST, 10).unwrap().len(), 3);
        let claim = store.record(&key("claim")).unwrap().unwrap();
        // The event stands against the record.
        let write = Write { append: late, ..Write::of_records(writer, vec![take(&claim)]) };
        assert_eq!(store.commit(&[write]).unwrap(), [WriteOutcome::Refused(Conflict::Head)]);
        assert_eq!(store.records("", None, 10).unwrap(), [claim]);
    }

    #[test]
    fn write_that_asks_for_an_absence_changes_no_record_and_ends_where_one_is_made(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        done(&**store, &[sample.append(&mut work)]);
        let writer = writer(&**store).unwrap();
        let mut ask = || {
            sample.say(&mut work, PROPOSAL);
            let append = Some(sample.append(&mut work));
            let write = Write { append, ..Write::of_records(writer, vec![Swap::absence(key("ended/a"))]) };
            let outcome = store.commit(&[write]).unwrap()[0];
            (outcome, store.events(work.trace(), Sequence::FIRST, 10).unwrap().len())
        };
        assert_eq!(ask(), (WriteOutcome::Done, 3));
        assert_eq!(ask(), (WriteOutcome::Done, 4));
        assert_eq!(store.records("", None, 10).unwrap(), []);
        let mark = create(&**store, "ended/a", value(b""));
        assert_eq!(ask(), (REFUSED, 4));
        assert_eq!(store.records("", None, 10).unwrap(), [mark]);
    }

    #[test]
    fn records_are_listed_by_prefix_in_pages(store) {
        for name in ["token/b", "token", "tokenring/x", "token/a", "token/\u{e4}", "people/a", "token/c"] {
            create(&**store, name, value(name.as_bytes()));
        }
        let all = keys(store.records("token/", None, 10).unwrap());
        assert_eq!(all, ["token/a", "token/b", "token/c", "token/\u{e4}"]);
        for limit in 1..5 {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = store.records("token/", after.as_ref(), limit).unwrap();
                let Some(last) = page.last() else { break };
                assert!(page.len() <= limit);
                after = Some(last.key.clone());
                found.extend(keys(page));
            }
            assert_eq!(found, all, "in pages of {limit}");
        }
        assert_eq!(keys(store.records("token/", Some(&key("a")), 10).unwrap()), all);
        assert_eq!(store.records("token/", Some(&key("u")), 10).unwrap(), []);
        assert_eq!(store.records("", None, 10).unwrap().len(), 7);
        assert_eq!(store.records("none/", None, 10).unwrap(), []);
    }

    #[test]
    fn due_records_come_by_time_and_stay_until_they_are_taken(store) {
        for (name, millis) in [("retry/late", 30), ("retry/b", 10), ("other/x", 5), ("retry/a", 20)] {
            create(&**store, name, due_at(millis));
        }
        create(&**store, "retry/never", value(b"never"));
        let due = |prefix: &str, millis, limit| {
            keys(store.due(prefix, Timestamp::from_millis(millis).unwrap(), limit).unwrap())
        };
        assert_eq!(due("retry/", 9, 10), Vec::<String>::new());
        assert_eq!(due("retry/", 20, 10), ["retry/b", "retry/a"]);
        assert_eq!(due("retry/", 99, 2), ["retry/b", "retry/a"]);
        assert_eq!(due("", 10, 10), ["other/x", "retry/b"]);
        // Its time has passed, and it is there.
        let kept = store.record(&key("retry/b")).unwrap().unwrap();
        assert_eq!(swap(&**store, &[put("retry/b", Version::ABSENT, value(b""))]), REFUSED);
        assert_eq!(swap(&**store, &[put("retry/b", kept.version, due_at(40))]), WriteOutcome::Done);
        assert_eq!(due("retry/", 39, 10), ["retry/a", "retry/late"]);
        assert_eq!(swap(&**store, &[take(&store.record(&key("retry/a")).unwrap().unwrap())]), WriteOutcome::Done);
        assert_eq!(due("retry/", 99, 10), ["retry/late", "retry/b"]);
    }

    #[test]
    fn write_against_the_contract_changes_nothing(store) {
        let good = put("good", Version::ABSENT, value(b"good"));
        let large = value(&vec![7; RecordValue::LARGEST + 1]);
        for wrong in [
            Vec::new(),
            vec![good.clone(), Swap { next: None, ..good.clone() }],
            vec![put("large", Version::ABSENT, large)],
        ] {
            let writes = [vec![good.clone()], wrong].map(|swaps| of_records(&**store, swaps));
            let error = store.commit(&writes).unwrap_err();
            assert!(matches!(error, StoreError::Misuse { .. }), "{error}");
            assert_eq!(store.records("", None, 10).unwrap(), []);
        }
        create(&**store, &"k".repeat(RecordKey::LONGEST), value(&vec![7; RecordValue::LARGEST]));
        for text in [String::new(), "k".repeat(RecordKey::LONGEST + 1)] {
            assert!(matches!(RecordKey::new(text), Err(StoreError::Misuse { .. })));
        }
    }

    /// A link signs in once, a claim has one holder.
    #[test]
    fn of_two_that_take_a_record_one_has_it(store) {
        for round in 0..rounds(1000, 50) {
            let link = create(&**store, &format!("link/{round}"), value(b"link"));
            let swaps = [take(&link), take(&link)];
            assert_eq!(race(&**store, &swaps).len(), 1, "round {round}");
            assert_eq!(store.record(&link.key).unwrap(), None);
        }
    }

    /// One name, one holder; and whoever lost reads what the other one wrote.
    #[test]
    fn of_two_that_change_a_record_one_does(store) {
        let mut was = Version::ABSENT;
        for round in 0..rounds(1000, 50) {
            let swaps = [0, 1].map(|number| put("name/anna", was, value(&[number])));
            let done = race(&**store, &swaps);
            let kept = store.record(&key("name/anna")).unwrap().unwrap();
            let written: Vec<_> = done.iter().map(|place| swaps[*place].next.clone().unwrap()).collect();
            assert_eq!(written, [kept.value], "round {round}");
            assert_ne!(kept.version, was);
            was = kept.version;
        }
    }
}

/// Has each swap done by a thread of its own, all at once; returns the places of those that were.
fn race(store: &dyn Store, swaps: &[Swap]) -> Vec<usize> {
    let start = Barrier::new(swaps.len());
    let one = |one: &Swap| {
        start.wait();
        swap(store, slice::from_ref(one))
    };
    let outcomes: Vec<_> = thread::scope(|scope| {
        let racing: Vec<_> = swaps.iter().map(|swap| scope.spawn(|| one(swap))).collect();
        racing.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for outcome in &outcomes {
        assert!([WriteOutcome::Done, REFUSED].contains(outcome), "{outcome:?}");
    }
    (0..swaps.len()).filter(|place| outcomes[*place] == WriteOutcome::Done).collect()
}
