//! The task file: what is to be found out or made, by which commands, and what may be claimed of their outputs
//! (`docs/run.md`). What follows from it, such as proposals and the words of claims, stands in no file.

mod sense;

use std::collections::BTreeMap;

use demur_core::limit::{List, Text, Whole};
use demur_ledger::{
    content::{CheckPlace, CheckValue, Comparison},
    facts::{Risk, VerificationProfile},
    role::Role,
};
use serde::Deserialize;

use crate::{
    file::{self, FileError},
    quantity::Duration,
    template::Template,
};

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What it is called.
    pub name: Text<1, 256>,
    /// What is to be reached.
    pub objective: Text<1, 16384>,
    /// What must hold throughout.
    #[serde(default)]
    pub constraints: List<Text<1, 4096>, 0, 61>,
    /// The policy file, beside the task file.
    #[serde(default)]
    pub policy: Option<Text<1, 1024>>,
    /// How strictly the auditor judges.
    #[serde(default = "default_profile")]
    pub profile: VerificationProfile,
    /// Files beside the task file that are copied into the folder that tools work in.
    #[serde(default)]
    pub files: List<Text<1, 1024>, 0, 256>,
    /// Who plays which role; demur itself where nobody is named.
    #[serde(default)]
    pub agents: BTreeMap<Role, Player>,
    /// What is to be found out or made, in order.
    #[serde(default, rename = "goal")]
    pub goals: Vec<Goal>,
}

/// Who plays a role.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Player {
    /// The holder of the key.
    pub name: Text<1, 64>,
    /// The program of an agent that signs for itself; demur signs with a key from its keyring where there is none.
    #[serde(default)]
    pub command: Vec<Text<1, 4096>>,
    /// How long it may take for one turn.
    #[serde(default)]
    pub timeout: Option<Duration>,
}

/// Something that is to be found out or made. The planner makes proposals of it (LED-35).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// What is to be found out or made. No two goals have the same.
    pub objective: Text<1, 16384>,
    /// What is taken for granted.
    #[serde(default)]
    pub assumptions: List<Text<1, 4096>, 0, 32>,
    /// Tools besides those of its calls: what an executor in a process of its own may run.
    #[serde(default)]
    pub tools: List<Text<1, 256>, 0, 64>,
    /// What is run, in order.
    #[serde(default, rename = "call")]
    pub calls: Vec<Call>,
    /// What is claimed of it.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Its name in this file.
    pub name: Text<1, 64>,
    /// The tool, as the policy knows it.
    pub tool: Text<1, 256>,
    /// The program and its arguments. No shell is involved.
    pub command: Vec<Text<1, 16384>>,
    /// What it reads from standard input.
    #[serde(default)]
    pub stdin: String,
    /// How risky it is, where the policy does not say more.
    #[serde(default = "low")]
    pub risk: Risk,
    /// Run only when a claim is challenged that it can support.
    #[serde(default)]
    pub reserve: bool,
    /// The call that it takes the place of, where that one failed for good or its proposal was refused.
    #[serde(default)]
    pub fallback_for: Option<String>,
    /// The values that its standard output shows, each by its place.
    #[serde(default)]
    pub shows: BTreeMap<String, CheckPlace>,
}

/// What the executor claims of a goal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim, with places for the values that the calls show.
    pub text: Template,
    /// How sure, in percent.
    #[serde(default = "ninety")]
    pub confidence: Whole<0, 100>,
    /// The calls it rests on; where none are named, those that show its values, or all of the goal's if it has no values.
    #[serde(default)]
    pub calls: Vec<String>,
    /// What the values should be. A claim whose values are not says so.
    #[serde(default)]
    pub expect: BTreeMap<String, Expectation>,
}

/// What a value should be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// How it compares.
    pub is: Comparison,
    /// With what.
    pub value: CheckValue,
}

impl Task {
    /// Returns the task in this text.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let task: Self = file::read(text)?;
        sense::check(&task, text)?;
        Ok(task)
    }

    /// Returns every call with the goal it serves.
    pub fn calls(&self) -> impl Iterator<Item = (&Goal, &Call)> {
        self.goals.iter().flat_map(|goal| goal.calls.iter().map(move |call| (goal, call)))
    }

    /// Returns every claim with its goal.
    pub fn claims(&self) -> impl Iterator<Item = (&Goal, &Claim)> {
        self.goals.iter().flat_map(|goal| goal.claims.iter().map(move |claim| (goal, claim)))
    }

    /// Returns the call of this name.
    pub fn call(&self, name: &str) -> Option<(&Goal, &Call)> {
        self.calls().find(|(_, call)| call.name.as_str() == name)
    }

    /// Returns whether a process of its own plays a role.
    pub fn is_separate(&self, role: Role) -> bool {
        self.agents.get(&role).is_some_and(Player::is_separate)
    }
}

impl Goal {
    /// Returns what is run in place of a call.
    pub fn fallback(&self, call: &str) -> Option<&Call> {
        self.calls.iter().find(|other| other.fallback_for.as_deref() == Some(call))
    }

    /// Returns the calls that a claim rests on; those in reserve, on which it rests once it is challenged, or the others.
    pub fn basis<'a>(&'a self, claim: &'a Claim, reserve: bool) -> impl Iterator<Item = &'a Call> {
        let values: Vec<&str> = claim.text.names().collect();
        let serves = move |call: &Call| match &claim.calls[..] {
            [] if call.fallback_for.is_some() => false,
            [] => values.is_empty() || values.iter().any(|name| call.shows.contains_key(*name)),
            named => named.iter().any(|name| *name == *call.name),
        };
        self.calls.iter().filter(move |call| call.reserve == reserve && serves(call))
    }
}

impl Player {
    /// Returns whether it is a process of its own.
    pub const fn is_separate(&self) -> bool {
        !self.command.is_empty()
    }
}

const fn default_profile() -> VerificationProfile {
    VerificationProfile::Default
}

const fn low() -> Risk {
    Risk::Low
}

const fn ninety() -> Whole<0, 100> {
    Whole::of::<90>()
}
