//! What `append` promises: order, compare-and-swap, one outcome each, uniqueness, the registry.

use std::{slice, thread};

use demur_ledger::{event_type::TraceKind, facts::ProposalCreated, name::Sequence, role::Role, state::Phase};
use demur_store::contract::{Conflict, Kept, StoreError, WriteOutcome};
use demur_testing::sample::{Sample, commit, done};

pub(crate) const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

behaviour! {
    /// LED-05
    #[test]
    fn what_is_appended_is_read_back(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.executing();
        store.put_artifact(b"words").unwrap();
        let place = sample.record(&mut work, b"words");
        let append = sample.append(&mut work);
        done(&**store, slice::from_ref(&append));

        let stored = store.events(work.trace(), Sequence::FIRST, 100).unwrap();
        assert_eq!(stored.len(), append.entries.len());
        for (stored, entry) in stored.iter().zip(&append.entries) {
            assert_eq!(stored.bytes, entry.event.bytes());
            assert_eq!(stored.hash, *entry.event.hash());
            assert_eq!(stored.content, Kept::Here(entry.opening.clone().unwrap()));
        }
        let (last, before) = stored.split_last().unwrap();
        assert_eq!(last.artifact, Kept::Here(place));
        assert_eq!(last.head.as_ref(), Some(&append.head));
        assert!(before.iter().all(|stored| stored.head.is_none() && stored.artifact == Kept::Absent));
        assert_eq!(work.run.state().phase(), Some(Phase::Executing));

        let summary = store.trace(work.trace()).unwrap().unwrap();
        assert_eq!(summary.kind, TraceKind::Run);
        assert_eq!(summary.head, work.head());
        assert_eq!(summary.phase, Some(Phase::Executing));
        assert_eq!(summary.opened, append.entries[0].event.envelope().time);
        assert_eq!(summary.changed, append.entries[4].event.envelope().time);
        assert_eq!(summary.failed, None);
    }

    /// LED-05, LED-16
    #[test]
    fn trace_grows_only_from_its_head(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let opening = sample.append(&mut work);
        let mut other = work.clone();
        done(&**store, slice::from_ref(&opening));

        sample.say(&mut work, PROPOSAL);
        sample.say(&mut other, PROPOSAL);
        let (first, second) = (sample.append(&mut work), sample.append(&mut other));
        done(&**store, slice::from_ref(&first));
        for late in [&second, &opening, &first] {
            let refused = [WriteOutcome::Refused(Conflict::Head)];
            assert_eq!(commit(&**store, slice::from_ref(late)).unwrap(), refused);
        }
        assert_eq!(store.trace(work.trace()).unwrap().unwrap().head, work.head());
        assert_eq!(store.events(work.trace(), Sequence::FIRST, 10).unwrap().len(), 3);
    }

    /// LED-16
    #[test]
    fn refused_append_leaves_no_mark_and_hinders_nobody(store) {
        let mut sample = Sample::in_store(&**store);
        let (mut first, mut second) = (sample.open(), sample.open());
        let opening = sample.append(&mut first);
        sample.say(&mut first, PROPOSAL);
        let early = sample.append(&mut first);
        let command = early.entries[0].event.envelope().statement.as_ref().unwrap().command;
        // The second event comes before the first it stands on.
        let outcomes = commit(&**store, &[early, opening, sample.append(&mut second)]).unwrap();
        assert_eq!(outcomes, [WriteOutcome::Refused(Conflict::Head), WriteOutcome::Done, WriteOutcome::Done]);
        assert_eq!(store.events(first.trace(), Sequence::FIRST, 10).unwrap().len(), 2);
        assert_eq!(store.trace(second.trace()).unwrap().unwrap().head, second.head());
        assert_eq!(store.command(&sample.fingerprint(Role::Planner), command).unwrap(), None);
        assert_eq!(store.trace(first.trace()).unwrap().unwrap().phase, Some(Phase::Planning));
    }

    #[test]
    fn command_of_a_key_counts_once_in_the_whole_store(store) {
        let mut sample = Sample::in_store(&**store);
        let (mut first, mut second, mut third) = (sample.open(), sample.open(), sample.open());
        for work in [&mut first, &mut second, &mut third] {
            done(&**store, &[sample.append(work)]);
        }
        let command = sample.command();
        for work in [&mut first, &mut second, &mut third] {
            sample.say_with(command, work, PROPOSAL);
        }
        let [first, second, third] = [&mut first, &mut second, &mut third].map(|work| sample.append(work));
        let refused = WriteOutcome::Refused(Conflict::Command);
        // Within one call and across calls.
        assert_eq!(commit(&**store, &[first.clone(), second]).unwrap(), [WriteOutcome::Done, refused]);
        assert_eq!(commit(&**store, &[third]).unwrap(), [refused]);

        let performed = store.command(&sample.fingerprint(Role::Planner), command).unwrap().unwrap();
        assert_eq!(performed.trace, first.trace);
        assert_eq!(performed.bytes, first.entries[0].event.bytes());
        assert_eq!(store.command(&sample.fingerprint(Role::Critic), command).unwrap(), None);
    }

    #[test]
    fn decision_under_an_older_registry_counts_while_its_keys_stand(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let opening = sample.append(&mut work);
        sample.register(Role::Operator);
        done(&**store, &[sample.registry_append(), opening]);
        let head = store.trace(sample.desk.registry_chain().trace()).unwrap().unwrap().head;
        assert_eq!(head, sample.desk.registry().head());
    }

    #[test]
    fn decision_is_refused_once_its_author_has_changed(store) {
        let mut sample = Sample::in_store(&**store);
        let (mut early, mut late) = (sample.open(), sample.open());
        let [early, late] = [&mut early, &mut late].map(|work| sample.append(work));
        sample.revoke(Role::Planner);
        let registry = sample.registry_append();
        // In one call the registry counts for those after it, not for those before.
        let outcomes = commit(&**store, &[early.clone(), registry, late.clone()]).unwrap();
        assert_eq!(outcomes, [WriteOutcome::Done, WriteOutcome::Done, WriteOutcome::Refused(Conflict::Registry)]);
        assert_eq!(commit(&**store, slice::from_ref(&late)).unwrap(), [WriteOutcome::Refused(Conflict::Registry)]);
        assert_eq!(store.trace(late.trace).unwrap(), None);
        assert!(store.trace(early.trace).unwrap().is_some());
    }

    #[test]
    fn decision_under_a_registry_that_is_not_there_is_refused(store) {
        let mut sample = Sample::in_store(&**store);
        sample.register(Role::Operator);
        let mut work = sample.open();
        let append = sample.append(&mut work);
        let refused = [WriteOutcome::Refused(Conflict::Registry)];
        assert_eq!(commit(&**store, slice::from_ref(&append)).unwrap(), refused);
        let mut stranger = Sample::seeded(12);
        let mut foreign = stranger.open();
        assert_eq!(commit(&**store, &[stranger.append(&mut foreign)]).unwrap(), refused);
        done(&**store, &[sample.registry_append(), append]);
    }

    #[test]
    fn store_has_one_registry(store) {
        let sample = Sample::in_store(&**store);
        let second = Sample::seeded(12).registry_append();
        assert_eq!(commit(&**store, &[second]).unwrap(), [WriteOutcome::Refused(Conflict::Head)]);
        assert_eq!(store.registry().unwrap(), Some(sample.desk.registry_chain().trace()));
    }

    /// LED-12
    #[test]
    fn event_waits_for_the_bytes_it_names(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.executing();
        let place = sample.record(&mut work, b"not there yet");
        let append = sample.append(&mut work);
        let refused = [WriteOutcome::Refused(Conflict::Artifact)];
        assert_eq!(commit(&**store, slice::from_ref(&append)).unwrap(), refused);
        assert_eq!(store.trace(work.trace()).unwrap(), None);
        assert_eq!(store.artifact(&place.address).unwrap(), None);

        assert_eq!(store.put_artifact(b"not there yet").unwrap(), place.address);
        done(&**store, &[append]);
        assert_eq!(store.artifact(&place.address).unwrap().as_deref(), Some(b"not there yet".as_slice()));
    }

    /// LED-05, LED-16
    #[test]
    fn events_that_are_no_chain_are_refused_and_hinder_nobody(store) {
        let mut sample = Sample::in_store(&**store);
        let (mut broken, mut other) = (sample.executing(), sample.open());
        let good = sample.append(&mut broken);
        let mut gap = good.clone();
        gap.entries.remove(1);
        let mut twice = good.clone();
        twice.entries.insert(1, good.entries[0].clone());
        let outcomes = commit(&**store, &[gap, twice, sample.append(&mut other)]).unwrap();
        let refused = WriteOutcome::Refused(Conflict::Head);
        assert_eq!(outcomes, [refused, refused, WriteOutcome::Done]);
        assert_eq!(store.trace(broken.trace()).unwrap(), None);
        done(&**store, &[good]);
    }

    #[test]
    fn parts_that_do_not_belong_together_are_a_mistake_of_the_caller(store) {
        let mut sample = Sample::in_store(&**store);
        let (mut work, mut other) = (sample.executing(), sample.open());
        let good = sample.append(&mut work);
        let mut wrong = vec![good.clone(), good.clone(), good.clone(), good.clone()];
        wrong[0].entries.clear();
        wrong[1].entries.pop();
        wrong[2].entries[0].opening = None;
        wrong[3].entries[0] = sample.append(&mut other).entries[0].clone();
        for append in wrong {
            let error = commit(&**store, &[good.clone(), append]).unwrap_err();
            assert!(matches!(error, StoreError::Misuse { .. }), "{error}");
        }
        assert_eq!(store.trace(work.trace()).unwrap(), None);
        done(&**store, &[good]);
    }

    /// LED-16
    #[test]
    fn one_of_many_racers_extends_the_head(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        done(&**store, &[sample.append(&mut work)]);
        for _ in 0..demur_testing::sample::rounds(1000, 20) {
            let mut racers: Vec<_> = (0..4).map(|_| work.clone()).collect();
            for racer in &mut racers {
                sample.say(racer, PROPOSAL);
            }
            let appends: Vec<_> = racers.iter_mut().map(|racer| sample.append(racer)).collect();
            let outcomes: Vec<_> = thread::scope(|scope| {
                let race = |append| scope.spawn(move || commit(&**store, slice::from_ref(append)).unwrap());
                let threads: Vec<_> = appends.iter().map(race).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            let winner = outcomes.iter().position(|outcome| *outcome == WriteOutcome::Done).unwrap();
            let refused = outcomes.iter().filter(|one| **one == WriteOutcome::Refused(Conflict::Head));
            assert_eq!(refused.count(), 3);
            assert_eq!(store.trace(work.trace()).unwrap().unwrap().head, racers[winner].head());
            work = racers.swap_remove(winner);
        }
    }
}
