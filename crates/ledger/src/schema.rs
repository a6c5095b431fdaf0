//! The JSON Schemas of the format, generated from the types. `conformance/ledger/schemas/` holds them as
//! committed; a test compares.

use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema, transform::RecursiveTransform,
};
use serde_json::Value;

use crate::{
    envelope,
    event_type::EventType,
    export::Line,
    facts::PossessionClaim,
    passkey::EnrolmentClaim,
    signed::{Receipt, Signed, TraceLeaf},
    statement,
};

/// Returns every schema with the name of its file, in a fixed order.
pub fn all() -> Vec<(String, Schema)> {
    let mut schemas = vec![
        named::<statement::Wire<'static>>("statement"),
        named::<envelope::Wire<'static>>("envelope"),
        named::<Line<'static>>("line"),
        named::<Signed<Receipt>>("receipt"),
        named::<PossessionClaim>("possession"),
        named::<EnrolmentClaim>("enrolment"),
        named::<TraceLeaf>("trace-leaf"),
    ];
    schemas.extend(EventType::ALL.iter().map(|kind| (format!("events/{kind}"), event(*kind))));
    schemas
}

fn named<T: JsonSchema>(name: &str) -> (String, Schema) {
    (name.to_owned(), generator().into_root_schema_for::<T>())
}

/// Facts and content of one event type, side by side.
fn event(kind: EventType) -> Schema {
    let mut generator = generator();
    let (facts, content) = kind.schemas(&mut generator);
    let definitions = generator.take_definitions(true);
    let proofs: Vec<_> = kind.rule().proofs.iter().map(|proof| proof.as_str()).collect();
    json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.as_str(),
        "description": kind.rule().meaning,
        // Not a keyword of JSON Schema: a column of the table of event types, for verifiers.
        "proofs": proofs,
        "type": "object",
        "properties": { "facts": facts, "content": content },
        "$defs": definitions,
    })
}

fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.transforms.push(Box::new(RecursiveTransform(require_all)));
    settings.into_generator()
}

/// Every field is always there: one that may be empty is null. The derive takes an `Option` for a field that may
/// be left out.
fn require_all(schema: &mut Schema) {
    let closed = schema.get("additionalProperties").and_then(Value::as_bool) == Some(false);
    let names = match schema.get("properties") {
        Some(Value::Object(properties)) if closed => properties.keys().cloned().map(Value::String).collect(),
        _ => return,
    };
    schema.insert("required".to_owned(), Value::Array(names));
}
