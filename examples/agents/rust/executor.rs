//! An executor in a process of its own: `executor KEYFILE PLAN`. It carries out the calls of a plan one after the other,
//! each only when it may, and claims what came out.
//!
//! What it does next follows from the record alone: started again, it goes on where the record ends.

mod calls;
mod claims;
mod desk;
mod plan;
mod tool;

use std::{error::Error, fs, process::ExitCode};

use demur_ledger::{
    facts::{IntentDecision, ProposalDecision},
    name::Sequence,
    state::Phase,
};
use demur_run::{
    agent::Heard,
    history::{History, Intended},
};

use crate::{
    desk::Connected,
    plan::{Call, Plan},
};

fn main() -> ExitCode {
    desk::exit_code("executor", play())
}

fn play() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(key_file), Some(plan)) = (arguments.next(), arguments.next()) else {
        return Err("expected a key file and a plan as arguments".into());
    };
    let plan = Plan::parse(&fs::read(plan)?)?;
    let mut executor = Executor { agent: desk::connect(&key_file)?, history: History::new() };
    loop {
        match executor.agent.hear()? {
            Heard::Turn(turn) => {
                let works = matches!(turn.phase, Phase::Executing | Phase::Claiming);
                // Claims come when there is nothing left to do.
                if works && executor.work(&plan)? {
                    executor.claim(&plan)?;
                }
                executor.agent.done()?;
            }
            Heard::End(_) => return Ok(()),
            heard => executor.remember(&heard)?,
        }
    }
}

/// The executor at work.
struct Executor {
    agent: Connected,
    history: History,
}

/// What is to be done about a call.
enum Next {
    Record,
    Intend,
    Wait,
    Execute(Sequence),
    /// A tool was started by a process that is no more: nobody knows how it ended.
    Lose(Sequence),
    Nothing,
}

impl Executor {
    /// Does what can be done in this turn; returns whether nothing is left to do.
    fn work(&mut self, plan: &Plan) -> Result<bool, Box<dyn Error>> {
        for call in &plan.calls {
            loop {
                match self.next(call)? {
                    Next::Record => self.record(call)?,
                    Next::Intend => self.intend(call)?,
                    Next::Wait => return Ok(false),
                    Next::Execute(intent) => self.execute(call, intent)?,
                    Next::Lose(started) => self.lose(started)?,
                    Next::Nothing => break,
                }
                self.catch_up()?;
            }
        }
        Ok(true)
    }

    fn next(&self, call: &Call) -> Result<Next, Box<dyn Error>> {
        let (_, hash) = call.input()?;
        let same = |(_, intent): &(&Sequence, &Intended)| intent.input_hash == Some(hash);
        let Some((&at, intent)) = self.history.intents.iter().rfind(same) else {
            let recorded = self.history.artifacts.contains_key(&call.input_name());
            return Ok(match self.approved() {
                None => Next::Wait,
                Some(_) if recorded => Next::Intend,
                Some(_) => Next::Record,
            });
        };
        let free = intent.risk < self.agent.hello().policy.approval_from;
        Ok(match (intent.review, intent.started, &intent.ended) {
            (_, _, Some(_)) | (Some(IntentDecision::Blocked), ..) => Next::Nothing,
            (_, Some(started), None) => Next::Lose(started),
            // The critic shows first that the conditions hold.
            _ if self.history.state().unshown(at).is_some() => Next::Wait,
            (Some(IntentDecision::Approved), None, None) => Next::Execute(at),
            (None, None, None) if free => Next::Execute(at),
            (None, None, None) => Next::Wait,
        })
    }

    /// Returns the newest proposal that may be carried out, and how many conditions it has.
    fn approved(&self) -> Option<(Sequence, u64)> {
        let approved = [ProposalDecision::Approved, ProposalDecision::ConditionallyApproved];
        self.history.proposals.iter().rev().find_map(|(at, proposed)| {
            let (_, conditions) = proposed.review.filter(|(decision, _)| approved.contains(decision))?;
            Some((*at, conditions))
        })
    }

    /// Takes in what was recorded while the executor spoke: its own statements.
    fn catch_up(&mut self) -> Result<(), Box<dyn Error>> {
        while let Some(heard) = self.agent.pending() {
            self.remember(&heard)?;
        }
        Ok(())
    }

    fn remember(&mut self, heard: &Heard) -> Result<(), Box<dyn Error>> {
        if let Heard::Event(shown) = heard {
            let content = shown.opening.as_ref().map(|opening| opening.bytes.as_slice());
            self.history.take(&shown.event, content)?;
        }
        Ok(())
    }
}
