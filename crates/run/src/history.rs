//! What happened in a run so far, as the roles need it to say what comes next: folded from its events, so that a run that
//! was interrupted goes on where its record ends (LED-22).

use std::collections::{BTreeMap, BTreeSet};

use demur_core::{hash::Digest, limit::Whole};
use demur_ledger::{
    check,
    content::CheckContent,
    envelope::Event,
    event_type::{Content, Facts},
    facts::{
        FailureKind, IntentDecision, Participant, ProposalDecision, Risk, VerificationProfile,
        VerificationStatus,
    },
    meaning::{ArtifactDigests, Known, Meaning},
    name::{Position, Sequence},
    role::Role,
    state::{GuardError, State},
};

/// A run so far.
#[derive(Clone, Debug, Default)]
pub struct History {
    state: State,
    /// Proposals by their event.
    pub proposals: BTreeMap<Sequence, Proposed>,
    /// Intents by their event.
    pub intents: BTreeMap<Sequence, Intended>,
    /// Recorded artifacts by name; of two with one name the newer counts.
    pub artifacts: BTreeMap<String, Sequence>,
    /// Recorded artifacts, oldest first.
    pub recorded: Vec<Sequence>,
    /// What their bytes are, by digest, where that was told.
    digests: ArtifactDigests,
    /// Claims in play by their event.
    pub claims: BTreeMap<Sequence, Claimed>,
    /// Open challenges by their event, and the claim each is about now.
    pub challenges: BTreeMap<Sequence, Sequence>,
    /// Every claim that was ever made: its words, and the executions it is about.
    pub said: BTreeSet<(String, Vec<Sequence>)>,
    /// Checks by what they are about: a claim, or an intent with its condition.
    pub checks: BTreeMap<Sequence, Vec<Stated>>,
    /// Conditions of intents that the critic judged, and whether they hold.
    pub judged: BTreeMap<(Sequence, u64), bool>,
    /// The verification that has begun.
    pub verification: Option<Position>,
    /// How strictly it judges.
    pub profile: Option<VerificationProfile>,
    /// Who takes part, once the run is open.
    pub participants: Vec<Participant>,
    /// The auditor's verdict.
    pub verdict: Option<VerificationStatus>,
    /// The words of the opening, once they are known.
    pub constraints: Vec<String>,
    executions: BTreeMap<Sequence, Sequence>,
    attempts: BTreeMap<Digest, Vec<Sequence>>,
}

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// What it is to reach; none if its content is not at hand.
    pub objective: Option<String>,
    /// The tools it needs.
    pub tools: Vec<String>,
    /// The decision, once there is one, and how many conditions it names.
    pub review: Option<(ProposalDecision, u64)>,
}

/// An intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intended {
    /// The proposal it belongs to.
    pub proposal: Sequence,
    /// The intent it tries again.
    pub retries: Option<Sequence>,
    /// How risky its author says it is.
    pub risk: Risk,
    /// The tool.
    pub tool: String,
    /// SHA-256 of its normalized input.
    pub input_hash: Option<Digest>,
    /// The critic's decision, once there is one.
    pub review: Option<IntentDecision>,
    /// Its `tool_execution_started`.
    pub started: Option<Sequence>,
    /// How it ended.
    pub ended: Option<Ended>,
}

/// The end of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The event.
    pub at: Sequence,
    /// In what way it failed; none if it completed.
    pub failure: Option<FailureKind>,
    /// What it produced.
    pub outputs: Vec<Sequence>,
}

/// A check that was stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The event.
    pub at: Sequence,
    /// Who stated it.
    pub role: Role,
    /// The artifact it looks into.
    pub artifact: Sequence,
    /// The check; none if its content is not at hand.
    pub check: Option<CheckContent>,
    /// Whether it is true of the bytes; none where nobody here has them.
    pub holds: Option<bool>,
}

/// A claim in play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Its words.
    pub text: String,
    /// How sure its author is, in percent.
    pub confidence: Whole<0, 100>,
    /// Whether it is about a failure.
    pub about_failure: bool,
    /// What it cites.
    pub evidence: Vec<Sequence>,
    /// The executions it is about.
    pub executions: Vec<Sequence>,
}

impl History {
    /// Returns the history of a run that nothing has opened yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the state of the run.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Takes the next event in, with its content if that is at hand. On an error nothing has changed.
    pub fn take(&mut self, event: &Event, content: Option<&[u8]>) -> Result<(), GuardError> {
        self.take_with(event, content, &mut |_| None)
    }

