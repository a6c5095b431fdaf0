//! A run at the desk while its story is told: agents speak, and the desk signs and records what they say, or refuses it.

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{self, NoArguments, Nothing, OfTrace},
    run::{AuditRun, AuditedRun, GivenArtifact, OpenRun, SayInRun},
};
use demur_ledger::{
    event_type::{EventType, Facts},
    name::{Sequence, TraceId},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{DemoDesk, cast::Agent};
use crate::{failure::Failure, output::Output};

/// The run in progress.
pub(super) struct Session<'a> {
    desk: &'a DemoDesk,
    trace: TraceId,
    /// How many events there are, as far as the desk has said.
    length: u64,
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
    pub(super) const fn new(desk: &'a DemoDesk, trace: TraceId, output: &'a mut Output) -> Self {
        Self { desk, trace, length: 0, output }
    }

    /// Tells something that is not an event.
    pub(super) fn tell(&mut self, line: &str) -> Result<(), Failure> {
        self.output.tell(line)
    }

    /// Opens the run in the name of its planner, and tells it. The desk records the policy with the opening.
    pub(super) fn open(
        &mut self,
        planner: &Agent,
        (words, policy): (&str, &str),
        run: OpenRun,
    ) -> Result<(), Failure> {
        let run = OpenRun { trace: Some(self.trace), agent: Some(planner.name.try_into()?), ..run };
        self.desk.call(ApiRequest::<operation::OpenRun>::send(NoArguments {}, run))?;
        self.recorded(planner, words, Sequence::FIRST)?;
        self.tell(&format!("{:>4}  the desk records the policy: {policy}", self.length))?;
        self.length += 1;
        Ok(())
    }

    /// Records what an agent says, and tells it.
    pub(super) fn act(
        &mut self,
        agent: &Agent,
        words: &str,
        facts: impl Into<Facts>,
        content: &impl Serialize,
    ) -> Result<Sequence, Failure> {
        let at = self.say(agent, &facts.into(), content)?;
        self.recorded(agent, words, at)
    }

    /// Records what an agent says without words, and tells it.
    pub(super) fn act_bare(
        &mut self,
        agent: &Agent,
        words: &str,
        facts: impl Into<Facts>,
    ) -> Result<Sequence, Failure> {
        let facts = facts.into();
        let kind = facts.event_type().ok_or_else(|| Failure::bug(&"facts of no known type"))?;
        let at = self.send(agent, kind, (&facts, None::<&Value>), None)?;
        self.recorded(agent, words, at)
    }

    /// Records a text that an agent stores, and tells it.
    pub(super) fn store(
        &mut self,
        agent: &Agent,
        words: &str,
        (name, media_type): (&str, &str),
        text: String,
    ) -> Result<Sequence, Failure> {
        let content = json!({ "media_type": media_type, "name": name });
        let artifact = GivenArtifact { text: Some(text), base64: None };
        let at =
            self.send(agent, EventType::ArtifactRecorded, (&json!({}), Some(&content)), Some(artifact))?;
        self.recorded(agent, words, at)
    }

    /// Lets an agent try what a guard must refuse, and tells the refusal, which the desk records by itself.
    pub(super) fn attempt(
        &mut self,
        agent: &Agent,
        words: &str,
        facts: impl Into<Facts>,
        content: &impl Serialize,
    ) -> Result<Refusal, Failure> {
        let refusal = match self.say(agent, &facts.into(), content) {
            Err(Failure::Refused(refusal)) if matches!(refusal.code, Code::Rule(_)) => {
                Refusal { code: refusal.code.as_str(), message: refusal.message }
            }
            Err(error) => return Err(error),
            Ok(_) => return Err(Failure::bug(&"a guard let through what it must refuse")),
        };
        let paint = self.output.paint();
        self.tell(&format!("   -  {} ({}) {words}", agent.name, agent.role))?;
        self.tell(&format!("      {} {}: {}", paint.bad("Refused,"), refusal.code, refusal.message))?;
        let run = self.desk.call(ApiRequest::<operation::ShowRun>::get(self.path(), Nothing {}))?;
        if run.events != self.length + 1 {
            return Err(Failure::bug(&"a refusal left no mark"));
        }
        let words = "the desk notes the refusal. Nothing else changed.";
        self.tell(&format!("{:>4}  {words}", self.length))?;
        Ok(refusal)
    }

    /// Lets the auditor verify the run and close it. The three events that come of it are still to be told.
    pub(super) fn audit(&self, auditor: &Agent) -> Result<AuditedRun, Failure> {
        let wanted = AuditRun { profile: None, agent: Some(auditor.name.try_into()?) };
        self.desk.call(ApiRequest::<operation::AuditRun>::send(self.path(), wanted))
    }

    /// Tells what was recorded, and returns where it stands.
    pub(super) fn recorded(&mut self, agent: &Agent, words: &str, at: Sequence) -> Result<Sequence, Failure> {
        self.length = at.next().number();
        self.tell(&format!("{:>4}  {} ({}) {words}", at.number(), agent.name, agent.role))?;
        Ok(at)
    }

    fn say(&self, agent: &Agent, facts: &Facts, content: &impl Serialize) -> Result<Sequence, Failure> {
        let kind = facts.event_type().ok_or_else(|| Failure::bug(&"facts of no known type"))?;
        self.send(agent, kind, (facts, Some(content)), None)
    }

    fn send(
        &self,
        agent: &Agent,
        kind: EventType,
        (facts, content): (&impl Serialize, Option<&impl Serialize>),
        artifact: Option<GivenArtifact>,
    ) -> Result<Sequence, Failure> {
        let said = SayInRun {
            role: agent.role,
            kind: kind.as_str().try_into()?,
            facts: members(facts)?,
            content: content.map(members).transpose()?,
            artifact,
            agent: Some(agent.name.try_into()?),
        };
        Ok(self.desk.call(ApiRequest::<operation::SayInRun>::send(self.path(), said))?.sequence)
    }

    const fn path(&self) -> OfTrace {
        OfTrace { trace: self.trace }
    }
}

fn members(document: &impl Serialize) -> Result<Map<String, Value>, Failure> {
    let value = serde_json::to_value(document).map_err(|error| Failure::bug(&error))?;
    serde_json::from_value(value).map_err(|error| Failure::bug(&error))
}
