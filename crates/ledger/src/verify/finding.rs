//! Findings: what a check came upon, where, in words. Kept in order and bounded.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Check, Code, FindingSeverity};
use crate::{facts::VerificationProfile, meaning::MeaningError, name::Sequence};

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// How much it weighs under the profile.
    pub severity: FindingSeverity,
    /// In which part of the file.
    pub section: Section,
    /// The line of the file, from 1; none for what concerns the whole file.
    pub line: Option<u64>,
    /// The event, where there is one.
    pub sequence: Option<Sequence>,
    /// What was expected and what was found.
    pub message: String,
}

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// The whole file.
    File,
    /// The registry.
    Registry,
    /// The trace.
    Trace,
}

/// A finding before the profile has weighed it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) code: Code,
    pub(super) message: String,
    /// Whether the run's own policy forbids it: then it fails, whatever the code weighs elsewhere.
    forbidden: bool,
}

impl Found {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), forbidden: false }
    }

    /// Returns a finding that fails in every profile.
    pub(super) fn forbidden(code: Code, message: impl Into<String>) -> Self {
        Self { forbidden: true, ..Self::new(code, message) }
    }
}

impl From<&MeaningError> for Found {
    fn from(error: &MeaningError) -> Self {
        Self::new(error.finding(), error.to_string())
    }
}

/// The findings of one verification.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    profile: VerificationProfile,
    kept: Vec<Finding>,
    total: u64,
    counts: [u64; Check::ALL.len()],
    worst: [Option<FindingSeverity>; Check::ALL.len()],
}

impl Findings {
    pub(super) fn new(profile: VerificationProfile) -> Self {
        Self {
            profile,
            kept: Vec::new(),
            total: 0,
            counts: [0; Check::ALL.len()],
            worst: [None; Check::ALL.len()],
        }
    }

    /// Adds a finding. Only the first few hundred are kept in words; all are counted.
    pub(super) fn add(&mut self, section: Section, line: Option<u64>, at: Option<Sequence>, found: Found) {
        let severity =
            if found.forbidden { FindingSeverity::Failure } else { weigh(found.code, self.profile) };
        let check = found.code.check() as usize;
        self.total += 1;
        self.counts[check] += 1;
        self.worst[check] = self.worst[check].max(Some(severity));
        if self.kept.len() < KEPT {
            let Found { code, message, .. } = found;
            self.kept.push(Finding { code, severity, section, line, sequence: at, message });
        }
    }

    /// Returns whether the reader asks for everything.
    pub(super) fn is_strict(&self) -> bool {
        self.profile == VerificationProfile::Strict
    }

    /// Returns whether anything failed so far.
    pub(super) fn failed(&self) -> bool {
        self.worst.contains(&Some(FindingSeverity::Failure))
    }

    /// Returns the worst severity so far.
    pub(super) fn worst(&self) -> Option<FindingSeverity> {
        self.worst.iter().copied().max().flatten()
    }

    pub(super) fn of(&self, check: Check) -> (u64, Option<FindingSeverity>) {
        (self.counts[check as usize], self.worst[check as usize])
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the findings by line and check. What concerns the whole file comes last.
    pub(super) fn into_sorted(mut self) -> Vec<Finding> {
        self.kept.sort_by_key(|finding| (finding.line.unwrap_or(u64::MAX), finding.code.check()));
        self.kept
    }
}

/// Strict fails on disputes, on clients that judge their own work, on roots that came late and on operations against an answer;
/// lenient only warns of evidence and roles. Integrity is the same in all three.
fn weigh(code: Code, profile: VerificationProfile) -> FindingSeverity {
    match (profile, code) {
        (
            VerificationProfile::Strict,
            Code::ClaimDisputed
            | Code::ClientHeldRoles
            | Code::RootLate
            | Code::AgainstAnswer
            | Code::FinalizationIncomplete
            | Code::HistoryAbandoned
            | Code::RevokedSince,
        ) => FindingSeverity::Failure,
        (VerificationProfile::Lenient, Code::ClaimUnproven | Code::RolePolicyViolation) => {
            FindingSeverity::Warning
        }
        _ => code.severity(),
    }
}

/// How many findings are kept in words.
const KEPT: usize = 256;
