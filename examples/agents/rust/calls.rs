//! The first half of the executor: it says what it is about to do, does it when it may, and says how that ended.

use std::error::Error;

use demur_ledger::{
    content::{ExecutionContent, ExecutionResultContent, FailureContent, IntentContent},
    event_type::Content,
    facts::{
        FailureKind, ToolExecutionCompleted, ToolExecutionFailed, ToolExecutionStarted, ToolIntentSigned,
    },
    name::Sequence,
};

use crate::{
    Executor,
    plan::Call,
    tool::{self, Outcome},
};

impl Executor {
    /// Records what the tool will be given, before anything is said about it.
    pub(crate) fn record(&mut self, call: &Call) -> Result<(), Box<dyn Error>> {
        let (bytes, _) = call.input()?;
        self.agent.store(&call.input_name(), "application/json", bytes)?;
        Ok(())
    }

    /// Says what it is about to do.
    pub(crate) fn intend(&mut self, call: &Call) -> Result<(), Box<dyn Error>> {
        let (proposal, conditions) = self.approved().ok_or("expected an approved proposal, found none")?;
        let meets = (0..conditions).map(TryInto::try_into).collect::<Result<Vec<_>, _>>()?;
        let facts = ToolIntentSigned { meets: meets.try_into()?, proposal, retries: None, risk: call.risk };
        let justification = format!("the plan asks for it, to claim: {}", call.claim);
        let content = IntentContent {
            input_hash: call.input()?.1,
            justification: justification.as_str().try_into()?,
            tool: call.tool.as_str().try_into()?,
        };
        self.agent.say(facts, Content::ToolIntentSigned(content))?;
        Ok(())
    }

    /// Runs the tool, and records what it was given, what it gave and how it ended.
    pub(crate) fn execute(&mut self, call: &Call, intent: Sequence) -> Result<(), Box<dyn Error>> {
        let limits = tool::LIMITS.map(TryInto::try_into).into_iter().collect::<Result<Vec<_>, _>>()?;
        let content = Content::ToolExecutionStarted(ExecutionContent { limits: limits.try_into()? });
        let input = self.history.artifacts.get(&call.input_name()).copied();
        let started = self.agent.say(ToolExecutionStarted { input, intent }, content)?.sequence;
        let outcome = tool::run(&call.command, &call.stdin)?;
        // Also where there is nothing in them: what a tool kept to itself is evidence too.
        let mut outputs = Vec::new();
        for (stream, bytes) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
            let name = format!("{}.{stream}", call.name);
            outputs.push(self.agent.store(&name, "text/plain", bytes.clone())?.sequence);
        }
        self.end(started, &outcome, outputs)
    }

    fn end(
        &mut self,
        started: Sequence,
        outcome: &Outcome,
        outputs: Vec<Sequence>,
    ) -> Result<(), Box<dyn Error>> {
        let (duration_ms, outputs) = (outcome.duration.try_into()?, outputs.try_into()?);
        let exit_status = outcome.exit_status.map(|status| u64::from(status).try_into()).transpose()?;
        if let Some((failure, message)) = &outcome.failure {
            let facts = ToolExecutionFailed { failure: *failure, outputs, started };
            let content = FailureContent { duration_ms, exit_status, message: message.as_str().try_into()? };
            self.agent.say(facts, Content::ToolExecutionFailed(content))?;
        } else {
            let facts = ToolExecutionCompleted { outputs, started };
            let content = ExecutionResultContent { duration_ms, exit_status, note: None };
            self.agent.say(facts, Content::ToolExecutionCompleted(content))?;
        }
        Ok(())
    }

    /// Says that nobody knows how a tool ended.
    pub(crate) fn lose(&mut self, started: Sequence) -> Result<(), Box<dyn Error>> {
        let failure = Some((FailureKind::Lost, "the executor stopped while the tool ran".to_owned()));
        let outcome =
            Outcome { failure, exit_status: None, duration: 0, stdout: Vec::new(), stderr: Vec::new() };
        self.end(started, &outcome, Vec::new())
    }
}