    /// Takes the next event in like [`Self::take`], where bytes can be looked up by their digest: a check that is stated is
    /// evaluated on them, so that a condition does not pass for shown by one that is false.
    pub fn take_with(
        &mut self,
        event: &Event,
        content: Option<&[u8]>,
        bytes: &mut dyn FnMut(&Digest) -> Option<Vec<u8>>,
    ) -> Result<(), GuardError> {
        let said = event.said().map_err(GuardError::Shape)?;
        let content =
            said.facts.event_type().zip(content).and_then(|(kind, bytes)| Content::parse(kind, bytes).ok());
        let (mut meaning, mut stated) = (None, None);
        if let Facts::CheckStated(facts) = said.facts {
            let check = match &content {
                Some(Content::CheckStated(check)) => Some(check.clone()),
                _ => None,
            };
            let found = self.digests.find(facts.artifact).and_then(bytes);
            let holds = check.as_ref().zip(found).map(|(check, found)| check::holds(check, &found));
            // The order of events is followed here; only what shows a condition depends on what is true.
            if facts.condition.is_some() {
                meaning = content.as_ref().and_then(Meaning::of);
                meaning.as_mut().into_iter().for_each(|meaning| meaning.settle_check(holds));
            }
            let (at, role, artifact) = (event.position().sequence, said.role, facts.artifact);
            stated = Some((facts.about, Stated { at, role, artifact, check, holds }));
        }
        self.state.follow(event, Known { meaning: meaning.as_ref(), ..Known::NOTHING })?;
        if let Some((about, stated)) = stated {
            self.checks.entry(about).or_default().push(stated);
        }
        self.fold(event.position(), said.facts, content.as_ref());
        Ok(())
    }

    /// Takes note of what the bytes of the newest artifact are.
    pub fn learn(&mut self, artifact: Sequence, digest: Digest) {
        self.digests.push(artifact, digest);
    }

    /// Returns the digest of an artifact's bytes, where that was told.
    pub fn digest(&self, artifact: Sequence) -> Option<&Digest> {
        self.digests.find(artifact)
    }

    /// Returns the checks about a claim or an intent.
    pub fn checks_about(&self, about: Sequence) -> &[Stated] {
        self.checks.get(&about).map_or(&[], |checks| checks)
    }

    /// Returns how many of these artifacts have different bytes. Of bytes that nobody told it is taken for granted.
    pub fn distinct(&self, artifacts: &[Sequence]) -> usize {
        let known: Vec<_> = artifacts.iter().filter_map(|at| self.digests.find(*at)).collect();
        let unknown = artifacts.len() - known.len();
        known.into_iter().collect::<BTreeSet<_>>().len() + unknown
    }

    /// Returns the intents that wait until a condition of theirs is shown to hold, each with the first such condition.
    pub fn unshown(&self) -> impl Iterator<Item = (Sequence, u64)> {
        let waits = |(_, intent): &(&Sequence, &Intended)| intent.started.is_none() && !intent.is_blocked();
        self.intents.iter().filter(waits).filter_map(|(at, _)| Some((*at, self.state.unshown(*at)?)))
    }

    /// Returns the intents with this input, oldest first.
    pub fn attempts(&self, input_hash: &Digest) -> &[Sequence] {
        self.attempts.get(input_hash).map_or(&[], |attempts| attempts)
    }

    /// Returns the newest proposal with this objective.
    pub fn proposal(&self, objective: &str) -> Option<(Sequence, &Proposed)> {
        let same = |(_, proposed): &(&Sequence, &Proposed)| proposed.objective.as_deref() == Some(objective);
        self.proposals.iter().rev().find(same).map(|(at, proposed)| (*at, proposed))
    }

    fn fold(&mut self, position: Position, facts: &Facts, content: Option<&Content>) {
        let at = position.sequence;
        match facts {
            Facts::SessionInitialized(facts) => {
                self.participants = facts.participants.to_vec();
                if let Some(Content::SessionInitialized(content)) = content {
                    self.constraints = content.constraints.iter().map(ToString::to_string).collect();
                }
            }
            Facts::ProposalCreated(_) => self.propose(at, content),
            Facts::ProposalReviewed(facts) => {
                if let Some(proposed) = self.proposals.get_mut(&facts.proposal) {
                    proposed.review = Some((facts.decision, facts.conditions.as_u64()));
                }
            }
            Facts::ArtifactRecorded(_) => {
                self.recorded.push(at);
                if let Some(Content::ArtifactRecorded(content)) = content {
                    self.artifacts.insert(content.name.to_string(), at);
                }
            }
            Facts::VerificationRunStarted(facts) => {
                self.verification = Some(position);
                self.profile = Some(facts.profile);
            }
            Facts::VerificationRunCompleted(facts) => self.verdict = Some(facts.status),
            other => self.fold_work(at, other, content),
        }
    }

