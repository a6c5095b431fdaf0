//! The turn of an agent in a process of its own: it hears what is new, says what it likes within limits, and is done.

use std::time::Instant;

use demur_engine::refusal::Refusal;
use demur_ledger::{
    author::Artifact,
    envelope::Event,
    event_type::Facts,
    export::Disclosure,
    facts::RefusalCode,
    name::{Sequence, TraceId},
    state::Phase,
};
use demur_run::line::{End, FromAgent, FromDesk, Hello, Refused, ShownArtifact, ShownEvent, Submit, Turn};
use demur_store::{
    contract::{Kept, Store as _, Stored},
    ledger::{Ledger, LedgerError},
    sqlite::SqliteStore,
};

use super::{
    agent::{Agent, AgentError},
    desk::Desk,
};
use crate::error::CommandError;

/// What ends a turn early.
#[derive(Debug)]
pub(super) enum Interrupted {
    /// The agent's fault: the run is aborted with this as the reason.
    Agent(AgentError),
    /// Ours.
    Here(CommandError),
}

impl From<AgentError> for Interrupted {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}

impl<E: Into<CommandError>> From<E> for Interrupted {
    fn from(error: E) -> Self {
        Self::Here(error.into())
    }
}

/// Greets an agent.
pub(super) fn greet(agent: &Agent, hello: Hello) -> Result<(), Interrupted> {
    agent.send(line(&FromDesk::Hello(hello))?, agent.deadline())?;
    Ok(())
}

/// Gives an agent its turn. Returns whether it added anything.
pub(super) fn take_turn(desk: &mut Desk<'_>, agent: &mut Agent) -> Result<bool, Interrupted> {
    let deadline = agent.deadline();
    let before = desk.history.state().length();
    show(desk, agent, deadline)?;
    agent.expect_silence()?;
    let (phase, now) = (desk.history.state().phase(), desk.place()?.now);
    agent.send(line(&FromDesk::Turn(Turn { head: desk.head(), now, phase }))?, deadline)?;
    let (mut said, mut refused) = (0, 0);
    while let FromAgent::Submit(submit) = agent.hear(deadline)? {
        said += 1;
        if said > MOST_SAID {
            return Err(AgentError::Talks(MOST_SAID).into());
        }
        let answer = submit_for(desk, *submit)?;
        refused += usize::from(matches!(answer, FromDesk::Refused(_)));
        show(desk, agent, deadline)?;
        agent.send(line(&answer)?, deadline)?;
        if refused > MOST_REFUSED {
            return Err(AgentError::Insists(MOST_REFUSED).into());
        }
    }
    Ok(desk.history.state().length() > before)
}

/// Tells an agent that the run is over.
pub(super) fn farewell(desk: &Desk<'_>, agent: &mut Agent, phase: Phase) -> Result<(), Interrupted> {
    let deadline = agent.deadline();
    show(desk, agent, deadline)?;
    agent.send(line(&FromDesk::End(End { phase }))?, deadline)?;
    Ok(())
}

fn submit_for(desk: &mut Desk<'_>, submit: Submit) -> Result<FromDesk, CommandError> {
    let Submit { submission, artifact } = submit;
    let answer = match desk.ledger.submit(submission, artifact.as_ref()) {
        Ok(recorded) => FromDesk::Recorded(recorded.position),
        Err(LedgerError::Refused(refusal)) => FromDesk::Refused(told(refusal)?),
        Err(error) => return Err(error.into()),
    };
    desk.catch_up(true)?;
    Ok(answer)
}

fn told(refusal: Refusal) -> Result<Refused, CommandError> {
    Ok(Refused {
        code: RefusalCode::try_from(refusal.code.to_owned()).map_err(|error| CommandError::bug(&error))?,
        cure: refusal.cure.to_owned(),
        field: refusal.field.map(ToOwned::to_owned),
        message: refusal.message,
    })
}

/// Writes everything to an agent that it was not told yet.
fn show(desk: &Desk<'_>, agent: &mut Agent, deadline: Instant) -> Result<(), Interrupted> {
    while agent.told < desk.history.state().length() {
        let from = Sequence::try_from(agent.told).map_err(|error| CommandError::bug(&error))?;
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
fn lines(ledger: &Ledger<SqliteStore>, trace: TraceId, stored: Stored) -> Result<Vec<Vec<u8>>, CommandError> {
    let event = Event::parse(&stored.bytes).map_err(|_| LedgerError::Damaged {
        trace,
        sequence: Sequence::FIRST,
        code: "SCHEMA_INVALID",
    })?;
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

fn line(said: &FromDesk) -> Result<Vec<u8>, CommandError> {
    said.to_line().map_err(|error| CommandError::bug(&error))
}

/// How many statements an agent may submit in one turn.
const MOST_SAID: usize = 10_000;
/// How often an agent may be refused in one turn.
const MOST_REFUSED: usize = 32;
/// How many events are read at a time.
const PAGE: usize = 256;
