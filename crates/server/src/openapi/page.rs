//! The description of the API for people: one page, no script, readable without style.

use std::fmt::Write as _;

use demur_ledger::markup::escape;
use serde_json::Value;

/// Returns the page of an OpenAPI document.
pub fn page(document: &Value) -> String {
    let mut page = String::from(HEAD);
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            section(&mut page, path, method, operation);
        }
    }
    page.push_str("</main></body></html>\n");
    page
}

fn section(page: &mut String, path: &str, method: &str, operation: &Value) {
    let text = |value: &Value| escape(value.as_str().unwrap_or_default());
    let id = text(&operation["operationId"]);
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\"><code>{} {}</code></h2><p>{}. {}</p>",
        method.to_ascii_uppercase(),
        escape(path),
        text(&operation["summary"]),
        text(&operation["description"]),
    );
    let parameters = operation["parameters"].as_array().filter(|parameters| !parameters.is_empty());
    if let Some(parameters) = parameters {
        page.push_str("<h3>Parameters</h3><dl>");
        for parameter in parameters {
            let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
            let _ = write!(
                page,
                "<dt><code>{name}</code> ({place})</dt><dd>{}</dd>",
                text(&parameter["description"])
            );
        }
        page.push_str("</dl>");
    }
    if let Some(content) = operation["requestBody"]["content"].as_object() {
        page.push_str("<h3>Request</h3><ul>");
        for (media, body) in content {
            let _ = write!(page, "<li>{} <code>{}</code></li>", named(&body["schema"]), escape(media));
        }
        page.push_str("</ul>");
    }
    page.push_str("<h3>Responses</h3><dl>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        if let Some(meaning) = response["description"].as_str() {
            let body = response["content"].as_object().and_then(|content| content.values().next());
            let _ = write!(page, "<dt>{}</dt><dd>{}", escape(status), escape(meaning));
            let _ = write!(page, " {}</dd>", body.map_or_else(String::new, |body| named(&body["schema"])));
        }
    }
    page.push_str("</dl></section>");
}

fn named(schema: &Value) -> String {
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    name.map_or_else(String::new, |name| format!("<code>{}</code>", escape(name)))
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>demur: the API</title><style>\
:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:0}\
main{max-width:50rem;margin:0 auto;padding:1rem}h2{border-top:1px solid;padding-top:1rem;overflow-wrap:anywhere}\
h3{font-size:1rem;margin-bottom:0}dl{margin-top:.25rem}dt{font-weight:600}dd{margin:0 0 .25rem 1.5rem}</style></head>\
<body><main><h1>demur: the API</h1><p>Every operation, what it takes and what it gives. For programs the same stands in \
<a href=\"/v1/openapi.json\">an OpenAPI document</a>; the documents themselves have <a href=\"/schemas\">JSON Schemas</a>. \
A refusal is always a problem document with a stable <code>code</code>, what was expected, what was found and what to \
do.</p>";
