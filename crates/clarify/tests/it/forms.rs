//! The one spelling that each name, time, id, key and hash has.

use std::{fmt::Display, str::FromStr};

use demur_clarify::{
    name::{AgentId, FieldPath, FilePath, GapId, Operation},
    seal::{AgentKey, Seal, Sha256},
    time::Time,
    uuid::Uuid,
};
use demur_core::{id::Uuid7, random::Seeded, time::Timestamp};

#[track_caller]
fn takes<T: FromStr + Display>(texts: &[&str]) {
    for text in texts {
        assert_eq!(text.parse::<T>().ok().map(|value| value.to_string()).as_deref(), Some(*text));
    }
}

#[track_caller]
fn refuses<T: FromStr>(texts: &[&str]) {
    for text in texts {
        assert!(text.parse::<T>().is_err(), "took {text:?}");
    }
}

/// CLR-02
#[test]
fn a_field_is_one_concrete_dotted_path() {
    takes::<FieldPath>(&["compliance.jurisdiction", "languages.0", "output", "a-b.c_d.$e"]);
    refuses::<FieldPath>(&[
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "a.*",
        "a[0]",
        "a/b",
        "ä",
        "a,b",
        &"a".repeat(201),
    ]);
}

/// CLR-21
#[test]
fn a_gap_has_one_number() {
    takes::<GapId>(&["gap-001", "gap-999", "gap-1000", "gap-99999999"]);
    refuses::<GapId>(&[
        "gap-1",
        "gap-000",
        "gap-0001",
        "Gap-001",
        "gap-00a",
        "gap-100000000",
        "gap-",
        "001",
        "",
    ]);
    assert_eq!(GapId::number(1).unwrap().as_str(), "gap-001");
    assert_eq!(GapId::number(0), None);
}

#[test]
fn an_agent_is_named_without_spaces_or_tricks() {
    takes::<AgentId>(&["wwa-scaffold-v1.0.0", "did:wwa:builder", "zoë", "https://agent.example/1"]);
    refuses::<AgentId>(&["", "a b", "a\n", "a\u{202e}b", "\u{200b}", &"x".repeat(201)]);
}

#[test]
fn an_operation_is_a_word() {
    takes::<Operation>(&["planner", "build", "tool:shell/run", "a.b"]);
    refuses::<Operation>(&["", "two words", "ö", &"x".repeat(65)]);
}

#[test]
fn a_file_stays_below_its_folder() {
    takes::<FilePath>(&["a", "src/web parts/Ä.ts", "..a/b..", ".hidden"]);
    refuses::<FilePath>(&["", "/a", "a/", "a//b", "../a", "a/../b", ".", "a/./b", "a\\b", "a\u{0}b"]);
}

/// CLR-20: RFC 3339 in UTC.
#[test]
fn a_time_has_one_spelling() {
    takes::<Time>(&[
        "2026-05-10T15:00:00Z",
        "2026-05-10T15:00:00.001Z",
        "1970-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999Z",
    ]);
    refuses::<Time>(&[
        "2026-05-10T15:00:00.000Z",
        "2026-05-10T15:00:00+00:00",
        "2026-05-10T15:00:00",
        "2026-05-10 15:00:00Z",
        "2026-05-10T15:00:00z",
        "2026-02-30T15:00:00Z",
        "2026-05-10T15:00:60Z",
        "2026-05-10T15:00:00.1Z",
        "1778425200",
        "",
    ]);
}

/// CLR-20: a session is a UUID, of whichever version.
#[test]
fn a_uuid_is_lower_case_and_of_the_rfc() {
    takes::<Uuid>(&["0196bb7c-0000-7000-8000-000000000001", "550e8400-e29b-41d4-a716-446655440000"]);
    refuses::<Uuid>(&[
        "",
        "uuid",
        "550E8400-e29b-41d4-a716-446655440000",
        "550e8400e29b41d4a716446655440000",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "550e8400-e29b-41d4-a716-44665544000-",
        "550e8400-e29b-41d4-a716-4466554400é",
    ]);
    let ours = Uuid7::new(Timestamp::MIN, &mut Seeded::from_number(1));
    assert_eq!(Uuid::from(ours).to_string(), ours.to_string());
}

/// CLR-20: keys and signatures carry the prefix `ed25519:`.
#[test]
fn keys_signatures_and_hashes_name_their_algorithm() {
    let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    takes::<AgentKey>(&[&format!("ed25519:{key}")]);
    // The last one is the identity, a point of small order.
    let small = format!("ed25519:01{}", "00".repeat(31));
    refuses::<AgentKey>(&[
        key,
        "ed25519:",
        &format!("ED25519:{key}"),
        &format!("ed25519:{}", key.to_uppercase()),
        &small,
    ]);
    takes::<Seal>(&[&format!("ed25519:{}", "0a".repeat(64))]);
    refuses::<Seal>(&[&"0a".repeat(64), &format!("ed25519:{}", "0a".repeat(63)), "ed25519:CgoK"]);
    takes::<Sha256>(&[&format!("sha256:{}", "0a".repeat(32))]);
    refuses::<Sha256>(&[&"0a".repeat(32), &format!("ed25519:{}", "0a".repeat(32))]);
}
