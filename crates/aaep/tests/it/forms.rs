//! Ids, times, addresses and numbers: what they take, and that they are written as they are read.

use demur_aaep::{
    form::{AaepVersion, ErrorCode, EventId, MediaType, ReasonWord, ReplyToken, ToolName, Uri},
    number::{Integer, Share},
    time::EventTime,
};
use demur_core::{random::Seeded, time::Timestamp};
use proptest::prelude::*;

use crate::world::{after, of};

#[track_caller]
fn takes<T: std::str::FromStr + std::fmt::Display>(good: &[&str], bad: &[&str]) {
    for text in good {
        assert_eq!(text.parse::<T>().ok().map(|value| value.to_string()).as_deref(), Some(*text));
    }
    for text in bad {
        assert!(text.parse::<T>().is_err(), "{text:?}");
    }
}

#[test]
fn forms_take_what_they_say_and_nothing_else() {
    takes::<EventId>(&["evt_a", "evt_9Z"], &["evt_", "evt_-", "evt_a ", "evt_\u{661}", ""]);
    takes::<ToolName>(&["a", "_x.y-z9"], &["", "9a", "a b", ".a", "é"]);
    takes::<ErrorCode>(&["AB", "A_9"], &["A", "a", "AB-", "_A", "9A"]);
    takes::<ReasonWord>(&["ab", "a_9"], &["a", "AB", "a-b", "_a"]);
    takes::<MediaType>(&["text/plain", "a.b+c/d-e"], &["text", "text/", "/plain", "text/plain;x", "9/a"]);
    takes::<AaepVersion>(
        &["1.0.0", "0.1.0-draft", "10.20.30-a.b"],
        &["1.0", "1.0.0-", "1.0.0.0", "v1.0.0", "1..0"],
    );
    takes::<Uri>(
        &["https://example.org/x?y#z", "queue://a/b", "urn:x:y", "https://пример.рф/"],
        &["", "example.org", "https:", "https://a b", ":x", "1https://x", "https://\u{202e}x", "http://x\n"],
    );
}

/// AEP-05
#[test]
fn new_ids_are_128_random_bits() {
    let (mut random, mut seen) = (Seeded::from_number(1), std::collections::BTreeSet::new());
    for _ in 0..1000 {
        let token = ReplyToken::random(&mut random);
        assert_eq!(token.as_str().len(), 4 + 32);
        assert_eq!(token.as_str().parse(), Ok(token.clone()));
        assert!(seen.insert(token));
    }
}

#[test]
fn times_are_kept_to_the_millisecond_whatever_their_offset() {
    for (text, expected) in [
        ("2026-05-24T14:22:11.342Z", "2026-05-24T14:22:11.342Z"),
        ("2026-05-24T15:22:11.342+01:00", "2026-05-24T14:22:11.342Z"),
        ("2026-05-24T09:52:11.342987-04:30", "2026-05-24T14:22:11.342Z"),
        ("2026-05-24T14:22:11Z", "2026-05-24T14:22:11.000Z"),
        ("2026-01-01T00:00:00+00:01", "2025-12-31T23:59:00.000Z"),
        ("2026-12-31T23:59:00-00:01", "2027-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(of::<EventTime>(text).to_string(), expected, "{text}");
    }
    for text in [
        "2026-05-24T14:22:60Z",
        "2026-05-24T24:00:00Z",
        "2026-05-24T14:22:11.Z",
        "2026-05-24T14:22:11.34Z",
        "2026-05-24T14:22:11.3421Z",
        "2026-05-24T14:22:11.3421234Z",
        "2026-05-24T14:22:11+24:00",
        "2026-05-24T14:22:11+01:60",
        "2026-05-24T14:22:11+0100",
        "2026-05-24T14:22:11",
        "2026-05-24T14:22:11é",
        "1970-01-01T00:00:00+00:01",
        "é026-05-24T14:22:11Z",
    ] {
        assert!(text.parse::<EventTime>().is_err(), "{text}");
    }
}

#[test]
fn a_time_may_be_ahead_as_far_as_clocks_differ() {
    let time = of::<EventTime>("2026-05-24T14:23:12.000Z");
    assert!(!time.is_dated_ahead(after(0)) && !time.is_dated_ahead(after(1)));
    assert!(EventTime::from(after(60_001)).is_dated_ahead(after(0)));
}

#[test]
fn numbers_keep_to_their_range() {
    let integer = |text: &str| serde_json::from_str::<Integer<1, 100>>(text).map(Integer::as_u64).ok();
    assert_eq!((integer("1"), integer("100.0"), integer("1e1")), (Some(1), Some(100), Some(10)));
    for wrong in ["0", "101", "1.5", "-1", "\"1\"", "true", "[1]", "1e400"] {
        assert_eq!(integer(wrong), None, "{wrong}");
    }
    assert_eq!(Share::<100>::new(100.5), None);
    assert_eq!(Share::<100>::new(f64::NAN), None);
    assert_eq!(serde_json::from_str::<Share<1>>("1").ok(), Share::new(1.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_time_is_read_back(millis in 0_u64..=253_402_300_799_999) {
        let time = EventTime::from(Timestamp::from_millis(millis).unwrap());
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn later_times_are_never_read_as_earlier(one in 0_u64..1_000_000, other in 0_u64..1_000_000) {
        let time = |micros: u64| of::<EventTime>(&format!("2026-05-24T14:22:11.{micros:06}Z"));
        prop_assert!(one > other || time(one) <= time(other));
    }
}
