//! An agent of one role at its end of the lines (`docs/agents.md`): hears what happened, speaks when it is its turn.
//!
//! The agent signs with its own key, and believes the desk no more than it must: every event has to follow the one
//! before by hash, and content and artifacts have to open what was committed to. Whether other authors' signatures hold
//! it cannot tell, because no key of theirs comes over the line; whoever verifies the export can.
//!
//! A critic that approves every intent:
//! ```no_run
//! use std::io::{stdin, stdout};
//!
//! use demur_core::{random::Random, time::Timestamp};
//! use demur_ledger::{
//!     content::RationaleContent,
//!     event_type::{Content, Facts},
//!     facts::{IntentDecision, ToolIntentReviewed},
//! };
//! use demur_run::{
//!     agent::{Agent, Heard},
//!     key_file::KeyFile,
//! };
//!
//! # fn example(key: &[u8], random: impl Random, clock: impl FnMut() -> Timestamp) -> Result<(), Box<dyn std::error::Error>> {
//! let mut agent = Agent::connect(stdin().lock(), stdout(), KeyFile::parse(key)?.into_author(), random, clock)?;
//! let mut intents = Vec::new();
//! loop {
//!     match agent.hear()? {
//!         Heard::Event(shown) => {
//!             let event = &shown.event;
//!             if let Facts::ToolIntentSigned(_) = event.said()?.facts {
//!                 intents.push(event.position().sequence);
//!             }
//!         }
//!         Heard::Turn(_) => {
//!             for intent in intents.drain(..) {
//!                 let content = RationaleContent { rationale: "looks fine".try_into()? };
//!                 let facts = ToolIntentReviewed { decision: IntentDecision::Approved, intent };
//!                 agent.say(facts, Content::ToolIntentReviewed(content))?;
//!             }
//!             agent.done()?;
//!         }
//!         Heard::End(_) => return Ok(()),
//!         _ => {}
//!     }
//! }
//! # }
//! ```

mod error;
mod trail;

use std::{
    collections::VecDeque,
    fmt,
    io::{BufRead, Write},
};

use demur_core::{random::Random, time::Timestamp};
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::ArtifactContent,
    event_type::{Content, Facts},
    name::Position,
    statement::Submission,
};

pub use error::AgentError;
pub use trail::TrailError;

use self::trail::Trail;
use crate::line::{End, FromAgent, FromDesk, Hello, ShownArtifact, ShownEvent, Submit, Turn, read_line};

/// An agent that is connected to a desk.
pub struct Agent<R, W, N, C> {
    reader: R,
    writer: W,
    author: Author,
    random: N,
    clock: C,
    hello: Hello,
    trail: Trail,
    /// There exactly while the agent may speak.
    turn: Option<Turn>,
    /// What came while the agent spoke; it hears it afterwards.
    pending: VecDeque<Heard>,
}

/// What an agent hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something happened; the agent's own statements are among it.
    Event(Box<ShownEvent>),
    /// The bytes of the artifact that the event before records.
    Artifact(ShownArtifact),
    /// The agent may speak, and ends its turn with [`Agent::done`].
    Turn(Turn),
    /// The run is over: nothing more will come.
    End(End),
}

