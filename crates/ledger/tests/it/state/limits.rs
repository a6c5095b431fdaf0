//! What is open in a run is bounded: so many of each kind, and not one more.

use demur_core::commitment::Commitment;
use demur_ledger::{
    event_type::Facts,
    facts::{
        ArtifactRecorded, ClaimChallenged, ClaimIssued, PolicyRecorded, ProposalCreated, ProposalDecision,
        ProposalReviewed, QuestionAsked, Risk, ToolExecutionCompleted, ToolExecutionStarted,
    },
    name::Sequence,
    state::GuardError,
};

use super::intent;
use crate::{
    asking::{anyone, question_for},
    walker::Walker,
    world::{World, list, usual_policy, whole},
};

/// A run that says what it is told, unsigned.
struct Crowd {
    world: World,
    walker: Walker,
}

impl Crowd {
    fn opened() -> Self {
        let world = World::new();
        let mut crowd = Self { walker: Walker::new(&world), world };
        let opening = crowd.world.opening(usual_policy());
        crowd.say(opening).unwrap();
        crowd.say(PolicyRecorded {}).unwrap();
        crowd
    }

    fn executing() -> (Self, Sequence) {
        let mut crowd = Self::opened();
        let proposal = crowd.say(PROPOSAL).unwrap();
        let decision = ProposalDecision::Approved;
        crowd.say(ProposalReviewed { conditions: whole(0), decision, proposal }).unwrap();
        (crowd, proposal)
    }

    /// Returns a run in which this may be claimed.
    fn claiming() -> (Self, ClaimIssued) {
        let (mut crowd, proposal) = Self::executing();
        let intent = crowd.say(intent(proposal, Risk::Low)).unwrap();
        let started = crowd.say(ToolExecutionStarted { input: None, intent }).unwrap();
        let commitment = Commitment::from(*crowd.world.registry[0].event.hash());
        let output = crowd.say(ArtifactRecorded { commitment }).unwrap();
        let ended = crowd.say(ToolExecutionCompleted { outputs: list([output]), started }).unwrap();
        (crowd, ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) })
    }

    fn say(&mut self, facts: impl Into<Facts>) -> Result<Sequence, GuardError> {
        let facts = facts.into();
        let kind = facts.event_type().unwrap();
        self.walker.say(&self.world, kind, facts).map(|event| event.position().sequence)
    }

    /// Says this as often as is allowed, and once more.
    #[track_caller]
    fn says_only(&mut self, times: usize, facts: impl Into<Facts>) {
        let facts = facts.into();
        for _ in 0..times {
            self.say(facts.clone()).unwrap();
        }
        self.is_too_much(times, facts);
    }

    #[track_caller]
    fn is_too_much(&mut self, expected: usize, facts: impl Into<Facts>) {
        match self.say(facts) {
            Err(GuardError::TooMany { limit, .. }) => assert_eq!(limit, expected),
            other => panic!("expected a limit of {expected}, found {other:?}"),
        }
    }
}

#[test]
fn a_run_has_only_so_many_proposals() {
    Crowd::opened().says_only(1024, PROPOSAL);
}

#[test]
fn a_run_has_only_so_many_intents_in_play() {
    let (mut crowd, proposal) = Crowd::executing();
    crowd.says_only(1024, intent(proposal, Risk::Low));
}

#[test]
fn a_run_has_only_so_many_open_executions() {
    let (mut crowd, proposal) = Crowd::executing();
    let mut start = || {
        let intent = crowd.say(intent(proposal, Risk::Low)).unwrap();
        ToolExecutionStarted { input: None, intent }
    };
    let starts: Vec<_> = (0..=256).map(|_| start()).collect();
    for start in &starts[..256] {
        crowd.say(start.clone()).unwrap();
    }
    crowd.is_too_much(256, starts[256].clone());
}

#[test]
fn a_run_has_only_so_many_claims_in_play() {
    let (mut crowd, claim) = Crowd::claiming();
    crowd.says_only(256, claim);
}

#[test]
fn a_run_has_only_so_many_open_challenges() {
    let (mut crowd, claim) = Crowd::claiming();
    let claim = crowd.say(claim).unwrap();
    crowd.says_only(256, ClaimChallenged { claim });
}

#[test]
fn a_run_has_only_so_many_questions() {
    let mut crowd = Crowd::opened();
    for _ in 0..4096 {
        crowd.say(QuestionAsked(question_for(anyone()))).unwrap();
    }
    let error = crowd.say(QuestionAsked(question_for(anyone()))).unwrap_err();
    assert_eq!(error.code(), "TOO_MANY", "{error}");
}

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };
