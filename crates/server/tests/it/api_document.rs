//! The description of the API is what the code makes, complete, and the schemas are those that are committed.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use demur_api::operation::EVERY;
use demur_server::{openapi, routes};
use serde_json::Value;

use crate::server::Server;

fn project(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn document() -> Value {
    openapi::document(&routes::operations())
}

/// Calls `visit` with every value below this one and the way to it.
fn walk(value: &Value, way: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(way, value);
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| walk(member, &format!("{way}/{name}"), visit));
        }
        Value::Array(entries) => {
            entries.iter().enumerate().for_each(|(at, entry)| walk(entry, &format!("{way}/{at}"), visit));
        }
        _ => {}
    }
}

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let methods = |(path, methods): (&String, &'_ Value)| {
        let path = path.clone();
        methods
            .as_object()
            .unwrap()
            .keys()
            .map(move |method| (path.clone(), method.clone()))
            .collect::<Vec<_>>()
    };
    paths
        .iter()
        .flat_map(methods)
        .map(|(path, method)| (format!("{method} {path}"), &document["paths"][&path][&method]))
        .collect()
}

#[test]
fn every_operation_of_the_table_is_served_where_the_table_says() {
    let served: BTreeMap<_, _> = routes::operations()
        .iter()
        .map(|served| (served.id(), (served.method().to_string(), served.path(), served.scopes())))
        .collect();
    for (about, _) in EVERY {
        let place = (about.method.as_str().to_owned(), about.path, about.scopes);
        assert_eq!(served.get(about.id), Some(&place), "{}", about.id);
    }
}

#[test]
fn the_committed_document_is_what_the_code_makes() {
    let path = project("docs/api/openapi.json");
    let made = openapi::text(&document());
    if env::var_os("DEMUR_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == made, "docs/api/openapi.json is stale: DEMUR_BLESS=1 cargo test -p demur-server");
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut seen = 0;
    walk(&document, "", &mut |way, value| {
        let Some(target) = value.get("$ref").and_then(Value::as_str) else { return };
        let pointer = target.strip_prefix('#').unwrap_or_else(|| panic!("{way}: {target} leads away"));
        assert!(document.pointer(pointer).is_some(), "{way}: {target} leads nowhere");
        seen += 1;
    });
    assert!(seen > 100, "{seen} references");
}

#[test]
fn every_schema_is_used_and_has_a_name_of_its_own() {
    let document = document();
    let text = document.to_string();
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        let numbered = name.ends_with(|last: char| last.is_ascii_digit()) && name != "Sha256";
        assert!(!numbered, "{name} shares its name with another");
        assert!(text.contains(&format!("\"#/components/schemas/{name}\"")), "{name} is used by nothing");
    }
}

#[test]
fn every_operation_says_what_it_does_takes_and_gives() {
    let document = document();
    let mut ids = BTreeSet::new();
    for (place, operation) in operations(&document) {
        for member in ["summary", "description", "operationId"] {
            assert!(operation[member].as_str().is_some_and(|text| !text.is_empty()), "{place}: no {member}");
        }
        assert!(ids.insert(operation["operationId"].to_string()), "{place}: its name is taken");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let text = parameter["description"].as_str();
            assert!(
                text.is_some_and(|text| !text.is_empty()),
                "{place}: {} is not described",
                parameter["name"]
            );
            assert!(parameter["schema"].is_object(), "{place}: {} has no schema", parameter["name"]);
        }
        let good =
            operation["responses"].as_object().unwrap().keys().any(|status| status.starts_with(['2', '3']));
        assert!(good, "{place}: nothing good comes back");
    }
}

#[test]
fn every_member_of_every_document_is_described() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        walk(schema, name, &mut |way, value| {
            let Some(members) = value.get("properties").and_then(Value::as_object) else { return };
            for (member, schema) in members {
                // A word that is always the same says itself what it is.
                let told = ["description", "$ref", "const"].iter().any(|way| schema[way].is_string());
                assert!(told || member == "clarification_rounds", "{way}: {member} is not described");
            }
        });
    }
}

#[test]
fn the_document_holds_no_examples() {
    walk(&document(), "", &mut |way, value| {
        assert!(value.get("example").is_none() && value.get("examples").is_none(), "{way}");
    });
}

/// Returns the committed schemas below a folder by the path under which the server gives them.
fn committed(folder: &Path, path: &str, found: &mut BTreeMap<String, Value>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{path}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            committed(&entry.path(), &path, found);
        } else {
            found.insert(path, serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap());
        }
    }
}

#[test]
fn the_schemas_that_are_served_are_those_that_are_committed() {
    let server = Server::start();
    let mut expected = BTreeMap::new();
    for protocol in ["clarify", "ledger"] {
        let folder = project(&format!("conformance/{protocol}/schemas"));
        committed(&folder, &format!("/schemas/{protocol}"), &mut expected);
    }
    let listed = server.call("GET", "/schemas").send().json();
    let listed: Vec<_> =
        listed["schemas"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(listed, expected.keys().collect::<Vec<_>>());
    for (path, schema) in &expected {
        let reply = server.call("GET", path).send();
        assert_eq!(reply.header("content-type"), Some("application/schema+json"));
        assert_eq!(reply.json(), *schema, "{path}");
    }
}

#[test]
fn the_document_and_the_page_are_served_as_they_are_made() {
    let server = Server::start();
    let reply = server.call("GET", "/v1/openapi.json").send();
    assert_eq!((reply.header("content-type"), reply.json()), (Some("application/json"), document()));
    let page = server.call("GET", "/v1/docs").send();
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    for operation in routes::operations().iter().filter(|operation| !operation.is_page()) {
        assert!(
            page.text().contains(&format!("id=\"{}\"", operation.id())),
            "{} is on the page",
            operation.id()
        );
    }
    assert!(!page.text().contains("<script"), "it needs no script");
}
