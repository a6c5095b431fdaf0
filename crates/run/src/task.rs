//! The task file: what is to be done, by which commands, and what may be claimed afterwards (`docs/run.md`).

use std::collections::{BTreeMap, BTreeSet};

use demur_core::limit::{List, Text, Whole};
use demur_ledger::{
    facts::{Risk, VerificationProfile},
    role::Role,
};
use serde::Deserialize;

use crate::{
    file::{self, FileError, line_of, line_with},
    quantity::Duration,
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
    /// What the planner proposes, in order.
    #[serde(default, rename = "proposal")]
    pub proposals: Vec<Unit>,
    /// What the executor claims, in order.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
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

/// One unit of work (LED-35).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// What it is to reach. No two units have the same.
    pub objective: Text<1, 16384>,
    /// What is taken for granted.
    #[serde(default)]
    pub assumptions: List<Text<1, 4096>, 0, 64>,
    /// What will show that it worked.
    #[serde(default)]
    pub expected_evidence: List<Text<1, 4096>, 0, 64>,
    /// Tools that it needs besides those of its calls: what an executor in a process of its own may run.
    #[serde(default)]
    pub tools: List<Text<1, 256>, 0, 64>,
    /// Proposed only if this call failed for good.
    #[serde(default)]
    pub fallback_for: Option<String>,
    /// Proposed only if the unit with this objective was refused.
    #[serde(default)]
    pub replaces: Option<String>,
    /// What is run, in order.
    #[serde(default, rename = "call")]
    pub calls: Vec<Call>,
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
    /// How risky it is.
    pub risk: Risk,
    /// Why it is needed.
    pub justification: Text<1, 16384>,
    /// Run only when a challenged claim needs it.
    #[serde(default)]
    pub reserve: bool,
}

/// Something the executor claims once its calls have completed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim.
    pub text: Text<1, 16384>,
    /// How sure, in percent.
    pub confidence: Whole<0, 100>,
    /// The calls it rests on.
    pub calls: Vec<String>,
    /// What takes its place when it is challenged.
    #[serde(default)]
    pub if_challenged: Option<ReplacementClaim>,
}

/// A claim in place of a challenged one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplacementClaim {
    /// The claim.
    pub text: Text<1, 16384>,
    /// How sure, in percent.
    pub confidence: Whole<0, 100>,
    /// The calls it rests on, those in reserve among them.
    pub calls: Vec<String>,
}

