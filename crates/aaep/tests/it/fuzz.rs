//! Damaged messages: never a panic, and what is taken is written back as what it was.

use demur_aaep::{
    event::EventReader,
    extension::Strictness,
    handshake::{ProducerMessage, SubscriberMessage},
    manifest::Manifest,
    prompt::Prompt,
};
use demur_core::random::{Random as _, Seeded};
use serde_json::Value;

use crate::{
    messages,
    world::{TWELVE, cases, complete, minimal},
};

/// Returns `bytes` with a few small damages: flipped, dropped, added, cut, swapped.
fn damaged(bytes: &[u8], random: &mut Seeded) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=below(random, 2) {
        if bytes.is_empty() {
            break;
        }
        let (at, other) = (below(random, bytes.len()), below(random, bytes.len()));
        match below(random, 7) {
            0 => bytes[at] ^= 1 << below(random, 8),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, b"{}[],:\"0\\u-e."[below(random, 13)]),
            3 => bytes.truncate(at),
            4 => bytes.swap(at, other),
            5 => bytes[at] = b'a' + u8::try_from(below(random, 26)).unwrap(),
            _ => bytes[at] = b"0123456789"[below(random, 10)],
        }
    }
    bytes
}

fn below(random: &mut Seeded, limit: usize) -> usize {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % limit as u64).unwrap()
}

/// AEP-13
#[test]
fn fuzz_events_never_panic_and_what_is_taken_is_written_back() {
    let samples: Vec<String> =
        TWELVE.iter().flat_map(|name| [minimal(name).to_string(), complete(name).to_string()]).collect();
    let readers = [Strictness::Exact, Strictness::Tolerant]
        .map(|strictness| EventReader { strictness, ..EventReader::default() });
    let (mut random, mut taken) = (Seeded::from_number(7), 0);
    for case in 0..cases(2_000_000, 20_000) {
        let bytes = damaged(samples[case % samples.len()].as_bytes(), &mut random);
        let tolerant = readers[1].read(&bytes);
        let Ok(received) = readers[0].read(&bytes) else { continue };
        taken += 1;
        assert!(tolerant.is_ok(), "{}", received.text);
        assert_eq!(received.text.as_bytes(), bytes);
        let written = received.event.to_json().unwrap();
        let again = readers[0].read(written.as_bytes()).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(again.event.payload, received.event.payload);
        let mut prompt = Prompt::open(&received.event);
        if let Some(prompt) = &mut prompt {
            let deadline = prompt.deadline();
            assert!(prompt.handle(demur_aaep::prompt::PromptInput::Tick, deadline).resolution.is_some());
        }
    }
    assert!(taken > 500, "only {taken} damaged events were still good ones");
}

#[test]
fn fuzz_messages_never_panic_and_what_is_taken_is_written_back() {
    let samples: Vec<String> = messages::all().iter().map(Value::to_string).collect();
    let (mut random, mut taken) = (Seeded::from_number(8), 0);
    for case in 0..cases(1_000_000, 10_000) {
        let bytes = damaged(samples[case % samples.len()].as_bytes(), &mut random);
        drop(Manifest::read(&bytes));
        if let Ok(message) = SubscriberMessage::read(&bytes) {
            let written = serde_json::to_vec(&message).unwrap();
            assert_eq!(SubscriberMessage::read(&written), Ok(message));
            taken += 1;
        }
        if let Ok(message) = ProducerMessage::read(&bytes) {
            let written = serde_json::to_vec(&message).unwrap();
            assert_eq!(ProducerMessage::read(&written), Ok(message));
            taken += 1;
        }
    }
    assert!(taken > 200, "only {taken} damaged messages were still good ones");
}
