//! Damaged documents: never a panic, and what is taken and verifies is what was signed.

use demur_clarify::{
    attestation::Attestation, audit::AuditRecord, document::Document, handoff::Handoff, read,
};
use demur_core::random::{Random, Seeded};

use crate::{
    attestation::attestation,
    handoff::handoff,
    samples,
    world::{after, cases, document, keys, record},
};

/// Returns `bytes` with a few small damages: flipped, dropped, added, cut, swapped.
fn damaged(bytes: &[u8], random: &mut Seeded) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=below(random, 2) {
        if bytes.is_empty() {
            break;
        }
        let (at, other) = (below(random, bytes.len()), below(random, bytes.len()));
        match below(random, 6) {
            0 => bytes[at] ^= 1 << below(random, 8),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, b"{}[],:\"0\\u-e."[below(random, 13)]),
            3 => bytes.truncate(at),
            4 => bytes.swap(at, other),
            _ => bytes[at] = b"0123456789abcdef"[below(random, 16)],
        }
    }
    bytes
}

fn below(random: &mut Seeded, limit: usize) -> usize {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % limit as u64).unwrap()
}

#[test]
fn fuzz_readers_never_panic_and_keep_what_they_take() {
    let (samples, mut random, mut taken) = (samples::all(), Seeded::from_number(5), 0);
    for case in 0..cases(1_000_000, 20_000) {
        let sample = &samples[case % samples.len()];
        let bytes = damaged(sample.value.to_string().as_bytes(), &mut random);
        if let Ok(read) = (sample.read)(&bytes) {
            assert_eq!(
                read,
                serde_json::from_slice::<serde_json::Value>(&bytes).unwrap(),
                "{}",
                sample.schema
            );
            taken += 1;
        }
    }
    assert!(taken > 100, "only {taken} damaged documents were still good ones");
}

/// CLR-23, CLR-51
#[test]
fn fuzz_nothing_but_what_was_signed_verifies() {
    let (keys, mut random) = (keys(), Seeded::from_number(6));
    let (document, record, attestation, handoff) = (document(), record(), attestation(), handoff());
    let written = [
        serde_json::to_vec(&document).unwrap(),
        serde_json::to_vec(&record).unwrap(),
        serde_json::to_vec(&attestation).unwrap(),
        serde_json::to_vec(&handoff).unwrap(),
    ];
    for _ in 0..cases(200_000, 3_000) {
        let [one, two, three, four] = written.each_ref().map(|bytes| damaged(bytes, &mut random));
        if let Ok(read) = read::from_slice::<Document>(&one) {
            assert_eq!(read.verify(&keys).is_ok(), read == document);
        }
        if let Ok(read) = read::from_slice::<AuditRecord>(&two) {
            assert_eq!(read.verify(&keys, &[]).is_ok(), read == record);
        }
        if let Ok(read) = read::from_slice::<Attestation>(&three) {
            assert_eq!(read.verify(&keys, &record).is_ok(), read == attestation);
        }
        if let Ok(read) = read::from_slice::<Handoff>(&four) {
            assert_eq!(read.verify(&keys, &keys, after(300), &[]).is_ok(), read == handoff);
        }
    }
}
