//! The plan of the executor: which tools to call with what, and what it hopes to claim (`plan.json` is an example).

use std::{collections::BTreeSet, error::Error};

use demur_core::hash::Digest;
use demur_ledger::facts::Risk;
use demur_run::role::Input;
use serde::Deserialize;

/// What is to be done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// The tool calls, in order.
    pub(crate) calls: Vec<Call>,
    /// What all of it amounts to, for the final statement.
    pub(crate) verdict: String,
}

/// One tool call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// What is claimed once it has ended well; no two calls claim the same.
    pub(crate) claim: String,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Its name; no two calls have the same.
    pub(crate) name: String,
    /// How risky it is.
    pub(crate) risk: Risk,
    /// What the program reads.
    pub(crate) stdin: String,
    /// The tool, as the proposal calls it.
    pub(crate) tool: String,
}

impl Plan {
    /// Returns the plan in these bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Box<dyn Error>> {
        let plan: Self = serde_json::from_slice(bytes)?;
        let mut names = BTreeSet::new();
        if plan.calls.iter().all(|call| names.insert(&call.name) && names.insert(&call.claim)) {
            Ok(plan)
        } else {
            Err("expected every call and every claim of the plan once, found one twice".into())
        }
    }
}

impl Call {
    /// Returns the bytes that are recorded before the intent, and the hash that the intent names.
    pub(crate) fn input(&self) -> Result<(Vec<u8>, Digest), Box<dyn Error>> {
        let Self { name, command, stdin, .. } = self;
        let input = Input { call: name.clone(), command: command.clone(), stdin: stdin.clone() };
        Ok(input.normalized()?)
    }

    /// Returns the name of the artifact with its input.
    pub(crate) fn input_name(&self) -> String {
        format!("{}.input.json", self.name)
    }
}
