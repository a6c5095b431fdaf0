//! The state of a run: the four roles, the guards, the transitions of the seed.

mod conditions;
mod limits;
pub(crate) mod meaning;
mod references;

use demur_ledger::{
    content::PolicyDocument,
    desk::DeskError,
    event_type::{Content, EventType, Facts},
    facts::{
        Attribution, ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRetracted, ClaimRevised, Door,
        FailureKind, FinalStatementSigned, IntentDecision, Policy, ProposalCreated, ProposalDecision,
        ProposalReviewed, Risk, Root, SessionAborted, ToolExecutionCompleted, ToolExecutionFailed,
        ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned, VerificationProfile,
        VerificationRunCompleted, VerificationRunStarted, VerificationStatus,
    },
    name::{Position, Sequence},
    role::Role,
    state::Phase,
    trace_state::TraceState,
};

use crate::world::{INPUT, World, fitting, list, reporting, usual_policy, whole};

impl World {
    pub(crate) fn propose(&mut self) -> Sequence {
        self.say(ProposalCreated { fallback_for: None, replaces: None }).unwrap()
    }

    pub(crate) fn review(&mut self, proposal: Sequence, decision: ProposalDecision) -> Sequence {
        let conditions = whole(u64::from(decision == ProposalDecision::ConditionallyApproved));
        self.say(ProposalReviewed { conditions, decision, proposal }).unwrap()
    }

    /// Returns a world that executes an approved proposal.
    pub(crate) fn executing_with(policy: Policy) -> (Self, Sequence) {
        let mut world = Self::opened_with(policy);
        let proposal = world.propose();
        world.review(proposal, ProposalDecision::Approved);
        (world, proposal)
    }

    pub(crate) fn executing() -> (Self, Sequence) {
        Self::executing_with(usual_policy())
    }

    pub(crate) fn intend(&mut self, proposal: Sequence, risk: Risk) -> Sequence {
        self.say(intent(proposal, risk)).unwrap()
    }

    pub(crate) fn record_artifact(&mut self, bytes: &[u8]) -> Sequence {
        let artifact = self.artifact(bytes);
        self.keep(&artifact)
    }

    /// Starts the tool of an intent with the input that it names.
    pub(crate) fn start(&mut self, intent: Sequence) -> Sequence {
        let input = Some(self.record_artifact(INPUT));
        self.say(ToolExecutionStarted { input, intent }).unwrap()
    }

    /// Carries out one low-risk tool call; returns its end and its output.
    pub(crate) fn call_tool(&mut self, proposal: Sequence) -> (Sequence, Sequence) {
        let intent = self.intend(proposal, Risk::Low);
        let started = self.start(intent);
        let output = self.record_artifact(b"5");
        let ended = self.say(ToolExecutionCompleted { outputs: list([output]), started }).unwrap();
        (ended, output)
    }

    /// Fails one tool call; returns its intent, its end and its output.
    pub(crate) fn fail_tool(
        &mut self,
        proposal: Sequence,
        retries: Option<Sequence>,
    ) -> Result<(Sequence, Sequence, Sequence), DeskError> {
        let intent = self.say(ToolIntentSigned { retries, ..intent(proposal, Risk::Low) })?;
        let started = self.start(intent);
        let output = self.record_artifact(b"error");
        let facts = ToolExecutionFailed { failure: FailureKind::Exit, outputs: list([output]), started };
        Ok((intent, self.say(facts).unwrap(), output))
    }

    /// Returns a world with one claim, and the claim.
    pub(crate) fn claiming() -> (Self, Sequence, ClaimIssued) {
        let (mut world, proposal) = Self::executing();
        let (ended, output) = world.call_tool(proposal);
        let facts = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
        let claim = world.say(facts.clone()).unwrap();
        (world, claim, facts)
    }

    /// Returns a world in which the auditor is to speak.
    pub(crate) fn auditing() -> Self {
        let (mut world, claim, _) = Self::claiming();
        world.say(FinalStatementSigned { claims: list([claim]) }).unwrap();
        world
    }

