//! One cell of the matrix: one call by one caller, and what came of it without what differs each time and without words.

use std::{cell::Cell, collections::BTreeSet};

use demur_server::api::Route;
use serde_json::{Map, Value, json};

use super::{
    callers::{Credential, form_key},
    rows::{Body, Row, Show},
    seed::Seed,
};
use crate::{
    browser::{encode, host, link, origin},
    client::{Call, Reply, chunk, head},
    server::Server,
};

/// Whoever calls, and where.
pub(super) struct Caller<'a> {
    pub(super) seed: &'a Seed,
    pub(super) server: &'a Server,
    pub(super) kind: &'static str,
    /// Whether this caller has ended the server.
    pub(super) ended_it: Cell<bool>,
}

impl Caller<'_> {
    pub(super) fn credential(&self) -> &Credential {
        &self.seed.credentials[self.kind]
    }

    /// Returns what comes of a call.
    pub(super) fn outcome(&self, row: &Row, operation: &Route) -> Value {
        let path = self.fill(&row.path(operation));
        let mut call = self.credential().call(self.server, operation.method().as_str(), &path);
        let over_tcp = !matches!(self.credential(), Credential::Local | Credential::Client);
        if operation.is_page() && over_tcp {
            let origin = origin(self.server);
            call = call.header("Host", host(&origin)).header("Origin", &origin);
        }
        if let Some(key) = row.key {
            call = call.header("Idempotency-Key", key);
        }
        let call = self.with_body(call, &row.body);
        let mut shown = match row.show {
            Show::Events(count) => events(&call, count),
            show => shown(&call.send(), show),
        };
        // That somebody looked is noted a moment later, and then shown: only pages of traces are about that.
        if let Some(Value::Array(links)) = shown.get_mut("links").filter(|_| !path.starts_with("/traces")) {
            links.retain(|link| !link.as_str().unwrap().contains("/events/"));
        }
        self.ended_it.set(row.operation == "stopServer" && shown["status"] == 204);
        self.hide(&shown)
    }

    fn with_body(&self, call: Call, body: &Body) -> Call {
        match body {
            Body::Nothing => call,
            Body::Json(document) => {
                let text = self.fill(&document.to_string());
                call.header("Content-Type", "application/json").body(text.as_bytes())
            }
            Body::Form(fields) => {
                let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, self.fill(value))).collect();
                let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let media = "application/x-www-form-urlencoded";
                call.header("Content-Type", media).body(encode(&fields).as_bytes())
            }
            Body::Export => call.header("Content-Type", "application/jsonl").body(&self.seed.export),
            Body::Attestation => call.json(&json!({"attestation": self.seed.attestation})),
        }
    }

    /// Returns a text with values where it has names; a link is made for whoever needs one.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut text = text.replace("<form key>", &form_key(self.seed, self.kind));
        if text.contains("<link>") {
            text = text.replace("<link>", &link(self.server, &json!({"person": "ines"})));
        }
        self.seed.names.fill(&text)
    }

    /// Returns a document with names where it has values.
    pub(super) fn hide(&self, document: &Value) -> Value {
        let text = document.to_string();
        let text = text.replace(self.server.folder().to_str().unwrap(), "<folder>");
        let text = text.replace(&format!("demur.localhost:{}", self.server.port()), "<pages>");
        let text = text.replace(&format!("localhost:{}", self.server.port()), "<address>");
        let mut text = text.replace(&format!("_{}=", self.server.port()), "_<port>=");
        if let Some(key) = self.seed.form_keys.get(self.kind) {
            text = text.replace(key, "<form key>");
        }
        let hidden = self.seed.names.hide(&text);
        let hidden = serde_json::from_str(&hidden).unwrap_or_else(|error| panic!("{error}: {hidden}"));
        in_order(hidden)
    }
}

