//! The states of a run as a picture, with what happened in one trace (`docs/state-machine.md`; LED-03, LED-04).
//!
//! States and transitions are drawn from the table that desk and verifier go by. What happened stands beside them as
//! counts and first and last event, so the picture of a long run is as large as that of a short one.

mod layout;
mod machine;
mod svg;

use std::{collections::BTreeMap, fmt};

use demur_core::time::Timestamp;

use self::machine::Edge;
use crate::{
    event_type::EventType,
    name::{Sequence, TraceId},
    state::Phase,
    timeline::{Entry, Step},
    verify::Report,
};

/// Gathers the entries of a timeline for the picture.
#[derive(Debug, Default)]
pub struct Graph {
    task: Option<String>,
    events: u64,
    /// Where the run stands, and since which event; none before the first.
    stands: Option<(Phase, Sequence)>,
    entered: BTreeMap<Phase, Span>,
    happened: BTreeMap<(Phase, EventType, Phase), (Span, Mark, Mark)>,
    /// The first event that the state could not follow.
    lost: Option<Sequence>,
}

impl Graph {
    /// Returns a graph of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next entry of a trace.
    pub fn take(&mut self, entry: &Entry) {
        let at = entry.sequence;
        self.events += 1;
        if let Some(opening) = &entry.opening {
            self.task.clone_from(&opening.task);
        }
        let (Some(step), Some(kind)) = (entry.phase, EventType::from_name(&entry.kind)) else {
            self.lost.get_or_insert(at);
            return;
        };
        let Step { from, to } = step;
        let mark = Mark::of(entry);
        let known = self.happened.entry((from, kind, to));
        let (span, _, last) = known.or_insert_with(|| (Span::new(at), mark.clone(), mark.clone()));
        span.add(at);
        *last = mark;
        if from != to {
            self.entered.entry(to).or_insert_with(|| Span::new(at)).add(at);
        }
        self.stands = Some((to, at));
    }

    /// Returns whether no entry said anything about the state of a run.
    pub fn is_empty(&self) -> bool {
        self.stands.is_none()
    }

    /// Returns the picture as one SVG document: no script, nothing from outside, the same bytes for the same trace.
    pub fn to_svg(&self, report: &Report) -> String {
        svg::render(self, svg::Setting::File(report))
    }

    /// Returns the picture as an element of a page, without a style of its own: classes below `svg.states`.
    pub fn to_svg_element(&self, trace: TraceId) -> String {
        svg::render(self, svg::Setting::Page(trace))
    }

    /// Returns every state with how often the run came there, in the order of the machine.
    pub fn states(&self) -> Vec<Reached> {
        let reached = |phase: Phase| Reached {
            phase,
            visited: self.visited(phase),
            entered: self.entered.get(&phase).map_or(0, |span| span.count),
            stands: self.stands_in(phase).is_some(),
        };
        Phase::ALL.into_iter().map(reached).collect()
    }

    /// Returns what happened: every step from state to state, or inside of one, in the order of its first event.
    pub fn steps(&self) -> Vec<Taken> {
        let taken = |(key, (span, first, last)): (&(Phase, EventType, Phase), &(Span, Mark, Mark))| Taken {
            from: key.0,
            event: key.1,
            to: key.2,
            count: span.count,
            first: first.clone(),
            last: last.clone(),
        };
        let mut steps: Vec<_> = self.happened.iter().map(taken).collect();
        steps.sort_by_key(|taken| taken.first.sequence);
        steps
    }

    /// Returns whether the run was ever in this state.
    fn visited(&self, phase: Phase) -> bool {
        self.entered.contains_key(&phase) || (phase == Phase::Initialized && !self.is_empty())
    }

    /// Returns what happened along an arrow by this event, if anything.
    fn span(&self, from: Phase, event: EventType, to: Phase) -> Option<&Span> {
        self.happened.get(&(from, event, to)).map(|(span, ..)| span)
    }

    /// Returns whether the run ever took this arrow.
    fn taken(&self, edge: &Edge) -> bool {
        edge.events.iter().any(|(event, _)| self.span(edge.from, *event, edge.to).is_some())
    }

    /// Returns where the run stands, if it is in this state.
    fn stands_in(&self, phase: Phase) -> Option<Sequence> {
        self.stands.filter(|(stands, _)| *stands == phase).map(|(_, at)| at)
    }
}

/// A state, and whether the run came there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Which.
    pub phase: Phase,
    /// Whether the run was ever there.
    pub visited: bool,
    /// How often it came there from another.
    pub entered: u64,
    /// Whether it is there now.
    pub stands: bool,
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The state before.
    pub from: Phase,
    /// The event.
    pub event: EventType,
    /// The state after.
    pub to: Phase,
    /// How often.
    pub count: u64,
    /// The first time.
    pub first: Mark,
    /// The last time.
    pub last: Mark,
}

/// Who did something, when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The event.
    pub sequence: Sequence,
    /// When, by the desk's clock.
    pub time: Timestamp,
    /// Who.
    pub who: String,
    /// As what.
    pub role: &'static str,
}

impl Mark {
    fn of(entry: &Entry) -> Self {
        let Entry { sequence, time, role, .. } = *entry;
        Self { sequence, time, who: entry.who.clone(), role }
    }
}

/// How often something happened, first and last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    count: u64,
    first: Sequence,
    last: Sequence,
}

impl Span {
    /// Returns the span that begins here and holds nothing yet.
    const fn new(at: Sequence) -> Self {
        Self { count: 0, first: at, last: at }
    }

    fn add(&mut self, at: Sequence) {
        self.count += 1;
        self.last = at;
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\u{d7} #{}", self.count, self.first)?;
        if self.count > 1 { write!(formatter, "\u{2013}#{}", self.last) } else { Ok(()) }
    }
}
