//! A run at the desk while its story is told: agents sign, the desk records or refuses, every event is kept for
//! the export.

use demur_ledger::{
    author::{Artifact, Place},
    content::{ArtifactContent, RefusalContent},
    desk::{Desk, DeskError, Recorded, Run},
    envelope::FORMAT,
    event_type::{Content, EventType, Facts},
    export::{ExportWriter, Header},
    facts::{CommandRefused, RefusalCode},
    name::{Position, Sequence, TraceId},
    role::Role,
    statement::{Statement, Submission},
};
use serde::Serialize;

use super::cast::{Agent, Cast};
use crate::{book::software, error::CommandError, output::Output, world::World};

/// The run in progress.
#[derive(Debug)]
pub(super) struct Session<'a> {
    desk: Desk,
    run: Run,
    registry: &'a [Recorded],
    steps: Vec<Step>,
    world: &'a mut World,
    output: &'a mut Output,
}

/// One event and the bytes it records, if it records any.
#[derive(Debug)]
struct Step {
    recorded: Recorded,
    artifact: Option<Artifact>,
}

/// What a guard said no to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl<'a> Session<'a> {
    /// Returns a run that nothing has opened yet.
    pub(super) fn new(
        desk: Desk,
        cast: &'a Cast,
        world: &'a mut World,
        output: &'a mut Output,
    ) -> Result<Self, CommandError> {
        let run = Run::new(TraceId::new(world.now()?, world));
        Ok(Self { desk, run, registry: &cast.registry, steps: Vec::new(), world, output })
    }

    /// Returns the desk.
    pub(super) const fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Returns the run.
    pub(super) const fn run(&self) -> &Run {
        &self.run
    }

    /// Tells something that is not an event.
    pub(super) fn tell(&mut self, line: &str) -> Result<(), CommandError> {
        self.output.tell(line)
    }

    /// Records what an agent says, and tells it.
    pub(super) fn act(
        &mut self,
        agent: &Agent,
        words: &str,
        facts: impl Into<Facts>,
        content: impl Into<Option<Content>>,
    ) -> Result<Sequence, CommandError> {
        let submission = self.sign(agent, facts, content.into())?;
        let recorded = self.desk.admit(&mut self.run, submission, self.world.now()?)?;
        self.keep(agent.name, agent.author.role(), words, Step { recorded, artifact: None })
    }

    /// Records bytes that an agent stores, and tells it.
    pub(super) fn store(
        &mut self,
        agent: &Agent,
        words: &str,
        (name, media_type): (&str, &str),
        bytes: Vec<u8>,
    ) -> Result<Sequence, CommandError> {
        let size = (bytes.len() as u64).try_into()?;
        let content = ArtifactContent { media_type: media_type.try_into()?, name: name.try_into()?, size };
        let artifact = Artifact::new(bytes, self.world);
        let submission = self.sign(agent, artifact.facts(), Some(Content::ArtifactRecorded(content)))?;
        let recorded = self.desk.admit(&mut self.run, submission, self.world.now()?)?;
        let step = Step { recorded, artifact: Some(artifact) };
        self.keep(agent.name, agent.author.role(), words, step)
    }

    /// Lets an agent try what a guard must refuse, tells the refusal and records it.
    pub(super) fn attempt(
        &mut self,
        agent: &Agent,
        words: &str,
        facts: impl Into<Facts>,
        content: Content,
    ) -> Result<Refusal, CommandError> {
        let submission = self.sign(agent, facts, Some(content))?;
        let command =
            Statement::parse(&submission.statement).map_err(|error| CommandError::bug(&error))?.command;
        let refusal = match self.desk.admit(&mut self.run, submission, self.world.now()?) {
            Err(DeskError::Guard(guard)) => Refusal { code: guard.code(), message: guard.to_string() },
            Err(error) => return Err(error.into()),
            Ok(_) => return Err(CommandError::bug(&"a guard let through what it must refuse")),
        };
        let paint = self.output.paint();
        self.tell(&format!("   -  {} ({}) {words}", agent.name, agent.author.role()))?;
        self.tell(&format!("      {} {}: {}", paint.bad("Refused,"), refusal.code, refusal.message))?;
        let code =
            RefusalCode::try_from(refusal.code.to_owned()).map_err(|error| CommandError::bug(&error))?;
        let facts = CommandRefused { code, command, principal: agent.author.principal() };
        let content = RefusalContent { field: None, message: refusal.message.as_str().try_into()? };
        self.record_refusal(facts, content)?;
        Ok(refusal)
    }

    fn record_refusal(&mut self, facts: CommandRefused, content: RefusalContent) -> Result<(), CommandError> {
        let said = (EventType::CommandRefused, Role::Desk, facts.into());
        let (content, now) = (Content::CommandRefused(content), self.world.now()?);
        let recorded = self.desk.record(&mut self.run, said, &content, None, now, self.world)?;
        let words = "notes the refusal. Nothing else changed.";
        self.keep("the desk", Role::Desk, words, Step { recorded, artifact: None }).map(|_| ())
    }

    /// Returns the export of everything so far, signed by the desk.
    pub(super) fn export(&mut self) -> Result<Vec<u8>, CommandError> {
        let (desk, chain) = (&self.desk, self.run.chain());
        let header =
            Header { format: FORMAT, software: software()?, store: desk.store(), trace: chain.trace() };
        let (mut writer, mut bytes) = ExportWriter::begin(&header)?;
        for Recorded { event, opening } in self.registry {
            bytes.extend(writer.event(event, opening.as_ref())?);
        }
        let head = |chain| desk.head(chain)?.ok_or_else(|| CommandError::bug(&"a trace without events"));
        bytes.extend(writer.head(&head(desk.registry_chain())?)?);
        for Step { recorded: Recorded { event, opening }, artifact } in &self.steps {
            bytes.extend(writer.event(event, opening.as_ref())?);
            if let Some(artifact) = artifact {
                bytes.extend(writer.artifact(event.envelope().sequence, &artifact.bytes, &artifact.salt)?);
            }
        }
        let signed = head(chain)?;
        bytes.extend(writer.head(&signed)?);
        let registry = (signed.document.registry, signed.document.epoch);
        bytes.extend(writer.finish(signed.document.head, registry, self.world.now()?, desk.key())?);
        Ok(bytes)
    }

    /// Returns the newest event.
    pub(super) fn head(&self) -> Result<Position, CommandError> {
        self.run.chain().head().ok_or_else(|| CommandError::bug(&"a run without events"))
    }

    fn sign(
        &mut self,
        agent: &Agent,
        facts: impl Into<Facts>,
        content: Option<Content>,
    ) -> Result<Submission, CommandError> {
        let chain = self.run.chain();
        let (store, trace, seen) = (self.desk.store(), chain.trace(), chain.head());
        let place = Place { store, trace, seen, now: self.world.now()? };
        Ok(agent.author.say(&place, facts, content, self.world)?)
    }

    fn keep(&mut self, who: &str, role: Role, words: &str, step: Step) -> Result<Sequence, CommandError> {
        let at = step.recorded.event.envelope().sequence;
        self.steps.push(step);
        let who = if role == Role::Desk { who.to_owned() } else { format!("{who} ({role})") };
        self.tell(&format!("{:>4}  {who} {words}", at.number()))?;
        Ok(at)
    }
}
