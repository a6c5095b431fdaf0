//! Commands that change records: with their event or not at all, and nobody else is refused for it.

use std::{
    sync::Barrier,
    task::{Context, Poll, Waker},
    thread,
};

use demur_sequencer::{Progress, SequencerError};
use demur_store::contract::{RecordKey, RecordValue, Swap, Version};
use demur_testing::{hall::Hall, sample::rounds};

fn hall() -> (tempfile::TempDir, Hall) {
    let folder = tempfile::tempdir().unwrap();
    let hall = Hall::create(&folder.path().join("store"));
    (folder, hall)
}

fn key() -> RecordKey {
    RecordKey::new("idempotency/anna/1").unwrap()
}

/// Returns the swap of whoever believes that nobody has used the key.
fn first(bytes: &[u8]) -> Swap {
    let next = RecordValue { bytes: bytes.to_vec(), expires: None };
    Swap { key: key(), was: Version::ABSENT, next: Some(next) }
}

#[test]
fn record_changes_with_its_command() {
    let (_folder, hall) = hall();
    let (sequencer, trace) = (hall.sequencer(), hall.new_trace());
    sequencer.perform_with(trace, &hall.asking(trace), &[first(b"one")]).unwrap();
    assert!(sequencer.store().trace(trace).unwrap().is_some());
    assert_eq!(sequencer.store().record(&key()).unwrap().unwrap().value.bytes, b"one");
}

#[test]
fn command_whose_record_changed_leaves_nothing() {
    let (_folder, hall) = hall();
    let sequencer = hall.sequencer();
    let [one, other, third] = [hall.new_trace(), hall.new_trace(), hall.new_trace()];
    sequencer.perform_with(one, &hall.asking(one), &[first(b"one")]).unwrap();
    let late = sequencer.perform_with(other, &hall.asking(other), &[first(b"other")]);
    assert!(matches!(late, Err(SequencerError::RecordChanged)), "{late:?}");
    let mut underway = sequencer.begin_with(third, &hall.asking(third), &[first(b"third")]).unwrap().unwrap();
    let context = Context::from_waker(Waker::noop());
    let Poll::Ready(Ok(Progress::Lead(leader))) = underway.poll(&context) else { panic!("nobody writes") };
    sequencer.lead(leader);
    let told = underway.poll(&context);
    assert!(matches!(told, Poll::Ready(Err(SequencerError::RecordChanged))), "{told:?}");
    for trace in [other, third] {
        assert_eq!(sequencer.store().trace(trace).unwrap(), None);
        // It is as if nothing had been said.
        sequencer.perform(trace, &hall.asking(trace)).unwrap();
    }
    assert_eq!(sequencer.store().record(&key()).unwrap().unwrap().value.bytes, b"one");
}

/// A refusal is recorded in the place of what was refused, and uses up no key.
#[test]
fn refused_command_changes_no_record() {
    let (_folder, hall) = hall();
    let (sequencer, trace) = (hall.sequencer(), hall.new_trace());
    let asked = hall.ask(trace, None);
    let attempt = hall.answering(trace, asked);
    sequencer.perform(trace, &attempt).unwrap();
    let again = sequencer.perform_with(trace, &hall.answering(trace, asked), &[first(b"late")]);
    assert!(matches!(again, Err(SequencerError::Refused(_))), "{again:?}");
    assert_eq!(sequencer.store().record(&key()).unwrap(), None);
}

/// In one commit and one trace with somebody whose record changed: what came behind is decided again, not refused.
#[test]
fn whoever_needs_no_record_is_not_refused_for_one() {
    let (_folder, hall) = hall();
    let (sequencer, trace, other) = (hall.sequencer(), hall.new_trace(), hall.new_trace());
    sequencer.perform_with(other, &hall.asking(other), &[first(b"taken")]).unwrap();
    let asked = hall.ask(trace, None);
    let second = hall.ask(trace, Some(asked));
    let (late, behind) = (hall.answering(trace, asked), hall.answering(trace, second));
    let mut late = sequencer.begin_with(trace, &late, &[first(b"late")]).unwrap().unwrap();
    let mut behind = sequencer.begin(trace, &behind).unwrap().unwrap();
    let context = Context::from_waker(Waker::noop());
    let Poll::Ready(Ok(Progress::Lead(leader))) = late.poll(&context) else { panic!("nobody writes") };
    sequencer.lead(leader);
    assert!(matches!(late.poll(&context), Poll::Ready(Err(SequencerError::RecordChanged))));
    let told = behind.poll(&context);
    assert!(matches!(told, Poll::Ready(Ok(Progress::Again))), "{told:?}");
    for question in [second, asked] {
        sequencer.perform(trace, &hall.answering(trace, question)).unwrap();
    }
}

/// Beside others in their own traces: whoever needs no record is not hindered.
#[test]
fn one_of_many_has_the_record_and_the_others_go_on() {
    let (_folder, hall) = hall();
    let (sequencer, callers) = (hall.sequencer(), 4);
    for round in 0..rounds(200, 10) {
        let key = RecordKey::new(format!("claim/{round}")).unwrap();
        let start = Barrier::new(2 * callers);
        let won = thread::scope(|scope| {
            let claim = || {
                let trace = hall.new_trace();
                let swap = Swap { key: key.clone(), ..first(b"mine") };
                let command = hall.asking(trace);
                start.wait();
                sequencer.perform_with(trace, &command, &[swap])
            };
            let ask = || {
                let trace = hall.new_trace();
                let command = hall.asking(trace);
                start.wait();
                sequencer.perform(trace, &command).unwrap();
            };
            let claims: Vec<_> = (0..callers).map(|_| scope.spawn(claim)).collect();
            let asks: Vec<_> = (0..callers).map(|_| scope.spawn(ask)).collect();
            for one in asks {
                one.join().unwrap();
            }
            let is_won = |claim: Result<_, SequencerError>| match claim {
                Ok(_) => true,
                Err(SequencerError::RecordChanged) => false,
                Err(error) => panic!("round {round}: {error}"),
            };
            claims.into_iter().map(|one| is_won(one.join().unwrap())).filter(|won| *won).count()
        });
        assert_eq!(won, 1, "round {round}");
    }
}
