//! What is promised of operational data and artifacts.

use std::thread;

use demur_core::random::{Random as _, Seeded};
use demur_engine::entry::Address;
use demur_ledger::name::TraceId;
use demur_store::contract::{Failure, Snapshot, StoreError};

use super::append::PROPOSAL;
use crate::sample::{Sample, done};

behaviour! {
    #[test]
    fn newest_snapshot_is_kept_with_its_append(store) {
        let mut sample = Sample::in_store(store);
        let mut work = sample.open();
        let mut append = sample.append(&mut work);
        let first = Snapshot { head: work.head(), version: 3, bytes: b"state".to_vec() };
        append.snapshot = Some(first.clone());
        done(store, &[append]);
        assert_eq!(store.snapshot(work.trace()).unwrap(), Some(first.clone()));

        sample.say(&mut work, PROPOSAL);
        done(store, &[sample.append(&mut work)]);
        assert_eq!(store.snapshot(work.trace()).unwrap(), Some(first));

        sample.say(&mut work, PROPOSAL);
        let mut append = sample.append(&mut work);
        let second = Snapshot { head: work.head(), version: u32::MAX, bytes: Vec::new() };
        append.snapshot = Some(second.clone());
        let mut stale = append.clone();
        done(store, &[append]);
        stale.snapshot = Some(Snapshot { version: 1, ..second.clone() });
        store.append(&[stale]).unwrap();
        assert_eq!(store.snapshot(work.trace()).unwrap(), Some(second));
    }

    #[test]
    fn notes_are_set_and_replaced(store) {
        assert_eq!(store.note("cursor").unwrap(), None);
        store.set_note("cursor", b"one").unwrap();
        store.set_note("other", b"").unwrap();
        store.set_note("cursor", b"two").unwrap();
        assert_eq!(store.note("cursor").unwrap().as_deref(), Some(b"two".as_slice()));
        assert_eq!(store.note("other").unwrap().as_deref(), Some(b"".as_slice()));
    }

    /// LED-18
    #[test]
    fn first_mark_of_failure_stays(store) {
        let mut sample = Sample::in_store(store);
        let mut works = [sample.open(), sample.open()];
        for work in &mut works {
            done(store, &[sample.append(work)]);
        }
        let first = Failure { sequence: Some(0_u32.into()), code: "SIGNATURE".to_owned() };
        let whole = Failure { sequence: None, code: "CHAIN".to_owned() };
        store.mark_failed(works[0].trace(), &first).unwrap();
        store.mark_failed(works[0].trace(), &whole).unwrap();
        store.mark_failed(works[1].trace(), &whole).unwrap();
        assert_eq!(store.trace(works[0].trace()).unwrap().unwrap().failed, Some(first));
        assert_eq!(store.trace(works[1].trace()).unwrap().unwrap().failed, Some(whole.clone()));
        let now = store.traces(None, 1).unwrap()[0].opened;
        let unknown = TraceId::new(now, &mut Seeded::from_number(5));
        assert!(matches!(store.mark_failed(unknown, &whole), Err(StoreError::Misuse { .. })));
    }

    /// LED-17
    #[test]
    fn artifacts_are_kept_from_many_threads_at_once(store) {
        let mut random = Seeded::from_number(1);
        let artifacts: Vec<Vec<u8>> = [0, 1, 100, 65_536, 65_537, 300_000]
            .into_iter()
            .map(|length| {
                let mut bytes = vec![0; length];
                random.fill(&mut bytes);
                bytes
            })
            .collect();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for bytes in &artifacts {
                        assert_eq!(store.put_artifact(bytes).unwrap(), Address::of(bytes));
                    }
                });
            }
        });
        for bytes in &artifacts {
            assert_eq!(store.artifact(&Address::of(bytes)).unwrap().as_ref(), Some(bytes));
        }
        assert_eq!(store.artifact(&Address::of(b"never")).unwrap(), None);
    }
}
