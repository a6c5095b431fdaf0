//! The reader: what it refuses, and with which words.

use demur_core::canonical::{self, ReadError, ReadErrorKind as Kind};
use demur_core::limit::Limits;
use serde::Deserialize;
use serde_json::Value;

use crate::readers;

fn check(json: &str) -> Result<(), ReadError> {
    readers::check(json.as_bytes(), &Limits::EVENT)
}

fn scan(json: &str) -> Result<(), ReadError> {
    readers::scan(json.as_bytes(), &Limits::EVENT)
}

/// Returns offset and kind of a refusal.
fn refusal(result: Result<(), ReadError>) -> (usize, Kind) {
    let error = result.expect_err("the text must be refused");
    (error.offset(), error.kind().clone())
}

#[test]
fn canonical_texts_pass_both_readers() {
    for json in CANONICAL {
        assert_eq!(check(json), Ok(()), "{json}");
        assert_eq!(scan(json), Ok(()), "{json}");
        assert_eq!(canonical::canonicalize(json.as_bytes(), &Limits::EVENT).unwrap(), json.as_bytes());
    }
}

#[test]
fn other_spellings_pass_only_the_lenient_reader() {
    for json in SPELLINGS {
        assert_eq!(scan(json), Ok(()), "{json}");
        assert!(check(json).is_err(), "{json}");
        let canonical = canonical::canonicalize(json.as_bytes(), &Limits::EVENT).unwrap();
        assert_eq!(readers::check(&canonical, &Limits::EVENT), Ok(()), "{json}");
    }
}

#[test]
fn malformed_texts_pass_neither_reader() {
    for json in MALFORMED {
        assert!(scan(json).is_err(), "{json}");
        assert!(check(json).is_err(), "{json}");
    }
}

