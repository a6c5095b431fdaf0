//! What reads promise: lists, pages, heads, single hashes.

use demur_core::random::Seeded;
use demur_ledger::{
    event_type::TraceKind,
    name::{Sequence, TraceId},
};
use demur_store::contract::Cursor;
use demur_testing::sample::{Sample, Work, commit, done};

use super::append::PROPOSAL;

behaviour! {
    #[test]
    fn empty_store_has_nothing(store) {
        assert_eq!(store.registry().unwrap(), None);
        assert_eq!(store.newest().unwrap(), None);
        assert_eq!(store.heads().unwrap(), []);
        assert_eq!(store.traces(None, 10).unwrap(), []);
        assert_eq!(commit(&**store, &[]).unwrap(), []);
    }

    #[test]
    fn unknown_trace_has_nothing(store) {
        let sample = Sample::in_store(&**store);
        let now = store.traces(None, 1).unwrap()[0].opened;
        let unknown = TraceId::new(now, &mut Seeded::from_number(5));
        assert_eq!(store.trace(unknown).unwrap(), None);
        assert_eq!(store.events(unknown, Sequence::FIRST, 10).unwrap(), []);
        assert_eq!(store.hash(unknown, Sequence::FIRST).unwrap(), None);
        assert_eq!(store.snapshot(unknown, 1).unwrap(), None);
        assert_eq!(store.traces(Some(unknown), 10).unwrap(), []);
        assert_eq!(store.newest().unwrap(), None);
        assert_eq!(store.registry().unwrap(), Some(sample.desk.registry_chain().trace()));
    }

    #[test]
    fn traces_are_listed_newest_first_in_pages(store) {
        let mut sample = Sample::in_store(&**store);
        let mut works: Vec<_> = (0..5).map(|_| sample.open()).collect();
        // Opened in another order than their ids.
        works.sort_by_key(|work| std::cmp::Reverse(work.trace()));
        let mut expected = vec![sample.desk.registry_chain().trace()];
        for work in &mut works {
            done(&**store, &[sample.append(work)]);
            expected.insert(0, work.trace());
        }
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let page: Vec<_> = store.traces(after, 2).unwrap().iter().map(|one| one.trace).collect();
            after = page.last().copied();
            listed.extend(page);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected);
    }

    #[test]
    fn traces_are_found_by_a_range_of_ids(store) {
        let mut sample = Sample::in_store(&**store);
        let mut works: Vec<_> = (0..5).map(|_| sample.open()).collect();
        for work in &mut works {
            done(&**store, &[sample.append(work)]);
        }
        let mut ids: Vec<_> = works.iter().map(Work::trace).collect();
        ids.sort_unstable();
        let found = |first: usize, last: usize, limit| -> Vec<TraceId> {
            let found = store.traces_between(&(ids[first]..=ids[last]), limit).unwrap();
            found.into_iter().filter(|(_, kind)| *kind != TraceKind::Registry).map(|(id, _)| id).collect()
        };
        assert_eq!(found(0, 4, 10), ids);
        assert_eq!(found(1, 3, 10), ids[1..=3]);
        assert_eq!(found(2, 2, 10), ids[2..=2]);
        assert_eq!(store.traces_between(&(ids[0]..=ids[4]), 2).unwrap().len(), 2);
        assert_eq!(store.traces_between(&(ids[4]..=ids[0]), 2).unwrap(), []);
        let registry = sample.desk.registry_chain().trace();
        assert_eq!(store.traces_between(&(registry..=registry), 9).unwrap(), [(registry, TraceKind::Registry)]);
    }

    #[test]
    fn newest_is_where_the_last_event_is(store) {
        let mut sample = Sample::in_store(&**store);
        let mut works = [sample.open(), sample.open()];
        for work in &mut works {
            done(&**store, &[sample.append(work)]);
        }
        assert_eq!(store.newest().unwrap(), Some(works[1].trace()));
        sample.say(&mut works[0], PROPOSAL);
        done(&**store, &[sample.append(&mut works[0])]);
        sample.revoke(demur_ledger::role::Role::Auditor);
        done(&**store, &[sample.registry_append()]);
        assert_eq!(store.newest().unwrap(), Some(works[0].trace()));
    }

    #[test]
    fn heads_are_sorted_and_complete(store) {
        let mut sample = Sample::in_store(&**store);
        let mut works: Vec<_> = (0..8).map(|_| sample.executing()).collect();
        works.sort_by_key(|work| std::cmp::Reverse(work.trace()));
        let mut expected = vec![(sample.desk.registry_chain().trace(), sample.desk.registry().head())];
        for work in &mut works {
            done(&**store, &[sample.append(work)]);
            expected.push((work.trace(), work.head()));
        }
        expected.sort_unstable();
        assert_eq!(store.heads().unwrap(), expected);
    }

    #[test]
    fn heads_of_an_earlier_moment_stay_what_they_were(store) {
        let mut sample = Sample::in_store(&**store);
        let (mut one, mut other) = (sample.open(), sample.open());
        assert_eq!(store.heads_at(Cursor::START).unwrap(), []);
        let mut moments = vec![(store.end().unwrap(), store.heads().unwrap())];
        for work in [&mut one, &mut other] {
            done(&**store, &[sample.append(work)]);
            moments.push((store.end().unwrap(), store.heads().unwrap()));
        }
        sample.say(&mut one, PROPOSAL);
        done(&**store, &[sample.append(&mut one)]);
        moments.push((store.end().unwrap(), store.heads().unwrap()));
        assert!(moments.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
        for (cursor, heads) in moments {
            assert_eq!(store.heads_at(cursor).unwrap(), heads);
        }
    }

    /// LED-05
    #[test]
    fn events_are_read_from_any_place_in_order(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.executing();
        done(&**store, &[sample.append(&mut work)]);
        let all = store.events(work.trace(), Sequence::FIRST, 10).unwrap();
        assert_eq!(all.len(), 4);
        for from in 0..5_u32 {
            let page = store.events(work.trace(), from.into(), 2).unwrap();
            let rest = &all[from as usize..];
            assert_eq!(page, rest[..rest.len().min(2)]);
            let hash = store.hash(work.trace(), from.into()).unwrap();
            assert_eq!(hash, rest.first().map(|stored| stored.hash));
        }
        assert_eq!(store.events(work.trace(), Sequence::FIRST, 0).unwrap(), []);
    }
}
