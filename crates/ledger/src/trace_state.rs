//! The state of a trace whose kind its first event decides: a run, the journal, or a piece of work, that is a plan and the
//! questions about it or a question of its own (seed 000, section 5; CLR-30, CLR-31, CLR-61, CLR-62). The registry has its own. The same
//! `apply` runs in the verifier and at the desk.

mod answered;
mod journal;
mod papers;

use std::collections::BTreeMap;

use demur_core::hash::Digest;
use serde::{Deserialize, Serialize};

use self::answered::AnsweredFields;
pub use self::journal::Journal;
use crate::{
    attribution,
    confirmation::{Confirmations, OperationEnd},
    envelope::Event,
    erasure::Erasures,
    event_type::{EventType, Facts, Opens, TraceKind, TypeName},
    facts::{OperationEnded, PlanAttested},
    meaning::{Known, Meaning, MeaningError},
    name::{Position, PrincipalId, Sequence},
    question::Questions,
    role::Role,
    state::{GuardError, Phase, State, Step},
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
    /// The journal of sign-ins.
    Journal(Box<Journal>),
}

impl TraceState {
    /// Folds an event into the state. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event, known: Known<'_>) -> Result<(), GuardError> {
        match self {
            Self::New => {
                let mut opened = Self::opened_by(event.said().map_err(GuardError::Shape)?.kind);
                opened.apply(event, known)?;
                *self = opened;
                Ok(())
            }
            Self::Run(run) => run.apply(event, known),
            Self::Work(work) => work.apply(event, known),
            Self::Journal(journal) => journal.apply(event, known),
        }
    }

    /// Folds an event into the state, whatever it means, as [`State::follow`] does.
    pub fn follow(&mut self, event: &Event, known: Known<'_>) -> Result<Vec<MeaningError>, GuardError> {
        match self {
            Self::New => {
                let mut opened = Self::opened_by(event.said().map_err(GuardError::Shape)?.kind);
                let broken = opened.follow(event, known)?;
                *self = opened;
                Ok(broken)
            }
            Self::Run(run) => run.follow(event, known),
            Self::Work(work) => work.follow(event, known),
            Self::Journal(journal) => journal.follow(event, known),
        }
    }

    /// Returns why this event may not happen now, if it may not. Changes nothing.
    pub fn check(&self, step: &Step<'_>) -> Result<(), GuardError> {
        match self {
            Self::New => Self::opened_by(step.said.kind).check(step),
            Self::Run(run) => run.check(step).map(|_| ()),
            Self::Work(work) => work.check(step),
            Self::Journal(journal) => journal.check(step),
        }
    }

    /// Returns the last event folded in.
    pub const fn head(&self) -> Option<Position> {
        match self {
            Self::New => None,
            Self::Run(run) => run.head(),
            Self::Work(work) => work.head(),
            Self::Journal(journal) => journal.head(),
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
                PlanStage::None if work.is_waiting() => "waiting",
                PlanStage::None => "settled",
                plan => plan.as_str(),
            },
            Self::Journal(_) => "journal",
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
            Self::New | Self::Journal(_) => None,
            Self::Run(run) => Some(run.questions()),
            Self::Work(work) => Some(work.questions()),
        }
    }

    /// Returns the confirmations of the trace.
    pub fn confirmations(&self) -> Option<&Confirmations> {
        match self {
            Self::New | Self::Journal(_) => None,
            Self::Run(run) => Some(run.confirmations()),
            Self::Work(work) => Some(work.confirmations()),
        }
    }

    /// Returns those whose operations are carried out here: the agent of a piece of work, planners and executors of a run.
    pub fn acting(&self) -> Vec<PrincipalId> {
        match self {
            Self::New | Self::Journal(_) => Vec::new(),
            Self::Run(run) => run.workers().collect(),
            Self::Work(work) => work.agent().into_iter().collect(),
        }
    }

    /// Returns everybody whose work this is: the agent of a piece of work, the participants of a run.
    pub(crate) fn taking_part(&self) -> Vec<PrincipalId> {
        match self {
            Self::New | Self::Journal(_) => Vec::new(),
            Self::Run(run) => run.participants().map(|(principal, _)| principal).collect(),
            Self::Work(work) => work.agent().into_iter().collect(),
        }
    }

    /// Returns what was erased in the trace.
    pub fn erasures(&self) -> Option<&Erasures> {
        match self {
            Self::New => None,
            Self::Run(run) => Some(run.erasures()),
            Self::Work(work) => Some(work.erasures()),
            Self::Journal(journal) => Some(journal.erasures()),
        }
    }

    /// Returns whether this principal takes part, so that refusals to it are recorded.
    pub fn has_participant(&self, principal: PrincipalId) -> bool {
        match self {
            Self::New | Self::Journal(_) => false,
            Self::Run(run) => {
                run.has_participant(principal)
                    || run.questions().involves(principal)
                    || run.confirmations().involves(principal)
            }
            Self::Work(work) => work.has_participant(principal),
        }
    }

    /// Whatever opens no work is judged by the rules of a run, which says what it expects.
    fn opened_by(kind: &TypeName) -> Self {
        match kind {
            TypeName::Known(kind) if kind.opened() == Some(TraceKind::Work) => Self::Work(Box::default()),
            TypeName::Known(kind) if kind.opened() == Some(TraceKind::Journal) => {
                Self::Journal(Box::default())
            }
            _ => Self::Run(Box::default()),
        }
    }
}

