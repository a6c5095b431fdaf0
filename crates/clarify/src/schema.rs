//! The JSON Schemas of the documents, generated from the types. `conformance/clarify/schemas/` holds them as
//! committed; a test compares.

use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform,
};
use serde_json::Value;

use crate::{
    answer::Answer,
    ask::Ask,
    attestation::{Attestation, Inclusion},
    audit::AuditRecord,
    document::Document,
    handoff::Handoff,
    identity::{Check, CheckReply, Possession, Register, Revoke, Rotate, RotateReply, SignedMessage},
    paper::{AcceptancePaper, DocumentPaper, RoundPaper},
};

/// Returns every schema with the name of its file, in a fixed order.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("clarification-protocol", schema::<Document>()),
        ("ask", schema::<Ask>()),
        ("answer", schema::<Answer>()),
        ("audit-record", schema::<AuditRecord>()),
        ("attestation-protocol", schema::<Attestation>()),
        ("inclusion", schema::<Inclusion>()),
        ("paper-acceptance", schema::<AcceptancePaper>()),
        ("paper-document", schema::<DocumentPaper>()),
        ("paper-round", schema::<RoundPaper>()),
        ("handoff", schema::<Handoff>()),
        ("identity-register", schema::<SignedMessage<Register>>()),
        ("identity-rotate", schema::<SignedMessage<Rotate>>()),
        ("identity-rotate-reply", schema::<RotateReply>()),
        ("identity-possession", schema::<Possession>()),
        ("identity-revoke", schema::<SignedMessage<Revoke>>()),
        ("identity-check", schema::<Check>()),
        ("identity-check-reply", schema::<CheckReply>()),
    ]
}

fn schema<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft2020_12();
    settings.transforms.push(Box::new(RecursiveTransform(tell_null_from_absent)));
    SchemaGenerator::new(settings).into_root_schema_for::<T>()
}

/// A member that may be null is always there, and one that may be left out is never null: both would mean the same
/// and be signed differently. The derive takes an `Option` for both at once.
fn tell_null_from_absent(schema: &mut Schema) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut nullable = Vec::new();
    for (name, property) in properties {
        if NULLABLE.contains(&name.as_str()) {
            nullable.push(Value::from(name.as_str()));
        } else {
            remove_null(property);
        }
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.extend(nullable);
    }
}

fn remove_null(property: &mut Value) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            property["type"] = only.clone();
        }
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            if let Some(members) = property.as_object_mut() {
                members.remove("anyOf");
                members.extend(only);
            }
        }
    }
}

/// The members that may be null.
const NULLABLE: [&str; 4] = ["document", "expires_at", "prev_hash", "seed"];
