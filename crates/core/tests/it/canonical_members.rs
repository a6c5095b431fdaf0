//! Members of an object, one by one: what is refused, and that nothing is lost.

use std::borrow::Cow;

use demur_core::{
    canonical::{self, Member, ReadErrorKind},
    limit::Limits,
};
use serde_json::{Map, Value};

use crate::generator::Generator;

#[test]
fn members_stand_in_the_order_of_the_text_with_their_exact_values() {
    let text = br#" { "b" : [1, {"c":2}] ,"\u0061b":"x\n", "": null } "#;
    let members = canonical::members(text, &Limits::EVENT).unwrap().unwrap();
    let found: Vec<(&str, &str)> =
        members.iter().map(|Member { name, value }| (name.as_ref(), *value)).collect();
    assert_eq!(found, [("b", r#"[1, {"c":2}]"#), ("ab", r#""x\n""#), ("", "null")]);
    assert!(matches!(members[0].name, Cow::Borrowed(_)));
}

#[test]
fn another_value_has_no_members_and_is_still_checked() {
    for text in ["[]", "null", "7", "\"{}\"", " true "] {
        assert_eq!(canonical::members(text.as_bytes(), &Limits::EVENT), Ok(None), "{text}");
    }
    for text in ["[", "{} x", "{\"a\":1,}", "[1,2] 3", ""] {
        assert!(canonical::members(text.as_bytes(), &Limits::EVENT).is_err(), "{text}");
    }
}

#[test]
fn names_that_are_spelled_differently_are_the_same_name() {
    let error = canonical::members(br#"{"type":1,"typ\u0065":2}"#, &Limits::EVENT).unwrap_err();
    assert_eq!(error.kind(), &ReadErrorKind::DuplicateKey);
}

#[test]
fn limits_hold() {
    let limits = Limits { bytes: 40, depth: 2, members: 2, text: 4 };
    for text in [r#"{"a":1,"b":2,"c":3}"#, r#"{"a":[[1]]}"#, r#"{"a":"12345"}"#, &" ".repeat(41)] {
        assert!(canonical::members(text.as_bytes(), &limits).is_err(), "{text}");
    }
    assert!(canonical::members(br#"{"a":[1],"b":"1234"}"#, &limits).is_ok());
}

#[test]
fn members_together_are_the_object() {
    let mut generator = Generator::new(11);
    for _ in 0..500 {
        let value = if generator.below(8) == 0 { generator.value(3) } else { generator.object(3).into() };
        let text = value.to_string();
        // Some numbers are beyond what every reader keeps: those are refused by every reader alike.
        let Ok(members) = canonical::members(text.as_bytes(), &Limits::CONTENT) else {
            assert!(canonical::scan(text.as_bytes(), &Limits::CONTENT).is_err(), "{text}");
            continue;
        };
        let parsed =
            |Member { name, value }| (Cow::into_owned(name), canonical::from_checked(value).unwrap());
        let found = members.map(|members| members.into_iter().map(parsed).collect::<Map<String, Value>>());
        assert_eq!(found.as_ref(), value.as_object(), "{text}");
    }
}