    pub(crate) fn verify(&mut self, status: VerificationStatus) -> Result<Sequence, DeskError> {
        self.say(VerificationRunStarted { profile: VerificationProfile::Default }).unwrap();
        let through = self.run.chain().head().unwrap();
        self.report(reporting(status).as_bytes());
        self.say(VerificationRunCompleted { status, through })
    }

    pub(crate) fn phase(&self) -> Phase {
        self.open_run().phase()
    }
}

pub(crate) fn intent(proposal: Sequence, risk: Risk) -> ToolIntentSigned {
    ToolIntentSigned { meets: list([]), proposal, retries: None, risk }
}

/// Asserts that a guard refused with this code, and that nothing changed.
#[track_caller]
pub(crate) fn refused(world: &World, before: u64, outcome: Result<Sequence, DeskError>, code: &str) {
    match outcome {
        Err(DeskError::Guard(error)) => assert_eq!(error.code(), code, "{error}"),
        other => panic!("expected the guard {code}, found {other:?}"),
    }
    assert_eq!(world.open_run().length(), before);
}

/// Says something that must be refused with this code.
#[track_caller]
pub(crate) fn refuses(world: &mut World, facts: impl Into<Facts>, code: &str) {
    let before = world.open_run().length();
    let outcome = world.say(facts);
    refused(world, before, outcome, code);
}

/// LED-03 LED-04
#[test]
fn a_whole_run_passes_through_the_states_of_the_seed() {
    let mut world = World::new();
    assert_eq!(world.phase(), Phase::Initialized);
    let opening = world.opening(usual_policy());
    world.say(opening).unwrap();
    world.record_policy(PolicyDocument::of_numbers(usual_policy())).unwrap();
    assert_eq!(world.phase(), Phase::Planning);
    let proposal = world.propose();
    assert_eq!(world.phase(), Phase::Reviewing);
    world.review(proposal, ProposalDecision::Approved);
    assert_eq!(world.phase(), Phase::Executing);
    let (ended, output) = world.call_tool(proposal);
    let claim = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
    let claim = world.say(claim).unwrap();
    assert_eq!(world.phase(), Phase::Claiming);
    world.say(FinalStatementSigned { claims: list([claim]) }).unwrap();
    assert_eq!(world.phase(), Phase::Auditing);
    world.verify(VerificationStatus::PassWithWarnings).unwrap();
    assert_eq!(world.phase(), Phase::Completed);
}

/// LED-04 LED-15
#[test]
fn a_failed_audit_fails_the_run() {
    let mut world = World::auditing();
    world.verify(VerificationStatus::Fail).unwrap();
    assert_eq!(world.phase(), Phase::Failed);
}

/// LED-28
#[test]
fn a_verdict_names_the_run_it_closes_by_number_and_hash() {
    let mut world = World::auditing();
    world.say(VerificationRunStarted { profile: VerificationProfile::Strict }).unwrap();
    let started = world.run.chain().head().unwrap();
    let earlier = world.events[0].event.position();
    for through in [earlier, Position::new(started.sequence, earlier.hash)] {
        refuses(
            &mut world,
            VerificationRunCompleted { status: VerificationStatus::Pass, through },
            "REFERENCE",
        );
    }
    refuses(&mut world, VerificationRunStarted { profile: VerificationProfile::Strict }, "VERIFICATION_OPEN");
}

/// LED-01
#[test]
fn a_run_needs_planner_executor_and_critic() {
    for missing in [Role::Planner, Role::Executor, Role::Critic] {
        let mut world = World::new();
        let mut facts = world.opening(usual_policy());
        let left: Vec<_> = facts.participants.iter().copied().filter(|one| one.role != missing).collect();
        facts.participants = list(left);
        let code = if missing == Role::Planner { "NOT_PARTICIPANT" } else { "ROLE_MISSING" };
        refuses(&mut world, facts, code);
    }
}

