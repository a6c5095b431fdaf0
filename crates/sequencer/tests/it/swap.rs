//! Commands that change records: with their event or not at all, and nobody else is refused for it.

use std::{
    sync::{Arc, Barrier, mpsc},
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

use demur_engine::command::{Command, Consequences};
use demur_ledger::{admission::Checked, facts::ProposalCreated};
use demur_sequencer::{Progress, Sequencer, SequencerError};
use demur_store::{
    contract::{RecordKey, RecordValue, Store, Swap, Version},
    memory::MemoryStore,
};
use demur_testing::{
    hall::Hall,
    meanwhile::Meanwhile,
    office::{Office, POLICY},
    sample::rounds,
};

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
    let mut underway =
        sequencer.at_hand().begin(third, &hall.asking(third), &[first(b"third")]).unwrap().unwrap();
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
    let mut late = sequencer.at_hand().begin(trace, &late, &[first(b"late")]).unwrap().unwrap();
    let mut behind = sequencer.at_hand().begin(trace, &behind, &[]).unwrap().unwrap();
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

/// Whoever decides may read for long. Whoever writes tells it what became of the trace, and waits for nothing.
#[test]
fn whoever_writes_waits_for_nobody_who_decides() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let office = Office::create(Arc::clone(&store));
    let run = office.open();
    let ((reached, arrived), (release, go)) = (mpsc::channel(), mpsc::channel::<()>());
    let system = Meanwhile::new(office.clock.clone(), move || {
        reached.send(()).unwrap();
        go.recv().unwrap();
    });
    let key = office.desk.clone();
    let sequencer = Sequencer::open(store, move |_| Some(key.clone()), Box::new(system.clone())).unwrap();
    let [first_said, refused, deciding] = [(); 3].map(|()| {
        let facts = ProposalCreated { fallback_for: None, replaces: None };
        let submission = office.submission(&run, facts);
        let said = Checked::new(submission, Some(&sequencer.registry())).unwrap();
        Command::submit(said, None, Consequences::default())
    });
    sequencer.perform(run.trace, &first_said).unwrap();
    // One that will be refused for its record, and nobody writes yet.
    sequencer.swap(vec![first(b"taken")]).unwrap();
    let begun = sequencer.at_hand().begin(run.trace, &refused, &[first(b"late")]);
    let mut underway = begun.unwrap().unwrap();
    let context = Context::from_waker(Waker::noop());
    let Poll::Ready(Ok(Progress::Lead(leader))) = underway.poll(&context) else { panic!("nobody writes") };
    system.at_look(1);
    thread::scope(|scope| {
        let decider = scope.spawn(|| sequencer.perform(run.trace, &deciding));
        // It has its turn now, and keeps it.
        arrived.recv().unwrap();
        let ((written, told), sequencer) = (mpsc::channel(), &sequencer);
        scope.spawn(move || {
            sequencer.lead(leader);
            written.send(()).unwrap();
        });
        let in_time = told.recv_timeout(Duration::from_secs(10));
        release.send(()).unwrap();
        in_time.expect("the writer waited for somebody who decides");
        assert!(matches!(underway.poll(&context), Poll::Ready(Err(SequencerError::RecordChanged))));
        let sequence = decider.join().unwrap().unwrap().position.sequence;
        assert_eq!(sequence, POLICY.next().next(), "it follows the first that was said");
    });
}

#[test]
fn records_that_change_alone_stand_in_line_and_share_a_commit() {
    let (_folder, hall) = hall();
    let (sequencer, trace) = (hall.sequencer(), hall.new_trace());
    let mut underway = sequencer.at_hand().begin(trace, &hall.asking(trace), &[]).unwrap().unwrap();
    let context = Context::from_waker(Waker::noop());
    let Poll::Ready(Ok(Progress::Lead(leader))) = underway.poll(&context) else { panic!("nobody writes") };
    thread::scope(|scope| {
        let (told, heard) = mpsc::channel();
        scope.spawn(move || told.send(sequencer.swap(vec![first(b"one")])).unwrap());
        heard.recv_timeout(Duration::from_millis(100)).unwrap_err();
        // It writes for everybody in line, so that nobody else has to.
        sequencer.lead(leader);
        heard.recv().unwrap().unwrap();
    });
    assert_eq!(sequencer.store().record(&key()).unwrap().unwrap().value.bytes, b"one");
    let late = sequencer.swap(vec![first(b"two")]);
    assert!(matches!(late, Err(SequencerError::RecordChanged)), "{late:?}");
}
