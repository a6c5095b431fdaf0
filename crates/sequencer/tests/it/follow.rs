//! What other processes recorded: each hears of it once, and decides on top of it.

use std::sync::Arc;

use demur_core::time::Timestamp;
use demur_ledger::{
    facts::ProposalCreated,
    name::{Position, TraceId},
    role::Role,
};
use demur_sequencer::Followed;
use demur_store::{
    contract::{Cursor, Store as _},
    memory::MemoryStore,
};
use demur_testing::{
    hall::Hall,
    office::{Office, POLICY},
};

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

fn shared() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap()))
}

fn places(followed: &Followed) -> Vec<(TraceId, Position)> {
    followed.changes.iter().map(|(trace, entry)| (*trace, entry.event.position())).collect()
}

#[test]
fn each_process_hears_once_of_what_others_recorded() {
    let store = shared();
    let here = Hall::in_store(store.clone());
    let elsewhere = here.twin(store.clone());
    let start = store.end().unwrap();
    let [mine, other] = [here.new_trace(), here.new_trace()];
    let asked = here.ask(mine, None);
    let theirs = elsewhere.ask(other, None);
    here.sequencer().perform(other, &here.answering(other, theirs)).unwrap();
    let followed = here.sequencer().follow(start).unwrap();
    assert_eq!(places(&followed), [(other, theirs)]);
    assert!(followed.changes[0].1.opening.is_some(), "the words are there too");
    assert_eq!((followed.cursor, followed.has_more), (store.end().unwrap(), false));
    assert!(places(&here.sequencer().follow(followed.cursor).unwrap()).is_empty());
    let heard = places(&elsewhere.sequencer().follow(start).unwrap());
    assert_eq!(heard.iter().map(|(trace, _)| *trace).collect::<Vec<_>>(), [mine, other]);
    assert_eq!(heard[0], (mine, asked));
}

/// Nothing that was read before is believed any longer, and nothing of it is read again.
#[test]
fn what_was_followed_is_known_to_whoever_decides() {
    let store = shared();
    let here = Office::create(store.clone());
    let mut elsewhere = here.twin(store.clone());
    let mut run = here.open();
    let (opened, start) = (run.seen, store.end().unwrap());
    elsewhere.say(&mut run, PROPOSAL).unwrap();
    elsewhere.register(Role::Planner);
    assert_eq!(here.sequencer.at_hand().head(run.trace), opened);
    here.sequencer.follow(start).unwrap();
    assert_eq!(here.sequencer.at_hand().head(run.trace), None, "nobody answers from memory");
    assert_eq!(here.sequencer.registry().head(), elsewhere.sequencer.registry().head());
    let commits = here.sequencer.figures().commits;
    here.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(
        (here.sequencer.figures().commits, run.seen.unwrap().sequence),
        (commits + 1, opened.unwrap().sequence.next().next())
    );
    assert_eq!(here.sequencer.at_hand().head(run.trace), run.seen);
}

#[test]
fn long_time_away_is_followed_in_pages() {
    let store = shared();
    let here = Office::create(store.clone());
    let elsewhere = here.twin(store.clone());
    let mut run = elsewhere.open();
    for _ in 0..600 {
        elsewhere.say(&mut run, PROPOSAL).unwrap();
    }
    let (mut cursor, mut found) = (Cursor::START, Vec::new());
    loop {
        let followed = here.sequencer.follow(cursor).unwrap();
        found.extend(places(&followed).into_iter().filter(|(trace, _)| *trace == run.trace));
        cursor = followed.cursor;
        if !followed.has_more {
            break;
        }
    }
    assert!((0..=POLICY.number() + 600).eq(found.iter().map(|(_, position)| position.sequence.number())));
}