/// LED-01
#[test]
fn nobody_judges_their_own_work() {
    let mut world = World::new();
    let mut facts = world.opening(usual_policy());
    let planner = world.agent(Role::Planner).principal();
    let mut participants = facts.participants.to_vec();
    for one in participants.iter_mut().filter(|one| one.role == Role::Critic) {
        one.principal = planner;
    }
    participants.sort();
    facts.participants = list(participants);
    refuses(&mut world, facts, "JUDGES_OWN_WORK");
}

/// LED-01
#[test]
fn participants_stand_in_order_and_in_roles_of_a_run() {
    let mut world = World::new();
    let facts = world.opening(usual_policy());
    let mut reversed = facts.participants.to_vec();
    reversed.reverse();
    let mut unordered = facts.clone();
    unordered.participants = list(reversed);
    refuses(&mut world, unordered, "ASCENDING");
    let mut twice = facts.clone();
    twice.participants = list([&facts.participants[..1], &facts.participants].concat());
    refuses(&mut world, twice, "ASCENDING");
    let mut with_operator = facts.participants.to_vec();
    for one in with_operator.iter_mut().filter(|one| one.role == Role::Auditor) {
        one.role = Role::Operator;
    }
    with_operator.sort();
    let mut odd = facts;
    odd.participants = list(with_operator);
    refuses(&mut world, odd, "ROLE_NOT_OF_A_RUN");
}

#[test]
fn a_state_names_its_last_event_and_who_takes_part() {
    let mut world = World::new();
    assert_eq!(*world.run.state(), TraceState::New);
    let opening = world.opening(usual_policy());
    world.say(opening).unwrap();
    world.record_policy(PolicyDocument::of_numbers(usual_policy())).unwrap();
    let state = world.open_run();
    assert_eq!((state.head(), state.length()), (Some(world.events[1].event.position()), 2));
    for agent in &world.agents {
        // The operator is the same in every run, and no run opens with one.
        let takes_part = agent.role() != Role::Operator;
        assert_eq!(state.has_participant(agent.principal()), takes_part, "{}", agent.role());
    }
}

/// LED-02
#[test]
fn only_named_participants_speak() {
    let mut world = World::opened();
    let stranger = world.new_author(Role::Planner);
    world.register(&stranger).unwrap();
    let facts = ProposalCreated { fallback_for: None, replaces: None };
    let content = fitting(&facts.clone().into());
    let place = world.place();
    let submission = stranger.say(&place, facts, content, &mut world.random).unwrap();
    let outcome = world.submit(submission);
    refused(&world, 2, outcome, "NOT_PARTICIPANT");
}

/// LED-06
#[test]
fn no_execution_without_an_intent() {
    let (mut world, proposal) = World::executing();
    refuses(&mut world, ToolExecutionStarted { input: None, intent: proposal }, "REFERENCE");
    let end = ToolExecutionCompleted { outputs: list([]), started: proposal };
    refuses(&mut world, end, "REFERENCE");
}

/// LED-23
#[test]
fn a_risky_intent_waits_for_the_critic() {
    let (mut world, proposal) = World::executing();
    let intent = world.intend(proposal, Risk::High);
    let input = Some(world.record_artifact(INPUT));
    let start = ToolExecutionStarted { input, intent };
    refuses(&mut world, start.clone(), "APPROVAL_MISSING");
    world.say(ToolIntentReviewed { decision: IntentDecision::Approved, intent }).unwrap();
    world.say(start.clone()).unwrap();
    refuses(&mut world, start, "INTENT_USED");
}

/// LED-11
#[test]
fn a_blocked_intent_never_starts() {
    let (mut world, proposal) = World::executing();
    let intent = world.intend(proposal, Risk::Low);
    world.say(ToolIntentReviewed { decision: IntentDecision::Blocked, intent }).unwrap();
    refuses(&mut world, ToolExecutionStarted { input: None, intent }, "INTENT_BLOCKED");
    let again = ToolIntentReviewed { decision: IntentDecision::Approved, intent };
    refuses(&mut world, again, "REFERENCE");
}

