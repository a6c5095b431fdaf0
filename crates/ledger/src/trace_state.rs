//! The state of a trace whose kind its first event decides: a run or a piece of work. The registry has its own.

use serde::{Deserialize, Serialize};

use crate::{
    envelope::Event,
    event_type::{TraceKind, TypeName},
    name::{Position, PrincipalId},
    question::Questions,
    state::{GuardError, Phase, State, Step},
    work::{PlanStage, Work},
};

/// What is open in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceState {
    /// Nothing has happened yet.
    #[default]
    New,
    /// An accountable run.
    Run(Box<State>),
    /// A plan and its questions, or a question of its own.
    Work(Box<Work>),
}

impl TraceState {
    /// Folds an event into the state. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event) -> Result<(), GuardError> {
        match self {
            Self::New => {
                let mut opened = Self::opened_by(event.said().map_err(GuardError::Shape)?.kind);
                opened.apply(event)?;
                *self = opened;
                Ok(())
            }
            Self::Run(run) => run.apply(event),
            Self::Work(work) => work.apply(event),
        }
    }

    /// Returns why this event may not happen now, if it may not. Changes nothing.
    pub fn check(&self, step: &Step<'_>) -> Result<(), GuardError> {
        match self {
            Self::New => Self::opened_by(step.said.kind).check(step),
            Self::Run(run) => run.check(step).map(|_| ()),
            Self::Work(work) => work.check(step),
        }
    }

    /// Returns the last event folded in.
    pub const fn head(&self) -> Option<Position> {
        match self {
            Self::New => None,
            Self::Run(run) => run.head(),
            Self::Work(work) => work.head(),
        }
    }

    /// Returns where the run stands, if it is one.
    pub fn phase(&self) -> Option<Phase> {
        self.run().map(State::phase)
    }

    /// Returns where the trace stands, in one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::New => "empty",
            Self::Run(run) => run.phase().as_str(),
            Self::Work(work) => match work.plan() {
                PlanStage::None if work.questions().unsettled().next().is_some() => "waiting",
                PlanStage::None => "settled",
                plan => plan.as_str(),
            },
        }
    }

    /// Returns the run, if it is one.
    pub fn run(&self) -> Option<&State> {
        match self {
            Self::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Returns the work, if it is that.
    pub fn work(&self) -> Option<&Work> {
        match self {
            Self::Work(work) => Some(work),
            _ => None,
        }
    }

    /// Returns the questions of the trace.
    pub fn questions(&self) -> Option<&Questions> {
        match self {
            Self::New => None,
            Self::Run(run) => Some(run.questions()),
            Self::Work(work) => Some(work.questions()),
        }
    }

    /// Returns whether this principal takes part, so that refusals to it are recorded.
    pub fn has_participant(&self, principal: PrincipalId) -> bool {
        match self {
            Self::New => false,
            Self::Run(run) => run.has_participant(principal) || run.questions().involves(principal),
            Self::Work(work) => work.has_participant(principal),
        }
    }

    /// Whatever opens no work is judged by the rules of a run, which says what it expects.
    fn opened_by(kind: &TypeName) -> Self {
        match kind {
            TypeName::Known(kind) if kind.opened() == Some(TraceKind::Work) => Self::Work(Box::default()),
            _ => Self::Run(Box::default()),
        }
    }
}
