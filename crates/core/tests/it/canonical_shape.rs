//! Reading into types: an object is an object and a word is a word, at every depth.

use std::collections::BTreeMap;

use demur_core::canonical::{self, ReadErrorKind as Kind};
use demur_core::limit::Limits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::generator::Generator;
use crate::proof;

/// Fields stand in canonical order, so that the members of an object, as a list, are what serde would take for it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Leaf {
    count: u8,
    name: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Word,
    One(Leaf),
    Two(Leaf, u8),
    Fields { leaf: Leaf, number: u8 },
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Transparent(Leaf);

#[derive(Serialize, Deserialize)]
struct Pair(Leaf, u8);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tree {
    choices: Vec<Choice>,
    leaves: Vec<Leaf>,
    maybe: Option<Leaf>,
    named: BTreeMap<String, Leaf>,
    nothing: (),
    pair: Pair,
    raw: Box<RawValue>,
    transparent: Transparent,
    tuple: (u8, Option<Choice>, Leaf),
    value: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Flag(bool),
    Many(Vec<u8>),
    Leaf(Leaf),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    Leaf(Leaf),
}

#[derive(Serialize, Deserialize)]
struct Flattened {
    #[serde(flatten)]
    leaf: Leaf,
    other: Leaf,
}

/// Returns the value written again.
fn read<T: Serialize + DeserializeOwned>(json: &str) -> Result<String, Kind> {
    let value: T =
        canonical::from_canonical(json.as_bytes(), &Limits::EVENT).map_err(|e| e.kind().clone())?;
    let written = canonical::to_vec(&value).expect("what was read can be written");
    Ok(String::from_utf8(written).expect("JSON is UTF-8"))
}

/// Asserts that every reader takes the first text, and none the others, which serde_json takes.
fn only<T: Serialize + DeserializeOwned>(good: &str, others: &[&str]) {
    assert_eq!(read::<T>(good).as_deref(), Ok(good));
    assert!(canonical::from_checked::<T>(good).is_ok(), "{good}");
    for other in others {
        assert!(serde_json::from_str::<T>(other).is_ok(), "refused anyway: {other}");
        assert!(matches!(read::<T>(other), Err(Kind::Shape { .. })), "{other}");
        assert!(canonical::from_checked::<T>(other).is_err(), "{other}");
        assert!(canonical::from_json::<T>(other.as_bytes(), &Limits::EVENT).is_err(), "{other}");
    }
}

