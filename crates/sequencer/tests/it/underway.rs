//! Recording without a thread that waits: somebody always writes, whoever leaves, and nothing is told before it is on the
//! disk.

use std::{
    env,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use demur_core::reason::Reason as _;
use demur_engine::command::Command;
use demur_ledger::{name::TraceId, verify::Verdict};
use demur_sequencer::{Acknowledged, Progress, SequencerError, Underway};
use demur_store::memory::MemoryStore;
use demur_testing::hall::Hall;

fn look(underway: &mut Underway) -> Poll<Result<Progress, SequencerError>> {
    underway.poll(&Context::from_waker(Waker::noop()))
}

fn hall() -> (tempfile::TempDir, Hall) {
    let folder = tempfile::tempdir().unwrap();
    let hall = Hall::create(&folder.path().join("store"));
    (folder, hall)
}

fn begin(hall: &Hall) -> (TraceId, Underway) {
    let trace = hall.new_trace();
    (trace, hall.sequencer().at_hand().begin(trace, &hall.asking(trace), &[]).unwrap().unwrap())
}

fn is_recorded(hall: &Hall, trace: TraceId) -> bool {
    hall.sequencer().store().trace(trace).unwrap().is_some()
}

#[test]
fn whoever_comes_first_is_told_to_write_and_writes_for_everybody() {
    let (_folder, hall) = hall();
    let mut all: Vec<_> = (0..8).map(|_| begin(&hall)).collect();
    let Poll::Ready(Ok(Progress::Lead(leader))) = look(&mut all[0].1) else { panic!("nobody writes") };
    assert!(
        all.iter_mut().all(|(trace, underway)| look(underway).is_pending() && !is_recorded(&hall, *trace))
    );
    let before = hall.sequencer().figures().commits;
    hall.sequencer().lead(leader);
    assert_eq!(hall.sequencer().figures().commits, before + 1);
    for (trace, underway) in &mut all {
        let Poll::Ready(Ok(Progress::Recorded(recorded))) = look(underway) else { panic!("not recorded") };
        assert_eq!((recorded.trace, recorded.repeated), (*trace, false));
        assert!(matches!(hall.verdict(*trace).verdict, Verdict::Pass | Verdict::PassWithWarnings));
    }
}

#[test]
fn whoever_leaves_hands_the_pen_on_and_is_recorded_all_the_same() {
    let (_folder, hall) = hall();
    let ((left, first), (told, second), (stays, mut third)) = (begin(&hall), begin(&hall), begin(&hall));
    // One leaves with the lead, the next as soon as it is offered to it.
    drop(first);
    drop(second);
    let Poll::Ready(Ok(Progress::Lead(leader))) = look(&mut third) else { panic!("nobody writes") };
    // A lead that is put down is offered again.
    drop(leader);
    let Poll::Ready(Ok(Progress::Lead(leader))) = look(&mut third) else { panic!("nobody writes") };
    hall.sequencer().lead(leader);
    assert!(matches!(look(&mut third), Poll::Ready(Ok(Progress::Recorded(_)))));
    assert!([left, told, stays].into_iter().all(|trace| is_recorded(&hall, trace)));
}

#[test]
fn what_everybody_left_is_written_with_what_comes_next() {
    let (_folder, hall) = hall();
    let (left, underway) = begin(&hall);
    drop(underway);
    assert!(!is_recorded(&hall, left));
    hall.ask(hall.new_trace(), None);
    assert!(is_recorded(&hall, left));
}

#[test]
fn what_needs_a_wait_or_a_look_is_not_begun() {
    let (_folder, hall) = hall();
    let trace = hall.new_trace();
    let command = hall.asking(trace);
    let underway = hall.sequencer().at_hand().begin(trace, &command, &[]).unwrap().unwrap();
    // The same command is in flight.
    assert!(hall.sequencer().at_hand().begin(trace, &command, &[]).unwrap().is_none());
    drop(underway);
    let asked = hall.sequencer().perform(trace, &command).unwrap();
    assert!(asked.repeated);
    let answer = hall.answering(trace, asked.position);
    let mut underway = hall.sequencer().at_hand().begin(trace, &answer, &[]).unwrap().unwrap();
    // A refusal is recorded behind what it speaks of: who was first is on the disk when somebody hears of it.
    let mut late = hall.sequencer().at_hand().begin(trace, &answer, &[]).unwrap().unwrap();
    assert!(look(&mut late).is_pending());
    let Poll::Ready(Ok(Progress::Lead(leader))) = look(&mut underway) else { panic!("nobody writes") };
    hall.sequencer().lead(leader);
    assert!(matches!(look(&mut underway), Poll::Ready(Ok(Progress::Recorded(_)))));
    let Poll::Ready(Err(refusal)) = look(&mut late) else { panic!("two answers counted") };
    assert!(refusal.to_string().contains("a person"), "{refusal}");
}

/// Returns a hall in memory that tells how often its store was read, and another process on the same store.
fn counted() -> (Arc<MemoryStore>, Hall, Hall) {
    let store = Arc::new(MemoryStore::new());
    let hall = Hall::in_store(store.clone());
    let twin = hall.twin(store.clone());
    (store, hall, twin)
}

/// Whoever begins something runs where nobody may wait for a disk.
#[test]
fn beginning_reads_no_store() {
    let (store, hall, twin) = counted();
    let begin = |hall: &Hall, trace, command: &Command| {
        let before = store.reads();
        let begun = hall.sequencer().at_hand().begin(trace, command, &[]).unwrap();
        assert_eq!(store.reads(), before, "the store was read");
        begun
    };
    let trace = hall.new_trace();
    let asked = wait(&hall, begin(&hall, trace, &hall.asking(trace)).unwrap()).unwrap().position;
    let answer = hall.answering(trace, asked);
    // The other process has neither the trace nor the words of the question.
    assert!(begin(&twin, trace, &answer).is_none());
    // It is in line, and what comes behind it is decided on top of it.
    let underway = begin(&hall, trace, &answer).unwrap();
    let late = begin(&hall, trace, &answer).unwrap();
    assert!(wait(&hall, underway).is_some());
    drop(late);
    // Now the store has more than the other process knows of.
    let other = twin.new_trace();
    wait(&twin, begin(&twin, other, &twin.asking(other)).unwrap()).unwrap();
    assert!(begin(&hall, other, &hall.answering(other, asked)).is_none());
}

/// A trace that was taken for new without a look may be there all the same.
#[test]
fn what_was_begun_by_mistake_leaves_no_wrong_memory() {
    let (_, hall, twin) = counted();
    // One is refused, so no commit says that the trace is there; the other is decided, and the commit says so.
    let [refused, decided] = [hall.new_trace(), hall.new_trace()];
    let asked = [refused, decided].map(|trace| (trace, hall.ask(trace, None)));
    let expired = twin.asking(refused);
    twin.pass(10_000_000);
    assert!(twin.sequencer().at_hand().begin(refused, &expired, &[]).unwrap().is_none());
    let begun = twin.sequencer().at_hand().begin(decided, &twin.asking(decided), &[]).unwrap().unwrap();
    assert!(wait(&twin, begun).is_none());
    for (trace, asked) in asked {
        twin.sequencer().perform(trace, &twin.answering(trace, asked)).unwrap();
        assert_ne!(twin.verdict(trace).verdict, Verdict::Fail);
    }
}

/// Whoever opens a trace has just drawn its id.
#[test]
fn opening_a_trace_reads_no_store_on_a_thread_either() {
    let (store, hall, _) = counted();
    let trace = hall.new_trace();
    let (command, before) = (hall.asking(trace), store.reads());
    hall.sequencer().perform(trace, &command).unwrap();
    assert_eq!(store.reads(), before, "the store was read");
}

/// The other process does not know the trace, and does not look before it decides.
#[test]
fn opening_what_is_there_is_refused_as_if_it_had_been_looked_up() {
    let (_, hall, twin) = counted();
    let trace = hall.new_trace();
    let command = hall.asking(trace);
    let asked = hall.sequencer().perform(trace, &command).unwrap();
    // The same statement was recorded, another one cannot follow.
    let again = twin.sequencer().perform(trace, &command).unwrap();
    assert!(again.repeated && again.position == asked.position, "{again:?}");
    let refused = twin.sequencer().perform(trace, &twin.asking(trace)).unwrap_err();
    assert_eq!(refused.code(), "SEEN_UNKNOWN");
    // What an empty trace would refuse is refused for what the trace has.
    let (_, third, fourth) = counted();
    let trace = third.new_trace();
    third.ask(trace, None);
    let expired = fourth.asking(trace);
    fourth.pass(10_000_000);
    assert_eq!(fourth.sequencer().perform(trace, &expired).unwrap_err().code(), "SEEN_UNKNOWN");
}

/// Wakes a thread.
struct Bell(Thread);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait(hall: &Hall, mut underway: Underway) -> Option<Acknowledged> {
    let waker = Waker::from(Arc::new(Bell(thread::current())));
    let mut next = pin!(poll_fn(move |context| underway.poll(context)));
    loop {
        match next.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(progress) => match progress.unwrap() {
                Progress::Lead(leader) => hall.sequencer().lead(leader),
                Progress::Recorded(recorded) => return Some(recorded),
                Progress::Again => return None,
            },
            Poll::Pending => thread::park(),
        }
    }
}

