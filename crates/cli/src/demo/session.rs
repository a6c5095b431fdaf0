//! A run at the desk while its story is told: agents sign, the ledger records or refuses, and the store keeps it all.

use demur_engine::reactor::CheckpointAfterRun;
use demur_ledger::{
    author::{Artifact, Place},
    content::ArtifactContent,
    event_type::{Content, Facts},
    name::{Position, Sequence, StoreId, TraceId},
    statement::Submission,
};
use demur_sequencer::{Sequencer, SequencerError};
use demur_store::contract::TraceSummary;
use serde::Serialize;

use super::cast::Agent;
use crate::{failure::Failure, output::Output, owner::Owner, roster::software, world::World};

/// The run in progress.
pub(super) struct Session<'a> {
    ledger: &'a Sequencer,
    trace: TraceId,
    /// The newest event: what every author has seen.
    head: Option<Position>,
    world: World,
    output: &'a mut Output,
}

/// What a guard said no to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl<'a> Session<'a> {
    /// Returns a run that nothing has opened yet.
    pub(super) fn new(owner: &'a Owner, mut world: World, output: &'a mut Output) -> Result<Self, Failure> {
        let trace = TraceId::new(world.now()?, &mut world);
        Ok(Self { ledger: owner.ledger(), trace, head: None, world, output })
    }

    /// Returns the trace of the run.
    pub(super) const fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the store it is in.
    pub(super) fn store_id(&self) -> StoreId {
        self.ledger.registry().store()
    }

    /// Returns what the store's list of traces shows of it.
    pub(super) fn summary(&self) -> Result<TraceSummary, Failure> {
        let summary = self.ledger.store().trace(self.trace)?;
        summary.ok_or_else(|| SequencerError::TraceUnknown { trace: self.trace }.into())
    }

    /// Tells something that is not an event.
    pub(super) fn tell(&mut self, line: &str) -> Result<(), Failure> {
        self.output.tell(line)
    }

    /// Records what an agent says, and tells it.
    pub(super) fn act(
        &mut self,
        agent: &Agent,
        words: &str,
        facts: impl Into<Facts>,
        content: impl Into<Option<Content>>,
    ) -> Result<Sequence, Failure> {
        let submission = self.sign(agent, facts, content.into())?;
        self.submit(agent, words, submission, None)
    }

    /// Records bytes that an agent stores, and tells it.
    pub(super) fn store(
        &mut self,
        agent: &Agent,
        words: &str,
        (name, media_type): (&str, &str),
        bytes: Vec<u8>,
    ) -> Result<Sequence, Failure> {
        let size = (bytes.len() as u64).try_into()?;
        let content = ArtifactContent { media_type: media_type.try_into()?, name: name.try_into()?, size };
        let artifact = Artifact::new(bytes, &mut self.world);
        let submission = self.sign(agent, artifact.facts(), Some(Content::ArtifactRecorded(content)))?;
        self.submit(agent, words, submission, Some(&artifact))
    }

    /// Lets an agent try what a guard must refuse, and tells the refusal, which the ledger records by itself.
    pub(super) fn attempt(
        &mut self,
        agent: &Agent,
        words: &str,
        facts: impl Into<Facts>,
        content: Content,
    ) -> Result<Refusal, Failure> {
        let submission = self.sign(agent, facts, Some(content))?;
        let refusal = match self.ledger.submit(submission, None) {
            Err(SequencerError::Refused(refusal)) => Refusal { code: refusal.code, message: refusal.message },
            Err(error) => return Err(error.into()),
            Ok(_) => return Err(Failure::bug(&"a guard let through what it must refuse")),
        };
        let paint = self.output.paint();
        self.tell(&format!("   -  {} ({}) {words}", agent.name, agent.author.role()))?;
        self.tell(&format!("      {} {}: {}", paint.bad("Refused,"), refusal.code, refusal.message))?;
        let (before, now) = (self.head, self.summary()?.head);
        if before == Some(now) {
            return Err(Failure::bug(&"a refusal left no mark"));
        }
        self.head = Some(now);
        let words = "the desk notes the refusal. Nothing else changed.";
        self.tell(&format!("{:>4}  {words}", now.sequence.number()))?;
        Ok(refusal)
    }

    /// Lets the desk do what a run that has ended asks for elsewhere: it fixes the set of all traces.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        match self.ledger.react(&CheckpointAfterRun)? {
            1 => {
                self.tell("\nThe desk records a checkpoint: it fixes every trace of the store as it is now.")
            }
            _ => Err(Failure::bug(&"a run that ended asked for one checkpoint")),
        }
    }

    /// Returns the export of everything so far, signed by the desk.
    pub(super) fn export(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.ledger.export(self.trace, software()?, &mut bytes, &mut |_| ())?;
        Ok(bytes)
    }

    /// Returns the newest event.
    pub(super) fn head(&self) -> Result<Position, Failure> {
        self.head.ok_or_else(|| Failure::bug(&"a run without events"))
    }

    fn sign(
        &mut self,
        agent: &Agent,
        facts: impl Into<Facts>,
        content: Option<Content>,
    ) -> Result<Submission, Failure> {
        let (store, now) = (self.store_id(), self.world.now()?);
        let place = Place { store, trace: self.trace, seen: self.head, now };
        Ok(agent.author.say(&place, facts, content, &mut self.world)?)
    }

    fn submit(
        &mut self,
        agent: &Agent,
        words: &str,
        submission: Submission,
        artifact: Option<&Artifact>,
    ) -> Result<Sequence, Failure> {
        let position = self.ledger.submit(submission, artifact)?.position;
        self.head = Some(position);
        let (at, who, role) = (position.sequence, agent.name, agent.author.role());
        self.tell(&format!("{:>4}  {who} ({role}) {words}", at.number()))?;
        Ok(at)
    }
}
