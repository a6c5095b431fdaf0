//! The description of the API: OpenAPI 3.1 from the same types that read and write the documents, and a page for people.

mod page;

use demur_api::{problem::ProblemDetails, scope::Scope};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

pub use page::page;

use crate::{
    api::{Returned, Route},
    problem,
};

/// Returns the document of these operations. The same type is read and written: a member is required only where it must be sent and
/// is always there.
pub fn document(operations: &[Route]) -> Value {
    let mut document = described(operations, SchemaSettings::draft2020_12().for_deserialize());
    let written = described(operations, SchemaSettings::draft2020_12().for_serialize());
    require_less(&mut document, &written);
    document
}

/// Takes away from what is required of a document what the same document elsewhere does not require.
fn require_less(one: &mut Value, other: &Value) {
    match (one, other) {
        (Value::Object(members), Value::Object(others)) => {
            if let (Some(Value::Array(names)), true) =
                (members.get_mut("required"), others.contains_key("properties"))
            {
                let also = others.get("required").and_then(Value::as_array);
                names.retain(|name| also.is_some_and(|also| also.contains(name)));
                if names.is_empty() {
                    members.remove("required");
                }
            }
            for (name, member) in members {
                others.get(name).into_iter().for_each(|other| require_less(member, other));
            }
        }
        (Value::Array(entries), Value::Array(others)) => {
            entries.iter_mut().zip(others).for_each(|(entry, other)| require_less(entry, other));
        }
        _ => {}
    }
}

fn described(operations: &[Route], mut settings: SchemaSettings) -> Value {
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for operation in operations.iter().filter(|operation| !operation.is_page) {
        let path = operation.path.replace("{*", "{");
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        entry[operation.method.as_str().to_ascii_lowercase()] = describe(operation, &mut generator);
    }
    let failure = generator.subschema_for::<ProblemDetails>();
    let mut schemas = generator.take_definitions(true);
    // Parameters stand where they are used, one by one.
    schemas.retain(|name, _| !name.ends_with("Parameters"));
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "demur",
            "version": "1",
            "description": "Where agents stop and ask. Every refusal is a problem document (RFC 9457) with a stable code.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"}
        },
        "servers": [{"url": "/", "description": "The server that gave this document"}],
        "tags": tags(),
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer",
                "description": "`demur token new` makes one. Over the Unix socket of the data folder none is needed."}},
            "responses": {"Problem": {"description": "A refusal, with what was expected, what was found and what to do",
                "content": {(problem::CONTENT_TYPE): {"schema": failure.clone()}}},
                "TooMany": {"description": "Credentials that are no good came too often from one address, or a session changed too much in a minute",
                "headers": {"Retry-After": {"description": "After how many seconds to try again.", "schema": {"type": "integer", "minimum": 1}}},
                "content": {(problem::CONTENT_TYPE): {"schema": failure}}}}
        }
    });
    renamed(document)
}

/// Returns the document with a name of its own for every type that shares one with another.
fn renamed(mut document: Value) -> Value {
    for (made, name) in NAMES {
        let found = document["components"]["schemas"].as_object_mut().and_then(|all| all.remove(*made));
        if let Some(schema) = found {
            document["components"]["schemas"][*name] = schema;
            let (from, to) = (format!("#/components/schemas/{made}"), format!("#/components/schemas/{name}"));
            repoint(&mut document, &from, &to);
        }
    }
    document
}

fn repoint(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| repoint(member, from, to)),
        Value::Array(entries) => entries.iter_mut().for_each(|entry| repoint(entry, from, to)),
        Value::String(text) if text == from => to.clone_into(text),
        _ => {}
    }
}

fn tags() -> Value {
    TAGS.iter().map(|(name, meaning)| json!({"name": name, "description": meaning})).collect()
}

/// Returns the group of a path: its first word, without the version.
fn tag(path: &str) -> &'static str {
    let word = path.trim_start_matches("/v1").split('/').nth(1).unwrap_or_default();
    TAGS.iter().map(|(name, _)| *name).find(|name| *name == word).unwrap_or("server")
}

/// Returns a document as text.
pub fn text(document: &Value) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

fn describe(operation: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [tag(operation.path)],
        "responses": responses(operation, generator),
    });
    if operation.is_open() {
        described["security"] = json!([]);
        described["description"] = json!("Needs no token.");
    } else if operation.scopes == [Scope::Local] {
        described["description"] =
            json!("For the user of this machine, over the Unix socket of the data folder.");
    } else if operation.scopes == [Scope::Administer] {
        described["description"] = json!(
            "For the user of this machine, over the Unix socket of the data folder; on a server with a public address also for \
             operators who signed in."
        );
    } else if operation.scopes == [Scope::Person] {
        described["description"] = json!(
            "For the user of this machine, over the Unix socket of the data folder, and for people who signed in with a browser."
        );
    } else {
        let words: Vec<_> = operation.scopes.iter().map(|scope| scope.as_str()).collect();
        described["description"] = json!(format!("Needs the scope {}.", words.join(" or ")));
    }
    let parameters = parameters(operation, generator);
    if !parameters.is_empty() {
        described["parameters"] = Value::Array(parameters);
    }
    if let Some((make, media)) = operation.request {
        let schema = json!(make(generator));
        let required = demands(&schema, generator);
        described["requestBody"] = json!({"required": required, "content": {(media): {"schema": schema}}});
    }
    described
}

