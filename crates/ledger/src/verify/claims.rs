//! The claims in play and what they rest on. Kept is what claims in play cite; names and endings wait to be cited in
//! a bounded memory, so a long trace costs no more than a short one.

mod calls;
mod shown;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use demur_core::key::Fingerprint;

use calls::CallBook;
pub use shown::{
    ChallengeReport, ChecksReport, ClaimReport, ClaimStanding, EvidenceReport, EvidenceStanding,
};

use super::{
    Code, Section,
    examine::Examined,
    finding::{Findings, Found},
};
use crate::{
    event_type::Facts,
    facts::CheckStated,
    meaning::Meaning,
    name::Sequence,
    role::Role,
    state::State,
    timeline::{Recall, Words},
};

/// What is kept of claims while they are in play.
#[derive(Debug, Default)]
pub(super) struct ClaimBook {
    claims: BTreeMap<Sequence, ClaimReport>,
    /// Challenges that were closed, the newest last.
    closed: VecDeque<Sequence>,
    spoilt: BTreeSet<Sequence>,
    hidden: BTreeSet<Sequence>,
    recall: Recall,
    calls: CallBook,
}

/// What the facts of a claim say.
struct Said<'a> {
    about_failure: bool,
    evidence: &'a [Sequence],
    executions: &'a [Sequence],
}

impl ClaimBook {
    /// Notes what an allowed event does to the claims. Its words are taken out of it.
    pub(super) fn take(&mut self, examined: &mut Examined) {
        let words = examined.words.take();
        let Ok(said) = examined.event.said() else { return };
        let envelope = examined.event.envelope();
        let at = envelope.sequence;
        self.calls.take(at, said.facts, examined.meaning.as_ref());
        match (said.facts, envelope.proof.key()) {
            (Facts::ClaimIssued(facts), Some(key)) => {
                let said = Said {
                    about_failure: facts.about_failure,
                    evidence: &facts.evidence,
                    executions: &facts.executions,
                };
                self.issue(at, key, &said, words);
            }
            (Facts::ClaimRevised(facts), Some(key)) => {
                let said = Said {
                    about_failure: facts.about_failure,
                    evidence: &facts.evidence,
                    executions: &facts.executions,
                };
                let replaced = self.claims.remove(&facts.replaces);
                self.issue(at, key, &said, words);
                self.succeed(at, replaced);
            }
            (Facts::ClaimRetracted(facts), _) => {
                self.claims.remove(&facts.claim);
            }
            (Facts::ClaimChallenged(facts), Some(key)) => {
                self.challenge(at, key, facts.claim, reason(words));
            }
            (Facts::CheckStated(facts), _) => {
                let holds = examined.meaning.as_ref().and_then(Meaning::check).and_then(|check| check.holds);
                self.check_of(facts, said.role, holds);
            }
            (Facts::ClaimResolved(facts), _) => self.resolve(at, facts.challenge, reason(words)),
            (facts, _) => self.recall.take(at, facts, words),
        }
    }

    fn issue(&mut self, claim: Sequence, key: Fingerprint, said: &Said<'_>, words: Option<Words>) {
        let content = match words {
            Some(Words::Claim(content)) => Some(content),
            _ => None,
        };
        let evidence = |artifact: &Sequence| EvidenceReport {
            artifact: *artifact,
            name: self.recall.artifact(*artifact).map(str::to_owned),
            standing: EvidenceStanding::AsRecorded,
        };
        let report = ClaimReport {
            claim,
            key,
            confidence: content.as_ref().map(|content| content.confidence.as_u64()),
            text: content.map(|content| content.text.into()),
            about_failure: said.about_failure,
            replaces: None,
            revisions: 0,
            evidence: said.evidence.iter().map(evidence).collect(),
            executions: said.executions.iter().map(|at| self.recall.execution(*at)).collect(),
            disputed: false,
            checks: ChecksReport::default(),
            failed_later: None,
            challenges: Vec::new(),
            challenges_total: 0,
            standing: ClaimStanding::Evidenced,
        };
        self.claims.insert(claim, report);
    }

    /// Counts a check of a claim.
    fn check_of(&mut self, facts: &CheckStated, role: Role, holds: Option<bool>) {
        let Some(claim) = self.claims.get_mut(&facts.about).filter(|_| facts.condition.is_none()) else {
            return;
        };
        let checks = &mut claim.checks;
        let count = match holds {
            Some(true) => &mut checks.hold,
            Some(false) if role == Role::Critic => &mut checks.disputed,
            Some(false) => &mut checks.fail,
            None => &mut checks.not_established,
        };
        *count += 1;
    }