/// The state of one trace of work. Its serialized form is for snapshots of the same version of the code only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    head: Option<Position>,
    /// Whoever opened it: the agent that submitted the plan or asked the question.
    agent: Option<PrincipalId>,
    plan: PlanStage,
    rules: Option<Sequence>,
    questions: Questions,
    papers: papers::PaperTrail,
    confirmations: Confirmations,
    erasures: Erasures,
    /// The operations that have begun and not ended.
    operations: BTreeMap<Sequence, OperationUnderway>,
    /// What was answered to the gaps.
    answered: AnsweredFields,
}

/// An operation that has begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OperationUnderway {
    /// The digest of what is carried out, where that is known.
    digest: Option<Digest>,
    /// The confirmation that it rests on.
    confirmation: Option<Sequence>,
}

/// Where the plan of a trace stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStage {
    /// There is none: the trace is about a question.
    #[default]
    None,
    /// Submitted; its questions are being settled.
    Submitted,
    /// Confirmed with all answers in it, there.
    Confirmed(Sequence),
    /// Attested.
    Attested,
    /// Taken back before it was confirmed.
    Withdrawn,
}

impl PlanStage {
    /// Returns the word people read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Submitted => "submitted",
            Self::Confirmed(_) => "confirmed",
            Self::Attested => "attested",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl Work {
    /// Returns the state before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns where the plan stands.
    pub const fn plan(&self) -> PlanStage {
        self.plan
    }

    /// Returns the questions.
    pub const fn questions(&self) -> &Questions {
        &self.questions
    }

    /// Returns the confirmations.
    pub const fn confirmations(&self) -> &Confirmations {
        &self.confirmations
    }

    /// Returns what was erased.
    pub const fn erasures(&self) -> &Erasures {
        &self.erasures
    }

    /// Returns the operations that have begun and not ended.
    pub fn open_operations(&self) -> impl Iterator<Item = Sequence> {
        self.operations.keys().copied()
    }

    /// Returns whether somebody is awaited: with an answer, or with a yes or a no.
    pub fn is_waiting(&self) -> bool {
        self.questions.unsettled().next().is_some() || self.confirmations.open().next().is_some()
    }

    /// Returns whoever opened the trace.
    pub const fn agent(&self) -> Option<PrincipalId> {
        self.agent
    }

    /// Returns the last event folded in.
    pub const fn head(&self) -> Option<Position> {
        self.head
    }

    /// Returns how many events were folded in.
    pub const fn length(&self) -> u64 {
        match &self.head {
            Some(head) => head.sequence.next().number(),
            None => 0,
        }
    }

    /// Returns whether this principal opened the trace, asked in it, or may answer by name.
    pub fn has_participant(&self, principal: PrincipalId) -> bool {
        self.agent == Some(principal)
            || self.questions.involves(principal)
            || self.confirmations.involves(principal)
    }

    /// Folds an event into the state. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event, known: Known<'_>) -> Result<(), GuardError> {
        let step = Step::of(event, known)?;
        self.check(&step)?;
        self.advance(&step, event.position());
        Ok(())
    }

    /// Folds an event into the state, whatever it means: returns the demands that it breaks. On an error, which says that it
    /// cannot follow, nothing has changed.
    pub fn follow(&mut self, event: &Event, known: Known<'_>) -> Result<Vec<MeaningError>, GuardError> {
        let step = Step::of(event, known)?;
        self.check_order(&step)?;
        let broken = self.judge(&step);
        self.advance(&step, event.position());
        Ok(broken)
    }

    fn advance(&mut self, step: &Step<'_>, position: Position) {
        self.fold(step, position.hash);
        self.head = Some(position);
    }

    /// Returns why this event may not happen now, if it may not. Changes nothing.
    pub fn check(&self, step: &Step<'_>) -> Result<(), GuardError> {
        self.check_order(step)?;
        match self.judge(step).into_iter().next() {
            Some(error) => Err(GuardError::Meaning(error)),
            None => Ok(()),
        }
    }

