//! The JSON schemas of the wire types.

use demur_core::commitment::{Commitment, Salt};
use demur_core::hash::Digest;
use demur_core::id::{Ulid, Uuid7};
use demur_core::key::{Fingerprint, PublicKey, Signature};
use demur_core::limit::{List, Text, Whole};
use demur_core::time::Timestamp;
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

use crate::identifiers::ThingId;

fn schema<T: JsonSchema>() -> Value {
    let mut schema = schema_for!(T).to_value();
    let members = schema.as_object_mut().expect("a schema is an object");
    members.remove("$schema");
    members.remove("title");
    schema
}

fn text(length: u64, pattern: &str) -> Value {
    json!({ "type": "string", "minLength": length, "maxLength": length, "pattern": pattern })
}

#[test]
fn texts_carry_their_length_and_pattern() {
    let digest = text(64, "^[0-9a-f]{64}$");
    assert_eq!(schema::<Digest>(), digest);
    assert_eq!(schema::<Salt>(), digest);
    assert_eq!(schema::<Commitment>(), digest);
    assert_eq!(schema::<PublicKey>(), digest);
    assert_eq!(schema::<Fingerprint>(), digest);
    assert_eq!(schema::<Signature>(), text(128, "^[0-9a-f]{128}$"));
    let ulid = text(26, "^[0-7][0-9A-HJKMNP-TV-Z]{25}$");
    assert_eq!(schema::<Ulid>(), ulid);
    assert_eq!(schema::<ThingId>(), ulid);
    let hyphenated = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
    assert_eq!(schema::<Uuid7>(), text(36, hyphenated));
    let time = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$";
    assert_eq!(schema::<Timestamp>(), text(24, time));
}

#[test]
fn bounds_stand_in_the_schema() {
    assert_eq!(schema::<Text<1, 9>>(), json!({ "type": "string", "minLength": 1, "maxLength": 9 }));
    assert_eq!(schema::<Whole<2, 8>>(), json!({ "type": "integer", "minimum": 2, "maximum": 8 }));
    let items = schema::<Whole<2, 8>>();
    let list = json!({ "type": "array", "items": items, "minItems": 0, "maxItems": 4 });
    assert_eq!(schema::<List<Whole<2, 8>, 0, 4>>(), list);
}

#[test]
fn two_kinds_of_id_have_two_schemas() {
    assert_ne!(ThingId::schema_id(), Ulid::schema_id());
    assert_eq!(ThingId::schema_name(), "ThingId");
}
