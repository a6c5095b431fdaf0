//! The turn of an agent in a process of its own: it hears what is new, says what it likes within limits, and is done.

use std::time::Instant;

use demur_core::time::Timestamp;
use demur_ledger::state::Phase;
use demur_run::line::{End, FromAgent, FromDesk, Submit, Turn};

use super::{
    agent::{Agent, AgentError, FAREWELL_TIMEOUT},
    record::Record,
};
use crate::failure::Failure;

/// What ends a turn early.
#[derive(Debug)]
pub(super) enum Interrupted {
    /// The agent's fault: the run is aborted with this as the reason.
    Agent(AgentError),
    /// Ours.
    Here(Failure),
}

impl From<AgentError> for Interrupted {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}

impl<E: Into<Failure>> From<E> for Interrupted {
    fn from(error: E) -> Self {
        Self::Here(error.into())
    }
}

/// Greets an agent.
pub(super) fn greet(agent: &Agent) -> Result<(), Interrupted> {
    agent.send(line(&FromDesk::Hello(agent.hello.clone()))?, agent.deadline())?;
    Ok(())
}

/// Gives an agent its turn. Returns whether anything it said was recorded.
pub(super) fn take_turn(
    record: &mut Record<'_>,
    agent: &mut Agent,
    now: Timestamp,
) -> Result<bool, Interrupted> {
    let deadline = agent.deadline();
    agent.turns += 1;
    if agent.turns > MAX_TURNS {
        return Err(AgentError::Lingers(MAX_TURNS).into());
    }
    show(record, agent, deadline)?;
    agent.expect_silence()?;
    let (head, phase) = (record.history.state().head(), record.history.state().phase());
    agent.send(line(&FromDesk::Turn(Turn { head, now, phase }))?, deadline)?;
    let (mut said, mut refused) = (0, 0);
    let mut moved = false;
    while let FromAgent::Submit(submit) = agent.hear(deadline)? {
        said += 1;
        if said > MAX_STATEMENTS {
            return Err(AgentError::Talks(MAX_STATEMENTS).into());
        }
        agent.stored += submit.artifact.as_ref().map_or(0, |artifact| artifact.bytes.len());
        if agent.stored > MAX_STORED_BYTES {
            return Err(AgentError::Hoards(MAX_STORED_BYTES).into());
        }
        let before = record.history.state().length();
        let answer = record.submit(agent.hello.role, said_by(&submit)?)?;
        match &answer {
            FromDesk::Refused(_) => refused += 1,
            // The same statement again is answered, and moves nothing.
            _ => moved |= record.history.state().length() > before,
        }
        show(record, agent, deadline)?;
        agent.send(line(&answer)?, deadline)?;
        if refused > MAX_REFUSALS {
            return Err(AgentError::Insists(MAX_REFUSALS).into());
        }
    }
    agent.rested = Some(record.history.state().length());
    Ok(moved)
}

/// Tells an agent that the run is over.
pub(super) fn farewell(record: &Record<'_>, agent: &mut Agent, phase: Phase) -> Result<(), Interrupted> {
    let deadline = Instant::now() + FAREWELL_TIMEOUT;
    show(record, agent, deadline)?;
    agent.send(line(&FromDesk::End(End { phase }))?, deadline)?;
    Ok(())
}

/// Returns the line of an agent, as it was signed.
fn said_by(submit: &Submit) -> Result<String, Failure> {
    let mut line = submit.to_line().map_err(|error| Failure::bug(&error))?;
    line.pop();
    String::from_utf8(line).map_err(|error| Failure::bug(&error))
}

/// Writes everything to an agent that it was not told yet.
fn show(record: &Record<'_>, agent: &mut Agent, deadline: Instant) -> Result<(), Interrupted> {
    while agent.told < record.history.state().length() {
        let lines = record.lines(agent.told, true)?;
        if lines.is_empty() {
            return Ok(());
        }
        for line in lines {
            agent.told += u64::from(line.starts_with(EVENT_BEGINNING));
            agent.send([line.as_bytes(), b"\n"].concat(), deadline)?;
        }
    }
    Ok(())
}

fn line(said: &FromDesk) -> Result<Vec<u8>, Failure> {
    said.to_line().map_err(|error| Failure::bug(&error))
}

/// How many statements an agent may submit in one turn.
const MAX_STATEMENTS: usize = 10_000;
/// How many turns an agent may have in one run.
const MAX_TURNS: usize = 10_000;
/// How many bytes of artifacts an agent may store in one run.
const MAX_STORED_BYTES: usize = 1 << 30;
/// How often an agent may be refused in one turn.
const MAX_REFUSALS: usize = 32;
/// How the line of an event begins; other lines tell of its artifact.
const EVENT_BEGINNING: &str = "{\"event\":";
