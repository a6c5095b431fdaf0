//! The transition table and the role policy as data: every state x event pair, and random walks that stay
//! inside the table.

use std::collections::{BTreeMap, BTreeSet};

use demur_core::{
    commitment::{Commitment, Salt},
    random::{Random, Seeded},
};
use demur_ledger::{
    envelope::Said,
    event_type::{EventType, Facts, TraceKind},
    facts::{
        ArtifactRecorded, CheckStated, ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRetracted,
        ClaimRevised, ConditionJudged, FailureKind, FinalStatementSigned, IntentDecision, PolicyRecorded,
        ProposalCreated, ProposalDecision, ProposalReviewed, ReportRecorded, Risk, SessionAborted,
        ToolExecutionCompleted, ToolExecutionFailed, ToolExecutionStarted, ToolIntentReviewed,
        ToolIntentSigned, VerificationProfile, VerificationRunCompleted, VerificationRunStarted,
        VerificationStatus,
    },
    meaning::Known,
    name::Sequence,
    proof::ProofKind,
    role::Role,
    state::{GuardError, Phase, State, Step, TRANSITIONS},
};

use crate::{
    asking,
    walker::{Saying, Walker, voice},
    world::{World, list, rounds, usual_policy, whole},
};

/// LED-02
#[test]
fn the_role_policy_is_the_one_of_the_requirement() {
    use EventType as E;
    let planner = [E::SessionInitialized, E::ProposalCreated];
    let executor = [
        E::ToolIntentSigned,
        E::ToolExecutionStarted,
        E::ToolExecutionCompleted,
        E::ToolExecutionFailed,
        E::ArtifactRecorded,
        E::ClaimIssued,
        E::FinalStatementSigned,
    ];
    let critic = [
        E::ProposalReviewed,
        E::ToolIntentReviewed,
        E::ConditionJudged,
        E::ClaimChallenged,
        E::ClaimResolved,
    ];
    let auditor = [E::VerificationRunStarted, E::ReportRecorded, E::VerificationRunCompleted];
    let revisions = [E::ClaimRevised, E::ClaimRetracted];
    let asker = [E::QuestionAsked, E::AnswerClaimed, E::QuestionExtended, E::QuestionCancelled];
    let answerer = [
        E::QuestionAnswered,
        E::AnswerSuperseded,
        E::AnswerRevoked,
        E::QuestionPassedOn,
        E::ConfirmationGiven,
        E::ConfirmationRefused,
    ];
    let expected_asker = || vec![Role::Planner, Role::Executor, Role::Critic, Role::Auditor, Role::Agent];
    let expected = |kind: E| -> Vec<Role> {
        match kind {
            kind if planner.contains(&kind) => vec![Role::Planner],
            kind if executor.contains(&kind) => vec![Role::Executor],
            kind if critic.contains(&kind) => vec![Role::Critic],
            kind if auditor.contains(&kind) => vec![Role::Auditor],
            kind if revisions.contains(&kind) => vec![Role::Planner, Role::Executor],
            kind if asker.contains(&kind) => expected_asker(),
            kind if answerer.contains(&kind) => vec![Role::Answerer, Role::Person],
            E::QuestionDeclined => vec![Role::Answerer, Role::Person, Role::Agent],
            E::CheckStated => vec![Role::Planner, Role::Executor, Role::Critic],
            E::ConfirmationAsked => {
                let mut roles = expected_asker();
                roles.push(Role::Desk);
                roles
            }
            E::SessionAborted => vec![Role::Operator],
            E::PolicyRecorded | E::ContentErased => vec![Role::Operator, Role::Desk],
            _ => vec![Role::Desk],
        }
    };
    for kind in EventType::ALL.iter().filter(|kind| kind.stands_in(TraceKind::Run)) {
        assert_eq!(kind.rule().roles, expected(*kind), "{kind}");
    }
}

/// LED-09
#[test]
fn the_six_mandatory_types_and_all_role_events_need_a_key() {
    let mandatory: Vec<_> = EventType::ALL.iter().filter(|kind| kind.rule().mandatory_in_seed).collect();
    assert_eq!(mandatory.len(), 6);
    for kind in EventType::ALL {
        let by_a_role = kind.rule().roles.iter().any(|role| Role::OF_A_RUN.contains(role));
        // The desk asks for a confirmation, too, and then in its own name.
        let by_the_desk = kind.rule().roles.contains(&Role::Desk);
        if (by_a_role && !by_the_desk) || kind.rule().mandatory_in_seed {
            assert_eq!(kind.rule().proofs, [ProofKind::Ed25519], "{kind}");
        }
    }
}

