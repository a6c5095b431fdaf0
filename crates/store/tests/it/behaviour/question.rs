//! What is promised of the list of questions: it stands as the events left it, in the order of asking, in pages.

use std::slice;

use demur_core::time::Timestamp;
use demur_ledger::{
    event_type::Facts,
    facts::{
        AnswerClaimed, AnswerRevoked, AnswerSuperseded, Answerers, Assurance, GapAccepted, GapWithdrawn,
        Question, QuestionAsked, QuestionCancelled, QuestionDeclined, QuestionDefaulted, QuestionDelivered,
        QuestionEscalated, QuestionExpired, QuestionExtended, QuestionPassedOn, Severity,
    },
    name::{Position, Sequence},
    question::OutcomeKind,
    role::Role,
};
use demur_sequencer::System as _;
use demur_store::contract::{
    Conflict, Cursor, Failure, QuestionFilter, QuestionRow, QuestionSummary, Store, WriteOutcome,
};
use demur_testing::{
    hall::question,
    inquiry::{Inquiry, typed},
    office::Run,
    sample::{Sample, commit, done, list, text},
};

/// Returns the whole list.
fn all(store: &dyn Store) -> Vec<QuestionSummary> {
    store.questions(&QuestionFilter::default(), None, 10_000).unwrap()
}

/// Expects how a question stands after its newest event.
fn expect(inquiry: &Inquiry, run: &Run, asked: Position, outcome: OutcomeKind) {
    let shown = inquiry.shown(run, asked).unwrap();
    let changed = run.seen.unwrap().sequence;
    assert_eq!((shown.row.outcome, shown.row.changed), (outcome, changed), "after event {changed}");
    assert_eq!((shown.trace, shown.sequence), (run.trace, asked.sequence));
    let state = inquiry.office.sequencer.look(run.trace).unwrap();
    assert_eq!(shown.row, QuestionRow::from(state.questions().unwrap().find(asked.sequence).unwrap()));
}

fn due_in(inquiry: &Inquiry, millis: u64) -> Timestamp {
    inquiry.office.clock.now().plus_millis(millis)
}

/// Returns a question that may also be accepted.
fn warning() -> Question {
    Question { severity: Severity::Warn, blocks: list([]), ..question() }
}

const PEOPLE: Answerers = Answerers { people: true, principals: None };

/// Makes a list with several outcomes, both severities and both kinds of answerers, asked by two agents and the desk.
fn various(inquiry: &Inquiry) -> Vec<Run> {
    let keys = Answerers { people: false, principals: None };
    let mut runs = Vec::new();
    for number in 0..24 {
        let form = if number / 3 % 2 == 0 { question() } else { warning() };
        let answerers = if number % 5 == 0 { keys.clone() } else { PEOPLE };
        let deadline = (number % 4 == 0).then(|| due_in(inquiry, 10_000));
        let asks = Question { answerers, deadline, ..form };
        let (mut run, asked) = if number % 6 == 5 {
            let mut run = inquiry.plan();
            let asked = inquiry.find(&mut run, asks);
            (run, asked)
        } else {
            let mut run = inquiry.trace();
            let asked = inquiry.say(number % 2, &mut run, QuestionAsked(asks));
            (run, asked)
        };
        let question = asked.sequence;
        match number {
            1 | 2 => drop(inquiry.tell(&mut run, Role::Person, typed(asked))),
            3 => drop(inquiry.tell(&mut run, Role::Person, QuestionDeclined { attribution: None, question })),
            5 => drop(inquiry.tell(&mut run, Role::Desk, GapWithdrawn { question })),
            6 | 7 => drop(inquiry.say(number % 2, &mut run, QuestionCancelled { question })),
            11 => {
                let facts =
                    GapAccepted { attribution: None, assurance: Assurance::Terminal, question: asked };
                inquiry.tell(&mut run, Role::Person, facts);
            }
            _ => {}
        }
        runs.push(run);
    }
    // A second question in a trace that has one.
    inquiry.say(0, &mut runs[8], QuestionAsked(question()));
    runs
}

