//! One event with everything that is recorded of it, and the artifact that it records.

use askama::Template;
use demur_api::trace::{Line, Standing};
use demur_core::time::Timestamp;
use demur_ledger::{
    name::{Sequence, TraceId},
    verify::Finding,
};
use serde_json::Value;

use crate::{
    badge::{self, Badge, badges},
    frame::{Frame, Here},
    text::{self, Html},
    trace::{About, EventWords},
    words::ENGLISH,
};

/// One event.
#[derive(Template)]
#[template(path = "event.html")]
pub struct Event<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The trace.
    pub about: About,
    sequence: Sequence,
    before: Option<Sequence>,
    after: Option<Sequence>,
    said: Option<EventWords>,
    badges: [Badge; 4],
    findings: Vec<Found>,
    recorded: Option<Recorded>,
    facts: Table,
    content: Option<Table>,
    content_gone: bool,
    artifact: bool,
    raw: Vec<Html>,
    raw_content: Vec<Html>,
}

/// Something that does not hold.
#[derive(Clone, Debug)]
struct Found {
    code: &'static str,
    message: Html,
    meaning: &'static str,
    cure: &'static str,
}

/// What stands around a statement.
#[derive(Clone, Debug)]
struct Recorded {
    principal: String,
    key: Option<String>,
    hash: String,
    previous: Option<String>,
    expires: Option<Timestamp>,
}

/// Named values, each on a row of its own.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The rows: where it stands, and what it is.
    rows: Vec<(Html, Html)>,
    /// Whether there are more than are shown.
    more: bool,
}

impl<'a> Event<'a> {
    /// Returns the page of an event, with its neighbours as far as there are any.
    pub fn new(frame: &'a Frame, about: About, line: &Line) -> Self {
        let trace = about.trace;
        let number = line.sequence.number();
        let neighbour = |number: Option<u64>| number.and_then(|number| Sequence::try_from(number).ok());
        let document = line.event.as_ref().and_then(|event| parsed(event.bytes()));
        let facts = document.as_ref().and_then(|document| {
            ["statement", "record"].iter().find_map(|body| document[*body].get("facts"))
        });
        let content = line.content.as_deref().and_then(parsed);
        Self {
            frame,
            sequence: line.sequence,
            before: neighbour(number.checked_sub(1)),
            after: neighbour(Some(number + 1).filter(|next| *next < about.events)),
            said: line.entry.as_ref().map(|entry| EventWords::new(trace, entry, usize::MAX)),
            badges: badges(line),
            findings: line.findings.iter().map(Found::new).collect(),
            recorded: line.event.as_ref().map(Recorded::new),
            facts: facts.map(Table::of).unwrap_or_default(),
            content: content.as_ref().map(Table::of),
            content_gone: matches!(line.words, Standing::Missing | Standing::Erased),
            artifact: line.artifact != Standing::None,
            raw: document.as_ref().map(pretty).unwrap_or_default(),
            raw_content: content.as_ref().map(pretty).unwrap_or_default(),
            about,
        }
    }
}

impl Found {
    fn new(finding: &Finding) -> Self {
        let code = finding.code;
        let message = text::line(&finding.message);
        Self { code: code.as_str(), message, meaning: code.meaning(), cure: code.cure() }
    }
}

impl Recorded {
    fn new(event: &demur_ledger::envelope::Event) -> Self {
        let envelope = event.envelope();
        Self {
            principal: envelope.actor.to_string(),
            key: envelope.proof.key().map(|key| key.to_string()),
            hash: event.hash().to_string(),
            previous: envelope.previous.map(|hash| hash.to_string()),
            expires: envelope.statement.as_ref().map(|statement| statement.not_after),
        }
    }
}

impl Table {
    /// Returns the values of a document, each under the way to it.
    pub fn of(document: &Value) -> Self {
        let mut table = Self::default();
        table.add("", document);
        table
    }

    fn add(&mut self, way: &str, value: &Value) {
        if self.rows.len() >= MAX_ROWS {
            self.more = true;
            return;
        }
        let below = |name: &str| if way.is_empty() { name.to_owned() } else { format!("{way}.{name}") };
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(name, member)| self.add(&below(name), member));
            }
            Value::Array(entries) => {
                entries.iter().enumerate().for_each(|(at, entry)| self.add(&below(&at.to_string()), entry));
            }
            // What is not there needs no row.
            Value::Null => {}
            Value::String(words) => self.rows.push((text::line(way), text::line(words))),
            other => self.rows.push((text::line(way), text::line(&other.to_string()))),
        }
    }
}

/// The artifact that an event records.
#[derive(Template)]
#[template(path = "artifact.html")]
pub struct ArtifactPage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The trace.
    pub trace: TraceId,
    /// The event.
    pub sequence: Sequence,
    /// What it is called, and of which kind its author says it is; none if that is not here.
    pub named: Option<(Html, Html)>,
    badge: Badge,
    size: Option<usize>,
    lines: Vec<Html>,
    note: Option<&'static str>,
}

impl<'a> ArtifactPage<'a> {
    /// Returns the page of an artifact. Text is shown as it stands, up to a limit; anything else is not shown.
    pub fn new(
        frame: &'a Frame,
        (trace, sequence): (TraceId, Sequence),
        named: Option<(Html, Html)>,
        standing: Standing,
        bytes: Option<&[u8]>,
    ) -> Self {
        let (lines, note) = match bytes {
            None => (Vec::new(), Some(ENGLISH.artifact_no_bytes)),
            Some(bytes) if bytes.len() > MAX_SHOWN_BYTES => (Vec::new(), Some(ENGLISH.artifact_large)),
            Some(bytes) => match std::str::from_utf8(bytes) {
                Ok(words) if !words.contains('\0') => (lines(words), None),
                _ => (Vec::new(), Some(ENGLISH.artifact_binary)),
            },
        };
        let size = bytes.map(<[u8]>::len);
        Self { frame, trace, sequence, named, badge: badge::artifact(standing), size, lines, note }
    }
}

fn parsed(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

/// Returns a document with a line for every member.
fn pretty(document: &Value) -> Vec<Html> {
    lines(&serde_json::to_string_pretty(document).unwrap_or_default())
}

/// Returns the lines of a text, each as it stands.
fn lines(text: &str) -> Vec<Html> {
    text.lines().map(text::line).collect()
}

/// How many values of a document have a row.
const MAX_ROWS: usize = 300;
/// How many bytes of an artifact are shown.
const MAX_SHOWN_BYTES: usize = 1 << 16;
