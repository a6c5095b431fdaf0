//! The description of the API for people: one page, no script, readable without style.

use std::fmt::Write as _;

use demur_ledger::markup::escape;
use serde_json::{Map, Value};

/// Returns the page of an OpenAPI document.
pub fn page(document: &Value) -> String {
    let mut page = String::from(HEAD);
    let tags: Vec<_> = document["tags"].as_array().into_iter().flatten().collect();
    page.push_str("<nav aria-label=\"Operations\">");
    for tag in &tags {
        // Writing to a string does not fail.
        let _ = write!(page, "<h2>{}</h2><ul>", text(&tag["name"]));
        for (path, method, operation) in operations(document, tag) {
            let (id, badge) = (text(&operation["operationId"]), badge(method));
            let _ = write!(page, "<li>{badge} <a href=\"#{id}\">{}</a></li>", escape(path));
        }
        page.push_str("</ul>");
    }
    page.push_str("<h2><a href=\"#documents\">documents</a></h2></nav><main>");
    page.push_str(INTRODUCTION);
    for tag in &tags {
        let _ = write!(page, "<h2>{}</h2><p>{}</p>", text(&tag["name"]), text(&tag["description"]));
        for (path, method, operation) in operations(document, tag) {
            section(&mut page, path, method, operation);
        }
    }
    page.push_str("<h2 id=\"documents\">documents</h2><p>What goes in and out, member by member.</p>");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        described(&mut page, name, schema);
    }
    page.push_str("</main></body></html>\n");
    page
}

/// Returns the operations of a group.
fn operations<'a>(
    document: &'a Value,
    tag: &'a Value,
) -> impl Iterator<Item = (&'a str, &'a str, &'a Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let all = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    });
    all.filter(|(_, _, operation)| operation["tags"][0] == tag["name"])
}

fn section(page: &mut String, path: &str, method: &str, operation: &Value) {
    let id = text(&operation["operationId"]);
    let _ = write!(
        page,
        "<section aria-labelledby=\"{id}\"><h3 id=\"{id}\">{} <code>{}</code></h3><p>{}. <em>{}</em></p>",
        badge(method),
        escape(path),
        text(&operation["summary"]),
        text(&operation["description"]),
    );
    let parameters = operation["parameters"].as_array().filter(|parameters| !parameters.is_empty());
    if let Some(parameters) = parameters {
        page.push_str("<h4>Parameters</h4><dl>");
        for parameter in parameters {
            let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
            let meaning = text(&parameter["description"]);
            let kind = kind(&parameter["schema"]);
            let _ =
                write!(page, "<dt><code>{name}</code> <small>{place}, {kind}</small></dt><dd>{meaning}</dd>");
        }
        page.push_str("</dl>");
    }
    if let Some(content) = operation["requestBody"]["content"].as_object() {
        page.push_str("<h4>Request</h4><ul>");
        for (media, body) in content {
            let _ = write!(page, "<li>{} <small>{}</small></li>", kind(&body["schema"]), escape(media));
        }
        page.push_str("</ul>");
    }
    page.push_str("<h4>Responses</h4><dl>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        if let Some(meaning) = response["description"].as_str() {
            let body = response["content"].as_object().and_then(|content| content.iter().next());
            let _ = write!(page, "<dt>{}</dt><dd>{}", escape(status), escape(meaning));
            if let Some((media, body)) = body {
                let _ = write!(page, ": {} <small>{}</small>", kind(&body["schema"]), escape(media));
            }
            page.push_str("</dd>");
        }
    }
    page.push_str("</dl></section>");
}

/// Adds a document and its members.
fn described(page: &mut String, name: &str, schema: &Value) {
    let name = escape(name);
    let _ = write!(
        page,
        "<section aria-labelledby=\"schema-{name}\"><h3 id=\"schema-{name}\"><code>{name}</code></h3>"
    );
    let _ = write!(page, "<p>{}</p>", text(&schema["description"]));
    let none = Map::new();
    let members = schema["properties"].as_object().unwrap_or(&none);
    if members.is_empty() {
        let _ = write!(page, "<p>{}</p></section>", kind(schema));
        return;
    }
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    page.push_str("<dl>");
    for (member, schema) in members {
        let always = if required.iter().any(|name| *name == member) { "" } else { ", may be left out" };
        let (member, kind, meaning) = (escape(member), kind(schema), text(&schema["description"]));
        let _ =
            write!(page, "<dt><code>{member}</code> <small>{kind}{always}</small></dt><dd>{meaning}</dd>");
    }
    page.push_str("</dl></section>");
}

/// Returns what a value is, in a few words; a document is a link.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        let name = escape(name);
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("<code>{}</code>", escape(word));
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().map(|word| format!("<code>{}</code>", text(word))).collect();
        return words.join(" or ");
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(word) => escape(word),
        Value::Array(words) => words.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => "any value".to_owned(),
    }
}

fn badge(method: &str) -> String {
    let method = escape(method);
    format!("<span class=\"{method}\">{}</span>", method.to_ascii_uppercase())
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>demur: the API</title><style>\
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 20%,transparent)}\
*{box-sizing:border-box}body{font:1rem/1.5 system-ui,sans-serif;margin:0;display:flex;align-items:flex-start}\
nav{position:sticky;top:0;flex:0 0 22rem;max-height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line);font-size:.8125rem}\
nav h2{font-size:.8125rem;margin:.75rem 0 .25rem}nav ul{list-style:none;margin:0;padding:0}\
nav li{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}\
main{flex:1 1 auto;min-width:0;max-width:56rem;padding:1rem 2rem 4rem}h1{margin-top:0}\
h2{margin-top:3rem}h3{overflow-wrap:anywhere;margin:0 0 .25rem}h4{font-size:.875rem;margin:.75rem 0 .25rem}\
section{border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:1rem 0}section p{margin:.25rem 0}\
dl{margin:0;display:grid;gap:.25rem 1rem}dt{overflow-wrap:anywhere}dd{margin:0 0 0 1.5rem}ul{margin:0}\
code{font:.9em ui-monospace,monospace}small{font-size:.8125rem;opacity:.85}em{font-style:normal;opacity:.85}\
.get,.post,.delete{display:inline-block;min-width:4rem;text-align:center;border-radius:.25rem;padding:0 .375rem;\
font:600 .75rem/1.5 ui-monospace,monospace;color:#fff}.get{background:#1a5fb4}.post{background:#1d6b36}.delete{background:#a51d2d}\
nav .get,nav .post,nav .delete{min-width:3.5rem;font-size:.625rem}\
@media(max-width:60rem){body{display:block}nav{position:static;max-height:none;border:0}main{padding:1rem}}</style></head><body>";

const INTRODUCTION: &str = "<h1>demur: the API</h1><p>Every operation, what it takes and what it gives. For programs the \
same stands in <a href=\"/v1/openapi.json\">an OpenAPI document</a>; the documents of the ledger and of the clarification \
protocol have <a href=\"/schemas\">JSON Schemas</a>. A refusal is always a \
<a href=\"#schema-ProblemDetails\">problem document</a> with a stable <code>code</code>, what was expected, what was found \
and what to do.</p>";