#[test]
fn a_phase_is_shown_by_its_name() {
    for phase in Phase::ALL {
        assert_eq!(phase.to_string(), phase.as_str());
    }
}

/// LED-03
#[test]
fn final_phases_lead_nowhere() {
    for row in TRANSITIONS.iter().filter(|row| row.from.iter().any(|phase| phase.is_final())) {
        assert!(row.to.is_none(), "{:?}", row.event);
    }
}

/// LED-04
#[test]
fn the_eight_transitions_of_the_seed_are_there() {
    use Phase as P;
    let has = |from: P, to: P| TRANSITIONS.iter().any(|row| row.from.contains(&from) && row.to == Some(to));
    for (from, to) in [
        (P::Initialized, P::Planning),
        (P::Planning, P::Reviewing),
        (P::Reviewing, P::Executing),
        (P::Executing, P::Claiming),
        (P::Claiming, P::Auditing),
        (P::Auditing, P::Completed),
        (P::Auditing, P::Failed),
    ] {
        assert!(has(from, to), "{from} to {to}");
    }
    for phase in P::ALL.into_iter().filter(|phase| !phase.is_final() && *phase != P::Initialized) {
        assert!(has(phase, P::Aborted), "{phase} to aborted");
    }
}

/// LED-04 LED-05
#[test]
fn proof_no_sequence_of_allowed_events_leaves_the_table() {
    let walks = rounds(20_000, 200);
    let world = World::new();
    let mut reached = BTreeSet::new();
    let mut random = Seeded::from_number(11);
    for _ in 0..walks {
        let mut walker = Walker::new(&world);
        let mut previous = None;
        for step in 0..600 {
            let before = walker.state.clone();
            let kind = next_kind(step, &mut random);
            let facts = walker.guess(&world, kind, &mut random);
            let Ok(event) = walker.say(&world, kind, facts) else {
                assert_eq!(before, walker.state, "a refused {kind} changed the state");
                continue;
            };
            let (from, to) = (before.phase(), walker.state.phase());
            let in_table = TRANSITIONS
                .iter()
                .any(|row| row.event == kind && row.from.contains(&from) && row.to.unwrap_or(from) == to);
            assert!(in_table, "{kind} led from {from} to {to}");
            assert_eq!(event.envelope().previous, previous);
            previous = Some(*event.hash());
            reached.insert(to);
        }
    }
    let all: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Initialized).collect();
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), all, "the walks did not reach every state");
}

/// LED-04
#[test]
fn every_pair_of_state_and_event_that_the_table_lacks_is_refused() {
    let world = World::new();
    let mut random = Seeded::from_number(3);
    let mut refused = 0;
    for (phase, state, said) in one_state_of_each_phase(&world) {
        for kind in EventType::ALL.iter().copied().filter(|kind| kind.stands_in(TraceKind::Run)) {
            if TRANSITIONS.iter().any(|row| row.event == kind && row.from.contains(&phase)) {
                continue;
            }
            let walker = Walker { state: state.clone(), said: said.clone(), ..Walker::new(&world) };
            let facts = walker.guess(&world, kind, &mut random);
            let step = Step {
                sequence: Sequence::try_from(walker.state.length()).unwrap(),
                actor: walker.speakers[&voice(kind)],
                said: Said { kind: &kind.into(), role: voice(kind), facts: &facts },
                proof: ProofKind::None,
                known: Known::NOTHING,
                time: world.now,
            };
            match walker.state.check(&step) {
                Err(GuardError::OutOfPhase { .. }) => refused += 1,
                other => panic!("{kind} while {phase}: {other:?}"),
            }
        }
    }
    assert!(refused > 100, "only {refused} pairs were tried");
}