/// Returns whether nothing at all does not stand for a document of this schema: only one with nothing but optional members
/// may be left out.
fn demands(schema: &Value, generator: &SchemaGenerator) -> bool {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    let found = name.and_then(|name| generator.definitions().get(name)).unwrap_or(schema);
    found["type"] != "object" || found["required"].as_array().is_some_and(|names| !names.is_empty())
}

fn responses(operation: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    for Returned { status, meaning, body } in &operation.returns {
        let mut response = json!({"description": meaning});
        if let Some((make, media)) = body {
            response["content"] = json!({(*media): {"schema": make(generator)}});
        }
        responses.insert(status.as_str().to_owned(), response);
    }
    for status in REFUSALS {
        responses.insert((*status).to_owned(), json!({"$ref": "#/components/responses/Problem"}));
    }
    // Only bad credentials are counted, and an open operation takes none.
    if !operation.is_open() {
        responses.insert("429".to_owned(), json!({"$ref": "#/components/responses/TooMany"}));
    }
    Value::Object(responses)
}

fn parameters(operation: &Route, generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters: Vec<Value> = operation
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*'))
        .map(|name| {
            let (meaning, schema) = path_schema(name);
            json!({"name": name, "in": "path", "required": true, "description": meaning, "schema": schema})
        })
        .collect();
    if let Some(make) = operation.query {
        parameters.extend(in_query(make(generator), generator));
    }
    parameters.extend(operation.headers.iter().map(|header| {
        json!({"name": header.name, "in": "header", "required": false, "description": header.meaning,
            "schema": {"type": "string", "minLength": 1, "maxLength": header.longest, "pattern": "^[!-~]+$"}})
    }));
    parameters
}

/// Returns the members of a document as parameters.
fn in_query(schema: schemars::Schema, generator: &SchemaGenerator) -> Vec<Value> {
    let schema = schema.to_value();
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let Some(found) = name.and_then(|name| generator.definitions().get(name)) else { return Vec::new() };
    let Some(members) = found["properties"].as_object() else { return Vec::new() };
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|members| members.remove("description"));
        json!({"name": name, "in": "query", "required": false, "description": description, "schema": without_null(schema)})
    };
    members.iter().map(parameter).collect()
}

/// A parameter that is not there is not null: it is not there.
fn without_null(mut schema: Value) -> Value {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
        any.retain(|one| one["type"] != "null");
        if let [only] = any.as_slice() {
            return only.clone();
        }
    }
    schema
}

fn path_schema(name: &str) -> (&'static str, Value) {
    match name {
        "question" => (
            "The question: its trace, a dot, the number of the event that asked.",
            json!({"type": "string", "pattern": QUESTION}),
        ),
        "trace" => ("The trace.", json!({"type": "string", "pattern": TRACE})),
        "session" => ("The session of the plan.", json!({"type": "string", "pattern": UUID})),
        "gap" => ("The gap's name in the session.", json!({"type": "string", "pattern": "^gap-[0-9]{3,8}$"})),
        "sequence" => (
            "The number of the event in its trace, from 0.",
            json!({"type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64}),
        ),
        "fingerprint" => ("The key.", json!({"type": "string", "pattern": "^[0-9a-f]{64}$"})),
        "token" => {
            ("The public name of the token.", json!({"type": "string", "minLength": 1, "maxLength": 64}))
        }
        "sign_in" => ("The name of a session.", json!({"type": "string", "minLength": 1, "maxLength": 64})),
        "person" => ("The name of a person.", json!({"type": "string", "minLength": 1, "maxLength": 64})),
        "schema" => (
            "The path of the schema below /schemas.",
            json!({"type": "string", "minLength": 1, "maxLength": 256}),
        ),
        _ => ("A name.", json!({"type": "string", "minLength": 1, "maxLength": 256})),
    }
}

/// Every status of a refusal that a request can meet.
const REFUSALS: &[&str] =
    &["400", "401", "403", "404", "405", "408", "409", "413", "415", "421", "422", "500", "503", "507"];
/// The groups of operations, by the first word of their paths; the last one takes the rest.
const TAGS: &[(&str, &str)] = &[
    ("questions", "Questions: asked, waited for, answered, declined, passed on."),
    ("plans", "Plans: held against the rules, clarified, confirmed, attested."),
    ("traces", "The record: events, exports, artifacts, receipts."),
    ("verify", "What an export proves."),
    ("identities", "The keys of the registry."),
    ("feed", "What happens, as it happens."),
    ("tokens", "What callers over TCP show."),
    ("people", "Who may sign in with a browser."),
    ("sessions", "Which browsers are signed in."),
    ("schemas", "The JSON Schemas of every document."),
    ("server", "The server itself: what it is, how it is, how it ends."),
];
/// What schemars calls the second type of a name, and what it is called here.
const NAMES: &[(&str, &str)] = &[("Severity2", "GapSeverity")];
const UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
const TRACE: &str = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";
const QUESTION: &str = "^[0-7][0-9A-HJKMNP-TV-Z]{25}(\\.(0|[1-9][0-9]{0,15}))?$";
