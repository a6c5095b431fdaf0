//! What a run is started with: the task and the policy, read, and the lines that bind the record to the texts they stand in.

use demur_core::{
    canonical::WriteError,
    hash::sha256,
    limit::{LimitError, List, Text},
};
use demur_ledger::{
    content::PolicyContent,
    facts::{self, Participant},
    name::{StoreId, TraceId},
    role::Role,
};

use crate::{
    FileError, TaskPlan,
    line::{Hello, PROTOCOL},
    policy::Policy,
    task::Task,
};

/// What a run is started with.
#[derive(Debug)]
pub struct Orders {
    /// The task.
    pub plan: TaskPlan,
    /// The policy.
    pub policy: Policy,
    /// What binds the record to the texts.
    pub bound: Vec<String>,
    /// The policy as the record has it.
    pub recorded_policy: PolicyContent,
}

/// A text that is no order.
#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    /// The task file.
    #[error("the task file: {0}")]
    Task(FileError),
    /// The policy file.
    #[error("the policy file: {0}")]
    Policy(FileError),
    /// A policy that the record cannot carry.
    #[error("the policy file: the record cannot carry it: {0}")]
    PolicyLimit(LimitError),
    /// A condition that nobody would ask for, or that demur's own critic could never show to hold.
    #[error("the policy file: {0}")]
    Condition(ConditionError),
    /// A call whose input cannot be written.
    #[error("a call cannot be written as canonical JSON")]
    Write(#[from] WriteError),
}

/// A condition that nobody would ask for, or that demur's own critic could never show to hold.
#[derive(Debug, thiserror::Error)]
pub enum ConditionError {
    /// The writer's: nobody in the run can judge it.
    #[error(
        "conditions: expected a check (at, is, value) of \u{201c}{0}\u{201d}, found words alone: no program can tell whether they \
         hold. Give it a check, or name a critic that can read in the task file: [agents.critic]"
    )]
    InWords(String),
    /// The writer's: it is on the output of a call that is not there.
    #[error("conditions: expected the name of a call of the task in of, found {0:?}")]
    OfNothing(String),
    /// The writer's: it would never be asked for.
    #[error("conditions: expected the name of a tool of this policy in tools, found {0:?}")]
    ForNothing(String),
}

impl Orders {
    /// Returns what these texts say. `files` has a line for each file of the task: its hash and its name.
    pub fn read(task: &str, policy: &str, files: &str) -> Result<Self, OrdersError> {
        let mut bound = vec![
            format!("the task file has the SHA-256 {}", sha256(task.as_bytes())),
            format!("the policy file has the SHA-256 {}", sha256(policy.as_bytes())),
        ];
        if !files.is_empty() {
            bound.push(format!("the list of its files has the SHA-256 {}", sha256(files.as_bytes())));
        }
        let plan = TaskPlan::new(Task::parse(task).map_err(OrdersError::Task)?)?;
        let hash = Some(sha256(policy.as_bytes()));
        let policy = Policy::parse(policy).map_err(OrdersError::Policy)?;
        check_conditions(&policy, &plan).map_err(OrdersError::Condition)?;
        let document = policy.document(plan.task()).map_err(OrdersError::PolicyLimit)?;
        Ok(Self { plan, policy, bound, recorded_policy: PolicyContent { document, hash } })
    }

    /// Returns what everybody is held to.
    pub fn demands(&self) -> facts::Policy {
        self.policy.demands(self.plan.task())
    }

    /// Returns what the opening of the run must name among its constraints.
    pub fn constraints(&self) -> Result<List<Text<1, 4096>, 0, 64>, LimitError> {
        let bound = self.bound.iter().map(|line| line.as_str().try_into());
        bound.collect::<Result<Vec<_>, LimitError>>()?.try_into()
    }

    /// Returns what an agent in a process of its own is greeted with; none where nobody plays its role.
    pub fn hello(
        &self,
        role: Role,
        participants: &[Participant],
        store: StoreId,
        trace: TraceId,
    ) -> Result<Option<Hello>, LimitError> {
        let Some(part) = participants.iter().find(|part| part.role == role) else { return Ok(None) };
        Ok(Some(Hello {
            constraints: self.constraints()?,
            participants: participants.to_vec().try_into()?,
            policy: self.demands(),
            principal: part.principal,
            protocol: PROTOCOL,
            role,
            store,
            trace,
        }))
    }
}

/// Refuses conditions about tools that nobody may run, and where demur is the critic those that it could never show to hold.
fn check_conditions(policy: &Policy, plan: &TaskPlan) -> Result<(), ConditionError> {
    let task = plan.task();
    let mut named = policy.conditions.iter().flat_map(|condition| &condition.tools);
    if let Some(tool) = named.find(|tool| !policy.tools.contains_key(tool.as_str())) {
        return Err(ConditionError::ForNothing(tool.to_string()));
    }
    for condition in policy.conditions.iter().filter(|_| !task.is_separate(Role::Critic)) {
        let check = condition.check.as_ref();
        let check = check.ok_or_else(|| ConditionError::InWords(condition.text.to_string()))?;
        if let Some(call) = check.of.as_ref().filter(|call| task.call(call).is_none()) {
            return Err(ConditionError::OfNothing(call.to_string()));
        }
    }
    Ok(())
}