    fn fold_work(&mut self, at: Sequence, facts: &Facts, content: Option<&Content>) {
        match facts {
            Facts::ToolIntentSigned(facts) => {
                let (tool, input_hash) = match content {
                    Some(Content::ToolIntentSigned(content)) => {
                        (content.tool.to_string(), Some(content.input_hash))
                    }
                    _ => (String::new(), None),
                };
                let (proposal, retries, risk) = (facts.proposal, facts.retries, facts.risk);
                let (review, started, ended) = (None, None, None);
                let intent = Intended { proposal, retries, risk, tool, input_hash, review, started, ended };
                if let Some(hash) = input_hash {
                    self.attempts.entry(hash).or_default().push(at);
                }
                self.intents.insert(at, intent);
            }
            Facts::ToolIntentReviewed(facts) => {
                if let Some(intent) = self.intents.get_mut(&facts.intent) {
                    intent.review = Some(facts.decision);
                }
            }
            Facts::ConditionJudged(facts) => {
                self.judged.insert((facts.intent, facts.condition.as_u64()), facts.holds);
            }
            Facts::ToolExecutionStarted(facts) => {
                self.executions.insert(at, facts.intent);
                if let Some(intent) = self.intents.get_mut(&facts.intent) {
                    intent.started = Some(at);
                }
            }
            Facts::ToolExecutionCompleted(facts) => self.end(at, facts.started, None, &facts.outputs),
            Facts::ToolExecutionFailed(facts) => {
                self.end(at, facts.started, Some(facts.failure), &facts.outputs);
            }
            other => self.fold_claims(at, other, content),
        }
    }

    fn fold_claims(&mut self, at: Sequence, facts: &Facts, content: Option<&Content>) {
        match facts {
            Facts::ClaimIssued(facts) => {
                self.claim(at, facts.about_failure, (&facts.evidence, &facts.executions), content);
            }
            Facts::ClaimRevised(facts) => {
                self.claims.remove(&facts.replaces);
                self.claim(at, facts.about_failure, (&facts.evidence, &facts.executions), content);
                for claim in self.challenges.values_mut().filter(|claim| **claim == facts.replaces) {
                    *claim = at;
                }
            }
            Facts::ClaimChallenged(facts) => {
                self.challenges.insert(at, facts.claim);
            }
            Facts::ClaimResolved(facts) => {
                self.challenges.remove(&facts.challenge);
            }
            Facts::ClaimRetracted(facts) => {
                self.claims.remove(&facts.claim);
                self.challenges.retain(|_, claim| *claim != facts.claim);
            }
            _ => {}
        }
    }

    fn propose(&mut self, at: Sequence, content: Option<&Content>) {
        let proposed = match content {
            Some(Content::ProposalCreated(content)) => Proposed {
                objective: Some(content.objective.to_string()),
                tools: content.required_tools.iter().map(ToString::to_string).collect(),
                review: None,
            },
            _ => Proposed { objective: None, tools: Vec::new(), review: None },
        };
        self.proposals.insert(at, proposed);
    }

    fn end(&mut self, at: Sequence, started: Sequence, failure: Option<FailureKind>, outputs: &[Sequence]) {
        let intent = self.executions.remove(&started).and_then(|intent| self.intents.get_mut(&intent));
        if let Some(intent) = intent {
            intent.ended = Some(Ended { at, failure, outputs: outputs.to_vec() });
        }
    }

    fn claim(
        &mut self,
        at: Sequence,
        about_failure: bool,
        (evidence, executions): (&[Sequence], &[Sequence]),
        content: Option<&Content>,
    ) {
        let (text, confidence) = match content {
            Some(Content::ClaimIssued(content) | Content::ClaimRevised(content)) => {
                (content.text.to_string(), content.confidence)
            }
            _ => (String::new(), Whole::of::<0>()),
        };
        let (evidence, executions) = (evidence.to_vec(), executions.to_vec());
        self.said.insert((text.clone(), executions.clone()));
        self.claims.insert(at, Claimed { text, confidence, about_failure, evidence, executions });
    }
}
