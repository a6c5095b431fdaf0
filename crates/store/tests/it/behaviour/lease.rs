//! What leases promise: every event names its writer, and nobody writes without one that lives.

use demur_core::hash::sha256;
use demur_ledger::name::Sequence;
use demur_store::contract::{
    Conflict, Cursor, LeaseId, RecordKey, RecordValue, StoreError, Swap, Version, Write, WriteOutcome,
};
use demur_testing::sample::{Sample, commit, done};

use super::PROPOSAL;

behaviour! {
    #[test]
    fn lease_is_in_the_list_until_it_ends_in_good_order(store) {
        assert_eq!(store.leases().unwrap(), []);
        let [first, second] = [b"one", b"two"].map(|rules| store.begin_lease(sha256(rules)).unwrap());
        assert_ne!(first.id, second.id);
        assert_eq!((first.rules, second.rules), (sha256(b"one"), sha256(b"two")));
        assert!(first.lives && second.lives);
        assert_eq!(store.leases().unwrap(), [first, second]);
        store.renew_lease(first.id).unwrap();
        for _ in 0..2 {
            store.end_lease(first.id).unwrap();
            assert_eq!(store.leases().unwrap(), [second]);
        }
        assert!(matches!(store.renew_lease(first.id), Err(StoreError::LeaseLost)));
    }

    #[test]
    fn lease_is_never_given_out_twice(store) {
        let mut ids = Vec::new();
        for _ in 0..4 {
            let lease = store.begin_lease(sha256(b"rules")).unwrap();
            store.end_lease(lease.id).unwrap();
            ids.push(lease.id);
        }
        assert!(ids.is_sorted_by(|one, next| one < next) && !ids.contains(&LeaseId::NONE), "{ids:?}");
    }

    #[test]
    fn event_names_its_writer(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let mut writers = Vec::new();
        for _ in 0..3 {
            let lease = store.begin_lease(sha256(b"rules")).unwrap().id;
            let append = sample.append(&mut work);
            writers.extend(append.entries.iter().map(|_| lease));
            assert_eq!(store.commit(&[Write::of_events(lease, append)]).unwrap(), [WriteOutcome::Done]);
            sample.say(&mut work, PROPOSAL);
        }
        let stored = store.events(work.trace(), Sequence::FIRST, 10).unwrap();
        assert_eq!(stored.iter().map(|stored| stored.writer).collect::<Vec<_>>(), writers);
        let log = store.changes(Cursor::START, 100).unwrap();
        let newest = log[log.len() - writers.len()..].iter().map(|(_, stored)| stored.writer);
        assert_eq!(newest.collect::<Vec<_>>(), writers);
    }

    #[test]
    fn nothing_is_appended_without_a_lease_that_lives(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let ended = store.begin_lease(sha256(b"rules")).unwrap().id;
        store.end_lease(ended).unwrap();
        let append = sample.append(&mut work);
        for writer in [ended, LeaseId::NONE] {
            let outcomes = store.commit(&[Write::of_events(writer, append.clone())]).unwrap();
            assert_eq!(outcomes, [WriteOutcome::Refused(Conflict::Lease)]);
        }
        assert_eq!(store.trace(work.trace()).unwrap(), None);
        done(&**store, &[append]);
    }

    /// A process that slept for too long must not speak with two voices: one for its events, one for its records.
    #[test]
    fn dead_writer_swaps_nothing_beside_its_event(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let append = Some(sample.append(&mut work));
        let key = RecordKey::new("claim").unwrap();
        let value = RecordValue { bytes: Vec::new(), expires: None };
        let was = Version::ABSENT;
        let swaps = vec![Swap { key: key.clone(), was, next: Some(value) }];
        let writer = LeaseId::NONE;
        let outcomes = store.commit(&[Write { append, ..Write::of_records(writer, swaps) }]).unwrap();
        assert_eq!(outcomes, [WriteOutcome::Refused(Conflict::Lease)]);
        assert_eq!(store.record(&key).unwrap(), None);
    }

    /// Claims and tokens are records without events: whoever lost its lease must not take them either.
    #[test]
    fn dead_writer_swaps_nothing_alone(store) {
        let dead = store.begin_lease(sha256(b"rules")).unwrap().id;
        let key = RecordKey::new("claim").unwrap();
        let value = RecordValue { bytes: Vec::new(), expires: None };
        let swaps = vec![Swap { key: key.clone(), was: Version::ABSENT, next: Some(value) }];
        store.end_lease(dead).unwrap();
        for writer in [dead, LeaseId::NONE] {
            let outcomes = store.commit(&[Write::of_records(writer, swaps.clone())]).unwrap();
            assert_eq!(outcomes, [WriteOutcome::Refused(Conflict::Lease)]);
            assert_eq!(store.record(&key).unwrap(), None);
        }
        let living = store.begin_lease(sha256(b"rules")).unwrap().id;
        assert_eq!(store.commit(&[Write::of_records(living, swaps)]).unwrap(), [WriteOutcome::Done]);
    }

    #[test]
    fn participants_of_a_run_are_those_it_was_opened_with(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let registry = store.registry().unwrap().unwrap();
        let refused = sample.append(&mut work);
        let early = refused.clone();
        assert_eq!(store.participants(work.trace()).unwrap(), []);
        assert_eq!(commit(&**store, &[early]).unwrap(), [WriteOutcome::Done]);
        let taking_part = store.participants(work.trace()).unwrap();
        assert_eq!(taking_part.len(), 4);
        assert!(taking_part.is_sorted());
        for participant in taking_part {
            assert_eq!(sample.principal(participant.role), participant.principal);
        }
        assert_eq!(store.participants(registry).unwrap(), []);
    }
}