/// LED-30: from every state that is open; an end stays an end.
#[test]
fn every_open_state_leads_to_aborted() {
    let world = World::new();
    let facts: Facts = SessionAborted { attribution: None }.into();
    let states = one_state_of_each_phase(&world);
    assert_eq!(states.len(), Phase::ALL.len());
    for (phase, state, said) in states {
        let walker = Walker { state, said, ..Walker::new(&world) };
        let kind = EventType::SessionAborted;
        let step = Step {
            sequence: Sequence::try_from(walker.state.length()).unwrap(),
            actor: walker.speakers[&voice(kind)],
            said: Said { kind: &kind.into(), role: voice(kind), facts: &facts },
            proof: ProofKind::Ed25519,
            known: Known::NOTHING,
            time: world.now,
        };
        match walker.state.check(&step) {
            Ok(Phase::Aborted) => assert!(phase != Phase::Initialized && !phase.is_final(), "{phase}"),
            Err(GuardError::OutOfPhase { .. }) => {
                assert!(phase == Phase::Initialized || phase.is_final(), "{phase}");
            }
            other => panic!("{phase}: {other:?}"),
        }
    }
}

/// Walks until each phase was seen once.
fn one_state_of_each_phase(world: &World) -> Vec<(Phase, State, Saying)> {
    let mut random = Seeded::from_number(5);
    let mut found: BTreeMap<Phase, (State, Saying)> = BTreeMap::new();
    for walk in 0.. {
        if found.len() == Phase::ALL.len() {
            break;
        }
        assert!(walk < 200, "{walk} walks reached only {:?}", found.keys());
        let mut walker = Walker::new(world);
        found.entry(walker.state.phase()).or_insert_with(|| (walker.state.clone(), Vec::new()));
        for step in 0..600 {
            let kind = next_kind(step, &mut random);
            let facts = walker.guess(world, kind, &mut random);
            if walker.say(world, kind, facts).is_ok() {
                let now = || (walker.state.clone(), walker.said.clone());
                found.entry(walker.state.phase()).or_insert_with(now);
            }
        }
    }
    found.into_iter().map(|(phase, (state, said))| (phase, state, said)).collect()
}

impl Walker {
    /// Returns an earlier event, mostly of this type.
    pub(crate) fn cite(&self, kind: EventType, random: &mut Seeded) -> Sequence {
        let fitting: Vec<_> = self.said.iter().filter(|(said, _)| *said == kind).collect();
        if !fitting.is_empty() && number(random, 10) > 0 {
            return fitting[number(random, fitting.len())].1.sequence;
        }
        Sequence::from(u32::try_from(number(random, 40)).unwrap())
    }

    fn maybe(&self, kind: EventType, random: &mut Seeded) -> Option<Sequence> {
        (number(random, 3) == 0).then(|| self.cite(kind, random))
    }

