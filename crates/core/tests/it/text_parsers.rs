//! Every parser of a short text against damaged and arbitrary input: never a panic, and whatever is taken has
//! one spelling, the one it is written back in.

use std::fmt::Display;
use std::str::FromStr;

use demur_core::commitment::{Commitment, Salt};
use demur_core::hash::Digest;
use demur_core::id::{Ulid, Uuid7};
use demur_core::key::{Fingerprint, PublicKey, SecretKey, Signature};
use demur_core::limit::Whole;
use demur_core::random::{Random, Seeded};
use demur_core::time::Timestamp;

use crate::proof::count;

#[test]
fn fuzz_text_parsers_take_one_spelling() {
    let mut random = Seeded::from_number(41);
    let now = Timestamp::from_millis(1_794_700_800_123).unwrap();
    let key = SecretKey::generate(&mut random);
    let signature = key.sign_foreign(b"anything").unwrap();
    let valid = [
        Ulid::new(now, &mut random).to_string(),
        Uuid7::new(now, &mut random).to_string(),
        now.to_string(),
        key.public().to_string(),
        key.public().fingerprint().to_string(),
        signature.to_string(),
        "4095".to_owned(),
    ];
    let mut taken = 0;
    for round in 0..count(2_000_000, 20_000) {
        let text = damaged(&valid[round % valid.len()], &mut random);
        taken += usize::from(one_spelling::<Ulid>(&text));
        taken += usize::from(one_spelling::<Uuid7>(&text));
        taken += usize::from(one_spelling::<Timestamp>(&text));
        taken += usize::from(one_spelling::<Digest>(&text));
        taken += usize::from(one_spelling::<Commitment>(&text));
        taken += usize::from(one_spelling::<Fingerprint>(&text));
        taken += usize::from(one_spelling::<Signature>(&text));
        taken += usize::from(one_spelling::<Whole<1, 4096>>(&text));
        if let Ok(salt) = text.parse::<Salt>() {
            assert_eq!(serde_json::to_value(salt).unwrap(), text.as_str());
        }
        // Checking a point costs as much as a signature, so fewer of these.
        if round % 16 == 3 {
            taken += usize::from(one_spelling::<PublicKey>(&text));
        }
    }
    assert!(taken > 100, "hardly any damaged text was taken: the damage is too coarse to test anything");
}

fn one_spelling<T: FromStr + Display>(text: &str) -> bool {
    let Ok(value) = text.parse::<T>() else { return false };
    assert_eq!(value.to_string(), text, "{} has another spelling", std::any::type_name::<T>());
    true
}

/// Returns the text with up to two characters changed, dropped, doubled or replaced by odd ones.
fn damaged(text: &str, random: &mut Seeded) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..below(random, 3) {
        let at = below(random, characters.len().max(1)).min(characters.len());
        match below(random, 5) {
            0 if at < characters.len() => {
                characters.remove(at);
            }
            1 => characters.truncate(at),
            2 => characters.insert(at, pick(random)),
            _ if at < characters.len() => characters[at] = pick(random),
            _ => {}
        }
    }
    characters.into_iter().collect()
}

fn pick(random: &mut Seeded) -> char {
    const FROM: &[char] = &[
        '0', '1', '7', '8', '9', 'a', 'f', 'g', 'A', 'F', 'I', 'L', 'O', 'U', 'Z', 'T', '-', '+', ':', '.',
        ' ', '\0', 'é', '٣', '🙂', '\u{feff}',
    ];
    FROM[below(random, FROM.len())]
}

fn below(random: &mut Seeded, limit: usize) -> usize {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % limit as u64).expect("it is below a usize")
}