/// LED-10
#[test]
fn a_conditional_approval_executes_only_when_its_conditions_are_met() {
    let mut world = World::opened();
    let proposal = world.propose();
    world.review(proposal, ProposalDecision::ConditionallyApproved);
    refuses(&mut world, intent(proposal, Risk::Low), "CONDITIONS_UNMET");
    let unmet = ToolIntentSigned { meets: list([whole(1)]), ..intent(proposal, Risk::Low) };
    refuses(&mut world, unmet, "CONDITIONS_UNMET");
    world.say(ToolIntentSigned { meets: list([whole(0)]), ..intent(proposal, Risk::Low) }).unwrap();
}

/// LED-10
#[test]
fn conditions_come_exactly_with_a_conditional_approval() {
    let mut world = World::opened();
    let proposal = world.propose();
    for (conditions, decision) in [
        (1, ProposalDecision::Approved),
        (0, ProposalDecision::ConditionallyApproved),
        (2, ProposalDecision::Rejected),
    ] {
        let review = ProposalReviewed { conditions: whole(conditions), decision, proposal };
        refuses(&mut world, review, "CONDITION_COUNT");
    }
}

/// LED-10
#[test]
fn a_rejected_or_blocked_proposal_goes_back_to_planning_and_may_be_revised_once() {
    for decision in [ProposalDecision::Rejected, ProposalDecision::Blocked] {
        let mut world = World::opened();
        let proposal = world.propose();
        world.review(proposal, decision);
        assert_eq!(world.phase(), Phase::Planning);
        let revision = ProposalCreated { fallback_for: None, replaces: Some(proposal) };
        let revised = world.say(revision.clone()).unwrap();
        refuses(&mut world, revision, "REFERENCE");
        world.review(revised, ProposalDecision::Approved);
        refuses(&mut world, intent(proposal, Risk::Low), "REFERENCE");
        world.intend(revised, Risk::Low);
    }
}

/// LED-10 LED-16 LED-35: what was rejected, and what nobody has reviewed, is not executed beside what was approved.
#[test]
fn several_proposals_may_be_open_at_once() {
    let mut world = World::opened();
    let (first, second) = (world.propose(), world.propose());
    world.review(first, ProposalDecision::Rejected);
    assert_eq!(world.phase(), Phase::Reviewing);
    let third = world.propose();
    world.review(second, ProposalDecision::Approved);
    assert_eq!(world.phase(), Phase::Executing);
    refuses(&mut world, intent(third, Risk::Low), "PROPOSAL_NOT_APPROVED");
    refuses(&mut world, intent(first, Risk::Low), "PROPOSAL_NOT_APPROVED");
    world.review(third, ProposalDecision::Approved);
    world.intend(third, Risk::Low);
}

/// LED-27
#[test]
fn an_execution_ends_with_artifacts_that_are_stored() {
    let (mut world, proposal) = World::executing();
    let intent = world.intend(proposal, Risk::Low);
    let started = world.start(intent);
    refuses(&mut world, ToolExecutionCompleted { outputs: list([intent]), started }, "REFERENCE");
    let output = world.record_artifact(b"out");
    world.say(ToolExecutionCompleted { outputs: list([output]), started }).unwrap();
    let intent = world.intend(proposal, Risk::Low);
    let started = world.start(intent);
    world.say(ToolExecutionCompleted { outputs: list([]), started }).unwrap();
}

/// LED-07
#[test]
fn a_claim_follows_the_end_of_its_execution() {
    let (mut world, proposal) = World::executing();
    let intent = world.intend(proposal, Risk::Low);
    let started = world.start(intent);
    let artifact = world.record_artifact(b"x");
    let claim = |execution| ClaimIssued {
        about_failure: false,
        evidence: list([artifact]),
        executions: list([execution]),
    };
    refuses(&mut world, claim(started), "EXECUTION_OPEN");
    let ended = world.say(ToolExecutionCompleted { outputs: list([artifact]), started }).unwrap();
    refuses(&mut world, claim(started), "REFERENCE");
    world.say(claim(ended)).unwrap();
}