    /// Returns the demands that an event breaks whose order is right.
    fn judge(&self, step: &Step<'_>) -> Vec<MeaningError> {
        let mut broken = attribution::judge(step, &self.questions, &self.confirmations);
        broken.extend(self.confirmations.judge(step, None));
        match (step.said.facts, step.known.meaning) {
            (Facts::OperationStarted(facts), meaning) => {
                self.confirmations.judge_operation(facts, meaning, &self.erasures, &mut broken);
            }
            (Facts::PlanAmended(_), Some(Meaning::Plan(plan))) => {
                self.answered.judge(plan, &self.questions, &mut broken);
            }
            (Facts::OperationEnded(facts), Some(Meaning::Digest(said))) => {
                let started = self.operations.get(&facts.started).and_then(|underway| underway.digest);
                let expected = "of the operation that was begun";
                let other = started.filter(|started| started != said);
                broken.extend(other.map(|_| MeaningError::ConfirmationMismatch { expected }));
            }
            _ => {}
        }
        broken
    }

    fn check_order(&self, step: &Step<'_>) -> Result<(), GuardError> {
        let kind = match step.said.kind {
            TypeName::Known(kind) if kind.stands_in(TraceKind::Work) => *kind,
            other => return Err(GuardError::NotOfThisTrace { kind: other.clone(), trace: TraceKind::Work }),
        };
        step.check(kind, self.length())?;
        self.check_opening(step, kind)?;
        self.guard(step, kind)?;
        self.erasures.guard(step.sequence, step.said.facts)?;
        if self.plan == PlanStage::Withdrawn {
            return self.guard_withdrawn(step, kind);
        }
        self.questions.guard(step)?;
        self.confirmations.guard(step, |principal| self.agent == Some(principal))
    }

    /// A plan that was taken back is over: the desk closes what was asked about it, and nothing begins any more.
    fn guard_withdrawn(&self, step: &Step<'_>, kind: EventType) -> Result<(), GuardError> {
        match step.said.facts {
            Facts::GapWithdrawn(facts) => Ok(self.questions.guard_plan_withdrawn(facts.question)?),
            Facts::ConfirmationExpired(facts) => Ok(self.confirmations.guard_closing(facts.confirmation)?),
            Facts::PaperRecorded(_)
            | Facts::ContentErased(_)
            | Facts::OperationEnded(_)
            | Facts::QuestionDelivered(_)
            | Facts::CommandRefused(_)
            | Facts::RecoveryRecorded(_) => self.questions.guard(step).map_err(Into::into),
            _ => {
                // What became of a question is the better answer, where it is about one.
                self.questions.guard(step)?;
                self.confirmations.guard(step, |principal| self.agent == Some(principal))?;
                Err(GuardError::OutOfPlan { plan: self.plan, kind })
            }
        }
    }

    fn check_opening(&self, step: &Step<'_>, kind: EventType) -> Result<(), GuardError> {
        match (kind.rule().opens, self.head.is_none()) {
            (Opens::Never, true) => Err(GuardError::NotOpened),
            // Whose operation it would be is not known yet.
            (Opens::Maybe, true) if step.said.role == Role::Desk => Err(GuardError::NotOpened),
            (Opens::Always, false) => Err(GuardError::OutOfPlan { plan: self.plan, kind }),
            _ => Ok(()),
        }
    }