/// Returns status and first events of something that has no end, or how it was refused.
fn events(call: &Call, count: usize) -> Value {
    let mut stream = call.open();
    let (status, headers) = head(&mut stream).unwrap();
    if status != 200 {
        return shown(&call.send(), Show::Whole);
    }
    let media = headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.clone());
    let mut text = String::new();
    while text.matches("\n\n").count() < count {
        text.push_str(&String::from_utf8(chunk(&mut stream).unwrap().expect("it has no end")).unwrap());
    }
    let events: Vec<_> = text.split("\n\n").take(count).collect();
    json!({"status": status, "media": media, "events": events})
}

/// Returns what a reply says, without words.
fn shown(reply: &Reply, show: Show) -> Value {
    let media = reply.header("content-type").unwrap_or_default();
    let mut shown = Map::new();
    shown.insert("status".to_owned(), json!(reply.status));
    match media {
        "application/problem+json" => {
            let mut problem = reply.json();
            assert_eq!(problem["type"], format!("urn:demur:problem:{}", problem["code"].as_str().unwrap()));
            for member in ["code", "field", "outcome"] {
                if let Some(value) = problem.as_object_mut().unwrap().remove(member) {
                    shown.insert(member.to_owned(), value);
                }
            }
        }
        "application/json" | "application/schema+json" => {
            let document = reply.json();
            let whole = show == Show::Whole;
            let members = || document.as_object().unwrap().keys().map(|name| json!(name)).collect();
            shown.insert("document".to_owned(), if whole { steady(document) } else { members() });
        }
        "" => {}
        media => {
            shown.insert("media".to_owned(), json!(media));
            text(reply, media, show, &mut shown);
        }
    }
    if let Some(place) = reply.header("location") {
        shown.insert("location".to_owned(), json!(place));
    }
    if let Some(cookie) = reply.header("set-cookie") {
        shown.insert("cookie".to_owned(), json!(cookie));
    }
    Value::Object(shown)
}

fn text(reply: &Reply, media: &str, show: Show, shown: &mut Map<String, Value>) {
    let text = reply.text();
    if media == "application/jsonl" {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        shown.insert("lines".to_owned(), lines.collect());
    } else if show == Show::Counters {
        let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        shown.insert("counters".to_owned(), names.collect());
    } else if media.starts_with("text/html") && show == Show::Whole {
        shown.insert("forms".to_owned(), forms(&text));
        shown.insert("links".to_owned(), links(&text));
    } else if show == Show::Whole {
        shown.insert("text".to_owned(), json!(text));
    }
}

/// Returns a document without numbers that are different each time.
pub(super) fn steady(mut document: Value) -> Value {
    match &mut document {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let value = member.take();
                *member = if UNSTEADY.contains(&name.as_str()) && value.is_number() {
                    json!(format!("<{name}>"))
                } else {
                    steady(value)
                };
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| *entry = steady(entry.take())),
        _ => {}
    }
    document
}

/// Returns what can be done on a page: where each form goes, and what it sends.
fn forms(page: &str) -> Value {
    let form = |part: &str| {
        let form = part.split("</form>").next().unwrap_or_default();
        let action = attribute(form, "action");
        let fields: BTreeSet<_> =
            form.split(" name=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        json!({"action": action, "fields": fields})
    };
    page.split("<form").skip(1).map(form).collect()
}

/// Returns where a page leads.
fn links(page: &str) -> Value {
    let places: BTreeSet<_> = page.split("<a ").skip(1).filter_map(|link| attribute(link, "href")).collect();
    json!(places)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let tag = tag.split('>').next()?;
    tag.split_once(&format!("{name}=\""))?.1.split('"').next()
}

/// Returns a document with its lists of keys in one order: they go by fingerprint, which is another each time.
fn in_order(mut document: Value) -> Value {
    match &mut document {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                *member = in_order(member.take());
                if let Value::Array(keys) = member
                    && name == "proven_by_key"
                {
                    keys.sort_by_key(ToString::to_string);
                }
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| *entry = in_order(entry.take())),
        _ => {}
    }
    document
}

/// Members whose numbers say when or where and not what.
const UNSTEADY: [&str; 2] = ["process", "elapsed_ms"];
