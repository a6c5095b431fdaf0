//! Traces: the list of them, and one as a timeline, page by page.

use askama::Template;
use demur_api::{question::QuestionId, trace::Line};
use demur_core::time::Timestamp;
use demur_ledger::{
    event_type::{EventType, TraceKind},
    name::{Sequence, TraceId},
    timeline::Entry,
};

use crate::{
    badge::{Badge, badges},
    frame::{Frame, Here},
    text::{self, Html},
    words::ENGLISH,
};

/// The list of traces.
#[derive(Template)]
#[template(path = "traces.html")]
pub struct Traces<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The traces, the newest first.
    pub rows: Vec<Row>,
    /// Whether this is the first page.
    pub first: bool,
    /// The last trace of this page, if there are more.
    pub next: Option<TraceId>,
}

/// One trace of the list.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is known of it.
    pub about: About,
    /// What it is about, in its author's words.
    pub words: Option<Html>,
}

/// What is known of a trace without reading it.
#[derive(Clone, Debug)]
pub struct About {
    /// Its name.
    pub trace: TraceId,
    /// What kind it is, in a word.
    pub kind: &'static str,
    /// Whether it is a run.
    pub is_run: bool,
    /// Where it stands.
    pub state: Option<String>,
    /// How many events it has.
    pub events: u64,
    /// When it was opened.
    pub opened: Timestamp,
    /// When the newest event was recorded.
    pub changed: Timestamp,
    /// What was found to be wrong with it, by the verifier's code, and where.
    pub failed: Option<(String, Option<Sequence>)>,
}

impl About {
    /// Returns the word for a kind of trace, by its first event where that is known.
    pub fn kind(kind: TraceKind, opening: Option<&Entry>) -> &'static str {
        let first = opening.and_then(|entry| EventType::from_name(&entry.kind));
        match (kind, first) {
            (TraceKind::Run, _) => ENGLISH.kind_run,
            (TraceKind::Registry, _) => ENGLISH.kind_registry,
            (TraceKind::Journal, _) => ENGLISH.kind_journal,
            (_, Some(EventType::PlanSubmitted)) => ENGLISH.kind_plan,
            (_, Some(EventType::QuestionAsked)) => ENGLISH.kind_question,
            _ => ENGLISH.kind_work,
        }
    }

    /// Returns whether it is the list of keys, which belongs to no piece of work.
    pub fn is_registry(&self) -> bool {
        self.kind == ENGLISH.kind_registry
    }
}

/// Returns what a trace is about, from its first event.
pub fn about(opening: &Entry) -> Option<Html> {
    let task = opening.opening.as_ref().and_then(|opening| opening.task.as_deref());
    let words = task.or(opening.why.as_deref())?;
    Some(text::beginning(words, MAX_SUBJECT_CHARS).0)
}

/// One page of the timeline of a trace.
#[derive(Template)]
#[template(path = "trace.html")]
pub struct Trace<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// What is known of the trace.
    pub about: About,
    /// The events.
    pub events: Vec<Shown>,
    /// What to give as `after` for the page before; none on the first.
    pub earlier: Option<Page>,
    /// What to give as `after` for the next page; none on the last.
    pub later: Option<Sequence>,
    /// What to give as `after` for the last page; none on the last.
    pub newest: Option<Sequence>,
}

/// Where an earlier page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// With the first event.
    First,
    /// After this event.
    After(Sequence),
}

/// An event of a timeline.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its number.
    pub sequence: Sequence,
    /// What it says; none if it cannot be read.
    pub said: Option<EventWords>,
    /// What holds of it.
    pub badges: [Badge; 4],
}

/// What an event says, in words.
#[derive(Clone, Debug)]
pub struct EventWords {
    /// When, by the desk's clock.
    pub time: Timestamp,
    /// Who.
    pub who: Html,
    /// As what; none where it is the desk's word.
    pub role: Option<&'static str>,
    /// What, in one sentence.
    pub what: Html,
    /// The beginning of the author's own words, and how many characters were left out.
    pub why: Option<(Html, usize)>,
    /// The type of the event.
    pub kind: String,
    /// The question that it asks.
    pub question: Option<QuestionId>,
    /// The events that it refers to.
    pub cites: Vec<Sequence>,
}

impl Shown {
    /// Returns an event as a timeline shows it.
    pub fn new(trace: TraceId, line: &Line) -> Self {
        let said = line.entry.as_ref().map(|entry| EventWords::new(trace, entry, MAX_REASON_CHARS));
        Self { sequence: line.sequence, said, badges: badges(line) }
    }
}

impl EventWords {
    /// Returns what an event says, with so many characters of its author's words at most.
    pub fn new(trace: TraceId, entry: &Entry, most: usize) -> Self {
        let asks =
            matches!(EventType::from_name(&entry.kind), Some(EventType::QuestionAsked | EventType::GapFound));
        Self {
            time: entry.time,
            who: text::line(&entry.who),
            role: Some(entry.role).filter(|_| entry.signed),
            what: text::line(&entry.what),
            why: entry.why.as_deref().map(|why| text::beginning(why, most)),
            kind: text::line(&entry.kind).to_string(),
            question: asks.then_some(QuestionId { trace, sequence: entry.sequence }),
            cites: entry.cites.iter().copied().take(MAX_CITED_EVENTS).collect(),
        }
    }
}

/// How many characters of what a trace is about stand in the list.
const MAX_SUBJECT_CHARS: usize = 200;
/// How many characters of an author's words stand in the timeline.
const MAX_REASON_CHARS: usize = 400;
/// How many events are named that an event refers to.
const MAX_CITED_EVENTS: usize = 32;
