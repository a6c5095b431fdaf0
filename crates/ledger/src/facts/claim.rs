//! Facts of claims, challenges and the final statement (seed 002: claim workflow).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cited, EventFacts};
use crate::name::Sequence;

/// The executor claims something and cites what it rests on (LED-13, LED-24).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimIssued {
    /// Whether the claim is about a failure; only such a claim may rest on failed executions.
    pub about_failure: bool,
    /// The artifacts it rests on, ascending.
    pub evidence: Cited<0>,
    /// The ended executions it is about, by their completed or failed event, ascending.
    pub executions: Cited<1>,
}

/// A claim in new words or with more evidence; the old one stays in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRevised {
    /// As in [`ClaimIssued`].
    pub about_failure: bool,
    /// As in [`ClaimIssued`].
    pub evidence: Cited<0>,
    /// As in [`ClaimIssued`].
    pub executions: Cited<1>,
    /// The claim it takes the place of.
    pub replaces: Sequence,
}

/// The critic disputes a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimChallenged {
    /// The claim.
    pub claim: Sequence,
}

/// The critic is satisfied and closes its challenge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimResolved {
    /// The `claim_challenged` event.
    pub challenge: Sequence,
}

/// A claim is taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRetracted {
    /// The claim.
    pub claim: Sequence,
}

/// The executor closes its work with the claims it stands by (LED-14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalStatementSigned {
    /// Every claim in play, ascending; none may be left out silently.
    pub claims: Cited<1>,
}

impl EventFacts for ClaimIssued {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        self.evidence.iter().chain(self.executions.iter()).copied().for_each(visit);
    }
}

impl EventFacts for ClaimRevised {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.replaces);
        self.evidence.iter().chain(self.executions.iter()).copied().for_each(visit);
    }
}

impl EventFacts for ClaimChallenged {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.claim);
    }
}

impl EventFacts for ClaimResolved {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.challenge);
    }
}

impl EventFacts for ClaimRetracted {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.claim);
    }
}

impl EventFacts for FinalStatementSigned {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        self.claims.iter().copied().for_each(visit);
    }
}
