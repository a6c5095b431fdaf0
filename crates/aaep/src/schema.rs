//! The JSON Schemas of the messages, generated from the types and closed, also of those that the specification has none for.
//! `conformance/aaep/schemas/` holds them as committed; a test compares.

use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform,
};
use serde_json::{Value, json};

use crate::{
    handshake::{
        SubscriptionAccepted, SubscriptionClose, SubscriptionRejected, SubscriptionRenegotiate,
        SubscriptionRequest,
    },
    manifest::Manifest,
    reply::{ClarificationReply, ConfirmationReply},
    resolved::PromptResolved,
};

/// Returns every schema with the name of its file, in a fixed order.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("subscription.request", message::<SubscriptionRequest>("subscription.request")),
        ("subscription.accepted", message::<SubscriptionAccepted>("subscription.accepted")),
        ("subscription.rejected", message::<SubscriptionRejected>("subscription.rejected")),
        ("subscription.renegotiate", message::<SubscriptionRenegotiate>("subscription.renegotiate")),
        ("subscription.close", message::<SubscriptionClose>("subscription.close")),
        ("confirmation.reply", message::<ConfirmationReply>("confirmation.reply")),
        ("clarification.reply", message::<ClarificationReply>("clarification.reply")),
        ("producer.manifest", schema::<Manifest>()),
        ("extension.demur", schema::<PromptResolved>()),
    ]
}

fn schema<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.transforms.push(Box::new(RecursiveTransform(forbid_null)));
    settings.transforms.push(Box::new(RecursiveTransform(forbid_twice)));
    SchemaGenerator::new(settings).into_root_schema_for::<T>()
}

/// Returns the schema of a message, which says in `type` what it is.
fn message<T: JsonSchema>(name: &str) -> Schema {
    let mut schema = schema::<T>();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("type".to_owned(), json!({ "const": name }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, "type".into());
    }
    schema
}

/// No list of these messages has an entry twice. The readers check that once the message is read.
fn forbid_twice(schema: &mut Schema) {
    if schema.get("type").is_some_and(|name| name == "array") {
        schema.insert("uniqueItems".to_owned(), true.into());
    }
}

/// What may be left out is never null. The derive takes an `Option` for both.
fn forbid_null(schema: &mut Schema) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for property in properties.values_mut() {
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                property["type"] = only.clone();
            }
        }
        if let Some(Value::Array(words)) = property.get_mut("enum") {
            words.retain(|word| !word.is_null());
        }
        let Some(Value::Array(choices)) = property.get_mut("anyOf") else { continue };
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