    /// The lifecycle of the plan. Only the agent that opened the trace speaks about it and in it.
    fn guard(&self, step: &Step<'_>, kind: EventType) -> Result<(), GuardError> {
        if let Some(sequence) = about(step.said.facts) {
            let expected = "null: only in a run something is about a proposal or an intent";
            return Err(GuardError::Reference { field: "about", sequence, expected });
        }
        let over = matches!(self.plan, PlanStage::Confirmed(_) | PlanStage::Attested | PlanStage::Withdrawn);
        let may_happen = match step.said.facts {
            Facts::RulesRecorded(_) => self.plan == PlanStage::Submitted && self.rules.is_none(),
            Facts::PaperRecorded(_) => self.plan != PlanStage::None,
            Facts::GapWithdrawn(_) if self.plan == PlanStage::Withdrawn => true,
            Facts::GapFound(_) | Facts::GapWithdrawn(_) | Facts::PlanAmended(_) | Facts::PlanConfirmed(_) => {
                self.plan == PlanStage::Submitted && self.rules.is_some()
            }
            Facts::PlanWithdrawn(_) => self.plan == PlanStage::Submitted,
            Facts::AnswerSuperseded(_) | Facts::AnswerRevoked(_) | Facts::QuestionAsked(_) => !over,
            Facts::ConfirmationAsked(_) => !matches!(self.plan, PlanStage::Attested | PlanStage::Withdrawn),
            Facts::OperationStarted(_) => self.plan != PlanStage::Withdrawn,
            Facts::PlanAttested(_) => matches!(self.plan, PlanStage::Confirmed(_)),
            _ => true,
        };
        if !may_happen {
            return Err(GuardError::OutOfPlan { plan: self.plan, kind });
        }
        match step.said.facts {
            Facts::ConfirmationAsked(_) if step.said.role == Role::Desk => Ok(()),
            Facts::QuestionAsked(_) | Facts::ConfirmationAsked(_) | Facts::PlanAmended(_) => {
                self.guard_agent(step)
            }
            Facts::OperationEnded(facts) => {
                self.guard_agent(step)?;
                self.guard_end(facts)
            }
            Facts::OperationStarted(facts) => {
                self.guard_agent(step)?;
                if self.operations.len() >= MAX_OPERATIONS {
                    return Err(GuardError::TooMany { what: "operations", limit: MAX_OPERATIONS });
                }
                Ok(self.questions.guard_started(facts.operation.as_str())?)
            }
            Facts::PlanWithdrawn(_) if step.said.role == Role::Agent => self.guard_agent(step),
            Facts::PlanConfirmed(_) => {
                self.guard_agent(step)?;
                self.questions.guard_conclusion()?;
                Ok(self.confirmations.guard_conclusion()?)
            }
            Facts::PlanAttested(facts) => {
                self.guard_agent(step)?;
                self.guard_reference(facts)?;
                Ok(self.confirmations.guard_conclusion()?)
            }
            Facts::PaperRecorded(facts) => self.papers.guard(facts, self.head),
            Facts::RecoveryRecorded(facts) if Some(facts.through) != self.head => {
                let expected = "the event just before the recovery, by number and hash";
                Err(GuardError::Reference { field: "through", sequence: facts.through.sequence, expected })
            }
            _ => Ok(()),
        }
    }

    fn guard_reference(&self, facts: &PlanAttested) -> Result<(), GuardError> {
        if self.plan == PlanStage::Confirmed(facts.confirmed) {
            return Ok(());
        }
        let expected = "the confirmation of this plan";
        Err(GuardError::Reference { field: "confirmed", sequence: facts.confirmed, expected })
    }

    /// An operation ends once.
    fn guard_end(&self, facts: &OperationEnded) -> Result<(), GuardError> {
        if self.operations.contains_key(&facts.started) {
            return Ok(());
        }
        let expected = "an operation that has begun and not ended";
        Err(GuardError::Reference { field: "started", sequence: facts.started, expected })
    }

    fn guard_agent(&self, step: &Step<'_>) -> Result<(), GuardError> {
        match self.agent {
            Some(agent) if agent != step.actor => {
                Err(GuardError::NotParticipant { principal: step.actor, role: step.said.role })
            }
            _ => Ok(()),
        }
    }

    fn fold(&mut self, step: &Step<'_>, hash: Digest) {
        self.papers.fold(step.sequence, step.said.facts, &self.questions);
        self.answered.fold(step);
        self.questions.fold(step, hash, self.agent);
        self.confirmations.fold(step, hash);
        self.erasures.fold(step.sequence, step.said.facts);
        if self.head.is_none() {
            self.agent = Some(step.actor);
        }
        match step.said.facts {
            Facts::OperationStarted(facts) => {
                let digest = match step.known.meaning {
                    Some(Meaning::Operation(operation)) => Some(operation.found),
                    _ => None,
                };
                let underway = OperationUnderway { digest, confirmation: facts.confirmation };
                self.operations.insert(step.sequence, underway);
            }
            Facts::OperationEnded(facts) => {
                let underway = self.operations.remove(&facts.started);
                if let Some(confirmation) = underway.and_then(|underway| underway.confirmation) {
                    let end = OperationEnd { at: step.sequence, failed: facts.failed };
                    self.confirmations.end(confirmation, end);
                }
            }
            Facts::PlanSubmitted(_) => self.plan = PlanStage::Submitted,
            Facts::RulesRecorded(_) => self.rules = Some(step.sequence),
            Facts::PlanWithdrawn(_) => self.plan = PlanStage::Withdrawn,
            Facts::PlanConfirmed(_) => self.plan = PlanStage::Confirmed(step.sequence),
            Facts::PlanAttested(_) => self.plan = PlanStage::Attested,
            _ => {}
        }
    }
}

fn about(facts: &Facts) -> Option<Sequence> {
    match facts {
        Facts::QuestionAsked(facts) => facts.0.about,
        Facts::GapFound(facts) => facts.0.about,
        Facts::ConfirmationAsked(facts) => facts.about,
        _ => None,
    }
}

/// How many operations of a piece of work can be under way at once.
const MAX_OPERATIONS: usize = 4096;
