//! The states of a run as a picture, with what happened in one trace (`docs/state-machine.md`; LED-03, LED-04).
//!
//! States and transitions are drawn from the table that desk and verifier go by. What happened stands beside them as
//! counts and first and last event, so the picture of a long run is as large as that of a short one.

mod layout;
mod machine;
mod svg;

use std::{collections::BTreeMap, fmt};

use self::machine::Edge;
use crate::{
    event_type::EventType,
    name::Sequence,
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
    happened: BTreeMap<(Phase, EventType, Phase), Span>,
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
        self.happened.entry((from, kind, to)).or_insert_with(|| Span::new(at)).add(at);
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
        svg::render(self, report)
    }

    /// Returns whether the run was ever in this state.
    fn visited(&self, phase: Phase) -> bool {
        self.entered.contains_key(&phase) || (phase == Phase::Initialized && !self.is_empty())
    }

    /// Returns what happened along an arrow by this event, if anything.
    fn span(&self, from: Phase, event: EventType, to: Phase) -> Option<&Span> {
        self.happened.get(&(from, event, to))
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
