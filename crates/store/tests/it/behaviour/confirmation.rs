//! What is promised of the list of confirmations: it stands as the events left it, in the order of asking, apart from questions.

use demur_core::time::Timestamp;
use demur_ledger::{
    confirmation::ConfirmationStanding,
    facts::{
        Answerers, Assurance, ConfirmationAsked, ConfirmationExpired, ConfirmationGiven, ConfirmationRefused,
        OperationStarted,
    },
    name::{Operation, Position},
    role::Role,
};
use demur_sequencer::System as _;
use demur_store::contract::{ConfirmationFilter, ConfirmationRow, ConfirmationSummary, Store};
use demur_testing::{hall::question, inquiry::Inquiry, office::Run};

fn wanted(deadline: Option<Timestamp>) -> ConfirmationAsked {
    let answerers = Answerers { people: true, principals: None };
    ConfirmationAsked { about: None, answerers, assurance: Assurance::Relayed, deadline }
}

fn ask(inquiry: &Inquiry, deadline: Option<Timestamp>) -> (Run, Position) {
    let mut run = inquiry.trace();
    let asked = inquiry.say(0, &mut run, wanted(deadline));
    (run, asked)
}

const fn yes(asked: Position) -> ConfirmationGiven {
    ConfirmationGiven { assurance: Assurance::Terminal, attribution: None, confirmation: asked }
}

const fn no(asked: Position) -> ConfirmationRefused {
    ConfirmationRefused { assurance: Assurance::Terminal, attribution: None, confirmation: asked }
}

fn all(store: &dyn Store) -> Vec<ConfirmationSummary> {
    store.confirmations(&ConfirmationFilter::default(), None, 10_000).unwrap()
}

/// Expects how a confirmation stands after its newest event.
fn expect(inquiry: &Inquiry, run: &Run, asked: Position, outcome: ConfirmationStanding, spent: bool) {
    let shown = inquiry.store().confirmation(run.trace, asked.sequence).unwrap().unwrap();
    assert_eq!((shown.row.outcome, shown.row.spent), (outcome, spent));
    assert_eq!(shown.row.changed, run.seen.unwrap().sequence);
    let state = inquiry.office.sequencer.look(run.trace).unwrap();
    let folded = ConfirmationRow::from(state.confirmations().unwrap().find(asked.sequence).unwrap());
    assert_eq!(shown.row, folded);
}

behaviour! {
    /// ONE-03 ONE-09
    #[test]
    fn what_becomes_of_a_confirmation_shows_at_once(store) {
        let inquiry = Inquiry::new(store);
        let (mut run, asked) = ask(&inquiry, None);
        expect(&inquiry, &run, asked, ConfirmationStanding::Open, false);
        inquiry.tell(&mut run, Role::Person, yes(asked));
        expect(&inquiry, &run, asked, ConfirmationStanding::Given, false);
        let operation = Operation::try_from("deploy".to_owned()).unwrap();
        let begin = OperationStarted { confirmation: Some(asked.sequence), operation };
        inquiry.say(0, &mut run, begin);
        expect(&inquiry, &run, asked, ConfirmationStanding::Given, true);
        let (mut run, asked) = ask(&inquiry, None);
        inquiry.tell(&mut run, Role::Person, no(asked));
        expect(&inquiry, &run, asked, ConfirmationStanding::Refused, false);
        // No list holds what the other does.
        inquiry.ask(question());
        assert_eq!((all(&**store).len(), store.question_counts().unwrap().len()), (2, 1));
        assert_eq!(store.question(run.trace, asked.sequence).unwrap(), None);
    }

    #[test]
    fn confirmations_are_due_by_deadline_beside_questions(store) {
        let inquiry = Inquiry::new(store);
        let at = |seconds: u64| inquiry.office.clock.now().plus_millis(1_000 * seconds);
        let (first, second) = (at(10), at(20));
        let (mut run, asked) = ask(&inquiry, Some(first));
        ask(&inquiry, Some(second));
        ask(&inquiry, None);
        assert_eq!(store.next_deadline().unwrap(), Some(first));
        assert_eq!(store.due_questions(second, 10).unwrap(), []);
        assert_eq!(store.due_confirmations(second, 10).unwrap().len(), 2);
        assert_eq!(store.due_confirmations(first, 10).unwrap().len(), 1);
        inquiry.office.clock.pass(10_000);
        inquiry.tell(&mut run, Role::Desk, ConfirmationExpired { confirmation: asked.sequence });
        expect(&inquiry, &run, asked, ConfirmationStanding::Expired, false);
        assert_eq!(store.next_deadline().unwrap(), Some(second));
    }

    #[test]
    fn confirmations_come_in_pages_either_way(store) {
        let inquiry = Inquiry::new(store);
        let mut asked = Vec::new();
        for number in 0..9 {
            let (mut run, position) = ask(&inquiry, None);
            match number % 3 {
                0 => drop(inquiry.tell(&mut run, Role::Person, yes(position))),
                1 => drop(inquiry.tell(&mut run, Role::Person, no(position))),
                _ => {}
            }
            asked.push(run.trace);
        }
        for newest_first in [false, true] {
            for outcomes in [None, Some(vec![ConfirmationStanding::Open, ConfirmationStanding::Given])] {
                let filter = ConfirmationFilter { outcomes, newest_first, ..ConfirmationFilter::default() };
                let mut expected: Vec<_> = all(&**store).into_iter().filter(|one| filter.admits(one)).collect();
                if newest_first {
                    expected.reverse();
                }
                let (mut found, mut after) = (Vec::new(), None);
                loop {
                    let page = store.confirmations(&filter, after, 2).unwrap();
                    let Some(last) = page.last() else { break };
                    after = Some(last.cursor);
                    found.extend(page);
                }
                assert_eq!(found, expected);
                assert!(expected.len() == 9 || expected.len() == 6);
            }
        }
        let one = ConfirmationFilter { trace: Some(asked[4]), ..ConfirmationFilter::default() };
        assert_eq!(store.confirmations(&one, None, 10).unwrap().len(), 1);
    }
}
