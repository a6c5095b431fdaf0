//! Facts that may or may not be allowed now.

use demur_core::{
    hash::sha256,
    limit::{List, Whole},
};
use demur_ledger::{
    entry::Entry,
    event_type::{EventType, Facts},
    facts::{
        CheckStated, CheckpointRecorded, Cited, ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRetracted,
        ClaimRevised, ConditionJudged, FailureKind, FinalStatementSigned, IntentDecision, Participant,
        Policy, PolicyRecorded, ProposalCreated, ProposalDecision, ProposalReviewed, RecoveryRecorded, Risk,
        SessionAborted, SessionInitialized, ToolExecutionCompleted, ToolExecutionFailed,
        ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned, VerificationProfile,
        VerificationRunCompleted, VerificationRunStarted, VerificationStatus,
    },
    meaning::Meaning,
    name::{Position, Sequence},
    role::Role,
};

use super::Walk;
use crate::words::{list, reporting, whole};

impl Walk {
    /// Returns facts of this type.
    pub(super) fn guess(&mut self, kind: EventType) -> Facts {
        use EventType as E;
        match kind {
            E::SessionInitialized => self.guess_opening().into(),
            E::PolicyRecorded => PolicyRecorded {}.into(),
            E::ProposalCreated => ProposalCreated {
                fallback_for: self.maybe_failed(),
                replaces: self.maybe(E::ProposalCreated),
            }
            .into(),
            E::ProposalReviewed => {
                let (decision, conditions) = self.pick(DECISIONS);
                let proposal = self.cite(&[E::ProposalCreated]);
                ProposalReviewed { conditions: whole(conditions), decision, proposal }.into()
            }
            E::VerificationRunStarted => {
                VerificationRunStarted { profile: VerificationProfile::Default }.into()
            }
            E::VerificationRunCompleted => VerificationRunCompleted {
                status: self.guess_status(),
                through: self.cite_whole(E::VerificationRunStarted),
            }
            .into(),
            E::SessionAborted => SessionAborted { attribution: None }.into(),
            E::RecoveryRecorded => RecoveryRecorded { through: self.cite_whole(E::ProposalCreated) }.into(),
            E::CheckpointRecorded => CheckpointRecorded { root: sha256(b"root"), traces: whole(1) }.into(),
            E::ConditionJudged => ConditionJudged {
                condition: whole(0),
                evidence: list([self.cite(&[E::ArtifactRecorded])]),
                holds: self.number(5) > 0,
                intent: self.cite(&[E::ToolIntentSigned]),
            }
            .into(),
            E::CheckStated => {
                let of_an_intent = self.number(2) == 0;
                let kind = if of_an_intent { E::ToolIntentSigned } else { E::ClaimIssued };
                let (about, artifact) = (self.cite(&[kind]), self.cite(&[E::ArtifactRecorded]));
                CheckStated { about, artifact, condition: of_an_intent.then(|| whole(0)) }.into()
            }
            other => self.guess_work(other),
        }
    }

    /// Returns a verdict, mostly that of the newest report.
    fn guess_status(&mut self) -> VerificationStatus {
        let newest = self
            .world
            .run
            .entries
            .iter()
            .rev()
            .find(|entry| matches!(entry.event.said().unwrap().facts, Facts::ReportRecorded(_)));
        let bytes = newest.and_then(|entry| self.world.artifacts.get(&entry.artifact?.address)).cloned();
        let all = [VerificationStatus::Pass, VerificationStatus::Fail];
        match all.into_iter().find(|status| bytes.as_ref() == Some(&reporting(*status))) {
            Some(status) if self.number(8) > 0 => status,
            _ => self.pick(&all),
        }
    }

