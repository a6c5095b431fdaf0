//! The states of a run: drawn, and as tables that say the same.

use askama::Template;
use demur_api::person::PersonRole;
use demur_ledger::{
    graph::{Graph, Mark},
    state::Phase,
};

use crate::{
    frame::{Frame, Here, Visitor},
    text::{self, Html},
    trace::About,
};

/// The states of a run.
#[derive(Template)]
#[template(path = "run.html")]
pub struct RunPage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The trace.
    pub about: About,
    /// What happened; none where there is nothing to draw.
    drawn: Option<Drawn>,
    /// Why there is nothing to draw.
    note: &'static str,
}

struct Drawn {
    picture: String,
    states: Vec<State>,
    steps: Vec<Step>,
}

struct State {
    name: &'static str,
    visited: bool,
    entered: u64,
    stands: bool,
}

struct Step {
    from: &'static str,
    event: &'static str,
    to: &'static str,
    count: u64,
    /// The first time and the last.
    moments: [Moment; 2],
}

struct Moment {
    sequence: u64,
    time: String,
    who: Html,
    role: &'static str,
}

impl<'a> RunPage<'a> {
    /// Returns the page of a run.
    pub fn new(frame: &'a Frame, about: About, graph: &Graph) -> Self {
        let drawn = (!graph.is_empty()).then(|| Drawn::new(&about, graph));
        Self { frame, about, drawn, note: frame.words.run_none }
    }

    /// Returns the page of a trace that has no states, or too many events to follow them here.
    pub const fn without(frame: &'a Frame, about: About) -> Self {
        let note = if about.is_run { frame.words.run_large } else { frame.words.run_none };
        Self { frame, about, drawn: None, note }
    }

    /// Returns the visitor if this is a run that goes on and they may end it.
    fn who_ends_it(&self) -> Option<&Visitor> {
        let ends = [Phase::Completed, Phase::Failed, Phase::Aborted].map(|end| Some(end.as_str()));
        let goes_on = self.about.is_run && !ends.contains(&self.about.state.as_deref());
        let visitor = self.frame.visitor.as_ref()?;
        (goes_on && visitor.role == PersonRole::Operator.as_str()).then_some(visitor)
    }
}

impl Drawn {
    fn new(about: &About, graph: &Graph) -> Self {
        let state = |reached: demur_ledger::graph::Reached| State {
            name: reached.phase.as_str(),
            visited: reached.visited,
            entered: reached.entered,
            stands: reached.stands,
        };
        let step = |taken: demur_ledger::graph::Taken| Step {
            from: taken.from.as_str(),
            event: taken.event.as_str(),
            to: taken.to.as_str(),
            count: taken.count,
            moments: [Moment::new(&taken.first), Moment::new(&taken.last)],
        };
        Self {
            picture: graph.to_svg_element(about.trace),
            states: graph.states().into_iter().map(state).collect(),
            steps: graph.steps().into_iter().map(step).collect(),
        }
    }
}

impl Moment {
    fn new(mark: &Mark) -> Self {
        let who = text::line(&mark.who);
        Self { sequence: mark.sequence.number(), time: mark.time.to_string(), who, role: mark.role }
    }
}