#[test]
fn a_list_is_no_object() {
    only::<Leaf>(r#"{"count":1,"name":"a"}"#, &[r#"[1,"a"]"#]);
    only::<Transparent>(r#"{"count":1,"name":"a"}"#, &[r#"[1,"a"]"#]);
}

#[test]
fn a_list_is_no_object_inside_of_others() {
    only::<Vec<Leaf>>(r#"[{"count":1,"name":"a"}]"#, &[r#"[[1,"a"]]"#]);
    only::<Option<Leaf>>(r#"{"count":1,"name":"a"}"#, &[r#"[1,"a"]"#]);
    only::<Option<Leaf>>("null", &[]);
    only::<Vec<Option<Box<Leaf>>>>(r#"[null,{"count":1,"name":"a"}]"#, &[r#"[null,[1,"a"]]"#]);
    only::<BTreeMap<String, Vec<Leaf>>>(r#"{"x":[{"count":1,"name":"a"}]}"#, &[r#"{"x":[[1,"a"]]}"#]);
}

#[test]
fn a_list_is_no_object_inside_of_an_enum() {
    only::<Choice>(r#"{"one":{"count":1,"name":"a"}}"#, &[r#"{"one":[1,"a"]}"#]);
    only::<Choice>(r#"{"two":[{"count":1,"name":"a"},2]}"#, &[r#"{"two":[[1,"a"],2]}"#]);
    only::<Choice>(
        r#"{"fields":{"leaf":{"count":1,"name":"a"},"number":2}}"#,
        &[r#"{"fields":[{"count":1,"name":"a"},2]}"#, r#"{"fields":{"leaf":[1,"a"],"number":2}}"#],
    );
}

#[test]
fn a_word_is_no_object() {
    only::<Choice>(r#""word""#, &[r#"{"word":null}"#]);
    only::<Vec<Option<Choice>>>(r#"["word",null]"#, &[r#"[{"word":null},null]"#]);
}

#[test]
fn an_enum_is_one_member_and_nothing_else() {
    for json in ["{}", "1", "null", "[]", r#""one""#, r#""other""#, r#"{"other":1}"#, r#"["word"]"#] {
        assert!(matches!(read::<Choice>(json), Err(Kind::Shape { .. })), "{json}");
    }
    let two = r#"{"one":{"count":1,"name":"a"},"word":null}"#;
    assert!(matches!(read::<Choice>(two), Err(Kind::Shape { .. })));
}

#[test]
fn what_is_a_list_stays_one() {
    only::<Pair>(r#"[{"count":1,"name":"a"},2]"#, &[r#"[[1,"a"],2]"#]);
    only::<(u8, Leaf)>(r#"[2,{"count":1,"name":"a"}]"#, &[r#"[2,[1,"a"]]"#]);
    only::<[u8; 3]>("[1,2,3]", &[]);
    only::<Value>(r#"[[1,"a"],{"word":null}]"#, &[]);
    assert!(read::<Pair>(r#"{"0":1}"#).is_err());
}

#[test]
fn raw_json_is_kept_as_it_is() {
    only::<Box<RawValue>>(r#"[1,{"count":[1,"a"]}]"#, &[]);
    let borrowed: &RawValue = canonical::from_canonical(br#"{"a":[1]}"#, &Limits::EVENT).unwrap();
    assert_eq!(borrowed.get(), r#"{"a":[1]}"#);
    let inner: BTreeMap<&str, &RawValue> =
        canonical::from_canonical(br#"{"a":[1]}"#, &Limits::EVENT).unwrap();
    assert_eq!(inner["a"].get(), "[1]");
}

/// serde reads these into a buffer first, and no reader sees what becomes of it.
#[test]
fn types_that_serde_buffers_still_read_their_objects() {
    only::<Untagged>("true", &[]);
    only::<Untagged>("[1,2]", &[]);
    only::<Untagged>(r#"{"count":1,"name":"a"}"#, &[]);
    only::<Tagged>(r#"{"count":1,"kind":"leaf","name":"a"}"#, &[]);
    let list = r#"{"count":1,"name":"a","other":[2,"b"]}"#;
    only::<Flattened>(r#"{"count":1,"name":"a","other":{"count":2,"name":"b"}}"#, &[list]);
}

#[test]
fn says_that_it_found_a_list() {
    let error = canonical::from_checked::<Vec<Leaf>>(r#"[{"count":1,"name":"a"},[1,"a"]]"#).unwrap_err();
    assert!(error.to_string().contains("invalid type: sequence, expected an object"), "{error}");
    assert_eq!(error.offset(), 25);
    let error = canonical::from_checked::<Choice>(r#"{"word":null}"#).unwrap_err();
    assert!(error.to_string().contains("invalid type: map, expected the bare word"), "{error}");
}

/// A text is taken exactly when serde_json takes it and the value has no other text: objects read as before.
#[test]
fn fuzz_reads_exactly_what_would_be_written() {
    let mut generator = Generator::new(8259);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..proof::count(300_000, 4_000) {
        let mut tree = tree(&mut generator);
        for _ in 0..generator.below(3) {
            reshape(&mut tree, &mut generator);
        }
        let json = String::from_utf8(canonical::to_vec(&tree).unwrap()).unwrap();
        let theirs = serde_json::from_str::<Tree>(&json).map(|tree| canonical::to_vec(&tree).unwrap());
        if let Ok(ours) = read::<Tree>(&json) {
            assert_eq!(ours, json, "round {round}");
            assert!(theirs.is_ok_and(|theirs| theirs == json.as_bytes()), "round {round}: {json}");
            taken += 1;
        } else {
            assert!(theirs.is_ok_and(|theirs| theirs != json.as_bytes()), "round {round}: {json}");
            refused += 1;
        }
    }
    assert!(taken > 0 && refused > 0, "{taken} taken, {refused} refused");
}

/// Returns a tree in the right shape.
fn tree(generator: &mut Generator) -> Value {
    let maybe = if generator.below(2) == 0 { Value::Null } else { leaf(generator) };
    let count = generator.below(4);
    json!({
        "choices": (0..count).map(|_| choice(generator)).collect::<Value>(),
        "leaves": (0..count).map(|_| leaf(generator)).collect::<Value>(),
        "maybe": maybe,
        "named": {"": leaf(generator), "x": leaf(generator)},
        "nothing": null,
        "pair": [leaf(generator), 7],
        "raw": generator.value(2),
        "transparent": leaf(generator),
        "tuple": [1, choice(generator), leaf(generator)],
        "value": generator.value(2),
    })
}

fn leaf(generator: &mut Generator) -> Value {
    json!({"count": generator.below(256), "name": generator.text()})
}

fn choice(generator: &mut Generator) -> Value {
    match generator.below(4) {
        0 => json!("word"),
        1 => json!({"one": leaf(generator)}),
        2 => json!({"two": [leaf(generator), 1]}),
        _ => json!({"fields": {"leaf": leaf(generator), "number": 2}}),
    }
}

/// Puts one of the two other forms in the place of a part, if the part has one.
fn reshape(tree: &mut Value, generator: &mut Generator) {
    let mut part = tree;
    for _ in 0..=generator.below(5) {
        let count = parts(part).len();
        if count > 0 {
            part = parts(part).swap_remove(generator.below(count));
        }
    }
    if let Some(other) = other_form(part) {
        *part = other;
    }
}

/// Returns the parts of a part, none for a leaf.
fn parts(part: &mut Value) -> Vec<&mut Value> {
    match part {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) if !members.contains_key("count") => members.values_mut().collect(),
        _ => Vec::new(),
    }
}

fn other_form(part: &Value) -> Option<Value> {
    match part {
        Value::Object(members) if members.contains_key("count") || members.contains_key("leaf") => {
            Some(members.values().cloned().collect())
        }
        Value::String(word) if word == "word" => Some(json!({"word": null})),
        _ => None,
    }
}