    /// Hands the challenges of a claim on to the one that takes its place: it is the answer to those still open.
    fn succeed(&mut self, at: Sequence, replaced: Option<ClaimReport>) {
        let (Some(claim), Some(replaced)) = (self.claims.get_mut(&at), replaced) else { return };
        claim.replaces = Some(replaced.claim);
        claim.revisions = replaced.revisions + 1;
        claim.challenges = replaced.challenges;
        claim.challenges_total = replaced.challenges_total;
        for challenge in claim.challenges.iter_mut().filter(|challenge| challenge.closed_by.is_none()) {
            challenge.answered_by = Some(at);
        }
    }

    fn challenge(&mut self, at: Sequence, key: Fingerprint, against: Sequence, reason: Option<String>) {
        let Some(claim) = self.claims.get_mut(&against) else { return };
        claim.challenges_total += 1;
        claim.challenges.push(ChallengeReport {
            challenge: at,
            against,
            key,
            reason,
            answered_by: None,
            closed_by: None,
            closing: None,
        });
    }

    fn resolve(&mut self, at: Sequence, challenge: Sequence, closing: Option<String>) {
        let mut challenges = self.claims.values_mut().flat_map(|claim| &mut claim.challenges);
        let Some(found) = challenges.find(|found| found.challenge == challenge) else { return };
        found.closed_by = Some(at);
        found.closing = closing;
        self.closed.push_back(challenge);
        // Open challenges are bounded by the guards, closed ones here.
        if self.closed.len() > CLOSED
            && let Some(oldest) = self.closed.pop_front()
        {
            for claim in self.claims.values_mut() {
                claim.challenges.retain(|challenge| challenge.challenge != oldest);
            }
        }
    }

    /// An artifact is missing or was exchanged.
    pub(super) fn spoil(&mut self, artifact: Sequence) {
        self.spoilt.insert(artifact);
    }

    /// An artifact is not disclosed.
    pub(super) fn hide(&mut self, artifact: Sequence) {
        self.hidden.insert(artifact);
    }

    /// Reports what speaks against the claims in play.
    pub(super) fn check(&mut self, state: &State, findings: &mut Findings) {
        self.judge(state);
        for claim in self.claims.values() {
            let spoilt = |evidence: &&EvidenceReport| evidence.standing == EvidenceStanding::Spoilt;
            if let Some(evidence) = claim.evidence.iter().find(spoilt) {
                let artifact = evidence.artifact;
                let message = format!("it rests on artifact {artifact}, which is missing or was exchanged");
                let found = Found::new(Code::ClaimUnproven, message);
                findings.add(Section::Trace, None, Some(claim.claim), found);
            }
            if let Some(why) = claim.disputes(state) {
                findings.add(Section::Trace, None, Some(claim.claim), Found::new(Code::ClaimDisputed, why));
            }
        }
    }

    /// Says of every claim in play what can be said of it, and of what it rests on.
    fn judge(&mut self, state: &State) {
        for claim in self.claims.values_mut() {
            let cited: Vec<_> = claim.executions.iter().map(|execution| execution.sequence).collect();
            claim.failed_later = self.calls.failed_since(&cited);
            claim.disputed = claim.disputes(state).is_some();
            for evidence in &mut claim.evidence {
                evidence.standing = if self.spoilt.contains(&evidence.artifact) {
                    EvidenceStanding::Spoilt
                } else if self.hidden.contains(&evidence.artifact) {
                    EvidenceStanding::NotDisclosed
                } else {
                    EvidenceStanding::AsRecorded
                };
            }
            let any = |standing| claim.evidence.iter().any(|evidence| evidence.standing == standing);
            claim.standing = if any(EvidenceStanding::Spoilt) || claim.checks.fail > 0 {
                ClaimStanding::Unproven
            } else if any(EvidenceStanding::NotDisclosed)
                || claim.text.is_none()
                || claim.checks.not_established > 0
            {
                ClaimStanding::NotEstablished
            } else {
                ClaimStanding::Evidenced
            };
        }
    }

    /// Returns the claims in play, judged: also of a file that broke off and whose end was never checked.
    pub(super) fn into_reports(mut self, state: &State) -> Vec<ClaimReport> {
        self.judge(state);
        self.claims.into_values().collect()
    }
}

impl ClaimReport {
    /// Returns why it is disputed, if it is.
    fn disputes(&self, state: &State) -> Option<String> {
        if state.is_disputed(self.claim) {
            return Some("a challenge against it is open".to_owned());
        }
        if self.checks.disputed > 0 {
            return Some("a check of the critic is false".to_owned());
        }
        let failed = self.failed_later?;
        Some(format!("execution {failed} of a call it cites failed later, and it does not cite that"))
    }
}

fn reason(words: Option<Words>) -> Option<String> {
    match words {
        Some(Words::Reason(reason)) => Some(reason.into()),
        _ => None,
    }
}

/// How many closed challenges are kept.
const CLOSED: usize = 256;