    fn guess_work(&mut self, kind: EventType) -> Facts {
        use EventType as E;
        match kind {
            E::ToolIntentSigned => ToolIntentSigned {
                meets: self.guess_conditions(),
                proposal: self.cite(&[E::ProposalCreated]),
                retries: self.maybe_failed(),
                risk: self.pick(&[Risk::Low, Risk::Low, Risk::Critical]),
            }
            .into(),
            E::ToolIntentReviewed => ToolIntentReviewed {
                decision: self.pick(&[IntentDecision::Approved, IntentDecision::Blocked]),
                intent: self.cite(&[E::ToolIntentSigned]),
            }
            .into(),
            E::ToolExecutionStarted => {
                let intent = self.cite(&[E::ToolIntentSigned]);
                let input = (self.number(8) > 0).then(|| self.cite_input(intent));
                ToolExecutionStarted { input, intent }.into()
            }
            E::ToolExecutionCompleted => {
                let started = self.cite(&[E::ToolExecutionStarted]);
                ToolExecutionCompleted { outputs: self.cite_some(E::ArtifactRecorded), started }.into()
            }
            E::ToolExecutionFailed => {
                let started = self.cite(&[E::ToolExecutionStarted]);
                let outputs = self.cite_some(E::ArtifactRecorded);
                ToolExecutionFailed { failure: FailureKind::Exit, outputs, started }.into()
            }
            other => self.guess_claim(other),
        }
    }

    fn guess_claim(&mut self, kind: EventType) -> Facts {
        use EventType as E;
        const CLAIMS: &[E] = &[E::ClaimIssued, E::ClaimRevised];
        let about_failure = self.number(2) == 0;
        match kind {
            E::ClaimIssued => {
                let (evidence, executions) = self.guess_evidence();
                ClaimIssued { about_failure, evidence, executions }.into()
            }
            E::ClaimRevised => {
                let (evidence, executions) = self.guess_evidence();
                ClaimRevised { about_failure, evidence, executions, replaces: self.cite(CLAIMS) }.into()
            }
            E::ClaimChallenged => ClaimChallenged { claim: self.cite(CLAIMS) }.into(),
            E::ClaimResolved => ClaimResolved { challenge: self.cite(&[E::ClaimChallenged]) }.into(),
            E::ClaimRetracted => ClaimRetracted { claim: self.cite(CLAIMS) }.into(),
            E::FinalStatementSigned => FinalStatementSigned { claims: self.guess_bundle() }.into(),
            other => panic!("nobody guesses {other}"),
        }
    }

    fn guess_opening(&mut self) -> SessionInitialized {
        let policy = Policy {
            approval_from: self.pick(&[Risk::Low, Risk::High, Risk::High]),
            evidence_minimum: whole(self.pick(&[1, 1, 2])),
            fallback: self.number(2) == 0,
            retry_limit: whole(self.pick(&[0, 1])),
        };
        let mut participants = self.world.opening(policy).participants.to_vec();
        let principal = |role| self.world.speaker(role).principal;
        let (planner, executor) = (principal(Role::Planner), principal(Role::Executor));
        match self.number(12) {
            0 => participants.retain(|one| one.role != Role::Critic),
            1 => participants.push(Participant { principal: planner, role: Role::Operator }),
            2 => participants.push(Participant { principal: executor, role: Role::Critic }),
            3 => participants.reverse(),
            4 => participants.iter_mut().for_each(|one| {
                if one.principal == planner {
                    one.principal = executor;
                }
            }),
            _ => {}
        }
        if !participants.is_sorted_by(|left, right| left > right) {
            participants.sort();
        }
        SessionInitialized { participants: list(participants), policy }
    }

    fn guess_conditions(&mut self) -> List<Whole<0, 63>, 0, 64> {
        if self.number(3) == 0 { list([whole(0)]) } else { list([]) }
    }

    fn guess_evidence(&mut self) -> (Cited<0>, Cited<1>) {
        let ended = [EventType::ToolExecutionCompleted, EventType::ToolExecutionFailed];
        let execution = self.cite(&ended);
        let produced = self.outputs(execution);
        let evidence = if produced.is_empty() || self.number(6) == 0 {
            self.cite_some(EventType::ArtifactRecorded)
        } else {
            produced
        };
        (evidence, list([execution]))
    }

