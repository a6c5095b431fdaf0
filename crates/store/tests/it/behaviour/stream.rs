//! What streams promise: in order, with their write or not at all, once by name, kept until their time.

use std::{collections::BTreeSet, thread};

use demur_core::time::Timestamp;
use demur_ledger::name::Sequence;
use demur_store::contract::{
    Acknowledgement, Conflict, ConsumerName, PAGE_BYTES, Post, PostName, RecordKey, RecordValue, Store,
    StoreError, StreamName, StreamPosition, Swap, Version, Write, WriteOutcome,
};
use demur_testing::sample::{Sample, done, rounds, writer};

use super::PROPOSAL;

const REFUSED: WriteOutcome = WriteOutcome::Refused(Conflict::Post);

fn stream(name: &str) -> StreamName {
    StreamName::new(name).unwrap()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn post(name: &str, bytes: &[u8]) -> Post {
    Post { stream: stream(name), name: None, bytes: bytes.to_vec(), expires: None }
}

fn named(name: &str, own: &str) -> Post {
    Post { name: Some(PostName::new(own).unwrap()), ..post(name, own.as_bytes()) }
}

fn of_posts(store: &dyn Store, posts: Vec<Post>) -> Write {
    Write { posts, ..Write::of_records(writer(store).unwrap(), Vec::new()) }
}

fn publish(store: &dyn Store, posts: Vec<Post>) -> WriteOutcome {
    store.commit(&[of_posts(store, posts)]).unwrap()[0]
}

/// Returns what a stream has after a position, as text.
fn told(store: &dyn Store, name: &str, after: StreamPosition) -> Vec<String> {
    let posts = store.posts(&stream(name), after, 1000).unwrap();
    posts.into_iter().map(|post| String::from_utf8(post.bytes).unwrap()).collect()
}

fn acknowledge(store: &dyn Store, consumer: &str, number: u64, expires: Option<Timestamp>) {
    let consumer = ConsumerName::new(consumer).unwrap();
    let position = StreamPosition::new(number);
    let acknowledged = vec![Acknowledgement { stream: stream("log"), consumer, position, expires }];
    let write = Write { acknowledged, ..Write::of_records(writer(store).unwrap(), Vec::new()) };
    assert_eq!(store.commit(&[write]).unwrap(), [WriteOutcome::Done]);
}

fn acknowledged(store: &dyn Store, consumer: &str) -> u64 {
    store.acknowledged(&stream("log"), &ConsumerName::new(consumer).unwrap()).unwrap().number()
}

behaviour! {
    #[test]
    fn posts_are_read_in_order_from_any_place_on(store) {
        assert_eq!(store.newest_post(&stream("log")).unwrap(), StreamPosition::START);
        publish(&**store, vec![post("log", b"one"), post("other", b"else"), post("log", b"two")]);
        publish(&**store, vec![post("log", b"three")]);
        assert_eq!(told(&**store, "log", StreamPosition::START), ["one", "two", "three"]);
        assert_eq!(told(&**store, "other", StreamPosition::START), ["else"]);
        assert_eq!(told(&**store, "lo", StreamPosition::START), Vec::<String>::new());
        let posts = store.posts(&stream("log"), StreamPosition::START, 1000).unwrap();
        assert!(posts.windows(2).all(|pair| pair[0].position < pair[1].position), "{posts:?}");
        assert_eq!(told(&**store, "log", posts[0].position), ["two", "three"]);
        assert_eq!(store.posts(&stream("log"), posts[0].position, 1).unwrap(), posts[1..2]);
        assert_eq!(store.newest_post(&stream("log")).unwrap(), posts[2].position);
        assert_eq!(store.posts(&stream("log"), posts[2].position, 1000).unwrap(), []);
    }

    #[test]
    fn post_belongs_to_its_write(store) {
        let mut sample = Sample::in_store(&**store);
        let mut work = sample.open();
        done(&**store, &[sample.append(&mut work)]);
        let mut late = work.clone();
        for work in [&mut work, &mut late] {
            sample.say(work, PROPOSAL);
        }
        let writer = writer(&**store).unwrap();
        let [append, late] = [&mut work, &mut late].map(|work| Some(sample.append(work)));
        let value = RecordValue { bytes: Vec::new(), expires: None };
        let claim = Swap { key: RecordKey::new("claim").unwrap(), was: Version::ABSENT, next: Some(value) };
        let both = |append, name| Write {
            append,
            posts: vec![named("log", name)],
            ..Write::of_records(writer, vec![claim.clone()])
        };
        assert_eq!(store.commit(&[both(append, "first")]).unwrap(), [WriteOutcome::Done]);
        // The event stands against the post, and so does the record.
        assert_eq!(store.commit(&[both(late, "second")]).unwrap(), [WriteOutcome::Refused(Conflict::Head)]);
        assert_eq!(store.commit(&[both(None, "third")]).unwrap(), [WriteOutcome::Refused(Conflict::Record)]);
        assert_eq!(told(&**store, "log", StreamPosition::START), ["first"]);
        // The post stands against the event.
        sample.say(&mut work, PROPOSAL);
        let append = Some(sample.append(&mut work));
        let write = Write { append, ..of_posts(&**store, vec![named("log", "first")]) };
        assert_eq!(store.commit(&[write]).unwrap(), [REFUSED]);
        assert_eq!(store.events(work.trace(), Sequence::FIRST, 10).unwrap().len(), 3);
    }

    #[test]
    fn a_name_is_given_once_in_its_stream(store) {
        assert_eq!(publish(&**store, vec![named("log", "a"), named("other", "a"), named("log", "b")]), WriteOutcome::Done);
        assert_eq!(publish(&**store, vec![post("log", b"beside"), named("log", "a")]), REFUSED);
        let writes = [named("log", "c"), named("log", "c")].map(|post| of_posts(&**store, vec![post]));
        assert_eq!(store.commit(&writes).unwrap(), [WriteOutcome::Done, REFUSED]);
        assert_eq!(told(&**store, "log", StreamPosition::START), ["a", "b", "c"]);
        let place = |name| store.named_post(&stream("log"), &PostName::new(name).unwrap()).unwrap();
        let posts = store.posts(&stream("log"), StreamPosition::START, 10).unwrap();
        assert_eq!([place("a"), place("b"), place("c")], [0, 1, 2].map(|index: usize| Some(posts[index].position)));
        assert_eq!(place("d"), None);
    }

    /// Positions come in the order in which posts can be read, also when many write at once: nothing appears behind a reader.
    #[test]
    fn nothing_appears_behind_a_position_that_was_read(store) {
        let count = rounds(200, 25);
        let read = thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || {
                    for number in 0..count {
                        publish(&**store, vec![post("log", format!("{writer}-{number}").as_bytes())]);
                    }
                });
            }
            let (mut read, mut after) = (Vec::new(), StreamPosition::START);
            while read.len() < 4 * count {
                for post in store.posts(&stream("log"), after, 7).unwrap() {
                    assert!(post.position > after);
                    after = post.position;
                    read.push(String::from_utf8(post.bytes).unwrap());
                }
            }
            read
        });
        assert_eq!(read.iter().collect::<BTreeSet<_>>().len(), 4 * count, "nothing missed, nothing twice");
    }

    #[test]
    fn acknowledged_goes_forward_only(store) {
        assert_eq!(acknowledged(&**store, "reader"), 0);
        for (number, kept) in [(7, 7), (3, 7), (9, 9), (9, 9)] {
            acknowledge(&**store, "reader", number, None);
            assert_eq!((acknowledged(&**store, "reader"), acknowledged(&**store, "other")), (kept, 0));
        }
    }

    #[test]
    fn what_has_expired_is_swept_and_its_place_is_never_given_again(store) {
        publish(&**store, vec![
            Post { expires: Some(at(10)), ..named("log", "ten") },
            Post { expires: Some(at(30)), ..named("log", "thirty") },
            named("log", "for ever"),
        ]);
        acknowledge(&**store, "gone", 2, Some(at(20)));
        acknowledge(&**store, "stays", 2, Some(at(40)));
        let last = store.newest_post(&stream("log")).unwrap();
        assert_eq!(store.sweep(at(9)).unwrap(), 0);
        assert_eq!(store.sweep(at(20)).unwrap(), 2);
        assert_eq!(told(&**store, "log", StreamPosition::START), ["thirty", "for ever"]);
        assert_eq!((acknowledged(&**store, "gone"), acknowledged(&**store, "stays")), (0, 2));
        // The name is free again.
        assert_eq!(publish(&**store, vec![Post { expires: Some(at(20)), ..named("log", "ten") }]), WriteOutcome::Done);
        let ten = store.named_post(&stream("log"), &PostName::new("ten").unwrap()).unwrap().unwrap();
        assert!(ten > last);
        store.sweep(at(20)).unwrap();
        publish(&**store, vec![named("log", "next")]);
        assert!(store.newest_post(&stream("log")).unwrap() > ten);
    }

    #[test]
    fn page_of_large_posts_is_bounded(store) {
        let large = vec![7; Post::LARGEST];
        for _ in 0..5 {
            publish(&**store, vec![post("log", &large)]);
        }
        let page = store.posts(&stream("log"), StreamPosition::START, 1000).unwrap();
        assert_eq!(page.len(), PAGE_BYTES / Post::LARGEST);
        assert_eq!(store.posts(&stream("log"), page[1].position, 1000).unwrap().len(), 2);
    }

    #[test]
    fn post_against_the_contract_changes_nothing(store) {
        let many = vec![post("log", b"one"); Post::MOST + 1];
        let large = vec![post("log", &vec![7; Post::LARGEST + 1])];
        for wrong in [many, large, vec![named("log", "a"), named("log", "a")], Vec::new()] {
            let error = store.commit(&[of_posts(&**store, wrong)]).unwrap_err();
            assert!(matches!(error, StoreError::Misuse { .. }), "{error}");
            assert_eq!(told(&**store, "log", StreamPosition::START), Vec::<String>::new());
        }
        for text in [String::new(), "k".repeat(StreamName::LONGEST + 1)] {
            assert!(matches!(StreamName::new(text.clone()), Err(StoreError::Misuse { .. })));
            assert!(matches!(PostName::new(text.clone()), Err(StoreError::Misuse { .. })));
            assert!(matches!(ConsumerName::new(text), Err(StoreError::Misuse { .. })));
        }
    }
}
