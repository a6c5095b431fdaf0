//! Every member of every document missing, unknown, null or of another kind: refused, with the field, and as the
//! schema says.

use demur_clarify::{
    Error, answer::Answer, attestation::Inclusion, audit::AuditRecord, document::Document, read, schema,
};
use serde_json::{Value, json};

use crate::samples::{Sample, all};

/// Calls `visit` with the pointer of every object of a sample whose members are fixed, and its schema.
fn for_each_object(sample: &Sample, visit: &mut dyn FnMut(&str, &Value)) {
    let (_, schema) = schema::all().into_iter().find(|(name, _)| *name == sample.schema).unwrap();
    let root = serde_json::to_value(schema).unwrap();
    walk(&sample.value, &root, &root, "", visit);
}

fn walk(value: &Value, schema: &Value, root: &Value, at: &str, visit: &mut dyn FnMut(&str, &Value)) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    if schema["$ref"].is_string() {
        return walk(value, schema, root, at, visit);
    }
    match value {
        Value::Object(members) if schema["additionalProperties"] == false => {
            visit(at, schema);
            for (name, member) in members {
                walk(member, &schema["properties"][name], root, &format!("{at}/{name}"), visit);
            }
        }
        Value::Array(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                walk(entry, &schema["items"], root, &format!("{at}/{index}"), visit);
            }
        }
        _ => {}
    }
}

