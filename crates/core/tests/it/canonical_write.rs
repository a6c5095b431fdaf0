//! The writer: shapes, order, numbers, refusals.

use std::collections::BTreeMap;

use demur_core::canonical::{self, WriteError};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::value::RawValue;

fn text<T: Serialize + ?Sized>(value: &T) -> String {
    let bytes = canonical::to_vec(value).expect("the value has a canonical form");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { zeta: u8, alpha: u8 },
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype(Option<u8>);

#[derive(Serialize)]
struct Pair(i8, char);

#[derive(Serialize)]
struct Unsorted<'a> {
    zeta: &'a str,
    nested: Nested,
    alpha: [bool; 2],
}

#[derive(Serialize)]
struct Nested {
    second: u8,
    first: u8,
}

/// A map that yields its members in this order.
struct Members<'a>(&'a [(&'a str, u8)]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[test]
fn shapes_are_those_of_serde_json() {
    assert_eq!(text(&Shape::Unit), r#""Unit""#);
    assert_eq!(text(&Shape::Newtype(1)), r#"{"Newtype":1}"#);
    assert_eq!(text(&Shape::Tuple(1, 2)), r#"{"Tuple":[1,2]}"#);
    assert_eq!(text(&Shape::Struct { zeta: 1, alpha: 2 }), r#"{"Struct":{"alpha":2,"zeta":1}}"#);
    assert_eq!(text(&Unit), "null");
    assert_eq!(text(&Newtype(None)), "null");
    assert_eq!(text(&Newtype(Some(7))), "7");
    assert_eq!(text(&Pair(-1, '€')), "[-1,\"€\"]");
    assert_eq!(text(&()), "null");
    assert_eq!(text(&(true, false)), "[true,false]");
    assert_eq!(text::<[u8]>(&[]), "[]");
    assert_eq!(text(&Members(&[])), "{}");
}

#[test]
fn bytes_are_written_as_numbers() {
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(&[0, 9, 255])
        }
    }
    assert_eq!(text(&Bytes), "[0,9,255]");
}

#[test]
fn members_are_put_in_order_on_every_level() {
    let value = Unsorted { zeta: "z", nested: Nested { second: 2, first: 1 }, alpha: [true, false] };
    assert_eq!(text(&value), r#"{"alpha":[true,false],"nested":{"first":1,"second":2},"zeta":"z"}"#);
    let list = [&value, &value].map(|value| Nested { second: value.nested.second, first: 0 });
    assert_eq!(text(&list), r#"[{"first":0,"second":2},{"first":0,"second":2}]"#);
}

#[test]
fn keys_sort_by_utf16_and_not_by_utf8() {
    let members = [("\u{ffff}", 4), ("\u{e000}", 3), ("\u{10000}", 1), ("\u{d7ff}", 0), ("\u{10ffff}", 2)];
    let expected = "{\"\u{d7ff}\":0,\"\u{10000}\":1,\"\u{10ffff}\":2,\"\u{e000}\":3,\"\u{ffff}\":4}";
    assert_eq!(text(&Members(&members)), expected);
    // The order of UTF-8, in which a sorted map of strings yields them, is out of order here.
    let sorted: BTreeMap<_, _> = members.into_iter().collect();
    assert_eq!(text(&sorted), expected);
}

#[test]
fn keys_sort_by_what_they_say_and_not_by_their_escapes() {
    let members = [("\\", 5), ("\"", 3), ("\u{1}", 0), ("\n", 2), ("\t", 1), ("A", 4), ("\\a", 6), ("a", 7)];
    let expected = r#"{"\u0001":0,"\t":1,"\n":2,"\"":3,"A":4,"\\":5,"\\a":6,"a":7}"#;
    assert_eq!(text(&Members(&members)), expected);
}

#[test]
fn a_key_sorts_before_a_longer_one_that_begins_with_it() {
    assert_eq!(text(&Members(&[("ab", 2), ("a", 1), ("", 0)])), r#"{"":0,"a":1,"ab":2}"#);
}

#[test]
fn keys_may_be_numbers_booleans_characters_and_variants() {
    assert_eq!(text(&BTreeMap::from([(10_u64, 'a'), (9, 'b')])), r#"{"10":"a","9":"b"}"#);
    assert_eq!(text(&BTreeMap::from([(-3_i8, 0)])), r#"{"-3":0}"#);
    assert_eq!(text(&BTreeMap::from([(u64::MAX, 0)])), r#"{"18446744073709551615":0}"#);
    assert_eq!(text(&BTreeMap::from([(true, 0), (false, 1)])), r#"{"false":1,"true":0}"#);
    assert_eq!(text(&BTreeMap::from([('"', 0)])), r#"{"\"":0}"#);
}

#[test]
fn refuses_keys_that_are_no_text() {
    let found = canonical::to_vec(&BTreeMap::from([((1, 2), 3)])).unwrap_err();
    assert_eq!(found, WriteError::Key { found: "an array" });
    let found = canonical::to_vec(&BTreeMap::from([((), 3)])).unwrap_err();
    assert_eq!(found.to_string(), "expected a text as key, found nothing");
}

#[test]
fn refuses_duplicate_keys_side_by_side_and_apart() {
    for members in
        [&[("a", 1), ("a", 2)][..], &[("a", 1), ("b", 2), ("a", 3)], &[("b", 0), ("\n", 1), ("\n", 2)]]
    {
        assert!(matches!(canonical::to_vec(&Members(members)), Err(WriteError::DuplicateKey { .. })));
    }
}

#[test]
fn a_failed_write_leaves_the_output_as_it_was() {
    let mut out = b"before".to_vec();
    canonical::write(&(1, f64::NAN), &mut out).unwrap_err();
    assert_eq!(out, b"before");
    canonical::write(&(1, 2), &mut out).unwrap();
    assert_eq!(out, b"before[1,2]");
}

#[test]
fn strings_escape_what_they_must_and_nothing_else() {
    let controls: String = (0..0x20).map(char::from).collect();
    let expected = concat!(
        r#""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#,
        r#"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f""#
    );
    assert_eq!(text(&controls), expected);
    assert_eq!(text("\"\\/\u{7f}\u{80}€\u{2028}😂"), "\"\\\"\\\\/\u{7f}\u{80}€\u{2028}😂\"");
}

#[test]
fn integers_are_written_up_to_the_last_exact_one() {
    const GREATEST: u64 = 9_007_199_254_740_991;
    assert_eq!(text(&GREATEST), "9007199254740991");
    assert_eq!(text(&-9_007_199_254_740_991_i64), "-9007199254740991");
    assert_eq!(text(&i128::from(GREATEST)), "9007199254740991");
    for number in [0_u64, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 12_345, 100_000, 1_234_567_890] {
        assert_eq!(text(&number), number.to_string());
    }
    let refused = |found: &str| Err(WriteError::Range { found: found.to_owned() });
    assert_eq!(canonical::to_vec(&(GREATEST + 1)), refused("9007199254740992"));
    assert_eq!(canonical::to_vec(&u64::MAX), refused("18446744073709551615"));
    assert_eq!(canonical::to_vec(&i64::MIN), refused("-9223372036854775808"));
    assert_eq!(canonical::to_vec(&u128::MAX), refused("340282366920938463463374607431768211455"));
    assert_eq!(canonical::to_vec(&i128::MIN), refused("-170141183460469231731687303715884105728"));
}

#[test]
fn floats_that_would_read_as_inexact_integers_are_refused() {
    for number in [9_007_199_254_740_992.0, -9_007_199_254_740_992.0, 1e20, 999_999_999_999_999_900_000.0] {
        assert!(matches!(canonical::to_vec(&number), Err(WriteError::Range { .. })), "{number}");
    }
    assert_eq!(text(&9_007_199_254_740_991.0), "9007199254740991");
    assert_eq!(text(&1e21), "1e+21");
}

#[test]
fn refuses_numbers_that_are_not_finite() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(canonical::to_vec(&number), Err(WriteError::NotFinite));
        assert_eq!(canonical::write_number(number, &mut Vec::new()), Err(WriteError::NotFinite));
    }
    assert_eq!(canonical::to_vec(&f32::NAN), Err(WriteError::NotFinite));
}

#[test]
fn both_zeros_are_written_alike() {
    assert_eq!(text(&[0.0, -0.0]), "[0,0]");
}

#[test]
fn raw_json_is_taken_over_if_it_is_canonical() {
    let raw = RawValue::from_string(r#"{"a":[1,"b"]}"#.to_owned()).unwrap();
    assert_eq!(text(&raw), r#"{"a":[1,"b"]}"#);
    assert_eq!(text(&BTreeMap::from([("x", &raw), ("b", &raw)])), r#"{"b":{"a":[1,"b"]},"x":{"a":[1,"b"]}}"#);
    assert_eq!(text(&(&raw, "after")), r#"[{"a":[1,"b"]},"after"]"#);
}

#[test]
fn raw_json_that_is_not_canonical_is_refused() {
    for json in [r#"{"b":1,"a":2}"#, "[1, 2]", "1.0", r#""\u0041""#, r#"{"a":1,"a":1}"#] {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        assert!(matches!(canonical::to_vec(&raw), Err(WriteError::Raw(_))), "{json}");
    }
}
