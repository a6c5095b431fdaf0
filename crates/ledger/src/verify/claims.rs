//! The claims in play and what they rest on.

use std::collections::{BTreeMap, BTreeSet};

use demur_core::key::Fingerprint;
use serde::Serialize;

use super::{
    Code, Section,
    examine::Examined,
    finding::{Findings, Found},
};
use crate::{
    event_type::{Content, Facts},
    name::Sequence,
    proof::Proof,
    state::State,
};

/// A claim as the report shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClaimReport {
    /// The event that makes it.
    pub claim: Sequence,
    /// The key that signed it (LED-26).
    pub key: Fingerprint,
    /// The claim, if disclosed.
    pub text: Option<String>,
    /// How sure its author is, in percent.
    pub confidence: Option<u64>,
    /// Whether it is about a failure.
    pub about_failure: bool,
    /// The artifacts it rests on.
    pub evidence: Vec<Sequence>,
    /// The executions it is about.
    pub executions: Vec<Sequence>,
    /// Open challenges.
    pub disputed: bool,
    /// What the verifier can say of it.
    pub standing: Standing,
}

/// What the verifier can say of a claim. Never that it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Signed, and all it rests on is there as recorded.
    Evidenced,
    /// Signed, but something it rests on was not disclosed.
    NotEstablished,
    /// Signed, but something it rests on is missing or was exchanged.
    Unproven,
}

/// What is kept of claims while they are in play.
#[derive(Debug, Default)]
pub(super) struct ClaimBook {
    claims: BTreeMap<Sequence, ClaimReport>,
    spoilt: BTreeSet<Sequence>,
    hidden: BTreeSet<Sequence>,
}

impl ClaimBook {
    /// Notes what an allowed event does to the claims.
    pub(super) fn take(&mut self, examined: &Examined) {
        let Ok(said) = examined.event.said() else { return };
        match said.facts {
            Facts::ClaimIssued(facts) => {
                self.add(examined, facts.about_failure, &facts.evidence, &facts.executions);
            }
            Facts::ClaimRevised(facts) => {
                self.claims.remove(&facts.replaces);
                self.add(examined, facts.about_failure, &facts.evidence, &facts.executions);
            }
            Facts::ClaimRetracted(facts) => {
                self.claims.remove(&facts.claim);
            }
            _ => {}
        }
    }

    fn add(
        &mut self,
        examined: &Examined,
        about_failure: bool,
        evidence: &[Sequence],
        executions: &[Sequence],
    ) {
        let Proof::Ed25519(proof) = &examined.event.envelope().proof else { return };
        let content = match &examined.content {
            Some(Content::ClaimIssued(content) | Content::ClaimRevised(content)) => Some(content),
            _ => None,
        };
        let claim = examined.event.envelope().sequence;
        self.claims.insert(
            claim,
            ClaimReport {
                claim,
                key: proof.key,
                text: content.map(|content| content.text.to_string()),
                confidence: content.map(|content| content.confidence.as_u64()),
                about_failure,
                evidence: evidence.to_vec(),
                executions: executions.to_vec(),
                disputed: false,
                standing: Standing::Evidenced,
            },
        );
    }

    /// An artifact is missing or was exchanged.
    pub(super) fn spoil(&mut self, artifact: Sequence) {
        self.spoilt.insert(artifact);
    }

    /// An artifact is not disclosed.
    pub(super) fn hide(&mut self, artifact: Sequence) {
        self.hidden.insert(artifact);
    }

    /// Judges every claim in play.
    pub(super) fn check(&mut self, state: &State, findings: &mut Findings) {
        for claim in self.claims.values_mut() {
            claim.disputed = state.is_disputed(claim.claim);
            let rests_on =
                |set: &BTreeSet<Sequence>| claim.evidence.iter().find(|at| set.contains(at)).copied();
            if let Some(artifact) = rests_on(&self.spoilt) {
                claim.standing = Standing::Unproven;
                let message = format!("it rests on artifact {artifact}, which is missing or was exchanged");
                let found = Found::new(Code::ClaimUnproven, message);
                findings.add(Section::Trace, None, Some(claim.claim), found);
            } else if rests_on(&self.hidden).is_some() || claim.text.is_none() {
                claim.standing = Standing::NotEstablished;
            }
            if claim.disputed {
                let found = Found::new(Code::ClaimDisputed, "a challenge against it is open");
                findings.add(Section::Trace, None, Some(claim.claim), found);
            }
        }
    }

    pub(super) fn into_reports(self) -> Vec<ClaimReport> {
        self.claims.into_values().collect()
    }
}
