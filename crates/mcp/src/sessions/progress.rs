//! What a tool of a run says in the end: what was recorded, where the run stands, and who can do what next.

use demur_api::run::{Act, Next, RunStanding};
use demur_core::visible::visible;
use demur_ledger::name::TraceId;
use rmcp::model::CallToolResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    api::{self, Call},
    fresh::Fresh,
    reply::{self, Stop},
    visit::Visit,
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
pub(super) struct Turn<'a> {
    visit: &'a Visit<'a>,
    trace: TraceId,
    events: Events,
}

/// What was recorded: types and numbers.
type Events = Vec<(String, u64)>;

/// What came of something that was said.
#[derive(Deserialize)]
struct Recorded {
    sequence: u64,
}

impl<'a> Turn<'a> {
    pub(super) const fn new(visit: &'a Visit<'a>, trace: TraceId) -> Self {
        Self { visit, trace, events: Vec::new() }
    }

    /// Returns where the run stands.
    pub(super) async fn standing(&self) -> Result<RunStanding, Stop> {
        Ok(self.visit.visitor.call(Call::get(format!("/v1/runs/{}", self.trace))).await?)
    }

    /// Says something in a role, and returns the number of the event.
    pub(super) async fn say(
        &mut self,
        role: &str,
        kind: &str,
        facts: Value,
        content: Value,
    ) -> Result<u64, Stop> {
        self.send(kind, &json!({"role": role, "type": kind, "facts": facts, "content": content})).await
    }

    /// Records a text as artifact, and returns the number of the event.
    pub(super) async fn store(&mut self, name: &str, media_type: &str, text: &str) -> Result<u64, Stop> {
        let content = json!({"name": name, "media_type": media_type});
        let kind = "artifact_recorded";
        let body = json!({"role": "executor", "type": kind, "content": content, "artifact": {"text": text}});
        self.send(kind, &body).await
    }

    async fn send(&mut self, kind: &str, body: &Value) -> Result<u64, Stop> {
        let call = Call::post(format!("/v1/runs/{}/events", self.trace), body).under(Fresh::open()?.key());
        let recorded: Recorded = self.visit.visitor.call(call).await?;
        self.events.push((kind.to_owned(), recorded.sequence));
        Ok(recorded.sequence)
    }

    /// Returns what the client is told.
    pub(super) async fn end(self) -> Result<CallToolResponse, Stop> {
        let standing = self.standing().await?;
        Ok(told(&standing, self.events, None))
    }
}

/// Returns what whoever opened a run is told.
pub(super) fn opened(standing: &RunStanding) -> CallToolResponse {
    told(standing, vec![("session_initialized".to_owned(), 0)], None)
}

/// Returns what the auditor is told.
pub(super) fn audited(audited: &Value) -> Result<CallToolResponse, Stop> {
    let standing = RunStanding::deserialize(&audited["run"]).map_err(|error| api::unreadable(&error))?;
    let events = audited["events"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let events = events.map(|event| ("verification".to_owned(), event)).collect();
    Ok(told(&standing, events, audited["status"].as_str()))
}

fn told(standing: &RunStanding, events: Events, verdict: Option<&str>) -> CallToolResponse {
    let mut lines = Vec::new();
    if !events.is_empty() {
        let events: Vec<_> = events.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
        lines.push(format!("Recorded in {}: {}.", standing.trace, events.join(", ")));
    }
    lines.extend(verdict.map(|verdict| format!("Verdict: {verdict}.")));
    lines.push(format!("Phase: {}.", standing.phase));
    let next = next(standing);
    lines.push(format!("Next: {next}."));
    let progress = Progress {
        trace: standing.trace.to_string(),
        events: events.into_iter().map(|(_, number)| number).collect(),
        phase: standing.phase.to_string(),
        verdict: verdict.map(str::to_owned),
        next,
    };
    reply::with(&progress, lines.join("\n")).into()
}

/// Returns who can do what next, in a few words.
pub(super) fn next(standing: &RunStanding) -> String {
    let mut parts: Vec<_> = standing.next.iter().map(line).collect();
    parts.extend(standing.questions.iter().map(|id| format!("question {id} waits for its answer")));
    if parts.is_empty() { "nothing, the run is over".to_owned() } else { parts.join("; ") }
}

fn line(next: &Next) -> String {
    // Closing a challenge is done with the tool that raised it.
    let tool = if next.act == Act::Resolve { "challenge" } else { next.act.as_str() };
    let numbers: Vec<_> = next.events.iter().take(MAX_NAMED_EVENTS).map(ToString::to_string).collect();
    let about = if numbers.is_empty() { String::new() } else { format!(" {}", numbers.join(", ")) };
    format!("{} ({}): session_{tool}{about}", visible(&next.agent), next.role)
}

/// How many events are named.
const MAX_NAMED_EVENTS: usize = 8;
