//! Writer and reader against an independent implementation and against each other.

use demur_core::canonical::{self, ReadErrorKind};
use demur_core::limit::Limits;
use proptest::prelude::*;
use serde_json::Value;

use crate::generator::Generator;
use crate::{proof, readers};

#[test]
fn proof_canonical_equals_independent_implementation() {
    let mut generator = Generator::new(8785);
    for round in 0..proof::count(1_000_000, 3_000) {
        let value = Value::Object(generator.object(5));
        let ours = canonical::to_vec(&value).unwrap();
        let theirs = serde_jcs::to_vec(&value).unwrap();
        assert!(ours == theirs, "round {round}: {value}");
        assert_eq!(readers::check(&ours, &LIMITS), Ok(()), "round {round}: {value}");
        let again: Value = canonical::from_canonical(&ours, &LIMITS).unwrap();
        assert!(canonical::to_vec(&again).unwrap() == ours, "round {round}: {value}");
    }
}

/// Doubles of all magnitudes, and those between two decimals of the same length.
#[test]
fn proof_numbers_equal_independent_implementation() {
    let mut generator = Generator::new(754);
    for round in 0..proof::count(20_000_000, 100_000) {
        let any = f64::from_bits(u64::from_le_bytes(generator.bytes()));
        let number = if round % 2 == 0 { any } else { generator.tie() };
        if number.is_finite() {
            let mut ours = Vec::new();
            canonical::write_number(number, &mut ours).unwrap();
            assert!(ours == serde_jcs::to_vec(&number).unwrap(), "{number:e} ({:016x})", number.to_bits());
        }
    }
}

/// A text is canonical exactly when canonicalizing it changes nothing; a text that the scanner takes is JSON,
/// and JSON that it does not take repeats a key or holds a number that not every reader keeps.
#[test]
fn fuzz_readers_agree_on_damaged_texts() {
    let mut generator = Generator::new(7493);
    for _ in 0..proof::count(3_000_000, 20_000) {
        let value = generator.value(4);
        let mut bytes = canonical::to_vec(&value).unwrap();
        for _ in 0..generator.below(4) {
            damage(&mut bytes, &mut generator);
        }
        let canonical = canonical::canonicalize(&bytes, &LIMITS);
        let unchanged = canonical.as_ref().is_ok_and(|canonical| *canonical == bytes);
        let shown = String::from_utf8_lossy(&bytes);
        assert_eq!(readers::check(&bytes, &LIMITS).is_ok(), unchanged, "{shown}");
        let scanned = readers::scan(&bytes, &LIMITS);
        assert_eq!(scanned.is_ok(), canonical.is_ok(), "{shown}");
        match (scanned, serde_json::from_slice::<Value>(&bytes)) {
            (Ok(()), Ok(_)) | (Err(_), Err(_)) => {}
            (Ok(()), Err(error)) => panic!("scanned, yet not JSON ({error}): {shown}"),
            (Err(error), Ok(_)) => {
                let stricter = matches!(error.kind(), ReadErrorKind::DuplicateKey | ReadErrorKind::Range);
                assert!(stricter, "{error}: {shown}");
            }
        }
    }
}

/// What is split off is canonical, and is all that the bytes begin with; a canonical value is split off whole.
#[test]
fn fuzz_splitting_agrees_with_checking() {
    let mut generator = Generator::new(8259);
    let mut split = 0;
    for round in 0..proof::count(3_000_000, 20_000) {
        let mut bytes = canonical::to_vec(&generator.value(4)).unwrap();
        let length = bytes.len();
        bytes.extend_from_slice(b",\"next\":{}}");
        if round % 4 == 0 {
            let (value, rest) = canonical::split_first(&bytes, &LIMITS).unwrap();
            assert_eq!((value.len(), rest), (length, &bytes[length..]));
            continue;
        }
        damage(&mut bytes, &mut generator);
        let shown = String::from_utf8_lossy(&bytes);
        if let Some((value, rest)) = canonical::split_first(&bytes, &LIMITS) {
            assert_eq!(readers::check(value.as_bytes(), &LIMITS), Ok(()), "{shown}");
            assert_eq!([value.as_bytes(), rest].concat(), bytes, "{shown}");
            split += 1;
        }
    }
    assert!(split > 0, "no damaged value was ever split off");
}

