//! The turn of an agent in a process of its own: it hears what is new, says what it likes within limits, and is done.

use std::time::Instant;

use demur_engine::refusal::RuleRefusal;
use demur_ledger::{
    author::Artifact,
    event_type::Facts,
    export::Disclosure,
    facts::RefusalCode,
    name::{Sequence, TraceId},
    state::Phase,
};
use demur_run::line::{End, FromAgent, FromDesk, Hello, Refused, ShownArtifact, ShownEvent, Submit, Turn};
use demur_sequencer::{Sequencer, SequencerError, read_event};
use demur_store::contract::{Kept, Stored};

use super::{
    agent::{Agent, AgentError, FAREWELL},
    desk::Desk,
    door,
};
use crate::failure::Failure;

/// What ends a turn early.
#[derive(Debug)]
pub(super) enum Interrupted {
    /// The agent's fault: the run is aborted with this as the reason.
    Agent(AgentError),
    /// The task's: the run is aborted with this as the reason.
    Task(String),
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
pub(super) fn take_turn(desk: &mut Desk<'_>, agent: &mut Agent) -> Result<bool, Interrupted> {
    let deadline = agent.deadline();
    agent.turns += 1;
    if agent.turns > MOST_TURNS {
        return Err(AgentError::Lingers(MOST_TURNS).into());
    }
    show(desk, agent, deadline)?;
    agent.expect_silence()?;
    let (phase, now) = (desk.history.state().phase(), desk.place()?.now);
    agent.send(line(&FromDesk::Turn(Turn { head: desk.head(), now, phase }))?, deadline)?;
    let (mut said, mut refused) = (0, 0);
    let mut moved = false;
    while let FromAgent::Submit(submit) = agent.hear(deadline)? {
        said += 1;
        if said > MOST_SAID {
            return Err(AgentError::Talks(MOST_SAID).into());
        }
        agent.stored += submit.artifact.as_ref().map_or(0, |artifact| artifact.bytes.len());
        if agent.stored > MOST_STORED {
            return Err(AgentError::Hoards(MOST_STORED).into());
        }
        let before = desk.history.state().length();
        let answer = submit_for(desk, &agent.hello, *submit)?;
        match &answer {
            FromDesk::Refused(_) => refused += 1,
            // The same statement again is answered, and moves nothing.
            _ => moved |= desk.history.state().length() > before,
        }
        show(desk, agent, deadline)?;
        agent.send(line(&answer)?, deadline)?;
        if refused > MOST_REFUSED {
            return Err(AgentError::Insists(MOST_REFUSED).into());
        }
    }
    agent.rested = Some(desk.history.state().length());
    Ok(moved)
}

/// Tells an agent that the run is over.
pub(super) fn farewell(desk: &Desk<'_>, agent: &mut Agent, phase: Phase) -> Result<(), Interrupted> {
    let deadline = Instant::now() + FAREWELL;
    show(desk, agent, deadline)?;
    agent.send(line(&FromDesk::End(End { phase }))?, deadline)?;
    Ok(())
}

fn submit_for(desk: &mut Desk<'_>, hello: &Hello, submit: Submit) -> Result<FromDesk, Interrupted> {
    let Submit { submission, artifact } = submit;
    if let Some(refused) = door::refuse(desk, hello, &submission)? {
        return Ok(FromDesk::Refused(refused));
    }
    let answer = match desk.ledger.submit(submission, artifact.as_ref()) {
        Ok(recorded) => FromDesk::Recorded(recorded.position),
        Err(SequencerError::Refused(refusal)) => FromDesk::Refused(told(refusal)?),
        Err(error) => return Err(error.into()),
    };
    desk.catch_up(true)?;
    Ok(answer)
}

fn told(refusal: RuleRefusal) -> Result<Refused, Failure> {
    Ok(Refused {
        code: RefusalCode::try_from(refusal.code.to_owned()).map_err(|error| Failure::bug(&error))?,
        cure: refusal.cure.to_owned(),
        field: refusal.field.map(ToOwned::to_owned),
        message: refusal.message,
    })
}

/// Writes everything to an agent that it was not told yet.
fn show(desk: &Desk<'_>, agent: &mut Agent, deadline: Instant) -> Result<(), Interrupted> {
    while agent.told < desk.history.state().length() {
        let from = Sequence::try_from(agent.told).map_err(|error| Failure::bug(&error))?;
        let page = desk.ledger.store().events(desk.trace, from, PAGE)?;
        if page.is_empty() {
            return Ok(());
        }
        for stored in page {
            for line in lines(desk.ledger, desk.trace, stored)? {
                agent.send(line, deadline)?;
            }
            agent.told += 1;
        }
    }
    Ok(())
}

/// Returns the lines of a recorded event, as they stand in an export.
fn lines(ledger: &Sequencer, trace: TraceId, stored: Stored) -> Result<Vec<Vec<u8>>, Failure> {
    let event = read_event(trace, Sequence::FIRST, &stored)?;
    let sequence = event.envelope().sequence;
    let records = event.said().is_ok_and(|said| matches!(said.facts, Facts::ArtifactRecorded(_)));
    let shown = match stored.content {
        Kept::Here(opening) => ShownEvent::new(event, Some(opening)),
        Kept::Absent => ShownEvent::new(event, None),
        Kept::Erased => ShownEvent { event, opening: None, disclosure: Disclosure::Erased },
    };
    let mut lines = vec![line(&FromDesk::Event(Box::new(shown)))?];
    let artifact = match stored.artifact {
        Kept::Absent if !records => return Ok(lines),
        Kept::Absent => ShownArtifact { event: sequence, artifact: None, disclosure: Disclosure::Missing },
        Kept::Erased => ShownArtifact { event: sequence, artifact: None, disclosure: Disclosure::Erased },
        Kept::Here(place) => match ledger.store().artifact(&place.address)? {
            Some(bytes) => ShownArtifact::new(sequence, Artifact { bytes, salt: place.salt }),
            None => ShownArtifact { event: sequence, artifact: None, disclosure: Disclosure::Missing },
        },
    };
    lines.push(line(&FromDesk::Artifact(artifact))?);
    Ok(lines)
}

fn line(said: &FromDesk) -> Result<Vec<u8>, Failure> {
    said.to_line().map_err(|error| Failure::bug(&error))
}

/// How many statements an agent may submit in one turn.
const MOST_SAID: usize = 10_000;
/// How many turns an agent may have in one run.
const MOST_TURNS: usize = 10_000;
/// How many bytes of artifacts an agent may store in one run.
const MOST_STORED: usize = 1 << 30;
/// How often an agent may be refused in one turn.
const MOST_REFUSED: usize = 32;
/// How many events are read at a time.
const PAGE: usize = 256;