    /// Returns facts that may or may not be allowed now.
    fn guess(&self, world: &World, kind: EventType, random: &mut Seeded) -> Facts {
        use EventType as E;
        let evidence = list([self.cite(E::ArtifactRecorded, random)]);
        let ended = if number(random, 2) == 0 { E::ToolExecutionCompleted } else { E::ToolExecutionFailed };
        let executions = list([self.cite(ended, random)]);
        let about_failure = number(random, 2) == 0;
        match kind {
            E::SessionInitialized => world.opening(usual_policy()).into(),
            E::PolicyRecorded => PolicyRecorded {}.into(),
            E::ProposalCreated => ProposalCreated {
                fallback_for: self.maybe(E::ToolIntentSigned, random),
                replaces: self.maybe(E::ProposalCreated, random),
            }
            .into(),
            E::ProposalReviewed => {
                let (decision, conditions) = pick(random, DECISIONS);
                let proposal = self.cite(E::ProposalCreated, random);
                ProposalReviewed { conditions: whole(conditions), decision, proposal }.into()
            }
            E::ToolIntentSigned => ToolIntentSigned {
                meets: if about_failure { list([]) } else { list([whole(0)]) },
                proposal: self.cite(E::ProposalCreated, random),
                retries: self.maybe(E::ToolIntentSigned, random),
                risk: pick(random, &[Risk::Low, Risk::Critical]),
            }
            .into(),
            E::ToolIntentReviewed => ToolIntentReviewed {
                decision: pick(random, &[IntentDecision::Approved, IntentDecision::Blocked]),
                intent: self.cite(E::ToolIntentSigned, random),
            }
            .into(),
            E::ToolExecutionStarted => {
                let input = self.maybe(E::ArtifactRecorded, random);
                ToolExecutionStarted { input, intent: self.cite(E::ToolIntentSigned, random) }.into()
            }
            E::ToolExecutionCompleted => {
                let started = self.cite(E::ToolExecutionStarted, random);
                ToolExecutionCompleted { outputs: evidence, started }.into()
            }
            E::ToolExecutionFailed => {
                let started = self.cite(E::ToolExecutionStarted, random);
                ToolExecutionFailed { failure: FailureKind::Exit, outputs: evidence, started }.into()
            }
            E::ArtifactRecorded => {
                ArtifactRecorded { commitment: Commitment::to_artifact(&Salt::draw(random), b"x") }.into()
            }
            E::ConditionJudged => ConditionJudged {
                condition: whole(0),
                evidence: list([self.cite(E::ArtifactRecorded, random)]),
                holds: about_failure,
                intent: self.cite(E::ToolIntentSigned, random),
            }
            .into(),
            E::CheckStated => CheckStated {
                about: self.cite(if about_failure { E::ToolIntentSigned } else { E::ClaimIssued }, random),
                artifact: self.cite(E::ArtifactRecorded, random),
                condition: about_failure.then(|| whole(0)),
            }
            .into(),
            E::ReportRecorded => {
                ReportRecorded { commitment: Commitment::to_artifact(&Salt::draw(random), b"x") }.into()
            }
            E::ClaimIssued => ClaimIssued { about_failure, evidence, executions }.into(),
            E::ClaimRevised => {
                let replaces = self.cite(E::ClaimIssued, random);
                ClaimRevised { about_failure, evidence, executions, replaces }.into()
            }
            E::ClaimChallenged => ClaimChallenged { claim: self.cite(E::ClaimIssued, random) }.into(),
            E::ClaimResolved => ClaimResolved { challenge: self.cite(E::ClaimChallenged, random) }.into(),
            E::ClaimRetracted => ClaimRetracted { claim: self.cite(E::ClaimIssued, random) }.into(),
            E::FinalStatementSigned => {
                let claims: Vec<_> = self.state.claims().map(|(claim, _)| claim).collect();
                let claims = if claims.is_empty() { vec![Sequence::FIRST] } else { claims };
                FinalStatementSigned { claims: list(claims) }.into()
            }
            E::VerificationRunStarted => {
                VerificationRunStarted { profile: VerificationProfile::Default }.into()
            }
            E::VerificationRunCompleted => VerificationRunCompleted {
                status: pick(random, &[VerificationStatus::Pass, VerificationStatus::Fail]),
                through: self.said.last().map_or(world.desk.registry().head(), |(_, position)| *position),
            }
            .into(),
            E::SessionAborted => SessionAborted { attribution: None }.into(),
            kind => asking::guess(self, world, kind, random),
        }
    }
}

/// Returns a type to try next. Aborting is allowed nearly everywhere, and left to chance it would end most
/// walks early.
fn next_kind(step: usize, random: &mut Seeded) -> EventType {
    if step == 0 {
        return EventType::SessionInitialized;
    }
    loop {
        let kind = pick(random, EventType::ALL);
        let by_the_desk = kind.rule().roles == [Role::Desk];
        let of_a_run = kind.stands_in(TraceKind::Run) && !by_the_desk;
        // So do open questions: they wait for somebody, and the walks have somewhere to go.
        let rare = matches!(
            kind,
            EventType::SessionAborted | EventType::QuestionAsked | EventType::ConfirmationAsked
        );
        // A confirmation that was refused holds its tool up for good.
        let chance = if kind == EventType::ConfirmationAsked { 200 } else { 20 };
        if of_a_run && (!rare || number(random, chance) == 0) {
            return kind;
        }
    }
}

pub(crate) fn number(random: &mut Seeded, below: usize) -> usize {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % below as u64).unwrap()
}

pub(crate) fn pick<T: Copy>(random: &mut Seeded, from: &[T]) -> T {
    from[number(random, from.len())]
}

const DECISIONS: &[(ProposalDecision, u64)] = &[
    (ProposalDecision::Approved, 0),
    (ProposalDecision::ConditionallyApproved, 1),
    (ProposalDecision::Rejected, 0),
    (ProposalDecision::Blocked, 0),
];