#[test]
fn splitting_keeps_to_the_limits_and_to_utf8() {
    let limits = Limits { bytes: 4, depth: 1, members: 2, text: 2 };
    assert_eq!(canonical::split_first(b"[1]x", &limits), Some(("[1]", &b"x"[..])));
    for refused in
        [&b"[1,2]"[..], b"[[]]", b"\"abc\"", b"\"\xff\"", b"", b" 1", b"{\"\\n\xff\":1,\"\\r\xff\":2}"]
    {
        assert_eq!(canonical::split_first(refused, &limits), None, "{}", String::from_utf8_lossy(refused));
    }
    let escaped = b"{\"\\n\xff\":1,\"\\r\xff\":2}";
    assert_eq!(canonical::split_first(escaped, &LIMITS), None);
}

#[test]
fn fuzz_no_bytes_break_the_readers() {
    let mut generator = Generator::new(3);
    for _ in 0..proof::count(5_000_000, 30_000) {
        let length = generator.below(24);
        let bytes: Vec<u8> = (0..length).map(|_| ALPHABET[generator.below(ALPHABET.len())]).collect();
        let canonical = canonical::canonicalize(&bytes, &LIMITS);
        let unchanged = canonical.is_ok_and(|canonical| canonical == bytes);
        assert_eq!(readers::check(&bytes, &LIMITS).is_ok(), unchanged, "{}", String::from_utf8_lossy(&bytes));
    }
}

/// Changes one place: a byte is removed, doubled, replaced or put in.
fn damage(bytes: &mut Vec<u8>, generator: &mut Generator) {
    let place = generator.below(bytes.len().max(1));
    let byte = ALPHABET[generator.below(ALPHABET.len())];
    match generator.below(4) {
        0 if !bytes.is_empty() => drop(bytes.remove(place)),
        1 if !bytes.is_empty() => bytes.insert(place, bytes[place]),
        2 if !bytes.is_empty() => bytes[place] = byte,
        _ => bytes.insert(place, byte),
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(?s).{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("(?s).{0,6}", inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_both_write_is_the_same(value in json()) {
        if let Ok(ours) = canonical::to_vec(&value) {
            prop_assert_eq!(&ours, &serde_jcs::to_vec(&value).unwrap());
            prop_assert_eq!(readers::check(&ours, &LIMITS), Ok(()));
            prop_assert_eq!(canonical::canonicalize(&ours, &LIMITS).unwrap(), ours);
        }
    }

    #[test]
    fn layout_and_order_do_not_matter(value in json()) {
        if let Ok(ours) = canonical::to_vec(&value) {
            let pretty = serde_json::to_vec_pretty(&value).unwrap();
            prop_assert_eq!(canonical::canonicalize(&pretty, &LIMITS).unwrap(), ours);
        }
    }

    #[test]
    fn every_number_is_written_as_the_independent_implementation_does(number in any::<f64>()) {
        let mut ours = Vec::new();
        canonical::write_number(number, &mut ours).unwrap();
        prop_assert_eq!(ours, serde_jcs::to_vec(&number).unwrap());
    }

    #[test]
    fn every_string_is_written_as_the_independent_implementation_does(text in any::<String>()) {
        prop_assert_eq!(canonical::to_vec(&text).unwrap(), serde_jcs::to_vec(&text).unwrap());
    }
}

const LIMITS: Limits = Limits::CONTENT;

/// Bytes that have a meaning in JSON, or none in UTF-8.
const ALPHABET: &[u8] =
    b"{}[]:,\"\\\"\\ \n0123456789-+.eEabfnrtu/truefalsenull\x00\x1f\x7f\xc3\xa9\xed\xa0\xf0\x9f\x98\x82";