/// LED-24
#[test]
fn a_claim_needs_the_policys_minimum_of_evidence() {
    let (mut world, proposal) =
        World::executing_with(Policy { evidence_minimum: whole(2), ..usual_policy() });
    let intent = world.intend(proposal, Risk::Low);
    let started = world.start(intent);
    let (output, more) = (world.record_artifact(b"out"), world.record_artifact(b"more"));
    let ended = world.say(ToolExecutionCompleted { outputs: list([output, more]), started }).unwrap();
    let claim = |evidence: Vec<Sequence>| ClaimIssued {
        about_failure: false,
        evidence: list(evidence),
        executions: list([ended]),
    };
    refuses(&mut world, claim(vec![]), "EVIDENCE_MINIMUM");
    refuses(&mut world, claim(vec![output]), "EVIDENCE_MINIMUM");
    refuses(&mut world, claim(vec![output, output]), "ASCENDING");
    refuses(&mut world, claim(vec![output, ended]), "REFERENCE");
    world.say(claim(vec![output, more])).unwrap();
}

/// LED-20 LED-32
#[test]
fn retries_stop_at_the_limit_and_the_failure_can_be_claimed() {
    let (mut world, proposal) = World::executing();
    let (first, _, _) = world.fail_tool(proposal, None).unwrap();
    let (second, ended, output) = world.fail_tool(proposal, Some(first)).unwrap();
    refuses(
        &mut world,
        ToolIntentSigned { retries: Some(first), ..intent(proposal, Risk::Low) },
        "REFERENCE",
    );
    refuses(
        &mut world,
        ToolIntentSigned { retries: Some(second), ..intent(proposal, Risk::Low) },
        "RETRY_LIMIT",
    );
    let claim = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
    refuses(&mut world, claim.clone(), "REFERENCE");
    world.say(ClaimIssued { about_failure: true, ..claim }).unwrap();
    assert_eq!(world.phase(), Phase::Claiming);
}

/// LED-20
#[test]
fn a_fallback_needs_a_failure_and_a_policy_that_permits_it() {
    let (mut world, proposal) = World::executing();
    let plain = ProposalCreated { fallback_for: None, replaces: None };
    refuses(&mut world, plain, "FALLBACK_NEEDED");
    let fallback = |intent| ProposalCreated { fallback_for: Some(intent), replaces: None };
    let unfailed = world.intend(proposal, Risk::Low);
    refuses(&mut world, fallback(unfailed), "REFERENCE");
    let (failed, _, _) = world.fail_tool(proposal, None).unwrap();
    let second = world.say(fallback(failed)).unwrap();
    assert_eq!(world.phase(), Phase::Reviewing);
    world.review(second, ProposalDecision::Rejected);
    assert_eq!(world.phase(), Phase::Executing);

    let (mut strict, proposal) = World::executing_with(Policy { fallback: false, ..usual_policy() });
    let (failed, _, _) = strict.fail_tool(proposal, None).unwrap();
    refuses(&mut strict, fallback(failed), "FALLBACK_FORBIDDEN");
}

/// LED-13
#[test]
fn a_challenge_follows_the_claim_until_the_critic_closes_it() {
    let (mut world, claim, facts) = World::claiming();
    let challenge = world.say(ClaimChallenged { claim }).unwrap();
    assert!(world.open_run().is_disputed(claim));
    let revision = ClaimRevised {
        about_failure: false,
        evidence: facts.evidence.clone(),
        executions: facts.executions.clone(),
        replaces: claim,
    };
    let revised = world.say_as(Role::Planner, revision.clone()).unwrap();
    refuses(&mut world, revision, "REFERENCE");
    assert!(world.open_run().is_disputed(revised));
    world.say(ClaimResolved { challenge }).unwrap();
    assert!(!world.open_run().is_disputed(revised));
    refuses(&mut world, ClaimResolved { challenge }, "REFERENCE");
    world.say_as(Role::Executor, ClaimRetracted { claim: revised }).unwrap();
    assert_eq!(world.open_run().claims().count(), 0);
    refuses(&mut world, ClaimChallenged { claim: revised }, "REFERENCE");
}