impl<R, W, N, C> Agent<R, W, N, C>
where
    R: BufRead,
    W: Write,
    N: Random,
    C: FnMut() -> Timestamp,
{
    /// Returns the agent once the desk has said hello to it and to nobody else.
    pub fn connect(
        mut reader: R,
        writer: W,
        author: Author,
        random: N,
        clock: C,
    ) -> Result<Self, AgentError> {
        let hello = match receive(&mut reader)? {
            FromDesk::Hello(hello) => hello,
            other => return Err(AgentError::Unexpected { expected: "hello", found: other.kind() }),
        };
        if (hello.principal, hello.role) != (author.principal(), author.role()) {
            return Err(AgentError::OtherAgent { principal: hello.principal, role: hello.role });
        }
        let (trail, pending) = (Trail::new(hello.store, hello.trace), VecDeque::new());
        Ok(Self { reader, writer, author, random, clock, hello, trail, turn: None, pending })
    }

    /// Returns who takes part, and under which policy.
    pub const fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Returns the newest event that the desk has shown.
    pub const fn head(&self) -> Option<Position> {
        self.trail.head()
    }

    /// Returns what happens next; waits until something does.
    pub fn hear(&mut self) -> Result<Heard, AgentError> {
        if let Some(heard) = self.pending.pop_front() {
            return Ok(heard);
        }
        match self.receive()? {
            FromDesk::Turn(_) if self.turn.is_some() => Err(unexpected("turn")),
            FromDesk::Turn(turn) => {
                self.trail.check_head(turn.head)?;
                self.turn = Some(turn);
                Ok(Heard::Turn(turn))
            }
            FromDesk::End(end) => Ok(Heard::End(end)),
            line => self.shown(line),
        }
    }

    /// Returns what was shown while the agent spoke and not heard yet, without waiting.
    pub fn pending(&mut self) -> Option<Heard> {
        self.pending.pop_front()
    }

    /// Records a statement; returns where it stands. A refusal is an error, and the turn goes on after it.
    pub fn say(
        &mut self,
        facts: impl Into<Facts>,
        content: impl Into<Option<Content>>,
    ) -> Result<Position, AgentError> {
        let submission = self.sign(facts.into(), content.into())?;
        self.submit(Submit { submission, artifact: None })
    }

    /// Records bytes; returns where the event stands that other statements can cite.
    pub fn store(&mut self, name: &str, media_type: &str, bytes: Vec<u8>) -> Result<Position, AgentError> {
        let size = (bytes.len() as u64).try_into()?;
        let content = ArtifactContent { media_type: media_type.try_into()?, name: name.try_into()?, size };
        let artifact = Artifact::new(bytes, &mut self.random);
        let submission = self.sign(artifact.facts().into(), Some(Content::ArtifactRecorded(content)))?;
        self.submit(Submit { submission, artifact: Some(artifact) })
    }

    /// Records the auditor's report: JSON, with the verdict in its member `status`. The verdict names SHA-256 of these bytes.
    pub fn report(&mut self, bytes: Vec<u8>) -> Result<Position, AgentError> {
        let artifact = Artifact::new(bytes, &mut self.random);
        let submission = self.sign(artifact.report_facts().into(), None)?;
        self.submit(Submit { submission, artifact: Some(artifact) })
    }

    /// Ends the turn.
    pub fn done(&mut self) -> Result<(), AgentError> {
        self.turn.take().ok_or(AgentError::NotMyTurn)?;
        self.send(&FromAgent::Done)
    }

    /// What is cited must have been seen, so everything is signed after the newest event there is.
    fn sign(&mut self, facts: Facts, content: Option<Content>) -> Result<Submission, AgentError> {
        let turn = self.turn.ok_or(AgentError::NotMyTurn)?;
        // A clock that is behind the desk's would make statements that are too old already.
        let now = (self.clock)().max(turn.now);
        let Hello { store, trace, .. } = self.hello;
        let place = Place { store, trace, seen: self.trail.head(), now };
        Ok(self.author.say(&place, facts, content, &mut self.random)?)
    }

    fn submit(&mut self, submit: Submit) -> Result<Position, AgentError> {
        let line = FromAgent::Submit(Box::new(submit));
        self.send(&line)?;
        let mut mine = None;
        loop {
            match self.receive()? {
                FromDesk::Recorded(position) if mine == Some(position) => return Ok(position),
                FromDesk::Recorded(position) => return Err(AgentError::NotShown { position }),
                FromDesk::Refused(refused) => return Err(AgentError::Refused(refused)),
                shown => {
                    let heard = self.shown(shown)?;
                    mine = mine.or_else(|| position_if_same(&heard, &line));
                    self.pending.push_back(heard);
                }
            }
        }
    }

    fn shown(&mut self, line: FromDesk) -> Result<Heard, AgentError> {
        match line {
            FromDesk::Event(shown) => {
                self.trail.follow(&shown)?;
                Ok(Heard::Event(shown))
            }
            FromDesk::Artifact(shown) => {
                self.trail.open(&shown)?;
                Ok(Heard::Artifact(shown))
            }
            other => Err(unexpected(other.kind())),
        }
    }

    fn receive(&mut self) -> Result<FromDesk, AgentError> {
        receive(&mut self.reader)
    }

    fn send(&mut self, line: &FromAgent) -> Result<(), AgentError> {
        self.writer.write_all(&line.to_line()?).and_then(|()| self.writer.flush()).map_err(AgentError::Write)
    }
}

/// Where the agent reads, writes and draws from says nothing.
impl<R, W, N, C> fmt::Debug for Agent<R, W, N, C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { author, hello, trail, turn, .. } = self;
        formatter
            .debug_struct("Agent")
            .field("author", author)
            .field("hello", hello)
            .field("trail", trail)
            .field("turn", turn)
            .finish_non_exhaustive()
    }
}

fn receive(reader: &mut impl BufRead) -> Result<FromDesk, AgentError> {
    let line = read_line(reader)?.ok_or(AgentError::Ended)?;
    Ok(FromDesk::parse(&line)?)
}

/// Returns the position of an event that carries the very statement of this line.
fn position_if_same(heard: &Heard, line: &FromAgent) -> Option<Position> {
    match (heard, line) {
        (Heard::Event(shown), FromAgent::Submit(submit)) => {
            let same = shown.event.statement_bytes() == Some(&submit.submission.statement);
            same.then(|| shown.event.position())
        }
        _ => None,
    }
}

const fn unexpected(found: &'static str) -> AgentError {
    AgentError::Unexpected { expected: "a line that may stand here", found }
}