fn changed(value: &Value, at: &str, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Vec<u8> {
    let mut value = value.clone();
    change(value.pointer_mut(at).unwrap().as_object_mut().unwrap());
    value.to_string().into_bytes()
}

#[test]
fn unknown_members_are_refused_by_name() {
    let mut objects = 0;
    for sample in all() {
        for_each_object(&sample, &mut |at, _| {
            let bytes = changed(&sample.value, at, |members| {
                drop(members.insert("zz_surprise".to_owned(), json!(1)));
            });
            let error = (sample.read)(&bytes).unwrap_err().to_string();
            assert!(error.contains("unknown field `zz_surprise`"), "{}{at}: {error}", sample.schema);
            objects += 1;
        });
    }
    assert!(objects > 50, "only {objects} objects");
}

#[test]
fn missing_and_null_members_are_refused_as_the_schema_says() {
    for sample in all() {
        for_each_object(&sample, &mut |at, schema| {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for name in sample.value.pointer(at).unwrap().as_object().unwrap().keys() {
                let place = format!("{}{at}/{name}", sample.schema);
                let without =
                    (sample.read)(&changed(&sample.value, at, |members| drop(members.remove(name))));
                // A round has one of two members, which a schema of members cannot say.
                let one_of_two = ["answered_by", "answer_signer"].contains(&name.as_str());
                assert_eq!(
                    without.is_err(),
                    required.contains(&json!(name)) || one_of_two,
                    "{place} missing"
                );
                let null = (sample.read)(&changed(&sample.value, at, |members| {
                    drop(members.insert(name.clone(), Value::Null));
                }));
                let nullable = ["document", "prev_hash", "seed", "expires_at"].contains(&name.as_str());
                assert_eq!(null.is_ok(), nullable, "{place} null");
            }
        });
    }
}

#[test]
fn members_of_another_kind_are_refused_with_their_path() {
    for sample in all() {
        for_each_object(&sample, &mut |at, _| {
            for (name, member) in sample.value.pointer(at).unwrap().as_object().unwrap() {
                let other = if member.is_array() { json!("text") } else { json!([[]]) };
                let bytes = changed(&sample.value, at, |members| drop(members.insert(name.clone(), other)));
                let error = (sample.read)(&bytes).unwrap_err();
                let expected = format!("{at}/{name}").trim_start_matches('/').replace('/', ".");
                let Error::Shape { field, .. } = &error else { panic!("{error}") };
                // A variant or an object stops inside of the wrong value, which is then part of the path.
                assert!(field.starts_with(&expected), "expected {expected}, found {error}");
            }
        });
    }
}

fn refused<T: serde::Serialize + serde::de::DeserializeOwned + std::fmt::Debug>(
    schema: &str,
    pointer: &str,
    other: Value,
) -> String {
    let sample = all().into_iter().find(|sample| sample.schema == schema).unwrap();
    let mut value = sample.value;
    *value.pointer_mut(pointer).unwrap() = other;
    read::from_slice::<T>(value.to_string().as_bytes()).unwrap_err().to_string()
}

/// serde reads an array as the members of a struct in their order; two spellings of one signed document.
#[test]
fn arrays_in_the_place_of_objects_are_refused() {
    for sample in all() {
        for_each_object(&sample, &mut |at, schema| {
            let object = sample.value.pointer(at).unwrap();
            let names = schema["properties"].as_object().unwrap().keys();
            let members: Vec<Value> = names.filter_map(|name| object.get(name).cloned()).collect();
            let mut value = sample.value.clone();
            *value.pointer_mut(at).unwrap() = members.into();
            assert!((sample.read)(value.to_string().as_bytes()).is_err(), "{}{at}", sample.schema);
        });
    }
    let party = json!([
        "caller-01",
        "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "human"
    ]);
    let error = refused::<Answer>("answer", "/answered_by", party);
    assert_eq!(error, "answered_by: invalid type: sequence, expected an object");
}

/// Lengths, counts and ranges.
#[test]
fn what_is_beyond_a_limit_is_refused_with_its_path() {
    let error = refused::<Answer>("answer", "/answer", json!("x".repeat(4001)));
    assert_eq!(error, "answer: expected 1 to 4000 code points, found 4001");
    let error = refused::<Answer>("answer", "/answer", json!(""));
    assert_eq!(error, "answer: expected 1 to 4000 code points, found 0");
    let error = refused::<Answer>("answer", "/round", json!(0));
    assert_eq!(error, "round: expected a whole number from 1 to 1000, found 0");
    let error = refused::<Answer>("answer", "/answer_timestamp", json!("yesterday"));
    assert!(error.starts_with("answer_timestamp: expected a time"), "{error}");
    let error = refused::<Document>("clarification-protocol", "/gaps/0/severity", json!("INFO"));
    assert!(error.starts_with("gaps.0.severity: unknown variant `INFO`"), "{error}");
    let error = refused::<Document>("clarification-protocol", "/gaps/0/field", json!("more detail needed"));
    assert!(error.starts_with("gaps.0.field: FieldPath: expected the dotted path of one field"), "{error}");
    let error = refused::<Inclusion>("inclusion", "/siblings/1", json!("sha256:"));
    assert_eq!(error, "siblings.1: expected 64 lower-case hex digits, found 0 bytes");
    let error = refused::<AuditRecord>("audit-record", "/chain/0/gap/severity", json!("WARN"));
    assert!(error.starts_with("chain.0.gap: blocked_operations: expected none"), "{error}");
    let many: Vec<String> = (0..33).map(|number| number.to_string()).collect();
    let error = refused::<Document>("clarification-protocol", "/gaps/0/suggestions", json!(many));
    assert_eq!(error, "gaps.0.suggestions: expected 0 to 32 entries, found 33");
    let error = refused::<Document>("clarification-protocol", "/protocol_version", json!("1.1.0"));
    assert!(error.starts_with("protocol_version: unknown variant `1.1.0`"), "{error}");
}

#[test]
fn an_answer_has_exactly_one_kind_of_signer() {
    let party = json!({"agent_id": "a", "public_key": "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"});
    let sample = all().into_iter().find(|sample| sample.schema == "audit-record").unwrap();
    let both = changed(&sample.value, "/chain/1", |round| {
        round.remove("answered_for");
        round.insert("answered_by".to_owned(), party);
    });
    let error = read::from_slice::<AuditRecord>(&both).unwrap_err();
    assert_eq!(
        error.to_string(),
        "chain.1: answered_by: expected one of answered_by and answer_signer, found both"
    );
}

#[test]
fn bytes_that_are_no_strict_json_are_refused() {
    let good = all().remove(0).value.to_string();
    let twice = good.replacen('{', "{\"status\":\"needs_clarification\",", 1);
    let surrogate = good.replacen("real build", "\\ud800", 1);
    let deep = "[".repeat(1000);
    let long = format!("{good}{}", " ".repeat(16 << 20));
    for bytes in ["", "{", "null,", &good[1..], &twice, &surrogate, &deep, &long] {
        assert!(matches!(read::from_slice::<Document>(bytes.as_bytes()), Err(Error::Json(_))));
    }
    assert!(matches!(read::from_slice::<Document>(&[0xff]), Err(Error::Json(_))));
}
