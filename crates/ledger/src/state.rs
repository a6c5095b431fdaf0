//! The state of a run: what is open, folded from its events (`docs/format.md` 10; seed 002). The same `apply`
//! runs in the verifier and at the desk.
//!
//! The state keeps what is in play (proposals, intents, executions, claims, challenges) and, of what is over, a bit or
//! a few bytes per event: enough to check every reference, small enough for a trace of a million events.
//!
//! Two things are judged. The order: what may follow what, by facts alone; an event that breaks it cannot be folded in.
//! The meaning: what the content says, as far as it is known ([`crate::meaning`]); an event that breaks a demand is
//! refused at the door, and in a file it is found and followed.

mod calls;
mod claim;
mod conditions;
mod endings;
mod error;
mod judge;
mod phase;
mod policy;
mod proposal;
mod sequence_set;
mod table;
mod tool;

use std::collections::BTreeMap;

use demur_core::{hash::Digest, time::Timestamp};
use serde::{Deserialize, Serialize};

pub use conditions::MOST_CHECKS;
pub use error::{Blame, GuardError};
pub use phase::Phase;
pub use policy::{RecordedPolicy, ToolRules};
pub(crate) use sequence_set::SequenceSet;
pub use table::{TRANSITIONS, Transition, When};

use self::{
    calls::Calls,
    endings::Endings,
    proposal::Proposal,
    tool::{Execution, Intent},
};
use crate::{
    confirmation::{ConfirmationError, Confirmations},
    envelope::{Event, Said},
    erasure::Erasures,
    event_type::{EventType, Facts, TraceKind, TypeName},
    facts::{Policy, SessionInitialized, VerificationStatus},
    meaning::{Known, MeaningError},
    name::{Position, PrincipalId, Sequence},
    proof::ProofKind,
    question::{self, Questions},
    role::Role,
};

/// The state of one run. Its serialized form is for snapshots of the same version of the code only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    phase: Phase,
    /// The last event folded in.
    head: Option<Position>,
    participants: BTreeMap<PrincipalId, Vec<Role>>,
    policy: Option<Policy>,
    recorded_policy: Option<RecordedPolicy>,
    proposals: BTreeMap<Sequence, Proposal>,
    intents: BTreeMap<Sequence, Intent>,
    /// Open executions by their started event.
    executions: BTreeMap<Sequence, Execution>,
    endings: Endings,
    /// Calls that were blocked or that failed.
    calls: Calls,
    artifacts: SequenceSet,
    /// Claims that were neither replaced nor retracted, with the digests of their texts where those are known.
    claims: BTreeMap<Sequence, Option<Digest>>,
    /// Open challenges and the claim each is about now.
    challenges: BTreeMap<Sequence, Sequence>,
    verification: Option<Position>,
    /// How many checks were stated.
    checks: usize,
    /// The auditor's reports.
    reports: Vec<Sequence>,
    questions: Questions,
    confirmations: Confirmations,
    erasures: Erasures,
}

/// One event as the state sees it.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Its place in the trace.
    pub sequence: Sequence,
    /// Who.
    pub actor: PrincipalId,
    /// What was said.
    pub said: Said<'a>,
    /// What stands behind it.
    pub proof: ProofKind,
    /// When, by the desk's clock.
    pub time: Timestamp,
    /// What else is known of it.
    pub known: Known<'a>,
}

impl<'a> Step<'a> {
    /// Returns an event as the state sees it.
    pub(crate) fn of(event: &'a Event, known: Known<'a>) -> Result<Self, GuardError> {
        let envelope = event.envelope();
        Ok(Self {
            sequence: envelope.sequence,
            actor: envelope.actor,
            said: event.said().map_err(GuardError::Shape)?,
            proof: envelope.proof.kind(),
            time: envelope.time,
            known,
        })
    }