behaviour! {
    #[test]
    fn what_becomes_of_a_question_shows_at_once(store) {
        let inquiry = Inquiry::new(store);
        let deadline = due_in(&inquiry, 60_000);
        let (mut run, asked) = inquiry.ask(Question { deadline: Some(deadline), ..question() });
        let question = asked.sequence;
        expect(&inquiry, &run, asked, OutcomeKind::Open);
        let given = inquiry.tell(&mut run, Role::Person, typed(asked)).sequence;
        expect(&inquiry, &run, asked, OutcomeKind::Answered);
        let again = AnswerSuperseded { answer: typed(asked), replaces: given };
        let given = inquiry.tell(&mut run, Role::Person, again).sequence;
        expect(&inquiry, &run, asked, OutcomeKind::Answered);
        inquiry.tell(&mut run, Role::Person, AnswerRevoked { attribution: None, answer: given, question });
        expect(&inquiry, &run, asked, OutcomeKind::Open);
        inquiry.tell(&mut run, Role::Person, QuestionPassedOn { attribution: None, answerers: PEOPLE, question });
        expect(&inquiry, &run, asked, OutcomeKind::Open);
        let later = deadline.plus_millis(1_000);
        inquiry.say(0, &mut run, QuestionExtended { deadline: later, question });
        expect(&inquiry, &run, asked, OutcomeKind::Open);
        assert_eq!(inquiry.shown(&run, asked).unwrap().row.deadline, Some(later));
        inquiry.tell(&mut run, Role::Person, QuestionDeclined { attribution: None, question });
        expect(&inquiry, &run, asked, OutcomeKind::Declined);
        let keys = Answerers { people: false, principals: None };
        let assurance = Assurance::Agent;
        inquiry.tell(&mut run, Role::Desk, QuestionEscalated { answerers: keys, assurance, deadline: None, question });
        expect(&inquiry, &run, asked, OutcomeKind::Open);
        let row = inquiry.shown(&run, asked).unwrap().row;
        assert_eq!((row.people, row.deadline), (false, None));
        inquiry.say(0, &mut run, QuestionCancelled { question });
        expect(&inquiry, &run, asked, OutcomeKind::Cancelled);
    }

    #[test]
    fn what_the_clock_does_to_a_question_shows_at_once(store) {
        let inquiry = Inquiry::new(store);
        let deadline = Some(due_in(&inquiry, 5_000));
        let (mut plain, first) = inquiry.ask(Question { deadline, ..question() });
        let (mut usual, second) = inquiry.ask(Question { deadline, default: true, ..question() });
        inquiry.office.clock.pass(5_000);
        inquiry.tell(&mut plain, Role::Desk, QuestionExpired { question: first.sequence });
        expect(&inquiry, &plain, first, OutcomeKind::Expired);
        inquiry.tell(&mut usual, Role::Desk, QuestionDefaulted { question: second.sequence });
        expect(&inquiry, &usual, second, OutcomeKind::Defaulted);
    }

    #[test]
    fn what_becomes_of_a_gap_shows_at_once(store) {
        let inquiry = Inquiry::new(store);
        let mut run = inquiry.plan();
        let desk = inquiry.office.sequencer.registry().desk();
        let accepted = inquiry.find(&mut run, warning());
        expect(&inquiry, &run, accepted, OutcomeKind::Open);
        let row = inquiry.shown(&run, accepted).unwrap().row;
        assert_eq!(row.asker, desk);
        // It counts for whoever submitted the plan (ONE-15).
        let submitter = row.submitter.unwrap();
        assert_eq!(store.open_holders().unwrap(), [submitter]);
        let of = |asker, with_gaps| {
            let filter = QuestionFilter { asker: Some(asker), with_gaps, ..QuestionFilter::default() };
            store.questions(&filter, None, 9).unwrap().len()
        };
        assert_eq!((of(submitter, true), of(submitter, false), of(desk, true)), (1, 0, 0));
        let facts = GapAccepted { attribution: None, assurance: Assurance::Terminal, question: accepted };
        inquiry.tell(&mut run, Role::Person, facts);
        expect(&inquiry, &run, accepted, OutcomeKind::Accepted);
        let withdrawn = inquiry.find(&mut run, question());
        inquiry.tell(&mut run, Role::Desk, GapWithdrawn { question: withdrawn.sequence });
        expect(&inquiry, &run, withdrawn, OutcomeKind::Withdrawn);
    }

    #[test]
    fn question_shows_the_end_of_a_commit_in_which_more_happened_to_it(store) {
        let inquiry = Inquiry::new(store);
        let mut run = inquiry.trace();
        let mut series = inquiry.office.sequencer.series();
        let mut decide = |facts: Facts| {
            let decided = series.submit(inquiry.submission(0, &run, facts), None).unwrap();
            run.seen = Some(decided.events.last().unwrap().event.position());
            run.seen.unwrap()
        };
        let first = decide(QuestionAsked(question()).into());
        let second = decide(QuestionAsked(question()).into());
        decide(QuestionCancelled { question: second.sequence }.into());
        decide(QuestionCancelled { question: first.sequence }.into());
        assert_eq!(all(&**store), []);
        series.commit().unwrap();
        expect(&inquiry, &run, first, OutcomeKind::Cancelled);
        let changed = inquiry.shown(&run, second).unwrap().row.changed;
        assert_eq!((changed, all(&**store).len()), (Sequence::from(2), 2));
    }

    #[test]
    fn delivery_changes_nothing_and_a_claim_is_told(store) {
        let inquiry = Inquiry::new(store);
        let (mut run, asked) = inquiry.ask(question());
        let before = inquiry.shown(&run, asked).unwrap();
        let question = asked.sequence;
        inquiry.tell(&mut run, Role::Desk, QuestionDelivered { question, to: None });
        assert_eq!(inquiry.shown(&run, asked), Some(before));
        assert_eq!(before.row.changed, question);
        // Whoever has the question before them is to see what the asker would answer; it stays open.
        inquiry.say(0, &mut run, AnswerClaimed { question });
        let after = inquiry.shown(&run, asked).unwrap();
        assert_eq!((after.row.outcome, after.row.changed), (before.row.outcome, Sequence::from(2)));
    }

    #[test]
    fn gap_put_again_stands_under_its_new_cursor_only(store) {
        let inquiry = Inquiry::new(store);
        let mut run = inquiry.plan();
        let first = inquiry.find(&mut run, question());
        let (_, other) = inquiry.ask(question());
        let old = inquiry.shown(&run, first).unwrap();
        let second = inquiry.find(&mut run, Question { repeats: Some(first.sequence), ..question() });
        assert_eq!(inquiry.shown(&run, first), None);
        expect(&inquiry, &run, second, OutcomeKind::Open);
        let list = all(&**store);
        assert_eq!(list.iter().map(|one| one.sequence).collect::<Vec<_>>(), [other.sequence, second.sequence]);
        assert!(list.iter().all(|one| one.cursor > old.cursor));
        assert_eq!(store.question_counts().unwrap(), [(OutcomeKind::Open, 2)]);
    }

    #[test]
    fn list_is_in_the_order_of_asking_whatever_happened_since(store) {
        let inquiry = Inquiry::new(store);
        let runs = various(&inquiry);
        let list = all(&**store);
        assert_eq!(list.len(), 25);
        assert!(list.is_sorted_by_key(|one| one.cursor));
        let changes = store.changes(Cursor::START, 10_000).unwrap();
        for one in &list {
            let stored = store.events(one.trace, one.sequence, 1).unwrap().pop().unwrap();
            assert!(changes.contains(&(one.cursor, stored.clone())));
            let event = demur_ledger::envelope::Event::parse(&stored.bytes).unwrap();
            assert_eq!(event.envelope().time, one.asked);
        }
        let folded = runs.iter().flat_map(|run| {
            let state = inquiry.office.sequencer.look(run.trace).unwrap();
            let questions = state.questions().unwrap().clone();
            let rows = questions.iter().map(|(at, asked)| (at, QuestionRow::from(asked))).collect::<Vec<_>>();
            rows.into_iter().map(|(at, row)| (run.trace, at, row))
        });
        let mut folded: Vec<_> = folded.collect();
        let mut listed: Vec<_> = list.iter().map(|one| (one.trace, one.sequence, one.row)).collect();
        folded.sort_by_key(|(trace, at, _)| (*trace, *at));
        listed.sort_by_key(|(trace, at, _)| (*trace, *at));
        assert_eq!(listed, folded);
    }

    #[test]
    fn every_filter_shows_what_it_admits_in_pages_either_way(store) {
        let inquiry = Inquiry::new(store);
        let runs = various(&inquiry);
        let list = all(&**store);
        let outcomes = [None, Some(vec![]), Some(vec![OutcomeKind::Open]), Some(OutcomeKind::ALL.to_vec()),
            Some(vec![OutcomeKind::Cancelled, OutcomeKind::Answered, OutcomeKind::Open])];
        let desk = inquiry.office.sequencer.registry().desk();
        let askers = [(None, false), (Some(inquiry.agent(0)), false), (Some(inquiry.agent(0)), true),
            (Some(inquiry.agent(1)), true), (Some(desk), false), (Some(desk), true)];
        let severities = [None, Some(Severity::Block), Some(Severity::Warn)];
        let mut sizes = std::collections::BTreeSet::new();
        for outcomes in outcomes {
            for (asker, with_gaps) in askers {
                for severity in severities {
                    for (people, trace) in [(None, None), (Some(true), None), (Some(false), None),
                        (None, Some(runs[8].trace)), (Some(true), Some(runs[8].trace))] {
                        let outcomes = outcomes.clone();
                        let newest_first = false;
                        let filter = QuestionFilter { outcomes, trace, asker, with_gaps, severity, people, newest_first };
                        sizes.insert(check_pages(&**store, &list, &filter));
                    }
                }
            }
        }
        assert!(sizes.len() > 8, "the filters show little: {sizes:?}");
    }

    #[test]
    fn due_questions_come_by_deadline_and_not_before_it(store) {
        let inquiry = Inquiry::new(store);
        assert_eq!(store.next_deadline().unwrap(), None);
        let now = inquiry.office.clock.now();
        let at = |seconds: u64| now.plus_millis(1_000 * (100 + seconds));
        let mut asked = Vec::new();
        for seconds in [30, 10, 20, 10] {
            asked.push(inquiry.ask(Question { deadline: Some(at(seconds)), ..question() }));
        }
        inquiry.ask(question());
        let due = |now: Timestamp, limit| {
            let due = store.due_questions(now, limit).unwrap();
            due.into_iter().map(|one| one.trace).collect::<Vec<_>>()
        };
        let traces: Vec<_> = asked.iter().map(|(run, _)| run.trace).collect();
        let just_before = Timestamp::from_millis(at(10).as_millis() - 1).unwrap();
        assert_eq!(store.next_deadline().unwrap(), Some(at(10)));
        assert_eq!(due(just_before, 10), []);
        assert_eq!(due(at(10), 10), [traces[1], traces[3]]);
        assert_eq!(due(at(30), 10), [traces[1], traces[3], traces[2], traces[0]]);
        assert_eq!(due(at(30), 3), [traces[1], traces[3], traces[2]]);
        let (mut run, position) = asked[1];
        inquiry.tell(&mut run, Role::Person, typed(position));
        let (mut run, position) = asked[3];
        let question = position.sequence;
        inquiry.say(0, &mut run, QuestionExtended { deadline: at(25), question });
        assert_eq!(store.next_deadline().unwrap(), Some(at(20)));
        assert_eq!(due(at(30), 10), [traces[2], traces[3], traces[0]]);
    }

    #[test]
    fn what_can_no_longer_be_recorded_is_never_due(store) {
        let inquiry = Inquiry::new(store);
        let due = due_in(&inquiry, 20_000);
        let deadline = Some(due);
        let mut run = inquiry.office.open();
        inquiry.office.say(&mut run, QuestionAsked(Question { deadline, ..question() })).unwrap();
        let (failed, _) = inquiry.ask(Question { deadline, ..question() });
        assert_eq!(store.due_questions(due, 10).unwrap().len(), 2);
        inquiry.office.sequencer.abort(run.trace, text("enough")).unwrap();
        let failure = Failure { sequence: None, code: "CHAIN".to_owned() };
        inquiry.office.sequencer.mark_failed(failed.trace, &failure).unwrap();
        assert_eq!(store.due_questions(due, 10).unwrap(), []);
        assert_eq!(store.next_deadline().unwrap(), None);
        // The run that was aborted took its question along; in a trace that failed nothing is recorded any more.
        assert_eq!(store.question_counts().unwrap(), [(OutcomeKind::Open, 1), (OutcomeKind::Expired, 1)]);
    }

    #[test]
    fn counts_are_those_of_the_list(store) {
        assert_eq!(store.question_counts().unwrap(), []);
        let inquiry = Inquiry::new(store);
        various(&inquiry);
        let list = all(&**store);
        let count = |kind| list.iter().filter(|one| one.row.outcome == kind).count() as u64;
        let expected: Vec<_> =
            OutcomeKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect();
        assert_eq!(expected.len(), 6);
        assert_eq!(store.question_counts().unwrap(), expected);
    }

    #[test]
    fn refused_append_asks_nothing(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        let opening = sample.append(&mut work);
        sample.say(&mut work, QuestionAsked(question()));
        let asking = sample.append(&mut work);
        assert_eq!(asking.questions.len(), 1);
        let refused = [WriteOutcome::Refused(Conflict::Head)];
        assert_eq!(commit(&**store, slice::from_ref(&asking)).unwrap(), refused);
        assert_eq!(all(&**store), []);
        done(&**store, &[opening]);
        done(&**store, &[asking]);
        assert_eq!(all(&**store).len(), 1);
        assert_eq!(store.question(work.trace(), Sequence::FIRST).unwrap(), None);
    }
}

/// Follows a filter in pages from both ends, and from a cursor that it does not admit; returns how much it shows.
fn check_pages(store: &dyn Store, list: &[QuestionSummary], filter: &QuestionFilter) -> usize {
    let expected: Vec<_> = list.iter().filter(|one| filter.admits(one)).copied().collect();
    for newest_first in [false, true] {
        let filter = QuestionFilter { newest_first, ..filter.clone() };
        let mut expected = expected.clone();
        if newest_first {
            expected.reverse();
        }
        for limit in [1, 3, 100] {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = store.questions(&filter, after, limit).unwrap();
                assert!(page.len() <= limit);
                let Some(newest) = page.last() else { break };
                after = Some(newest.cursor);
                seen.extend(page);
            }
            assert_eq!(seen, expected, "{filter:?}");
        }
        let middle = list[list.len() / 2].cursor;
        let behind =
            |one: &QuestionSummary| if newest_first { one.cursor < middle } else { one.cursor > middle };
        expected.retain(behind);
        assert_eq!(store.questions(&filter, Some(middle), 100).unwrap(), expected, "{filter:?}");
    }
    assert_eq!(store.questions(filter, None, 0).unwrap(), []);
    expected.len()
}
