//! What the cursor promises: order, nothing missed, nothing twice, also while others append.

use std::{collections::BTreeMap, thread};

use demur_ledger::{envelope::Event, name::Sequence};
use demur_store::contract::{Cursor, Store};
use demur_testing::sample::{Sample, done, rounds};

/// Follows the cursor to the end in pages of this size.
fn follow(store: &dyn Store, mut cursor: Cursor, page: usize) -> (Cursor, Vec<Event>) {
    let mut events = Vec::new();
    loop {
        let changes = store.changes(cursor, page).unwrap();
        let Some((last, _)) = changes.last() else { return (cursor, events) };
        assert!(changes.len() <= page);
        cursor = *last;
        events.extend(changes.iter().map(|(_, stored)| Event::parse(&stored.bytes).unwrap()));
    }
}

behaviour! {
    #[test]
    fn changes_come_in_the_order_of_commits(store) {
        let mut sample = Sample::in_store(&**store);
        let mut works = [sample.open(), sample.open()];
        let mut expected: Vec<_> = Vec::new();
        for round in 0..3 {
            for index in [round % 2, (round + 1) % 2] {
                if round > 0 {
                    sample.say(&mut works[index], super::append::PROPOSAL);
                }
                let append = sample.append(&mut works[index]);
                expected.extend(append.entries.iter().map(|entry| *entry.event.hash()));
                done(&**store, &[append]);
            }
        }
        let registry = sample.desk.registry_chain();
        let start: Vec<_> = (0_u32..5).map(|at| registry.hash(at.into()).unwrap()).collect();
        for page in [1, 2, 100] {
            let (end, events) = follow(&**store, Cursor::START, page);
            let hashes: Vec<_> = events.iter().map(|event| *event.hash()).collect();
            assert_eq!(hashes, [start.clone(), expected.clone()].concat());
            assert_eq!(store.changes(end, 10).unwrap(), []);
        }
    }

    #[test]
    fn changes_carry_what_lies_beside_an_event(store) {
        let mut sample = Sample::in_store(&**store);
        let (end, _) = follow(&**store, Cursor::START, 100);
        let mut work = sample.executing();
        store.put_artifact(b"words").unwrap();
        sample.record(&mut work, b"words");
        done(&**store, &[sample.append(&mut work)]);
        let changed: Vec<_> =
            store.changes(end, 100).unwrap().into_iter().map(|(_, stored)| stored).collect();
        assert_eq!(changed, store.events(work.trace(), Sequence::FIRST, 100).unwrap());
        assert_eq!(changed.len(), 5);
    }

    #[test]
    fn proof_reader_beside_writers_misses_and_repeats_nothing(store) {
        let mut sample = Sample::in_store(&**store);
        let count = rounds(2000, 60);
        store.put_artifact(b"words").unwrap();
        let lanes: Vec<Vec<_>> = (0..4)
            .map(|_| {
                let mut work = sample.executing();
                (0..count)
                    .map(|_| {
                        sample.record(&mut work, b"words");
                        sample.append(&mut work)
                    })
                    .collect()
            })
            .collect();
        let total = 5 + 4 * (4 + count);
        let seen = thread::scope(|scope| {
            for lane in &lanes {
                scope.spawn(move || lane.iter().for_each(|append| done(&**store, std::slice::from_ref(append))));
            }
            let (mut cursor, mut seen) = (Cursor::START, Vec::new());
            while seen.len() < total {
                let (end, events) = follow(&**store, cursor, 7);
                cursor = end;
                seen.extend(events);
            }
            seen
        });
        assert_eq!(seen.len(), total);
        let mut next = BTreeMap::new();
        for event in &seen {
            let place = next.entry(event.envelope().trace).or_insert(Sequence::FIRST);
            assert_eq!(event.envelope().sequence, *place);
            *place = place.next();
        }
        assert_eq!(next.len(), 5);
    }
}
