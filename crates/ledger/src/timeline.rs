//! A trace as people read it: who said what, why, and on what it rests. Words only; what holds and what does not
//! is the verifier's to say.

use std::collections::BTreeMap;

use demur_core::time::Timestamp;
use serde::Serialize;

use crate::{
    envelope::Event,
    event_type::{Content, Facts},
    export::{Line, LineError},
    facts::{IntentDecision, ProposalDecision, VerificationStatus},
    name::{PrincipalId, Sequence, TraceId},
    proof::Proof,
};

/// One event in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Its place.
    pub sequence: Sequence,
    /// When, by the desk's clock.
    pub time: Timestamp,
    /// Who: the name the desk gives, else the principal.
    pub who: String,
    /// As what.
    pub role: &'static str,
    /// Whether a key stands behind it; otherwise it is the desk's word.
    pub signed: bool,
    /// The event type.
    pub kind: String,
    /// What, in one sentence.
    pub what: String,
    /// Why, in the author's own words.
    pub why: Option<String>,
    /// The events it refers to.
    pub cites: Vec<Sequence>,
}

/// Reads the lines of an export one after the other and puts the events of its trace into words.
#[derive(Debug, Default)]
pub struct Timeline {
    trace: Option<TraceId>,
    names: BTreeMap<PrincipalId, String>,
}

impl Timeline {
    /// Returns a timeline that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one line without its line feed; returns the entry if it is an event of the exported trace.
    pub fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, LineError> {
        let line = match Line::parse(line)? {
            Line::Header(header) => {
                self.trace = Some(header.trace);
                return Ok(None);
            }
            Line::Event(line) => line,
            _ => return Ok(None),
        };
        let event = line.event()?;
        let content = content(&event, line.content()?);
        self.learn(&event, content.as_ref());
        if self.trace != Some(event.envelope().trace) {
            return Ok(None);
        }
        Ok(self.entry(&event, content.as_ref()))
    }

    /// The registry comes first and gives the names.
    fn learn(&mut self, event: &Event, content: Option<&Content>) {
        let name = match content {
            Some(Content::StoreCreated(_)) => "the desk".to_owned(),
            Some(Content::KeyRegistered(content)) => content.name.to_string(),
            _ => return,
        };
        self.names.entry(event.envelope().actor).or_insert(name);
    }

    fn entry(&self, event: &Event, content: Option<&Content>) -> Option<Entry> {
        let said = event.said().ok()?;
        let envelope = event.envelope();
        let mut cites = Vec::new();
        said.facts.cites(&mut |cited| cites.push(cited));
        let who = self.names.get(&envelope.actor).cloned();
        Some(Entry {
            sequence: envelope.sequence,
            time: envelope.time,
            who: who.unwrap_or_else(|| envelope.actor.to_string()),
            role: said.role.as_str(),
            signed: matches!(envelope.proof, Proof::Ed25519(_)),
            kind: said.kind.to_string(),
            what: what(said.facts, content),
            why: content.and_then(why),
            cites,
        })
    }
}

fn content(event: &Event, bytes: Option<&[u8]>) -> Option<Content> {
    let kind = event.said().ok()?.facts.event_type()?;
    Content::parse(kind, bytes?).ok()
}

/// Returns what happened, in one sentence.
fn what(facts: &Facts, content: Option<&Content>) -> String {
    match facts {
        Facts::SessionInitialized(facts) => {
            format!("opens the run for {} participants", facts.participants.len())
        }
        Facts::ProposalCreated(facts) => match (facts.replaces, facts.fallback_for) {
            (_, Some(failed)) => format!("proposes a fallback from intent #{failed}"),
            (Some(old), None) => format!("proposes again, in place of #{old}"),
            (None, None) => "proposes".to_owned(),
        },
        Facts::ProposalReviewed(facts) => {
            let verb = match facts.decision {
                ProposalDecision::Approved => "approves",
                ProposalDecision::ConditionallyApproved => "approves on conditions",
                ProposalDecision::Blocked => "blocks",
                ProposalDecision::Rejected => "rejects",
            };
            format!("{verb} proposal #{}", facts.proposal)
        }
        Facts::ToolIntentSigned(facts) => {
            let tool = match content {
                Some(Content::ToolIntentSigned(content)) => content.tool.to_string(),
                _ => "a tool".to_owned(),
            };
            let risk = serde_json::to_value(facts.risk).ok();
            let risk = risk.as_ref().and_then(|risk| risk.as_str()).unwrap_or("unknown").to_owned();
            let again = facts.retries.map_or(String::new(), |failed| format!(", trying #{failed} again"));
            format!("intends to run {tool} at {risk} risk for proposal #{}{again}", facts.proposal)
        }
        Facts::ToolIntentReviewed(facts) => match facts.decision {
            IntentDecision::Approved => format!("lets intent #{} through", facts.intent),
            IntentDecision::Blocked => format!("blocks intent #{}", facts.intent),
        },
        Facts::ToolExecutionStarted(facts) => format!("starts intent #{}", facts.intent),
        Facts::ToolExecutionCompleted(facts) => format!("completes execution #{}", facts.started),
        Facts::ToolExecutionFailed(facts) => format!("reports that execution #{} failed", facts.started),
        Facts::ArtifactRecorded(_) => match content {
            Some(Content::ArtifactRecorded(content)) => {
                format!("records {} ({}, {} bytes)", content.name, content.media_type, content.size.as_u64())
            }
            _ => "records an artifact".to_owned(),
        },
        other => what_of_claims(other),
    }
}

