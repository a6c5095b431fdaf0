//! The four roles as demur plays them: from a task, a policy and the history to the next thing each has to say. Pure, so
//! that a run that was interrupted goes on with exactly the step that comes next.

mod auditor;
mod critic;
mod executor;
mod input;
mod planner;

use demur_core::limit::LimitError;
use demur_ledger::{
    content::ConfirmationAskContent,
    event_type::{Content, Facts},
    facts::{self, ConfirmationAsked, FailureKind, Participant, ToolExecutionStarted},
    name::Sequence,
    role::Role,
    state::Phase,
};

pub use executor::Hands;
pub use input::Input;

use crate::{history::History, plan::TaskPlan, policy::Policy};

/// Lets a role look at recorded bytes.
pub trait Look {
    /// Returns the bytes of a recorded artifact, if they are there; or why nobody can tell.
    fn artifact(&mut self, at: Sequence) -> Result<Option<Vec<u8>>, String>;
}

/// What a role does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Says something.
    Say(Facts, Option<Content>),
    /// Asks a person to confirm an intent, until a deadline if there is one.
    Confirm {
        /// What is asked, without the deadline: roles have no clock.
        facts: ConfirmationAsked,
        /// The operation, and its words.
        content: ConfirmationAskContent,
        /// How many milliseconds there are for it.
        within: Option<u64>,
    },
    /// Stores bytes and records them.
    Store {
        /// A name for people.
        name: String,
        /// The media type.
        media_type: &'static str,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Begins to get the tool of this call ready, so that its limits are known when its start is recorded.
    Prepare {
        /// The call's name in the task.
        call: String,
        /// Whether another tool is still to run before it.
        ahead: bool,
    },
    /// Says that the tool of this call starts, under which limits, once it is ready.
    Start {
        /// The call's name in the task.
        call: String,
        /// What is said.
        facts: ToolExecutionStarted,
    },
    /// Runs the tool of this call, whose start is recorded.
    Run {
        /// The call's name in the task.
        call: String,
    },
    /// Says this once everything recorded so far was found to hold (LED-25).
    Conclude(Facts, Option<Content>),
    /// Verifies everything recorded so far.
    Verify,
}

/// How a tool ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The call's name in the task.
    pub call: String,
    /// In what way it failed; none if it completed.
    pub failure: Option<FailureKind>,
    /// Its exit status, where it has one.
    pub exit_status: Option<u8>,
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// What went wrong, or what else is worth knowing.
    pub note: Option<String>,
}

/// Returns who may have something to do in a phase, in the order in which they are asked: whoever judges comes before
/// whoever would go on. Only while reviewing the planner comes first, so that every unit is proposed before one is approved.
pub const fn order(phase: Phase) -> &'static [Role] {
    match phase {
        Phase::Initialized | Phase::Planning => &[Role::Planner],
        Phase::Reviewing => &[Role::Planner, Role::Critic],
        Phase::Executing => &[Role::Critic, Role::Planner, Role::Executor],
        Phase::Claiming => &[Role::Critic, Role::Executor],
        Phase::Auditing => &[Role::Auditor],
        Phase::Completed | Phase::Failed | Phase::Aborted => &[],
    }
}

/// Returns whether a role that is played elsewhere could have something to do: a turn costs a commit and a round trip.
pub fn concerns(role: Role, history: &History) -> bool {
    let executing = history.state().phase() == Phase::Executing;
    let mut intents = history.intents.values();
    match role {
        Role::Critic if executing => {
            intents.any(|intent| intent.review.is_none() && intent.started.is_none())
                || history.unshown().next().is_some()
                || history.proposals.values().any(|proposed| proposed.review.is_none())
        }
        Role::Planner if executing => {
            intents.any(|intent| intent.ended.as_ref().is_some_and(|ended| ended.failure.is_some()))
        }
        _ => true,
    }
}

/// What all roles know.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    /// The task.
    pub plan: &'a TaskPlan,
    /// The policy.
    pub policy: &'a Policy,
    /// What the desk holds everybody to.
    pub demands: facts::Policy,
    /// Who takes part.
    pub participants: &'a [Participant],
    /// What binds the record to the files the run was started with.
    pub bound: &'a [String],
    /// What happened so far.
    pub history: &'a History,
}

/// A step that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// The task's: words that do not fit into the record.
    #[error("the record cannot carry this: {0}")]
    Limit(#[from] LimitError),
    /// The machine's: something recorded could not be looked at.
    #[error("a recorded artifact could not be read: {0}")]
    Look(String),
    /// Ours: a call that is not in the plan, or has come to rest already.
    #[error("expected a call of the plan that is still open")]
    Unplanned,
}

impl Brief<'_> {
    /// Returns what the planner does next, if anything.
    pub fn planner(&self) -> Result<Option<Move>, RoleError> {
        planner::next(self)
    }

    /// Returns what the critic does next, if anything.
    pub fn critic(&self, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
        critic::next(self, look)
    }

    /// Returns what the executor does next, if anything.
    pub fn executor(&self, hands: &Hands<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
        executor::next(self, hands, look)
    }

    /// Returns what the auditor does next, if anything.
    pub fn auditor(&self) -> Option<Move> {
        auditor::next(self)
    }

    /// Returns why nobody can go on, in words.
    pub fn obstacle(&self, look: &mut dyn Look) -> String {
        let blocked = self.history.intents.iter().filter(|(_, intent)| intent.is_blocked());
        let blocked: Vec<String> = blocked.map(|(at, intent)| format!("#{at} ({})", intent.tool)).collect();
        let refused = self.history.proposals.iter().filter(|(_, proposed)| proposed.is_refused());
        let refused: Vec<String> = refused.map(|(at, _)| format!("#{at}")).collect();
        let phase = self.history.state().phase();
        let mut causes = vec![format!("nobody has anything left to do while {phase}")];
        if !refused.is_empty() {
            causes.push(format!("the critic refused proposal {}", refused.join(", ")));
        }
        if !blocked.is_empty() {
            causes.push(format!("the critic blocked intent {}", blocked.join(", ")));
        }
        for (at, condition) in self.history.unshown() {
            causes.push(format!("nobody has shown that condition {condition} holds for intent #{at}"));
        }
        if executor::lacks_evidence(self, look) {
            let least = self.policy.evidence_minimum.as_u64();
            causes.push(format!(
                "a claim must cite artifacts with different bytes, at least {least} (evidence_minimum), and its calls left fewer"
            ));
        }
        causes.join("; ")
    }
}

fn say(facts: impl Into<Facts>, content: impl Into<Option<Content>>) -> Move {
    Move::Say(facts.into(), content.into())
}

/// Returns these numbers in order, each once: one set has one spelling.
fn ascending(mut cited: Vec<Sequence>) -> Vec<Sequence> {
    cited.sort_unstable();
    cited.dedup();
    cited
}
