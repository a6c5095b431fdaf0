//! What an erasure takes out, and what it leaves.

use demur_ledger::name::Sequence;
use demur_store::contract::{Kept, Snapshot, Store};
use demur_testing::sample::{Sample, Work, done};

behaviour! {
    #[test]
    fn words_go_with_the_event_that_says_so(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.executing();
        done(&**store, &[sample.append(&mut work)]);
        let before = store.events(work.trace(), Sequence::FIRST, 100).unwrap();
        sample.erase(&mut work, 2);
        done(&**store, &[sample.append(&mut work)]);
        let after = store.events(work.trace(), Sequence::FIRST, 100).unwrap();
        assert_eq!(after.len(), before.len() + 1);
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_eq!((&before.bytes, before.hash, &before.head), (&after.bytes, after.hash, &after.head));
            assert_eq!(after.content == Kept::Erased, at == 2, "event {at}");
            assert!(at == 2 || before.content == after.content);
        }
        store.scrub().unwrap();
        assert_eq!(store.check(&mut |_| {}).unwrap(), []);
    }

    /// The same bytes are kept once: they stay while another event names them.
    #[test]
    fn artifact_goes_with_the_last_event_that_names_it(store) {
        let mut sample = Sample::in_store(&**store);
        let (mut one, mut other) = (sample.executing(), sample.executing());
        let address = store.put_artifact(b"the same bytes").unwrap();
        for work in [&mut one, &mut other] {
            sample.record(work, b"the same bytes");
            done(&**store, &[sample.append(work)]);
        }
        erase_last(&mut sample, &**store, &mut one);
        assert_eq!(store.artifact(&address).unwrap().as_deref(), Some(b"the same bytes".as_slice()));
        erase_last(&mut sample, &**store, &mut other);
        assert_eq!(store.artifact(&address).unwrap(), None);
        assert_eq!(store.check(&mut |_| {}).unwrap(), []);
        // Whoever brings them again can keep them again.
        store.put_artifact(b"the same bytes").unwrap();
        let mut third = sample.executing();
        sample.record(&mut third, b"the same bytes");
        done(&**store, &[sample.append(&mut third)]);
        assert_eq!(store.artifact(&address).unwrap().as_deref(), Some(b"the same bytes".as_slice()));
    }

    /// A snapshot may have been made of the words.
    #[test]
    fn snapshots_of_the_trace_are_gone(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.executing();
        let mut append = sample.append(&mut work);
        append.snapshot = Some(Snapshot { head: work.head(), version: 3, bytes: b"words".to_vec() });
        done(&**store, &[append]);
        assert!(store.snapshot(work.trace(), 3).unwrap().is_some());
        sample.erase(&mut work, 2);
        done(&**store, &[sample.append(&mut work)]);
        assert_eq!(store.snapshot(work.trace(), 3).unwrap(), None);
    }
}

fn erase_last(sample: &mut Sample, store: &dyn Store, work: &mut Work) {
    let at = u32::try_from(work.head().sequence.number()).unwrap();
    sample.erase(work, at);
    done(store, &[sample.append(work)]);
    store.scrub().unwrap();
}
