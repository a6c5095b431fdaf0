//! What a tool of a run says in the end: what was recorded, where the run stands, and who can do what next.

use demur_api::{
    call::ApiRequest,
    operation::{self, Nothing, OfTrace, ShowRun},
    refusal::Refusal,
    run::{AuditedRun, GivenArtifact, Next, RunAct, RunStanding, SayInRun},
};
use demur_core::{limit::Text, visible::visible};
use demur_ledger::{
    event_type::EventType,
    facts::VerificationStatus,
    name::{Sequence, TraceId},
    role::Role,
    state::Phase,
};
use rmcp::model::CallToolResponse;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::statement::ArtifactContent;
use crate::{
    host::CallerConnection,
    new_names::NewNames,
    reply::{self, Stop},
    tool_call::ToolCall,
    tools::{self, Job, RunJob},
};

/// Where a run stands after a call. Its schema is paid for with each of ten tools: what is always there goes without saying.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(default)]
pub(crate) struct Progress {
    trace: String,
    events: Vec<u64>,
    phase: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    verdict: Option<String>,
    next: String,
}

/// One call of a tool: what it has recorded so far.
pub(super) struct Turn<'a, C> {
    call: &'a ToolCall<'a, C>,
    trace: TraceId,
    events: Events,
}

/// What was recorded: types and numbers.
type Events = Vec<(&'static str, Sequence)>;

impl<'a, C: CallerConnection> Turn<'a, C> {
    pub(super) const fn new(call: &'a ToolCall<'a, C>, trace: TraceId) -> Self {
        Self { call, trace, events: Vec::new() }
    }

    /// Returns where the run stands.
    pub(super) async fn standing(&self) -> Result<RunStanding, Stop> {
        let request = ApiRequest::<ShowRun>::get(OfTrace { trace: self.trace }, Nothing {});
        Ok(self.call.visitor.ask(request).await?)
    }

    /// Says something in a role, and returns the number of the event.
    pub(super) async fn say(
        &mut self,
        role: Role,
        kind: EventType,
        facts: &impl Serialize,
        content: &impl Serialize,
    ) -> Result<Sequence, Stop> {
        let (facts, content) = (members(facts)?, members(content)?);
        self.send(role, kind, facts, Some(content), None).await
    }

    /// Says something that has no content, and returns the number of the event.
    pub(super) async fn say_bare(
        &mut self,
        role: Role,
        kind: EventType,
        facts: &impl Serialize,
    ) -> Result<Sequence, Stop> {
        self.send(role, kind, members(facts)?, None, None).await
    }

    /// Records a text as artifact, and returns the number of the event.
    pub(super) async fn store(&mut self, name: &str, media_type: &str, text: &str) -> Result<Sequence, Stop> {
        let content = members(&ArtifactContent { name, media_type })?;
        let artifact = GivenArtifact { text: Some(text.to_owned()), base64: None };
        self.send(Role::Executor, EventType::ArtifactRecorded, Map::new(), Some(content), Some(artifact))
            .await
    }

    async fn send(
        &mut self,
        role: Role,
        kind: EventType,
        facts: Map<String, Value>,
        content: Option<Map<String, Value>>,
        artifact: Option<GivenArtifact>,
    ) -> Result<Sequence, Stop> {
        let name = Text::try_from(kind.as_str()).map_err(|error| Refusal::bug(&error))?;
        let body = SayInRun { role, kind: name, facts, content, artifact, agent: None };
        let request = ApiRequest::<operation::SayInRun>::send(OfTrace { trace: self.trace }, body);
        let recorded = self.call.visitor.ask(request.under(NewNames::open()?.key()?)).await?;
        self.events.push((kind.as_str(), recorded.sequence));
        Ok(recorded.sequence)
    }

    /// Returns what the client is told.
    pub(super) async fn end(self) -> Result<CallToolResponse, Stop> {
        let standing = self.standing().await?;
        Ok(told(&standing, self.events, None))
    }
}

/// Returns what whoever opened a run is told: the policy is recorded with the opening.
pub(super) fn opened(standing: &RunStanding) -> CallToolResponse {
    let opening = (EventType::SessionInitialized.as_str(), Sequence::FIRST);
    let policy = (EventType::PolicyRecorded.as_str(), Sequence::FIRST.next());
    told(standing, vec![opening, policy], None)
}

/// Returns what the auditor is told.
pub(super) fn audited(audited: &AuditedRun) -> CallToolResponse {
    let events = audited.events.iter().map(|event| ("verification", *event)).collect();
    told(&audited.run, events, Some(audited.status))
}

/// Returns what an operator is told who has ended a run.
pub(super) fn aborted(trace: TraceId) -> CallToolResponse {
    let (trace, phase) = (trace.to_string(), Phase::Aborted.to_string());
    let next = OVER.to_owned();
    let words =
        format!("Recorded in {trace}: {}.\nPhase: {phase}.\nNext: {next}.", EventType::SessionAborted);
    reply::with(&Progress { trace, events: Vec::new(), phase, verdict: None, next }, words).into()
}

fn told(standing: &RunStanding, events: Events, verdict: Option<VerificationStatus>) -> CallToolResponse {
    let word = |status| Some(serde_json::to_value(status).ok()?.as_str()?.to_owned());
    let verdict: Option<String> = verdict.and_then(word);
    let mut lines = Vec::new();
    if !events.is_empty() {
        let events: Vec<_> = events.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
        lines.push(format!("Recorded in {}: {}.", standing.trace, events.join(", ")));
    }
    lines.extend(verdict.as_ref().map(|verdict| format!("Verdict: {verdict}.")));
    lines.push(format!("Phase: {}.", standing.phase));
    let next = next(standing);
    lines.push(format!("Next: {next}."));
    let progress = Progress {
        trace: standing.trace.to_string(),
        events: events.into_iter().map(|(_, event)| event.number()).collect(),
        phase: standing.phase.to_string(),
        verdict,
        next,
    };
    reply::with(&progress, lines.join("\n")).into()
}

/// Returns who can do what next, in a few words.
pub(super) fn next(standing: &RunStanding) -> String {
    let mut parts: Vec<_> = standing.next.iter().map(line).collect();
    parts.extend(standing.questions.iter().map(|id| format!("question {id} waits for its answer")));
    if parts.is_empty() { OVER.to_owned() } else { parts.join("; ") }
}

fn line(next: &Next) -> String {
    let numbers: Vec<_> = next.events.iter().take(MAX_NAMED_EVENTS).map(ToString::to_string).collect();
    let about = if numbers.is_empty() { String::new() } else { format!(" {}", numbers.join(", ")) };
    format!("{} ({}): {}{about}", visible(&next.agent), next.role, tools::name_of(Job::Play(job(next.act))))
}

/// Returns the tool that does something.
const fn job(act: RunAct) -> RunJob {
    match act {
        RunAct::Propose => RunJob::Propose,
        RunAct::Review => RunJob::Review,
        RunAct::Intend => RunJob::Intend,
        RunAct::Start => RunJob::Start,
        RunAct::Report => RunJob::Report,
        RunAct::Claim => RunJob::Claim,
        // Closing a challenge is done with the tool that raised it, and so is judging a condition.
        RunAct::Challenge | RunAct::Resolve | RunAct::Judge => RunJob::Challenge,
        RunAct::Conclude => RunJob::Conclude,
        RunAct::Audit => RunJob::AuditRun,
    }
}

/// Returns the members of a document.
fn members(document: &impl Serialize) -> Result<Map<String, Value>, Refusal> {
    match serde_json::to_value(document) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(Refusal::bug(&"expected a document with members")),
        Err(error) => Err(Refusal::bug(&error)),
    }
}

/// What is left to do in a run that is over.
const OVER: &str = "nothing, the run is over";
/// How many events are named.
const MAX_NAMED_EVENTS: usize = 8;