/// LED-04 LED-13
#[test]
fn more_evidence_after_a_challenge_goes_back_to_executing() {
    let (mut world, claim, _) = World::claiming();
    let proposal = Sequence::from(2);
    refuses(&mut world, intent(proposal, Risk::Low), "CHALLENGE_NEEDED");
    world.say(ClaimChallenged { claim }).unwrap();
    let (ended, output) = world.call_tool(proposal);
    assert_eq!(world.phase(), Phase::Executing);
    let revision = ClaimRevised {
        about_failure: false,
        evidence: list([output]),
        executions: list([ended]),
        replaces: claim,
    };
    world.say(revision).unwrap();
    assert_eq!(world.phase(), Phase::Claiming);
}

/// LED-14
#[test]
fn the_final_statement_bundles_every_claim_in_play() {
    let (mut world, claim, facts) = World::claiming();
    let second = world.say(facts).unwrap();
    for claims in [vec![claim], vec![second], vec![second, claim], vec![claim, second, second]] {
        refuses(&mut world, FinalStatementSigned { claims: list(claims) }, "BUNDLE_INCOMPLETE");
    }
    world.say(FinalStatementSigned { claims: list([claim, second]) }).unwrap();
}

/// LED-08
#[test]
fn after_the_final_statement_only_the_auditor_speaks() {
    let mut world = World::auditing();
    let proposal = Sequence::from(2);
    refuses(&mut world, ProposalCreated { fallback_for: None, replaces: None }, "OUT_OF_PHASE");
    refuses(&mut world, intent(proposal, Risk::Low), "OUT_OF_PHASE");
    refuses(&mut world, ClaimChallenged { claim: proposal }, "OUT_OF_PHASE");
    let artifact = world.artifact(b"late").facts();
    refuses(&mut world, artifact, "OUT_OF_PHASE");
    world.verify(VerificationStatus::Pass).unwrap();
}

/// LED-30
#[test]
fn the_operator_aborts_on_the_desks_word_or_with_a_key() {
    let (mut world, _) = World::executing();
    let mut facts = Facts::from(SessionAborted { attribution: None });
    facts.attribute(Attribution::new(Door::Socket, Root::SameUser));
    let content = fitting(&facts).unwrap();
    let said = (EventType::SessionAborted, Role::Operator, facts);
    let World { desk, run, now, random, .. } = &mut world;
    desk.record(run, said, &content, None, *now, random).unwrap();
    assert_eq!(world.phase(), Phase::Aborted);
    refuses(&mut world, SessionAborted { attribution: None }, "OUT_OF_PHASE");

    let (mut world, _) = World::executing();
    world.say(SessionAborted { attribution: None }).unwrap();
    assert_eq!(world.phase(), Phase::Aborted);
}

/// LED-22
#[test]
fn a_recovery_names_the_event_before_it() {
    use demur_ledger::{content::NoteContent, facts::RecoveryRecorded};
    let (mut world, _) = World::executing();
    let head = world.run.chain().head().unwrap();
    let note = Content::RecoveryRecorded(NoteContent { note: crate::world::text("back again") });
    let wrong = Position::new(Sequence::FIRST, head.hash);
    for (through, allowed) in [(wrong, false), (head, true)] {
        let said = (EventType::RecoveryRecorded, Role::Desk, RecoveryRecorded { through }.into());
        let World { desk, run, now, random, .. } = &mut world;
        assert_eq!(desk.record(run, said, &note, None, *now, random).is_ok(), allowed);
    }
}
