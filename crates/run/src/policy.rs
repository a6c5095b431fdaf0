//! The policy file: what a run demands, and what the built-in critic goes by (`docs/run.md`). Closed by default: a tool
//! that the file does not name is blocked.

mod condition;

use std::collections::BTreeMap;

use demur_core::limit::{LimitError, List, Text, Whole};
use demur_ledger::{
    content::{PolicyDocument, PolicySandbox, PolicyTool, PolicyTools},
    facts::{self, Risk},
    role::Role,
};
use serde::Deserialize;

pub use condition::{Condition, ConditionCheck};

use crate::{
    file::{self, FileError},
    quantity::{Duration, Size},
    task::{Player, Task},
};

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a line of the policy file")]
pub struct Policy {
    /// The lowest risk class that needs the critic's approval.
    #[serde(default = "medium")]
    pub approval_from: Risk,
    /// The lowest risk class that is blocked, whoever asks.
    #[serde(default)]
    pub block_from: Option<Risk>,
    /// How many artifacts a claim must cite at least; the desk refuses others.
    #[serde(default = "one")]
    pub evidence_minimum: Whole<1, 64>,
    /// Whether tools may change modes, owners and times of files by their path.
    #[serde(default)]
    pub chmod: bool,
    /// A claim that cites fewer artifacts with different bytes is challenged.
    #[serde(default)]
    pub challenge_below: Option<Whole<1, 64>>,
    /// Whether a claim without a check is challenged.
    #[serde(default)]
    pub challenge_unchecked: bool,
    /// How long a person has to confirm a call; then it is refused. Otherwise as long as it takes.
    #[serde(default)]
    pub confirm_within: Option<Duration>,
    /// Whether no client may both do the work (planner, executor) and judge it (critic, auditor).
    #[serde(default)]
    pub distinct_clients: bool,
    /// Whether a failed call may be followed by a fallback proposal.
    #[serde(default)]
    pub fallback: bool,
    /// How often one call may be tried again.
    #[serde(default = "zero")]
    pub retry_limit: Whole<0, 16>,
    /// What approvals demand.
    #[serde(default)]
    pub conditions: List<Condition, 0, 64>,
    /// What a tool may use.
    #[serde(default)]
    pub limits: ToolLimits,
    /// How much of the sandbox must be in force.
    #[serde(default)]
    pub sandbox: SandboxDemand,
    /// The tools that may run, by the name that intents give.
    #[serde(default)]
    pub tools: BTreeMap<String, Tool>,
    /// Whether tools may open sockets for UDP.
    #[serde(default)]
    pub udp: bool,
}

/// How much of the sandbox must be in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxDemand {
    /// All that Linux 5.13 enforces; elsewhere no tool runs.
    #[default]
    Required,
    /// What the kernel has.
    BestEffort,
}

/// A tool that may run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// What a call of it risks at least: an intent that says less is blocked.
    #[serde(default = "low")]
    pub risk: Risk,
    /// Whether a person confirms each call of it before it starts; the critic asks.
    #[serde(default)]
    pub confirm: bool,
    /// The programs it may start; none means the one that has the tool's name.
    #[serde(default)]
    pub programs: Vec<Text<1, 1024>>,
}

/// What a tool may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolLimits {
    /// How long one call may take.
    pub time: Duration,
    /// How much it may write to standard output and standard error.
    pub output: Size<0, { 32 << 20 }>,
    /// How much memory it may use, all its processes together.
    pub memory: Size<{ 16 << 20 }, { 1 << 40 }>,
    /// How large a file it may write.
    pub file_size: Size<0, { 1 << 40 }>,
    /// How many processes it may have at once.
    pub processes: Whole<1, 4096>,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            time: Duration(30_000),
            output: Size::of::<{ 1 << 20 }>(),
            memory: Size::of::<{ 512 << 20 }>(),
            file_size: Size::of::<{ 64 << 20 }>(),
            processes: Whole::of::<64>(),
        }
    }
}

impl Policy {
    /// Returns the policy in this text.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        file::read(text)
    }

    /// Returns what the desk holds everybody to in a task. An executor in a process of its own could start a tool in the
    /// very turn in which it intends to: the critic approves everything it does.
    pub fn demands(&self, task: &Task) -> facts::Policy {
        let separate = task.agents.get(&Role::Executor).is_some_and(Player::is_separate);
        facts::Policy {
            approval_from: if separate { Risk::Low } else { self.approval_from },
            evidence_minimum: self.evidence_minimum,
            fallback: self.fallback,
            retry_limit: self.retry_limit,
        }
    }

    /// Returns the policy of a task as the record has it.
    pub fn document(&self, task: &Task) -> Result<PolicyDocument, LimitError> {
        let tool = |(name, tool): (&String, &Tool)| {
            let programs = tool.programs.clone().try_into()?;
            Ok((name.as_str().try_into()?, PolicyTool { confirm: tool.confirm, programs, risk: tool.risk }))
        };
        let tools = self.tools.iter().map(tool).collect::<Result<BTreeMap<_, _>, LimitError>>()?;
        let numbers = PolicyDocument::of_numbers(self.demands(task));
        let (distinct_clients, tools) = (self.distinct_clients, Some(PolicyTools::try_from(tools)?));
        let sandbox = Some(self.sandbox());
        Ok(PolicyDocument { distinct_clients, sandbox, tools, ..numbers })
    }

    /// Returns how closely tools are held, as the record has it.
    pub const fn sandbox(&self) -> PolicySandbox {
        let best_effort = matches!(self.sandbox, SandboxDemand::BestEffort);
        PolicySandbox { best_effort, chmod: self.chmod, udp: self.udp }
    }

    /// Returns the conditions of an approval of these tools, in order: the critic names them by their numbers.
    pub fn conditions_of<'a>(&'a self, tools: &'a [String]) -> impl Iterator<Item = &'a Condition> {
        self.conditions.iter().filter(|condition| condition.concerns(tools))
    }

    /// Returns whether a person confirms each call of a tool.
    pub fn wants_person(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.confirm)
    }

    /// Returns the least risk that an intent for a tool may name.
    pub fn floor(&self, tool: &str) -> Risk {
        self.tools.get(tool).map_or(Risk::Low, |tool| tool.risk)
    }
}

const fn low() -> Risk {
    Risk::Low
}

const fn medium() -> Risk {
    Risk::Medium
}

const fn zero() -> Whole<0, 16> {
    Whole::of::<0>()
}

const fn one() -> Whole<1, 64> {
    Whole::of::<1>()
}