fn what_of_claims(facts: &Facts) -> String {
    match facts {
        Facts::ClaimIssued(_) => "claims".to_owned(),
        Facts::ClaimRevised(facts) => format!("claims, in place of #{}", facts.replaces),
        Facts::ClaimChallenged(facts) => format!("challenges claim #{}", facts.claim),
        Facts::ClaimResolved(facts) => format!("closes challenge #{}", facts.challenge),
        Facts::ClaimRetracted(facts) => format!("takes back claim #{}", facts.claim),
        Facts::FinalStatementSigned(facts) => {
            format!("signs the final statement over {} claims", facts.claims.len())
        }
        Facts::VerificationRunStarted(_) => "begins to verify".to_owned(),
        Facts::VerificationRunCompleted(facts) => match facts.status {
            VerificationStatus::Pass => "verified: pass".to_owned(),
            VerificationStatus::PassWithWarnings => "verified: pass with warnings".to_owned(),
            VerificationStatus::Fail => "verified: fail".to_owned(),
        },
        Facts::SessionAborted(_) => "aborts the run".to_owned(),
        Facts::RecoveryRecorded(_) => "came back after a crash".to_owned(),
        Facts::CommandRefused(facts) => format!("refused a command: {}", facts.code.as_str()),
        Facts::StoreCreated(_) => "opens the store".to_owned(),
        Facts::KeyRegistered(facts) => format!("registers key {}", facts.key.fingerprint().short()),
        Facts::KeyRotated(facts) => {
            format!("rotates key {} to {}", facts.old.short(), facts.key.fingerprint().short())
        }
        Facts::KeyRetired(facts) => format!("retires key {}", facts.key.short()),
        Facts::KeyRevoked(facts) => format!("revokes key {}", facts.key.short()),
        Facts::CheckpointRecorded(_) => "records a checkpoint of all traces".to_owned(),
        Facts::StoreRestored(facts) => format!("restored the store: epoch {}", facts.epoch.as_u64()),
        _ => "says something this version does not know".to_owned(),
    }
}

/// Returns the author's own words.
fn why(content: &Content) -> Option<String> {
    Some(match content {
        Content::SessionInitialized(content) => content.objective.to_string(),
        Content::ProposalCreated(content) => content.objective.to_string(),
        Content::ProposalReviewed(content) => {
            let conditions: Vec<_> = content.conditions.iter().map(ToString::to_string).collect();
            if conditions.is_empty() {
                content.rationale.to_string()
            } else {
                format!("{} (conditions: {})", content.rationale, conditions.join("; "))
            }
        }
        Content::ToolIntentSigned(content) => content.justification.to_string(),
        Content::ToolIntentReviewed(content) => content.rationale.to_string(),
        Content::ToolExecutionFailed(content) => content.message.to_string(),
        Content::ClaimIssued(content) | Content::ClaimRevised(content) => {
            format!("{} ({} % sure)", content.text, content.confidence.as_u64())
        }
        Content::ClaimChallenged(content)
        | Content::ClaimResolved(content)
        | Content::ClaimRetracted(content)
        | Content::SessionAborted(content) => content.reason.to_string(),
        Content::FinalStatementSigned(content) => content.verdict.to_string(),
        Content::VerificationRunCompleted(content) => content.summary.to_string(),
        Content::CommandRefused(content) => content.message.to_string(),
        Content::RecoveryRecorded(content)
        | Content::KeyRevoked(content)
        | Content::StoreRestored(content) => content.note.to_string(),
        Content::StoreCreated(content) | Content::KeyRegistered(content) => content.name.to_string(),
        _ => return None,
    })
}
