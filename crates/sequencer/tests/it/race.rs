//! Answerers who race for one question, through the engine, the queues and SQLite on a disk: one of them wins, and
//! everybody else is told who did (`docs/format.md` 11, ONE-02).

use std::{
    collections::BTreeMap,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use demur_engine::refusal::RuleRefusal;
use demur_ledger::{
    envelope::Event,
    event_type::Facts,
    name::{Position, Sequence, TraceId},
    verify::Verdict,
};
use demur_sequencer::{Acknowledged, SequencerError};
use demur_testing::{
    hall::{Attempt, Hall},
    sample::rounds,
};

/// ONE-02 AEP-06
#[test]
fn proof_two_answerers_race_and_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let hall = Hall::create(&folder.path().join("data"));
    let races = rounds(10_000, 100);
    let mut tally = Tally::default();
    for first in (0..races).step_by(RACES_PER_TRACE) {
        heat(&hall, first..races.min(first + RACES_PER_TRACE), &mut tally);
    }
    assert_eq!(tally.wins.values().sum::<usize>(), races);
    assert_eq!(tally.wins.len(), 3, "somebody never won: {tally:?}");
    assert!(tally.side_by_side > 0, "nobody ever raced: {tally:?}");
    eprintln!("{races} races: {tally:?}");
}

/// AEP-06 AEP-07
#[test]
fn deadlines_and_answers_outlive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("data");
    let hall = Hall::create(&folder);
    let [in_time, late] = [hall.new_trace(), hall.new_trace()];
    let asked = [in_time, late].map(|trace| hall.ask_for(trace, 60_000));
    let hall = hall.restarted(&folder);
    let first = hall.attempts(in_time, asked[0], false);
    hall.send(&first[0]).unwrap();
    let hall = hall.restarted(&folder);
    let code = |sent: Result<Acknowledged, SequencerError>| match sent {
        Err(SequencerError::Refused(refusal)) => refusal.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(hall.send(&first[1])), "ALREADY_ANSWERED");
    assert!(hall.send(&first[0]).unwrap().repeated, "the same bytes get the stored result");
    let second = hall.attempts(late, asked[1], true);
    hall.pass(60_000);
    let hall = hall.restarted(&folder);
    // Nobody recorded that it expired: the deadline in the ledger and the clock are enough.
    for attempt in &second {
        assert_eq!(code(hall.send(attempt)), "QUESTION_EXPIRED");
    }
}

/// What came of all races.
#[derive(Debug, Default)]
struct Tally {
    wins: BTreeMap<String, usize>,
    losers_told: usize,
    /// Races in which the last one began before the first one was done.
    side_by_side: usize,
    losers_back: usize,
    winners_back: usize,
}

/// One contestant after the race.
struct Ran {
    attempt: Attempt,
    began: Duration,
    ended: Duration,
    outcome: Result<Acknowledged, SequencerError>,
}

/// Runs these races in one trace, then holds the record against what everybody was told.
fn heat(hall: &Hall, races: std::ops::Range<usize>, tally: &mut Tally) {
    let trace = hall.new_trace();
    let (mut seen, mut won) = (None, BTreeMap::new());
    for race in races {
        let asked = hall.ask(trace, seen);
        let mut attempts = hall.attempts(trace, asked, race % 3 == 0);
        // Whoever comes to the barrier last is awake first: nobody shall always be the one.
        let count = attempts.len();
        attempts.rotate_left(race % count);
        let ran = run(hall, attempts);
        let position = judge(hall, &ran, race % 5 == 0, tally);
        won.insert(asked.sequence, position.sequence);
        seen = Some(position);
    }
    check_record(hall, trace, &won);
}

/// Sends all attempts at the same moment, each from a thread of its own.
fn run(hall: &Hall, attempts: Vec<Attempt>) -> Vec<Ran> {
    let barrier = Barrier::new(attempts.len());
    let start = Instant::now();
    thread::scope(|scope| {
        let contestant = |attempt: Attempt| {
            barrier.wait();
            let began = start.elapsed();
            let outcome = hall.send(&attempt);
            Ran { attempt, began, ended: start.elapsed(), outcome }
        };
        let threads: Vec<_> =
            attempts.into_iter().map(|attempt| scope.spawn(move || contestant(attempt))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Checks that there is one winner whom every loser was told, now and when they come back; returns its event.
fn judge(hall: &Hall, ran: &[Ran], come_back: bool, tally: &mut Tally) -> Position {
    let (winners, losers): (Vec<_>, Vec<_>) = ran.iter().partition(|ran| ran.outcome.is_ok());
    assert_eq!(winners.len(), 1, "{:?}", ran.iter().map(|ran| &ran.outcome).collect::<Vec<_>>());
    let (winner, given) = (&winners[0].attempt, winners[0].outcome.as_ref().unwrap());
    assert!(!given.repeated, "{given:?}");
    let told = format!("already answered by {} in event {} at ", winner.name(), given.position.sequence);
    for loser in &losers {
        assert_told(&loser.outcome, &told);
        if come_back && loser.attempt.has_key() {
            assert_told(&hall.send(&loser.attempt), &told);
            tally.losers_back += 1;
        }
    }
    if come_back && winner.has_key() {
        let again = hall.send(winner).unwrap();
        assert_eq!(again, Acknowledged { repeated: true, ..*given });
        tally.winners_back += 1;
    }
    *tally.wins.entry(winner.name()).or_default() += 1;
    tally.losers_told += losers.len();
    let last_began = ran.iter().map(|ran| ran.began).max();
    tally.side_by_side += usize::from(last_began < ran.iter().map(|ran| ran.ended).min());
    given.position
}

#[track_caller]
fn assert_told(outcome: &Result<Acknowledged, SequencerError>, told: &str) {
    let Err(SequencerError::Refused(RuleRefusal { code, message, .. })) = outcome else {
        panic!("expected a refusal, found {outcome:?}")
    };
    assert_eq!(*code, "ALREADY_ANSWERED");
    assert!(message.contains(told), "expected `{told}`, found `{message}`");
}

/// Checks that the trace has exactly these answers, and that its export holds.
fn check_record(hall: &Hall, trace: TraceId, won: &BTreeMap<Sequence, Sequence>) {
    let mut answers = Vec::new();
    for stored in hall.sequencer().store().events(trace, Sequence::FIRST, MOST_EVENTS).unwrap() {
        let event = Event::parse(&stored.bytes).unwrap();
        if let Facts::QuestionAnswered(facts) = event.said().unwrap().facts {
            answers.push((facts.question.sequence, event.position().sequence));
        }
    }
    assert_eq!(answers, won.iter().map(|(question, answer)| (*question, *answer)).collect::<Vec<_>>());

    let report = hall.verdict(trace);
    assert!(matches!(report.verdict, Verdict::Pass | Verdict::PassWithWarnings), "{:?}", report.findings);
    assert_eq!(report.questions.len(), won.len());
    for question in &report.questions {
        assert_eq!(question.outcome, "answered");
        assert_eq!(question.answer, won.get(&question.question).copied());
    }
}

const RACES_PER_TRACE: usize = 100;
/// A question, an answer, and what two losers leave who come back once: some refusals are recorded.
const MOST_EVENTS: usize = 6 * RACES_PER_TRACE;