impl Task {
    /// Returns the task in this text.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let task: Self = file::read(text)?;
        task.check(text)?;
        Ok(task)
    }

    /// Returns every call with the unit it belongs to.
    pub fn calls(&self) -> impl Iterator<Item = (&Unit, &Call)> {
        self.proposals.iter().flat_map(|unit| unit.calls.iter().map(move |call| (unit, call)))
    }

    /// Returns the call of this name.
    pub fn call(&self, name: &str) -> Option<(&Unit, &Call)> {
        self.calls().find(|(_, call)| call.name.as_str() == name)
    }

    /// What the types cannot say: names are unique, and what is named is there.
    fn check(&self, text: &str) -> Result<(), FileError> {
        if let Some(role) = self.agents.keys().find(|role| !Role::OF_A_RUN.contains(role)) {
            let message = format!("agents: expected planner, executor, critic or auditor, found {role}");
            return Err(wrong(line_with(text, &format!("[agents.{role}")), message));
        }
        let mut calls = BTreeSet::new();
        for (number, (_, call)) in self.calls().enumerate() {
            let at = || line_of(text, "proposal.call", number);
            let name = call.name.as_str();
            if !calls.insert(name) {
                return Err(wrong(at(), format!("expected a name of its own, found {name:?} a second time")));
            }
            if !is_plain(name) {
                let message = format!("expected a name of letters, digits, - and _, found {name:?}");
                return Err(wrong(at(), message));
            }
            if call.command.iter().any(|word| word.contains('\0')) {
                return Err(wrong(at(), "command: expected words without the zero character".to_owned()));
            }
            if call.command.is_empty() {
                return Err(wrong(at(), "expected a program in command, found an empty list".to_owned()));
            }
        }
        self.check_units(text, &calls)?;
        self.check_claims(text, &calls)
    }

    fn check_units(&self, text: &str, calls: &BTreeSet<&str>) -> Result<(), FileError> {
        let (mut objectives, mut fallbacks) = (BTreeSet::new(), BTreeSet::new());
        for (number, unit) in self.proposals.iter().enumerate() {
            let at = || line_of(text, "proposal", number);
            if let Some(call) = unit.fallback_for.as_ref().filter(|call| !calls.contains(call.as_str())) {
                return Err(wrong(
                    at(),
                    format!("fallback_for: expected the name of a call, found {call:?}"),
                ));
            }
            if unit.fallback_for.is_some() && unit.replaces.is_some() {
                let message = "expected fallback_for or replaces, found both".to_owned();
                return Err(wrong(at(), message));
            }
            let tools: BTreeSet<&str> = unit.calls.iter().map(|call| call.tool.as_str()).collect();
            if tools.len() > MOST_TOOLS {
                let message =
                    format!("expected at most {MOST_TOOLS} tools in one proposal, found {}", tools.len());
                return Err(wrong(at(), message));
            }
            // The record lets an intent be fallen back from once.
            if let Some(call) = unit.fallback_for.as_ref().filter(|call| !fallbacks.insert(call.as_str())) {
                return Err(wrong(
                    at(),
                    format!("fallback_for: expected one fallback for {call:?}, found two"),
                ));
            }
            if let Some(old) = unit.replaces.as_ref().filter(|old| !objectives.contains(old.as_str())) {
                let message =
                    format!("replaces: expected the objective of an earlier proposal, found {old:?}");
                return Err(wrong(at(), message));
            }
            if !objectives.insert(unit.objective.as_str()) {
                let message =
                    format!("expected an objective of its own, found {:?} a second time", &*unit.objective);
                return Err(wrong(at(), message));
            }
        }
        if self.proposals.is_empty() && !self.agents.get(&Role::Planner).is_some_and(Player::is_separate) {
            return Err(FileError::Sense("expected at least one [[proposal]], found none".to_owned()));
        }
        Ok(())
    }

    fn check_claims(&self, text: &str, calls: &BTreeSet<&str>) -> Result<(), FileError> {
        let separate = self.agents.get(&Role::Executor).is_some_and(Player::is_separate);
        if self.claims.is_empty() && !separate {
            let message =
                "expected at least one [[claim]], found none: a run ends with what it claims".to_owned();
            return Err(FileError::Sense(message));
        }
        let mut texts = BTreeSet::new();
        for (number, claim) in self.claims.iter().enumerate() {
            let said = |message: String| wrong(line_of(text, "claim", number), message);
            let answer = claim.if_challenged.as_ref();
            for words in [Some(&claim.text), answer.map(|answer| &answer.text)].into_iter().flatten() {
                if !texts.insert(words.as_str()) {
                    return Err(said(
                        "expected a text of its own, found that of another claim or answer".to_owned(),
                    ));
                }
            }
            for names in [Some(&claim.calls), answer.map(|answer| &answer.calls)].into_iter().flatten() {
                check_cited(names, calls).map_err(said)?;
            }
            let kept = |name: &&String| self.call(name).is_some_and(|(_, call)| call.reserve);
            if let Some(name) = claim.calls.iter().find(kept) {
                return Err(said(format!(
                    "calls: expected a call that is always run, found {name:?} in reserve"
                )));
            }
        }
        if self.claims.len() > MOST_CLAIMS {
            let message = format!("expected at most {MOST_CLAIMS} claims, found {}", self.claims.len());
            return Err(wrong(line_of(text, "claim", MOST_CLAIMS), message));
        }
        Ok(())
    }
}

impl Player {
    /// Returns whether it is a process of its own.
    pub const fn is_separate(&self) -> bool {
        !self.command.is_empty()
    }
}

/// Checks the calls that a claim rests on.
fn check_cited(names: &[String], calls: &BTreeSet<&str>) -> Result<(), String> {
    if names.is_empty() {
        return Err("expected the name of a call in calls, found an empty list".to_owned());
    }
    if names.len() > MOST_CITED {
        return Err(format!("calls: expected at most {MOST_CITED} names, found {}", names.len()));
    }
    match names.iter().find(|name| !calls.contains(name.as_str())) {
        Some(name) => Err(format!("calls: expected the name of a call, found {name:?}")),
        None => Ok(()),
    }
}

fn wrong(line: usize, message: String) -> FileError {
    FileError::Line { line, message }
}

/// Names of calls become names of artifacts.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

const fn default_profile() -> VerificationProfile {
    VerificationProfile::Default
}

/// How many tools a proposal can name.
const MOST_TOOLS: usize = 64;
/// How many claims a final statement can bundle, with room for failures.
const MOST_CLAIMS: usize = 200;
/// How many calls a claim may rest on: each leaves up to three artifacts, and a claim cites at most 256.
const MOST_CITED: usize = 64;