/// Threads that wait, tasks that are woken and tasks that leave, all at once: everything is recorded and nobody hangs.
#[test]
fn proof_nobody_hangs_whoever_leaves() {
    let (_folder, hall) = hall();
    let rounds = if env::var("DEMUR_PROOF").is_ok_and(|value| value == "full") { 2_000 } else { 60 };
    let recorded = AtomicUsize::new(0);
    thread::scope(|scope| {
        for worker in 0..8 {
            let (hall, recorded) = (&hall, &recorded);
            scope.spawn(move || {
                for round in 0..rounds {
                    let trace = hall.new_trace();
                    let command = hall.asking(trace);
                    match (worker + round) % 4 {
                        0 => drop(hall.sequencer().perform(trace, &command).unwrap()),
                        1 => drop(hall.sequencer().at_hand().begin(trace, &command, &[]).unwrap()),
                        _ => {
                            let underway =
                                hall.sequencer().at_hand().begin(trace, &command, &[]).unwrap().unwrap();
                            wait(hall, underway).unwrap();
                        }
                    }
                    recorded.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    // Whatever was left last goes with this.
    hall.ask(hall.new_trace(), None);
    let events = hall.sequencer().figures().events;
    let registered = hall.sequencer().registry().head().sequence.number();
    assert_eq!(events, recorded.into_inner() as u64 + 1 + registered);
}