    /// Checks what holds in every trace: the place, and who may say this with which proof.
    pub(crate) fn check(&self, kind: EventType, length: u64) -> Result<(), GuardError> {
        if self.sequence.number() != length {
            return Err(GuardError::Place { expected: length, found: self.sequence });
        }
        let role = self.said.role;
        // An answerer has a key, a person a passkey or nothing, the desk nothing: whoever the desk speaks for is never taken
        // for a key.
        let voiced = match (role, self.proof) {
            (_, ProofKind::Unknown) => false,
            (Role::Answerer, proof) => proof == ProofKind::Ed25519,
            (Role::Person, proof) => proof != ProofKind::Ed25519,
            (Role::Desk, proof) => proof == ProofKind::None,
            // The desk records a policy and an erasure as itself, and never in the operator's name.
            (Role::Operator, ProofKind::None) => {
                !matches!(kind, EventType::PolicyRecorded | EventType::ContentErased)
            }
            (Role::Operator, _) | (_, ProofKind::Ed25519) => true,
            // Only people have passkeys.
            (_, ProofKind::Webauthn) => false,
            // Nor in the name of whoever wants to act.
            (_, ProofKind::None) => kind != EventType::ConfirmationAsked,
        };
        if kind.admits_role(role) && voiced { Ok(()) } else { Err(GuardError::RoleForbidden { role, kind }) }
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    /// Returns the state before the first event.
    pub const fn new() -> Self {
        Self {
            phase: Phase::Initialized,
            head: None,
            participants: BTreeMap::new(),
            policy: None,
            recorded_policy: None,
            proposals: BTreeMap::new(),
            intents: BTreeMap::new(),
            executions: BTreeMap::new(),
            endings: Endings::new(),
            calls: Calls::new(),
            artifacts: SequenceSet::new(),
            claims: BTreeMap::new(),
            challenges: BTreeMap::new(),
            verification: None,
            checks: 0,
            reports: Vec::new(),
            questions: Questions::new(),
            confirmations: Confirmations::new(),
            erasures: Erasures::new(),
        }
    }

    /// Returns where the run stands.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns how many events were folded in.
    pub const fn length(&self) -> u64 {
        match &self.head {
            Some(head) => head.sequence.next().number(),
            None => 0,
        }
    }

    /// Returns the last event folded in.
    pub const fn head(&self) -> Option<Position> {
        self.head
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

    /// Returns whether the run opened with this participant, in whatever role.
    pub fn has_participant(&self, principal: PrincipalId) -> bool {
        self.participants.contains_key(&principal)
    }

    /// Returns who takes part as what, as the run was opened.
    pub fn participants(&self) -> impl Iterator<Item = (PrincipalId, Role)> {
        let roles = |(principal, roles): (&PrincipalId, &'_ Vec<Role>)| {
            let principal = *principal;
            roles.clone().into_iter().map(move |role| (principal, role))
        };
        self.participants.iter().flat_map(roles)
    }

    /// Returns the claims in play, each with whether it is disputed.
    pub fn claims(&self) -> impl Iterator<Item = (Sequence, bool)> {
        self.claims.keys().map(|claim| (*claim, self.is_disputed(*claim)))
    }

    /// Returns whether a challenge against this claim is open.
    pub fn is_disputed(&self, claim: Sequence) -> bool {
        self.challenges.values().any(|challenged| *challenged == claim)
    }

    /// Returns the auditor's reports, in order.
    pub fn reports(&self) -> &[Sequence] {
        &self.reports
    }

    /// Returns whether the policy says which programs the calls of tools may start.
    pub const fn names_programs(&self) -> bool {
        matches!(&self.recorded_policy, Some(RecordedPolicy { tools: ToolRules::Named(_), .. }))
    }

    /// Folds an event into the state. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event, known: Known<'_>) -> Result<(), GuardError> {
        let step = Step::of(event, known)?;
        let next = self.check(&step)?;
        self.advance(&step, next, event.position());
        Ok(())
    }

    /// Folds an event into the state, whatever it means: returns the demands that it breaks. On an error, which says that it
    /// cannot follow, nothing has changed.
    pub fn follow(&mut self, event: &Event, known: Known<'_>) -> Result<Vec<MeaningError>, GuardError> {
        let step = Step::of(event, known)?;
        let next = self.check_order(&step)?;
        let broken = self.judge(&step);
        self.advance(&step, next, event.position());
        Ok(broken)
    }

    fn advance(&mut self, step: &Step<'_>, next: Phase, position: Position) {
        self.fold(step, position.hash);
        self.phase = next;
        self.head = Some(position);
    }

    /// Returns the phase that this event leads to, or why it may not happen now. Changes nothing.
    pub fn check(&self, step: &Step<'_>) -> Result<Phase, GuardError> {
        let next = self.check_order(step)?;
        match self.judge(step).into_iter().next() {
            Some(error) => Err(GuardError::Meaning(error)),
            None => Ok(next),
        }
    }

    /// Returns the phase that this event leads to, by its facts alone.
    fn check_order(&self, step: &Step<'_>) -> Result<Phase, GuardError> {
        let kind = match step.said.kind {
            TypeName::Known(kind) if kind.stands_in(TraceKind::Run) => *kind,
            other => return Err(GuardError::NotOfThisTrace { kind: other.clone(), trace: TraceKind::Run }),
        };
        step.check(kind, self.length())?;
        let next = table::next(self, kind, step.said.facts)?;
        self.check_participant(step)?;
        self.guard(step.said.facts)?;
        self.erasures.guard(step.sequence, step.said.facts)?;
        match (self.phase, step.said.facts) {
            (Phase::Aborted, Facts::QuestionExpired(facts)) => {
                self.questions.guard_closing(facts.question)?;
                return Ok(next);
            }
            (Phase::Aborted, Facts::ConfirmationExpired(facts)) => {
                self.confirmations.guard_closing(facts.confirmation)?;
                return Ok(next);
            }
            _ => {}
        }
        self.questions.guard(step)?;
        self.confirmations.guard(step, |principal| self.workers().any(|worker| worker == principal))?;
        Ok(next)
    }

    /// The four roles must be named when the run opens; operator and desk are the same in every run.
    fn check_participant(&self, step: &Step<'_>) -> Result<(), GuardError> {
        let role = step.said.role;
        let takes_part = match step.said.facts {
            Facts::SessionInitialized(facts) => {
                facts.participants.iter().any(|one| one.principal == step.actor && one.role == role)
            }
            // Agents outside of a run ask in traces of their own.
            _ if role == Role::Agent => false,
            _ if !Role::OF_A_RUN.contains(&role) => true,
            _ => self.participants.get(&step.actor).is_some_and(|roles| roles.contains(&role)),
        };
        if takes_part { Ok(()) } else { Err(GuardError::NotParticipant { principal: step.actor, role }) }
    }

    /// What is open is bounded, so that the state of a run is.
    fn guard_limits(&self, facts: &Facts) -> Result<(), GuardError> {
        let (what, open, limit) = match facts {
            Facts::ProposalCreated(_) => ("proposals", self.proposals.len(), 1024),
            Facts::ToolIntentSigned(_) => ("intents", self.intents.len(), 1024),
            Facts::ToolExecutionStarted(_) => ("executions", self.executions.len(), 256),
            // As many as a final statement can bundle.
            Facts::ClaimIssued(_) => ("claims", self.claims.len(), 256),
            Facts::ClaimChallenged(_) => ("challenges", self.challenges.len(), 256),
            Facts::CheckStated(_) => ("checks", self.checks, MOST_CHECKS),
            Facts::ReportRecorded(_) => ("reports", self.reports.len(), 64),
            _ => return Ok(()),
        };
        if open < limit { Ok(()) } else { Err(GuardError::TooMany { what, limit }) }
    }

    fn guard(&self, facts: &Facts) -> Result<(), GuardError> {
        self.guard_limits(facts)?;
        match facts {
            Facts::SessionInitialized(facts) => check_participants(facts),
            Facts::PolicyRecorded(_) => self.guard_policy(),
            Facts::ProposalCreated(facts) => {
                self.guard_proposal(facts)?;
                Ok(self.questions.guard_operation(question::PROPOSE, |_| true)?)
            }
            Facts::ProposalReviewed(facts) => self.guard_review(facts),
            Facts::ToolIntentSigned(facts) => self.guard_intent(facts),
            Facts::ToolIntentReviewed(facts) => self.guard_intent_review(facts),
            Facts::ConditionJudged(facts) => self.guard_judgement(facts),
            Facts::CheckStated(facts) => self.guard_check(facts),
            Facts::ToolExecutionStarted(facts) => {
                self.guard_start(facts)?;
                self.guard_waiting(facts)
            }
            Facts::ToolExecutionCompleted(facts) => self.guard_end(facts.started, &facts.outputs),
            Facts::ToolExecutionFailed(facts) => self.guard_end(facts.started, &facts.outputs),
            Facts::ClaimIssued(facts) => {
                self.guard_claim(&facts.evidence, &facts.executions, facts.about_failure)?;
                Ok(self.questions.guard_operation(question::CLAIM, |_| true)?)
            }
            Facts::ClaimRevised(facts) => {
                self.guard_revision(facts)?;
                Ok(self.questions.guard_operation(question::CLAIM, |_| true)?)
            }
            Facts::ClaimChallenged(facts) => self.guard_claim_in_play(facts.claim),
            Facts::ClaimRetracted(facts) => self.guard_claim_in_play(facts.claim),
            Facts::ClaimResolved(facts) => self.guard_resolution(facts),
            Facts::FinalStatementSigned(facts) => {
                self.guard_final_statement(facts)?;
                self.guard_conclusion()
            }
            Facts::QuestionAsked(facts) => self.guard_about(facts.0.about),
            Facts::ConfirmationAsked(facts) => self.guard_confirmed(facts.about),
            Facts::VerificationRunStarted(_) => self.guard_verification_start(),
            Facts::VerificationRunCompleted(facts) => {
                self.guard_verification_end(&facts.through)?;
                self.guard_conclusion()
            }
            Facts::RecoveryRecorded(facts) => self.guard_recovery(&facts.through),
            _ => Ok(()),
        }
    }

    fn fold(&mut self, step: &Step<'_>, hash: Digest) {
        let (at, meaning) = (step.sequence, step.known.meaning);
        self.questions.fold(step, hash, None);
        self.confirmations.fold(step, hash);
        self.erasures.fold(at, step.said.facts);
        match step.said.facts {
            Facts::SessionInitialized(facts) => self.open(facts),
            Facts::PolicyRecorded(_) => self.fold_policy(meaning),
            Facts::ProposalCreated(facts) => self.fold_proposal(at, facts, meaning),
            Facts::ProposalReviewed(facts) => self.fold_review(facts),
            Facts::ToolIntentSigned(facts) => self.fold_intent(at, facts, meaning),
            Facts::ToolIntentReviewed(facts) => self.fold_intent_review(at, facts),
            Facts::ConditionJudged(facts) => self.fold_judgement(facts),
            Facts::CheckStated(facts) => self.fold_check(step, facts),
            Facts::ToolExecutionStarted(facts) => self.fold_start(at, facts),
            Facts::ToolExecutionCompleted(facts) => self.fold_end(at, facts.started, true, &facts.outputs),
            Facts::ToolExecutionFailed(facts) => self.fold_end(at, facts.started, false, &facts.outputs),
            Facts::ArtifactRecorded(_) => self.artifacts.insert(at),
            Facts::ClaimIssued(_) => self.fold_claim(at, meaning),
            Facts::ClaimRevised(facts) => self.fold_revision(at, facts.replaces, meaning),
            Facts::ClaimChallenged(facts) => {
                self.challenges.insert(at, facts.claim);
            }
            Facts::ClaimResolved(facts) => {
                self.challenges.remove(&facts.challenge);
            }
            Facts::ClaimRetracted(facts) => self.fold_retraction(facts.claim),
            Facts::VerificationRunStarted(_) => self.verification = Some(Position::new(at, hash)),
            Facts::ReportRecorded(_) => self.reports.push(at),
            _ => {}
        }
    }

    fn open(&mut self, facts: &SessionInitialized) {
        for participant in &facts.participants {
            self.participants.entry(participant.principal).or_default().push(participant.role);
        }
        self.policy = Some(facts.policy);
    }

    /// The policy is there in every phase that asks for it: only `session_initialized` leaves `initialized`.
    fn demands(&self) -> Result<&Policy, GuardError> {
        self.policy.as_ref().ok_or(GuardError::NotOpened)
    }

    /// A question is about work that can still wait for it.
    fn guard_about(&self, about: Option<Sequence>) -> Result<(), GuardError> {
        match about {
            Some(at) if !self.proposals.contains_key(&at) && !self.intents.contains_key(&at) => {
                let expected = "a proposal or an intent in play";
                Err(GuardError::Reference { field: "about", sequence: at, expected })
            }
            _ => Ok(()),
        }
    }

    /// A confirmation is about an intent that can still wait for it.
    fn guard_confirmed(&self, about: Option<Sequence>) -> Result<(), GuardError> {
        if let Some(intent) = about {
            return self.guard_waits(intent, "about");
        }
        let (field, expected) = ("about", "the intent that waits for it");
        Err(ConfirmationError::Form { field, expected }.into())
    }

    /// Nothing is concluded over an open question, nor while an operation waits for a yes.
    fn guard_conclusion(&self) -> Result<(), GuardError> {
        self.questions.guard_conclusion()?;
        Ok(self.confirmations.guard_conclusion()?)
    }

    /// Returns those whose operations are carried out in this run.
    pub(crate) fn workers(&self) -> impl Iterator<Item = PrincipalId> {
        let works = |role: &Role| matches!(role, Role::Planner | Role::Executor);
        let workers = self.participants.iter().filter(move |(_, roles)| roles.iter().any(works));
        workers.map(|(principal, _)| *principal)
    }

    fn guard_verification_start(&self) -> Result<(), GuardError> {
        match self.verification {
            Some(open) => Err(GuardError::VerificationOpen { started: open.sequence }),
            None => Ok(()),
        }
    }

    fn guard_verification_end(&self, through: &Position) -> Result<(), GuardError> {
        if self.verification.as_ref() == Some(through) {
            Ok(())
        } else {
            Err(GuardError::Reference {
                field: "through",
                sequence: through.sequence,
                expected: "the open verification run, by number and hash",
            })
        }
    }

    fn guard_recovery(&self, through: &Position) -> Result<(), GuardError> {
        if self.head.as_ref() == Some(through) {
            Ok(())
        } else {
            Err(GuardError::Reference {
                field: "through",
                sequence: through.sequence,
                expected: "the event just before the recovery, by number and hash",
            })
        }
    }
}

/// Planner, executor and critic must be there (LED-01), and whoever reviews or audits does not do the work.
fn check_participants(facts: &SessionInitialized) -> Result<(), GuardError> {
    let participants = &facts.participants;
    if !participants.is_sorted_by(|left, right| left < right) {
        return Err(GuardError::Ascending { field: "participants" });
    }
    for role in [Role::Planner, Role::Executor, Role::Critic] {
        if !participants.iter().any(|one| one.role == role) {
            return Err(GuardError::RoleMissing { role });
        }
    }
    if let Some(one) = participants.iter().find(|one| !Role::OF_A_RUN.contains(&one.role)) {
        return Err(GuardError::RoleNotOfARun { role: one.role });
    }
    let works = |principal| {
        participants
            .iter()
            .any(|one| one.principal == principal && matches!(one.role, Role::Planner | Role::Executor))
    };
    let judges = |role| matches!(role, Role::Critic | Role::Auditor);
    match participants.iter().find(|one| judges(one.role) && works(one.principal)) {
        Some(one) => Err(GuardError::JudgesOwnWork { principal: one.principal, role: one.role }),
        None => Ok(()),
    }
}

impl VerificationStatus {
    /// Returns whether a run may complete on this verdict (LED-15).
    pub const fn completes(self) -> bool {
        matches!(self, Self::Pass | Self::PassWithWarnings)
    }
}
