//! A claim as the report shows it: what is claimed, what it rests on, who doubted it and what came of that.

use demur_core::key::Fingerprint;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{name::Sequence, timeline::Execution};

/// A claim as the report shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The claim it took the place of.
    pub replaces: Option<Sequence>,
    /// How many claims came before it in its place.
    pub revisions: u64,
    /// The artifacts it rests on.
    pub evidence: Vec<EvidenceReport>,
    /// The executions it is about.
    pub executions: Vec<Execution>,
    /// Whether it is disputed: a challenge is open, a check of the critic is false, or what it cites failed later.
    pub disputed: bool,
    /// The checks of it.
    pub checks: ChecksReport,
    /// A later execution of the same call that failed and that it does not cite.
    pub failed_later: Option<Sequence>,
    /// The challenges against it and against the claims it replaces: all that are open, and the newest of those that
    /// were closed.
    pub challenges: Vec<ChallengeReport>,
    /// How many challenges there were.
    pub challenges_total: u64,
    /// What the verifier can say of it.
    pub standing: ClaimStanding,
}

/// An artifact that a claim rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvidenceReport {
    /// The event that records it.
    pub artifact: Sequence,
    /// Its name, if disclosed; of old artifacts in a long trace only the number is kept.
    pub name: Option<String>,
    /// What the verifier can say of it.
    pub standing: EvidenceStanding,
}

/// What the verifier can say of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceStanding {
    /// The bytes are there and open the commitment.
    AsRecorded,
    /// The bytes are not in the file.
    NotDisclosed,
    /// The bytes are missing or were exchanged.
    Spoilt,
}

/// What came of the checks of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChecksReport {
    /// How many hold.
    pub hold: u64,
    /// How many of its own side's do not.
    pub fail: u64,
    /// How many of the critic's do not.
    pub disputed: u64,
    /// How many nobody could make here.
    pub not_established: u64,
}

/// A challenge and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChallengeReport {
    /// The event that makes it.
    pub challenge: Sequence,
    /// The claim it was made against.
    pub against: Sequence,
    /// The key that signed it.
    pub key: Fingerprint,
    /// The critic's words, if disclosed.
    pub reason: Option<String>,
    /// The newest revision of the claim that was made while it was open.
    pub answered_by: Option<Sequence>,
    /// The event that closes it; none while it is open.
    pub closed_by: Option<Sequence>,
    /// The words of that event, if disclosed.
    pub closing: Option<String>,
}

/// What the verifier can say of a claim. Never that it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimStanding {
    /// Signed, and all it rests on is there as recorded.
    Evidenced,
    /// Signed, but something it rests on was not disclosed.
    NotEstablished,
    /// Signed, but something it rests on is missing or was exchanged.
    Unproven,
}
