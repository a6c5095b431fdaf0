//! Key files: one spelling, read only as they are written, and no secret shown.

use demur_core::{key::SecretKey, random::Seeded, time::Timestamp};
use demur_ledger::{name::PrincipalId, role::Role};
use demur_run::key_file::KeyFile;

use crate::office::rounds;

fn key(name: &str) -> KeyFile {
    let mut random = Seeded::from_number(1);
    KeyFile {
        name: name.to_owned(),
        principal: PrincipalId::new(Timestamp::MIN, &mut random),
        role: Role::Critic,
        secret: SecretKey::from_seed(&[0xa7; 32]),
    }
}

#[test]
fn file_has_one_canonical_spelling() {
    let bytes = key("Zoë \"Z\"").to_bytes().unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    let principal = key("").principal;
    let seed = "a7".repeat(32);
    assert_eq!(
        text,
        format!(
            "{{\"algorithm\":\"ed25519\",\"name\":\"Zoë \\\"Z\\\"\",\"principal\":\"{principal}\",\
             \"role\":\"critic\",\"seed\":\"{seed}\"}}\n"
        )
    );
    let read = KeyFile::parse(&bytes).unwrap();
    assert_eq!((read.name.as_str(), read.role), ("Zoë \"Z\"", Role::Critic));
    assert_eq!(read.secret.public(), key("").secret.public());
}

#[test]
fn fuzz_damaged_key_files_are_taken_only_as_they_would_be_written() {
    let good = key("Zoë").to_bytes().unwrap();
    let mut random = Seeded::from_number(23);
    let mut taken = 0;
    for _ in 0..rounds(1_000_000, 10_000) {
        let mut bytes = good.to_vec();
        let mut draw = [0; 10];
        demur_core::random::Random::fill(&mut random, &mut draw);
        let at = usize::from(u16::from_le_bytes([draw[0], draw[1]])) % bytes.len();
        match draw[2] % 4 {
            0 => bytes[at] ^= 1 << (draw[3] % 8),
            1 => bytes[at] = b"0123456789abcdefABZ"[usize::from(draw[3]) % 19],
            2 => bytes.truncate(at),
            _ => bytes.insert(at, draw[3]),
        }
        if let Ok(read) = KeyFile::parse(&bytes) {
            assert_eq!(*read.to_bytes().unwrap(), bytes);
            taken += 1;
        }
    }
    assert!(taken > 0, "no damaged file was ever taken: the damage is too coarse to test anything");
}

#[test]
fn refuses_every_other_spelling() {
    let good = String::from_utf8(key("a").to_bytes().unwrap().to_vec()).unwrap();
    let changed = [
        String::new(),
        good.trim_end().to_owned(),
        good.replace(':', ": "),
        good.replace("ed25519", "ed448"),
        good.replace("a7a7", "A7A7"),
        good.replace("a7\"}", "\"}"),
        good.replace('}', ",\"z\":1}"),
        good.replace("critic", "king"),
        good.replace(&"a7".repeat(32), &"é".repeat(32)),
        format!("{good}{good}"),
    ];
    assert!(KeyFile::parse(good.as_bytes()).is_ok());
    for text in changed {
        assert!(KeyFile::parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn longest_name_does_not_outgrow_the_buffer() {
    for name in ["\u{1}".repeat(256), "\u{10ffff}".repeat(256)] {
        let bytes = key(&name).to_bytes().unwrap();
        assert!(bytes.len() < KeyFile::LARGEST);
        assert_eq!(KeyFile::parse(&bytes).unwrap().name, name);
    }
}

#[test]
fn debug_shows_no_secret() {
    let text = format!("{:?}", key("a"));
    assert!(!text.contains("a7a7") && !text.contains("167, 167"), "{text}");
}
