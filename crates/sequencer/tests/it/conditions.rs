//! Conditions and checks against the bytes in a store: what was looked up when a check was recorded holds after a restart.

use std::sync::Arc;

use demur_ledger::{
    content::{CheckContent, CheckPlace, CheckValue, Comparison},
    event_type::Content,
    facts::{
        CheckStated, ConditionJudged, ProposalCreated, ProposalDecision, ProposalReviewed, Risk,
        ToolExecutionStarted, ToolIntentSigned,
    },
    name::Sequence,
    role::Role,
    verify::{Options, Verdict, verify_whole},
};
use demur_sequencer::SequencerError;
use demur_store::memory::MemoryStore;
use demur_testing::{
    office::{Office, Run},
    sample::{list, whole},
};

/// A run with an intent under one condition, and the input it names.
struct Conditional {
    run: Run,
    intent: Sequence,
    input: Sequence,
}

impl Conditional {
    fn open(office: &Office) -> Self {
        let mut run = office.open();
        let proposal = office.say(&mut run, ProposalCreated { fallback_for: None, replaces: None }).unwrap();
        let decision = ProposalDecision::ConditionallyApproved;
        office.say(&mut run, ProposalReviewed { conditions: whole(1), decision, proposal }).unwrap();
        let input = office.record(&mut run, b"words").unwrap();
        let (meets, retries, risk) = (list([whole(0)]), None, Risk::Low);
        let intent = office.say(&mut run, ToolIntentSigned { meets, proposal, retries, risk }).unwrap();
        Self { run, intent, input }
    }

    /// Has somebody state the check that the input has so many bytes.
    fn check(&mut self, office: &Office, role: Role, size: u64) {
        let facts = CheckStated { about: self.intent, artifact: self.input, condition: Some(whole(0)) };
        let (at, is, value) = (CheckPlace::Size, Comparison::Eq, CheckValue::Number(size.into()));
        let content = Some(Content::CheckStated(CheckContent { at, is, value }));
        office.say_as(role, &mut self.run, facts, content).unwrap();
    }

    fn starts(&mut self, office: &Office) -> bool {
        let facts = ToolExecutionStarted { input: Some(self.input), intent: self.intent };
        match office.say(&mut self.run, facts) {
            Ok(_) => true,
            Err(SequencerError::Refused(refusal)) if refusal.code == "CONDITION_UNSHOWN" => false,
            Err(other) => panic!("expected a start or a refusal, found {other:?}"),
        }
    }

    fn verdict(&self, office: &Office) -> Verdict {
        verify_whole(&office.export(self.run.trace), &Options::default()).unwrap().verdict
    }
}

/// LED-10 LED-22
#[test]
fn check_of_the_critic_counts_by_the_bytes_in_the_store_also_after_a_restart() {
    for (size, shows) in [(5, true), (6, false)] {
        let store = Arc::new(MemoryStore::new());
        let mut office = Office::create(store.clone());
        let mut run = Conditional::open(&office);
        run.check(&office, Role::Executor, 5);
        assert!(!run.starts(&office), "nobody else's check stands in");
        run.check(&office, Role::Critic, size);
        office = office.close_and_reopen(store);
        assert_eq!(run.starts(&office), shows);
        assert_ne!(run.verdict(&office), Verdict::Fail);
    }
}

/// LED-10 LED-22
#[test]
fn judgement_counts_after_a_restart() {
    let store = Arc::new(MemoryStore::new());
    let mut office = Office::create(store.clone());
    let mut run = Conditional::open(&office);
    let (condition, evidence, intent) = (whole(0), list([run.input]), run.intent);
    office.say(&mut run.run, ConditionJudged { condition, evidence, holds: true, intent }).unwrap();
    office = office.close_and_reopen(store);
    assert!(run.starts(&office));
    assert_ne!(run.verdict(&office), Verdict::Fail);
}
