//! The policy of a run in full: once, before anything is proposed. Its numbers are those of the opening.

use std::collections::BTreeMap;

use demur_core::hash::Digest;
use serde::{Deserialize, Serialize};

use super::{GuardError, State};
use crate::{
    content::PolicySandbox,
    meaning::{Meaning, ToolDemands},
};

/// A policy that is on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPolicy {
    /// Whether no client may both do the work and judge it; none where the policy is not disclosed.
    pub distinct_clients: Option<bool>,
    /// How closely the tools are held that demur starts; none where somebody else starts them, or nothing is disclosed.
    pub sandbox: Option<PolicySandbox>,
    /// What it says of tools.
    pub tools: ToolRules,
}

/// What a policy says of tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolRules {
    /// It is not disclosed.
    Unknown,
    /// Any tool, at any risk.
    Any,
    /// These tools, by the digests of their names, each under these demands.
    Named(BTreeMap<Digest, ToolDemands>),
}

impl State {
    /// Returns the policy that is on record, if one is.
    pub const fn recorded_policy(&self) -> Option<&RecordedPolicy> {
        self.recorded_policy.as_ref()
    }

    pub(super) const fn guard_policy(&self) -> Result<(), GuardError> {
        match self.recorded_policy {
            Some(_) => Err(GuardError::PolicyFixed),
            None => Ok(()),
        }
    }

    pub(super) fn fold_policy(&mut self, meaning: Option<&Meaning>) {
        let recorded = match meaning {
            Some(Meaning::Policy(policy)) => RecordedPolicy {
                distinct_clients: Some(policy.distinct_clients),
                sandbox: policy.sandbox,
                tools: policy.tools.clone().map_or(ToolRules::Any, ToolRules::Named),
            },
            _ => RecordedPolicy { distinct_clients: None, sandbox: None, tools: ToolRules::Unknown },
        };
        self.recorded_policy = Some(recorded);
    }
}
