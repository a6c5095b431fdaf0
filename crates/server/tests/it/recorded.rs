//! A run in a data folder, recorded before a server takes the folder.

use std::path::Path;

use demur_desk::{data::DataFolder, owner::Owner};
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::{
        ArtifactContent, PolicyContent, PolicyDocument, ProposalContent, ProposalReviewContent,
        SessionContent,
    },
    event_type::{Content, Facts},
    facts::{
        Participant, Policy, PolicyRecorded, ProposalCreated, ProposalDecision, ProposalReviewed, Risk,
        SessionInitialized,
    },
    name::{Position, TraceId},
    role::Role,
};

/// A run that is being recorded.
pub(crate) struct Recorded {
    owner: Owner,
    planner: Author,
    executor: Author,
    critic: Author,
    trace: TraceId,
    head: Option<Position>,
}

impl Recorded {
    /// Opens a run in this folder.
    pub(crate) fn open(folder: &Path, task: &str) -> Self {
        let mut run = Self::without_policy(folder, task, |role| format!("the {role}"));
        run.record_policy(policy());
        run
    }

    /// Opens a run whose policy is not recorded; each role is played by a key of this name.
    pub(crate) fn without_policy(folder: &Path, task: &str, name: impl Fn(Role) -> String) -> Self {
        let (owner, _) = Owner::open_or_create(&DataFolder::at(folder.to_owned())).unwrap();
        let [planner, executor, critic] =
            [Role::Planner, Role::Executor, Role::Critic].map(|role| owner.enrol(&name(role), role).unwrap());
        let participant =
            |author: &Author| Participant { principal: author.principal(), role: author.role() };
        let mut participants = [&planner, &executor, &critic].map(participant);
        participants.sort_unstable();
        let trace = TraceId::new(owner.system().now().unwrap(), &mut owner.system());
        let mut run = Self { owner, planner, executor, critic, trace, head: None };
        let participants = participants.to_vec().try_into().unwrap();
        let facts = SessionInitialized { participants, policy: policy() };
        let content = SessionContent {
            constraints: Vec::new().try_into().unwrap(),
            objective: "see whether it holds".try_into().unwrap(),
            task: task.try_into().unwrap(),
        };
        run.planned(facts.into(), Content::SessionInitialized(content));
        run
    }

    /// Has an operator record the policy of the run.
    fn record_policy(&mut self, numbers: Policy) {
        let operator = self.owner.enrol("the operator", Role::Operator).unwrap();
        let document = PolicyDocument::of_numbers(numbers);
        let content = Some(Content::PolicyRecorded(PolicyContent { document, hash: None }));
        let place = self.place();
        let said = operator.say(&place, PolicyRecorded {}, content, &mut self.owner.system()).unwrap();
        self.head = Some(self.owner.sequencer().submit(said, None).unwrap().position);
    }

    /// Records a proposal and its approval: the run goes on to execute.
    pub(crate) fn propose(&mut self, objective: &str) {
        let content = ProposalContent {
            assumptions: Vec::new().try_into().unwrap(),
            expected_evidence: Vec::new().try_into().unwrap(),
            objective: objective.try_into().unwrap(),
            required_tools: Vec::new().try_into().unwrap(),
        };
        let facts = ProposalCreated { fallback_for: None, replaces: None };
        self.planned(facts.into(), Content::ProposalCreated(content));
        let facts = ProposalReviewed {
            conditions: 0.try_into().unwrap(),
            decision: ProposalDecision::Approved,
            proposal: self.head.unwrap().sequence,
        };
        let content = ProposalReviewContent {
            conditions: Vec::new().try_into().unwrap(),
            rationale: "nothing speaks against it".try_into().unwrap(),
        };
        let (place, content) = (self.place(), Content::ProposalReviewed(content));
        let said = self.critic.say(&place, facts, Some(content), &mut self.owner.system()).unwrap();
        self.head = Some(self.owner.sequencer().submit(said, None).unwrap().position);
    }

    /// Records an artifact.
    pub(crate) fn store(&mut self, name: &str, media_type: &str, bytes: &[u8]) {
        let artifact = Artifact::new(bytes.to_owned(), &mut self.owner.system());
        let content = ArtifactContent {
            media_type: media_type.try_into().unwrap(),
            name: name.try_into().unwrap(),
            size: (bytes.len() as u64).try_into().unwrap(),
        };
        let facts = artifact.facts();
        let place = self.place();
        let content = Some(Content::ArtifactRecorded(content));
        let said = self.executor.say(&place, facts, content, &mut self.owner.system()).unwrap();
        self.head = Some(self.owner.sequencer().submit(said, Some(&artifact)).unwrap().position);
    }

    fn planned(&mut self, facts: Facts, content: Content) {
        let place = self.place();
        let said = self.planner.say(&place, facts, Some(content), &mut self.owner.system()).unwrap();
        self.head = Some(self.owner.sequencer().submit(said, None).unwrap().position);
    }

    fn place(&self) -> Place {
        let store = self.owner.sequencer().registry().store();
        Place { store, trace: self.trace, seen: self.head, now: self.owner.system().now().unwrap() }
    }

    /// Records so many small artifacts, many at a time.
    pub(crate) fn fill(&mut self, count: usize) {
        let (place, system) = (self.place(), self.owner.system());
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (owner, executor) = (&self.owner, &self.executor);
                scope.spawn(move || {
                    for number in (thread..count).step_by(THREADS) {
                        let bytes = format!("artifact {number}").into_bytes();
                        let size = (bytes.len() as u64).try_into().unwrap();
                        let name = format!("{number}.txt").as_str().try_into().unwrap();
                        let media_type = "text/plain".try_into().unwrap();
                        let content = Content::ArtifactRecorded(ArtifactContent { media_type, name, size });
                        let artifact = Artifact::new(bytes, &mut { system });
                        let place = Place { now: system.now().unwrap(), ..place };
                        let said = executor.say(&place, artifact.facts(), Some(content), &mut { system });
                        owner.sequencer().submit(said.unwrap(), Some(&artifact)).unwrap();
                    }
                });
            }
        });
    }

    /// Lets the folder go; returns the trace.
    pub(crate) fn close(self) -> String {
        self.trace.to_string()
    }
}

fn policy() -> Policy {
    Policy {
        approval_from: Risk::Medium,
        evidence_minimum: 1.try_into().unwrap(),
        fallback: false,
        retry_limit: 1.try_into().unwrap(),
    }
}

/// How many record at once.
const THREADS: usize = 64;
