//! What is promised of operational data and artifacts.

use std::thread;

use demur_core::commitment::{Commitment, Salt};
use demur_core::{
    id::Ulid,
    random::{Random as _, Seeded},
};
use demur_ledger::{
    entry::Address,
    name::{CommandId, TraceId},
    role::Role,
};
use demur_store::contract::{Failure, Snapshot, StoreError};
use demur_testing::sample::{Sample, commit, done};

use super::append::PROPOSAL;

behaviour! {
    #[test]
    fn newest_snapshot_is_kept_with_its_append(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let mut append = sample.append(&mut work);
        let first = Snapshot { head: work.head(), version: 3, bytes: b"state".to_vec() };
        append.snapshot = Some(first.clone());
        done(&**store, &[append]);
        assert_eq!(store.snapshot(work.trace(), 3).unwrap(), Some(first.clone()));

        sample.say(&mut work, PROPOSAL);
        done(&**store, &[sample.append(&mut work)]);
        assert_eq!(store.snapshot(work.trace(), 3).unwrap(), Some(first));

        sample.say(&mut work, PROPOSAL);
        let mut append = sample.append(&mut work);
        let second = Snapshot { head: work.head(), version: 3, bytes: Vec::new() };
        append.snapshot = Some(second.clone());
        let mut stale = append.clone();
        done(&**store, &[append]);
        stale.snapshot = Some(Snapshot { bytes: b"stale".to_vec(), ..second.clone() });
        commit(&**store, &[stale]).unwrap();
        assert_eq!(store.snapshot(work.trace(), 3).unwrap(), Some(second));
    }

    #[test]
    fn versions_of_the_code_leave_each_others_snapshots_alone(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let mut kept = Vec::new();
        for version in [1, u32::MAX] {
            let mut append = sample.append(&mut work);
            let snapshot = Snapshot { head: work.head(), version, bytes: b"state".to_vec() };
            append.snapshot = Some(snapshot.clone());
            done(&**store, &[append]);
            kept.push(snapshot);
            sample.say(&mut work, PROPOSAL);
        }
        for snapshot in kept {
            assert_eq!(store.snapshot(work.trace(), snapshot.version).unwrap(), Some(snapshot));
        }
        assert_eq!(store.snapshot(work.trace(), 2).unwrap(), None);
    }

    #[test]
    fn secret_is_kept_replaced_and_forgotten(store) {
        let [one, two, other] = [1, 2, 3].map(|salt| Commitment::to_secret(&Salt::from_bytes([salt; 32]), b"x"));
        let secret = |commitment| store.secret(commitment).unwrap();
        assert_eq!(secret(&one), None);
        store.forget_secret(&one).unwrap();
        store.keep_secret(&one, b"swordfish").unwrap();
        store.keep_secret(&two, b"").unwrap();
        store.keep_secret(&other, b"marlin").unwrap();
        store.keep_secret(&one, b"tuna").unwrap();
        assert_eq!(secret(&one).as_deref(), Some(b"tuna".as_slice()));
        assert_eq!(secret(&two).as_deref(), Some(b"".as_slice()));
        store.forget_secret(&one).unwrap();
        store.forget_secret(&one).unwrap();
        assert_eq!(secret(&one), None);
        assert_eq!(secret(&other).as_deref(), Some(b"marlin".as_slice()));
    }

    #[test]
    fn command_is_found_by_how_its_id_begins(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let id = |number: u128| CommandId::from(Ulid::from_u128(number));
        let ids = [(7 << 64) | 9, (7 << 64) | 3, 8 << 64, (9 << 64) | u128::from(u64::MAX)].map(id);
        for command in ids {
            sample.say_with(command, &mut work, PROPOSAL);
        }
        done(&**store, &[sample.append(&mut work)]);
        let key = sample.fingerprint(Role::Planner);
        let found = |beginning| {
            let (command, performed) = store.command_beginning(&key, beginning).unwrap()?;
            assert_eq!(store.command(&key, command).unwrap(), Some(performed));
            Some(command)
        };
        assert_eq!(found(6), None);
        assert_eq!(found(7), Some(ids[1]));
        assert_eq!(found(8), Some(ids[2]));
        assert_eq!(found(9), Some(ids[3]));
        assert_eq!(found(10), None);
        let other = sample.fingerprint(Role::Critic);
        assert_eq!(store.command_beginning(&other, 7).unwrap(), None);
    }

    /// LED-18
    #[test]
    fn first_mark_of_failure_stays(store) {
        let mut sample = Sample::in_store(&**store);
        let mut works = [sample.open(), sample.open()];
        for work in &mut works {
            done(&**store, &[sample.append(work)]);
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
