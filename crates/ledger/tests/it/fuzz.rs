//! Every parser against damaged input: never a panic, and whatever is taken is written back to the same bytes.

use demur_core::random::{Random, Seeded};
use demur_ledger::{
    envelope::Event,
    event_type::{Content, EventType},
    export::Line,
    signed::{Head, Receipt, Signed},
    statement::Statement,
};

use crate::{
    export::{eventful, export},
    world::rounds,
};

/// Returns `bytes` with a few small damages: flipped, dropped, doubled, swapped for another part.
pub(crate) fn damaged(bytes: &[u8], random: &mut Seeded) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=below(random, 3) {
        if bytes.is_empty() {
            break;
        }
        let (at, other) = (below(random, bytes.len()), below(random, bytes.len()));
        match below(random, 6) {
            0 => bytes[at] ^= 1 << below(random, 8),
            1 => {
                bytes.remove(at);
            }
            2 => bytes.insert(at, b"{}[],:\"0\\u-e."[below(random, 13)]),
            3 => bytes.truncate(at),
            4 => bytes.swap(at, other),
            _ => {
                let part = bytes[at.min(other)..at.max(other)].to_vec();
                let part = &part[..part.len().min(64)];
                bytes.splice(at..at, part.iter().copied());
            }
        }
    }
    bytes
}

pub(crate) fn below(random: &mut Seeded, limit: usize) -> usize {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % limit as u64).unwrap()
}

#[test]
fn fuzz_parsers_never_panic_and_take_only_what_they_would_write() {
    let rounds = rounds(2_000_000, 20_000);
    let (world, artifacts) = eventful();
    let file = export(&world, &artifacts);
    let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let head = world.desk.head(world.run.chain()).unwrap().unwrap();
    let head = demur_core::canonical::to_vec(&head).unwrap();
    let mut random = Seeded::from_number(99);
    let mut taken = 0;
    for round in 0..rounds {
        let recorded = &world.events[round % world.events.len()];
        let line = damaged(lines[round % lines.len()], &mut random);
        if let Ok(Line::Event(line)) = Line::parse(&line) {
            let _ = (line.event(), line.content());
        }
        let event = damaged(recorded.event.bytes(), &mut random);
        if let Ok(parsed) = Event::parse(&event) {
            assert_eq!(Event::seal(parsed.envelope().clone()).unwrap().bytes(), event);
            let _ = parsed.agree();
            taken += 1;
        }
        let statement = damaged(recorded.event.statement_bytes().unwrap(), &mut random);
        if let Ok(parsed) = Statement::parse(&statement) {
            assert_eq!(parsed.to_bytes().unwrap(), statement);
            taken += 1;
        }
        if let Some(opening) = &recorded.opening {
            let content = damaged(&opening.bytes, &mut random);
            let kind = EventType::ALL[below(&mut random, EventType::ALL.len())];
            if let Ok(parsed) = Content::parse(kind, &content) {
                assert_eq!(demur_core::canonical::to_vec(&parsed).unwrap(), content);
            }
        }
        let signed = damaged(&head, &mut random);
        let _ = (Signed::<Head>::parse(&signed), Signed::<Receipt>::parse(&signed));
    }
    assert!(taken > 0, "no damaged event was ever taken: the damage is too coarse to test anything");
}