#[test]
fn refuses_duplicate_keys_however_they_are_spelled() {
    for json in [
        r#"{"a":1,"a":2}"#,
        r#"{"b":1,"a":2,"b":3}"#,
        r#"{"a":1,"b":2,"\u0061":3}"#,
        r#"{"\n":1,"\u000A":2}"#,
    ] {
        assert_eq!(refusal(scan(json)).1, Kind::DuplicateKey, "{json}");
    }
    assert_eq!(refusal(check(r#"{"a":1,"a":2}"#)), (8, Kind::DuplicateKey));
    assert_eq!(refusal(scan(r#"{"b":1,"a":2,"b":3}"#)), (14, Kind::DuplicateKey));
    // The pair is one character, whether it is escaped or not.
    assert_eq!(refusal(scan("{\"\u{1f602}\":1,\"a\":1,\"\\ud83d\\ude02\":2}")).1, Kind::DuplicateKey);
}

#[test]
fn the_same_key_in_two_objects_is_no_duplicate() {
    assert_eq!(scan(r#"{"b":{"b":1,"a":{"b":0}},"a":[{"b":1},{"b":1}]}"#), Ok(()));
}

#[test]
fn refuses_lone_surrogates() {
    for json in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\u0041""#,
        r#""\ud800x""#,
        r#""\udc00\ud800""#,
        r#""\ud800\ud800""#,
    ] {
        assert_eq!(refusal(scan(json)), (1, Kind::Surrogate), "{json}");
    }
    assert_eq!(scan(r#""\ud83d\ude02""#), Ok(()));
    assert_eq!(refusal(readers::scan(b"\"\xed\xa0\x80\"", &Limits::EVENT)), (1, Kind::Utf8));
}

#[test]
fn refuses_integers_beyond_two_to_the_53() {
    for json in [
        "9007199254740992",
        "-9007199254740992",
        "18446744073709551616",
        "10000000000000000",
        "1e20",
        "9007199254740992.0",
    ] {
        assert_eq!(refusal(scan(json)), (0, Kind::Range), "{json}");
    }
    for json in ["9007199254740991", "-9007199254740991", "999999999999999"] {
        assert_eq!(check(json), Ok(()), "{json}");
    }
}

#[test]
fn refuses_numbers_beyond_all_doubles() {
    for json in ["1e309", "-1e309", "1e99999999999999999999"] {
        assert_eq!(refusal(scan(json)), (0, Kind::Range), "{json}");
    }
    assert_eq!(check("1.7976931348623157e+308"), Ok(()));
    assert_eq!(check("5e-324"), Ok(()));
}

#[test]
fn refuses_keys_out_of_order_in_canonical_mode() {
    assert_eq!(refusal(check(r#"{"b":1,"a":2}"#)), (8, Kind::KeyOrder));
    assert_eq!(refusal(check("{\"\u{e000}\":1,\"\u{10000}\":2}")).1, Kind::KeyOrder);
    assert_eq!(check("{\"\u{10000}\":1,\"\u{e000}\":2}"), Ok(()));
    assert_eq!(check(r#"{"\n":1,"\"":2,"A":3,"\\":4}"#), Ok(()));
}

#[test]
fn refuses_escapes_that_are_not_canonical() {
    let expected = Kind::Escape { expected: "the canonical escape" };
    for json in [
        r#""\/""#,
        r#""\u0041""#,
        r#""\u000a""#,
        r#""\u000B""#,
        r#""\u0022""#,
        r#""\ud83d\ude02""#,
        r#""\x""#,
    ] {
        assert_eq!(refusal(check(json)), (1, expected.clone()), "{json}");
    }
    assert_eq!(check(r#""\u000b\u001f\n""#), Ok(()));
}

#[test]
fn refuses_numbers_that_are_not_canonical() {
    let expected = Kind::Number { expected: "the canonical number" };
    for json in ["-0", "1.0", "1e2", "1E-7", "0.10", "1e+2", "100e-2", "0.0000001", "1e21", "-0.0"] {
        assert_eq!(refusal(check(json)), (0, expected.clone()), "{json}");
    }
}

#[test]
fn keeps_the_limits() {
    let limits = Limits { bytes: 40, depth: 2, members: 3, text: 5 };
    let refused = |json: &str| {
        let lenient = refusal(readers::scan(json.as_bytes(), &limits));
        assert_eq!(lenient, refusal(readers::check(json.as_bytes(), &limits)), "{json}");
        lenient
    };
    assert_eq!(refused(&format!("[{}]", "1,".repeat(20))), (40, Kind::TooLong { limit: 40, found: 42 }));
    assert_eq!(refused("[[[]]]"), (2, Kind::TooDeep { limit: 2 }));
    assert_eq!(refused(r#"{"a":[{}]}"#), (6, Kind::TooDeep { limit: 2 }));
    assert_eq!(refused("[1,2,3,4]"), (7, Kind::TooMany { limit: 3 }));
    assert_eq!(refused(r#"{"a":1,"b":2,"c":3,"d":4}"#).1, Kind::TooMany { limit: 3 });
    assert_eq!(refused(r#"["abcdef"]"#), (2, Kind::TextTooLong { limit: 5, found: 6 }));
    assert_eq!(refused(r#"{"abcdef":1}"#), (2, Kind::TextTooLong { limit: 5, found: 6 }));
    for json in ["[[1,2,3]]", r#"{"a":1,"b":2,"c":3}"#, r#"["abcde"]"#] {
        assert_eq!(readers::check(json.as_bytes(), &limits), Ok(()), "{json}");
    }
}

#[test]
fn no_limit_allows_more_depth_than_the_scanner_has() {
    let limits = Limits { depth: usize::MAX, ..Limits::LINE };
    let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(readers::check(nested(Limits::DEEPEST).as_bytes(), &limits), Ok(()));
    let found = refusal(readers::check(nested(1_000_000).as_bytes(), &limits));
    assert_eq!(found, (Limits::DEEPEST, Kind::TooDeep { limit: Limits::DEEPEST }));
    assert!(canonical::from_canonical::<Value>(nested(Limits::DEEPEST).as_bytes(), &limits).is_ok());
}

#[test]
fn says_what_was_expected_and_found_and_where() {
    let words = |json: &str| check(json).unwrap_err().to_string();
    assert_eq!(words("[1,]"), "expected a value, found byte 0x5d at byte 3");
    assert_eq!(words("[1"), "expected a comma or the end of the array, found the end at byte 2");
    assert_eq!(words("[1, 2]"), "expected canonical JSON without whitespace, found byte 0x20 at byte 3");
    assert_eq!(words("1 "), "expected canonical JSON without whitespace, found byte 0x20 at byte 1");
    assert_eq!(words("1x"), "expected the end after the value, found byte 0x78 at byte 1");
    assert_eq!(words("\"\u{1}\""), "expected control characters to be escaped, found a bare 0x01 at byte 1");
    assert_eq!(words(r#"{"a":1,"a":2}"#), "expected every key once, found it twice at byte 8");
    assert_eq!(words("\u{feff}1"), "expected a value, found byte 0xef at byte 0");
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed<'a> {
    name: &'a str,
    count: u8,
}

#[test]
fn typed_values_are_read_without_a_copy() {
    let found: Typed<'_> = canonical::from_canonical(br#"{"count":7,"name":"x"}"#, &Limits::EVENT).unwrap();
    assert_eq!(found, Typed { name: "x", count: 7 });
    let found: Typed<'_> = canonical::from_json(b" {\"name\":\"x\",\n\"count\":7}", &Limits::EVENT).unwrap();
    assert_eq!(found, Typed { name: "x", count: 7 });
}

#[test]
fn a_wrong_shape_is_refused_where_it_shows() {
    let error =
        canonical::from_json::<Typed<'_>>(b"{\n\"name\":\"x\",\n\"count\":700}", &Limits::EVENT).unwrap_err();
    assert!(matches!(error.kind(), Kind::Shape { .. }));
    assert_eq!(error.offset(), 25);
    let error =
        canonical::from_canonical::<Typed<'_>>(br#"{"count":7,"extra":1}"#, &Limits::EVENT).unwrap_err();
    assert!(error.to_string().contains("unknown field `extra`"), "{error}");
}

const CANONICAL: [&str; 22] = [
    "null",
    "true",
    "false",
    "0",
    "-1",
    "10",
    "4.5",
    "-0.001",
    "1e+21",
    "1e-7",
    "1.5e-7",
    "0.000001",
    "333333333.3333333",
    r#""""#,
    r#""a\"b\\c\b\f\n\r\t\u0000\u001f/""#,
    "\"€😂\u{7f}\u{2028}\"",
    "[]",
    "{}",
    "[[],{},[{}]]",
    r#"{"":0,"a":{"b":[1,2,3],"c":null},"aa":1}"#,
    "{\"a\":1,\"\u{10000}\":2,\"\u{e000}\":3}",
    "[true,false,null]",
];

const SPELLINGS: [&str; 16] = [
    " 1",
    "1\n",
    "[ ]",
    "{ }",
    "[1 ,2]",
    "\t{\r\n\"a\" : 1 }",
    r#"{"b":1,"a":2}"#,
    "-0",
    "1.50",
    "1E5",
    "1e5",
    "1e-400",
    r#""\u0041\/""#,
    r#""\u000A""#,
    r#""\uD83D\uDE02""#,
    r#"{"\u0061":1}"#,
];

const MALFORMED: [&str; 48] = [
    "",
    " ",
    "{",
    "[",
    "]",
    "}",
    ",",
    ":",
    "\"",
    "\"a",
    "\"\\",
    "\"\\u",
    "\"\\u00",
    "\"\\u00\"",
    "\"\\u00g0\"",
    "\"\\u+123\"",
    "\"\\a\"",
    "\"\t\"",
    "\"\n\"",
    "'a'",
    "tru",
    "True",
    "nulll",
    "nan",
    "NaN",
    "Infinity",
    "-",
    "+1",
    "01",
    "-01",
    "1.",
    ".5",
    "1.e1",
    "1e",
    "1e+",
    "0x1",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "{1:1}",
    "{\"a\" 1}",
    "[1]]",
    "1 1",
    "//\n1",
];