    /// Returns what an execution produced, by its end.
    fn outputs(&self, ended: Sequence) -> Cited<0> {
        let entry = usize::try_from(ended.number()).ok().and_then(|at| self.world.run.entries.get(at));
        match entry.map(|entry| entry.event.said().unwrap().facts) {
            Some(Facts::ToolExecutionCompleted(facts)) => facts.outputs.clone(),
            Some(Facts::ToolExecutionFailed(facts)) => facts.outputs.clone(),
            _ => list([]),
        }
    }

    /// Returns all claims in play, or not quite.
    fn guess_bundle(&mut self) -> Cited<1> {
        let in_play = self.world.run.state.run().map(|run| run.claims().map(|(claim, _)| claim).collect());
        let mut claims: Vec<Sequence> = in_play.unwrap_or_default();
        if claims.is_empty() || self.number(4) == 0 {
            claims.push(Sequence::FIRST);
        }
        list(claims)
    }

    /// Returns none to two events of this type, mostly in order.
    fn cite_some(&mut self, kind: EventType) -> Cited<0> {
        let mut cited: Vec<_> = (0..self.number(3)).map(|_| self.cite(&[kind])).collect();
        if self.number(6) > 0 {
            cited.sort();
            cited.dedup();
        }
        list(cited)
    }

    fn maybe(&mut self, kind: EventType) -> Option<Sequence> {
        (self.number(4) == 0).then(|| self.cite(&[kind]))
    }

    /// Returns the intent whose execution failed last, or another.
    fn maybe_failed(&mut self) -> Option<Sequence> {
        if self.number(2) == 0 {
            return self.maybe(EventType::ToolIntentSigned);
        }
        let facts = |entry: &Entry| entry.event.said().unwrap().facts.clone();
        let entries = &self.world.run.entries;
        let started = entries.iter().rev().find_map(|entry| match facts(entry) {
            Facts::ToolExecutionFailed(failed) => usize::try_from(failed.started.number()).ok(),
            _ => None,
        })?;
        match facts(&entries[started]) {
            Facts::ToolExecutionStarted(started) => Some(started.intent),
            _ => None,
        }
    }

    /// Returns an artifact, mostly one with the bytes that the intent names.
    fn cite_input(&mut self, intent: Sequence) -> Sequence {
        let run = &self.world.run;
        let entry = usize::try_from(intent.number()).ok().and_then(|at| run.entries.get(at));
        let named = match entry.and_then(|entry| entry.meaning.as_ref()) {
            Some(Meaning::Intent(call)) => Some(call.input),
            _ => None,
        };
        let fits = |at: &Sequence| named.is_some() && run.artifact(*at) == named;
        let fitting = self.places(&[EventType::ArtifactRecorded]).into_iter().rfind(fits);
        match fitting {
            Some(at) if self.number(8) > 0 => at,
            _ => self.cite(&[EventType::ArtifactRecorded]),
        }
    }

    /// Returns an earlier event, mostly the newest of these types.
    fn cite(&mut self, kinds: &[EventType]) -> Sequence {
        let places = self.places(kinds);
        match (places.last(), self.number(12)) {
            (None, _) | (_, 0) => Sequence::from(u32::try_from(self.number(12)).unwrap()),
            (_, 1..=3) => self.pick(&places),
            (Some(newest), _) => *newest,
        }
    }

    fn cite_whole(&mut self, kind: EventType) -> Position {
        let sequence = self.cite(&[kind]);
        let hash = self.world.run.hash(sequence).unwrap_or(sha256(b"nothing"));
        Position::new(sequence, hash)
    }
}

const DECISIONS: &[(ProposalDecision, u64)] = &[
    (ProposalDecision::Approved, 0),
    (ProposalDecision::Approved, 0),
    (ProposalDecision::ConditionallyApproved, 1),
    (ProposalDecision::Rejected, 0),
    (ProposalDecision::Blocked, 0),
    (ProposalDecision::Blocked, 1),
];
