//! A trace as people read it: who said what, why, on what it rests, and where the run stands after it. Words only;
//! what holds and what does not is the verifier's to say.

mod clients;
mod detail;
mod ending;
mod entry;
mod in_play;
mod label;
mod recall;
mod sentence;
mod words;

use std::collections::BTreeMap;

pub use detail::Detail;
pub use ending::ExecutionEnding;
pub use entry::{Dispute, Entry, Execution, Named, Opening, Participant, ProposalPlan, Step};

pub(crate) use self::{recall::Recall, words::Words};

use self::{clients::Clients, in_play::InPlay};
use crate::{
    content::{PolicySandbox, PolicyTools},
    envelope::Event,
    event_type::{Content, Facts},
    export::{Line, LineError},
    facts::SessionInitialized,
    meaning::Known,
    name::{PrincipalId, Sequence, TraceId},
    registry::Registry,
    role::Role,
    state::Phase,
    trace_state::TraceState,
};

/// Reads the lines of an export one after the other and puts the events of its trace into words. It keeps what the
/// state keeps, and the names of the newest artifacts and tools.
#[derive(Debug)]
pub struct Timeline {
    trace: Option<TraceId>,
    names: BTreeMap<PrincipalId, String>,
    clients: Clients,
    /// The state of the run; none once it cannot be followed, or in the trace of the registry.
    state: Option<TraceState>,
    recall: Recall,
    in_play: InPlay,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            trace: None,
            names: BTreeMap::new(),
            clients: Clients::default(),
            state: Some(TraceState::default()),
            recall: Recall::default(),
            in_play: InPlay::default(),
        }
    }
}

impl Timeline {
    /// Returns a timeline that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a timeline of events that come with names from elsewhere, from the first of their trace on.
    pub fn with_names(names: BTreeMap<PrincipalId, String>) -> Self {
        Self { names, ..Self::default() }
    }

    /// Returns a timeline of events out of the middle of a trace: where the run stands is not told.
    pub fn without_state(names: BTreeMap<PrincipalId, String>) -> Self {
        Self { names, state: None, ..Self::default() }
    }

    /// Returns the timeline that tells which clients took part, as this registry says.
    #[must_use]
    pub fn with_clients_of(mut self, registry: &Registry) -> Self {
        self.clients = Clients::of(registry);
        self
    }

    /// Takes the next event; returns its entry, unless envelope and statement leave open what it says.
    pub fn take(&mut self, event: &Event, content: Option<Content>) -> Option<Entry> {
        self.learn(event, content.as_ref());
        self.tell(event, content)
    }

    /// Reads one line without its line feed; returns the entry if it is an event of the exported trace.
    pub fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, LineError> {
        let line = match Line::parse(line)? {
            Line::Header(header) => {
                self.trace = Some(header.trace);
                return Ok(None);
            }
            Line::Event(line) => line,
            _ => return Ok(None),
        };
        let event = line.event()?;
        let content = content(&event, line.content()?);
        self.learn(&event, content.as_ref());
        if self.trace != Some(event.envelope().trace) {
            return Ok(None);
        }
        Ok(self.tell(&event, content))
    }

    /// Returns where the run stands after what was read; none where that cannot be said.
    pub fn phase(&self) -> Option<Phase> {
        self.state.as_ref().and_then(TraceState::phase)
    }

    /// The registry comes first and gives the names.
    fn learn(&mut self, event: &Event, content: Option<&Content>) {
        self.clients.learn(event, content);
        let name = match content {
            Some(Content::StoreCreated(_)) => "the desk".to_owned(),
            Some(Content::KeyRegistered(content)) => content.name.to_string(),
            _ => return,
        };
        self.names.entry(event.envelope().actor).or_insert(name);
    }

    fn tell(&mut self, event: &Event, content: Option<Content>) -> Option<Entry> {
        let facts = event.said().ok()?.facts;
        let at = event.envelope().sequence;
        let mut entry = self.entry(event, content.as_ref())?;
        entry.phase = self.follow(event);
        entry.claims = self.in_play.cited(facts);
        if self.state.is_some() {
            self.in_play.take(at, facts, entry.why.as_deref());
            entry.disputed = self.in_play.disputed(at, facts, &entry.claims);
        }
        let words = content.and_then(Words::of);
        entry.ending = ending(facts, words.as_ref());
        self.recall.take(at, facts, words);
        Some(entry)
    }

    /// Folds the event into the state; returns where that leads, unless the state is lost.
    fn follow(&mut self, event: &Event) -> Option<Step> {
        let state = self.state.as_mut()?;
        let from = state.phase();
        if event.agree().is_err() || state.follow(event, Known::NOTHING).is_err() {
            self.state = None;
            return None;
        }
        // Only a run has phases; before its first event it is initialized.
        state.phase().map(|to| Step { from: from.unwrap_or(Phase::Initialized), to })
    }

    /// Returns the entry without what only the state tells.
    fn entry(&self, event: &Event, content: Option<&Content>) -> Option<Entry> {
        let said = event.said().ok()?;
        let facts = said.facts;
        let envelope = event.envelope();
        let mut cites = Vec::new();
        facts.cites(&mut |cited| cites.push(cited));
        // What a person did is the desk's word, and still not the desk's act.
        let who = match said.role {
            Role::Person => Some(person(content)),
            _ => self.names.get(&envelope.actor).cloned(),
        };
        let rests = Rests::of(facts);
        Some(Entry {
            sequence: envelope.sequence,
            time: envelope.time,
            who: who.unwrap_or_else(|| envelope.actor.to_string()),
            role: said.role.as_str(),
            signed: envelope.proof.key().is_some(),
            kind: said.kind.to_string(),
            what: sentence::what(facts, content, &self.recall),
            why: content.and_then(sentence::why),
            cites,
            phase: None,
            opening: match facts {
                Facts::SessionInitialized(facts) => Some(self.opening(facts, content)),
                _ => None,
            },
            rules: rules(content),
            plan: plan(content),
            conditions: match content {
                Some(Content::ProposalReviewed(content)) => texts(&content.conditions),
                _ => Vec::new(),
            },
            meets: match facts {
                Facts::ToolIntentSigned(facts) => facts.meets.iter().map(|number| number.as_u64()).collect(),
                _ => Vec::new(),
            },
            tool: self.tool(facts, content),
            limits: match content {
                Some(Content::ToolExecutionStarted(content)) => texts(&content.limits),
                _ => Vec::new(),
            },
            input: rests.input.map(|at| self.artifact(at)),
            ending: None,
            outputs: rests.outputs.iter().map(|at| self.artifact(*at)).collect(),
            confidence: match content {
                Some(Content::ClaimIssued(claim) | Content::ClaimRevised(claim)) => {
                    Some(claim.confidence.as_u64())
                }
                _ => None,
            },
            evidence: rests.evidence.iter().map(|at| self.artifact(*at)).collect(),
            executions: rests.executions.iter().map(|at| self.recall.execution(*at)).collect(),
            claims: Vec::new(),
            disputed: Vec::new(),
        })
    }

    fn opening(&self, facts: &SessionInitialized, content: Option<&Content>) -> Opening {
        let content = match content {
            Some(Content::SessionInitialized(content)) => Some(content),
            _ => None,
        };
        let participant = |one: &crate::facts::Participant| Participant {
            name: self.names.get(&one.principal).cloned(),
            principal: one.principal,
            role: one.role,
            client: self.clients.words(one.principal),
        };
        Opening {
            task: content.map(|content| content.task.to_string()),
            constraints: content.map(|content| texts(&content.constraints)).unwrap_or_default(),
            participants: facts.participants.iter().map(participant).collect(),
            policy: facts.policy,
        }
    }

    fn tool(&self, facts: &Facts, content: Option<&Content>) -> Option<String> {
        let tool = match (facts, content) {
            (Facts::ToolIntentSigned(_), Some(Content::ToolIntentSigned(content))) => Some(&*content.tool),
            (Facts::ToolIntentReviewed(facts), _) => self.recall.tool(facts.intent),
            (Facts::ToolExecutionStarted(facts), _) => self.recall.tool(facts.intent),
            (Facts::ToolExecutionCompleted(facts), _) => self.recall.tool_started(facts.started),
            (Facts::ToolExecutionFailed(facts), _) => self.recall.tool_started(facts.started),
            _ => None,
        };
        tool.map(str::to_owned)
    }

    fn artifact(&self, at: Sequence) -> Named {
        Named { sequence: at, name: self.recall.artifact(at).map(str::to_owned) }
    }
}

/// The artifacts and executions that facts refer to.
#[derive(Default)]
struct Rests<'a> {
    input: Option<Sequence>,
    outputs: &'a [Sequence],
    evidence: &'a [Sequence],
    executions: &'a [Sequence],
}

impl<'a> Rests<'a> {
    fn of(facts: &'a Facts) -> Self {
        let none = Self::default();
        match facts {
            Facts::ToolExecutionStarted(facts) => Self { input: facts.input, ..none },
            Facts::ToolExecutionCompleted(facts) => Self { outputs: &facts.outputs, ..none },
            Facts::ToolExecutionFailed(facts) => Self { outputs: &facts.outputs, ..none },
            Facts::ClaimIssued(facts) => {
                Self { evidence: &facts.evidence, executions: &facts.executions, ..none }
            }
            Facts::ClaimRevised(facts) => {
                Self { evidence: &facts.evidence, executions: &facts.executions, ..none }
            }
            Facts::ConditionJudged(facts) => Self { evidence: &facts.evidence, ..none },
            _ => none,
        }
    }
}

/// Returns who the desk says it was.
fn person(content: Option<&Content>) -> String {
    let named = match content {
        Some(Content::QuestionAnswered(content) | Content::AnswerSuperseded(content)) => &content.by,
        Some(
            Content::GapAccepted(content)
            | Content::AnswerRevoked(content)
            | Content::QuestionDeclined(content)
            | Content::PlanWithdrawn(content)
            | Content::QuestionPassedOn(content),
        ) => &content.by,
        Some(Content::ConfirmationGiven(content)) => &content.by,
        Some(Content::ConfirmationRefused(content)) => &content.by,
        _ => &None,
    };
    named.as_ref().map_or_else(|| "somebody".to_owned(), ToString::to_string)
}

fn content(event: &Event, bytes: Option<&[u8]>) -> Option<Content> {
    let kind = event.said().ok()?.facts.event_type()?;
    Content::parse(kind, bytes?).ok()
}

fn ending(facts: &Facts, words: Option<&Words>) -> Option<ExecutionEnding> {
    match facts {
        Facts::ToolExecutionCompleted(_) => Some(ExecutionEnding::new(None, words)),
        Facts::ToolExecutionFailed(facts) => Some(ExecutionEnding::new(Some(facts.failure), words)),
        _ => None,
    }
}

/// Returns what a policy says of clients and of each tool.
fn rules(content: Option<&Content>) -> Vec<String> {
    let Some(Content::PolicyRecorded(content)) = content else { return Vec::new() };
    let document = &content.document;
    let clients = document.distinct_clients.then(|| "no client may both do the work and judge it".to_owned());
    let tools = document.tools.as_ref().into_iter().flat_map(PolicyTools::iter).map(|(name, tool)| {
        let programs = match &tool.programs[..] {
            [] => name.to_string(),
            programs => texts(programs).join(", "),
        };
        let confirmed = if tool.confirm { ", confirmed by a person each time" } else { "" };
        format!("{name} at {} risk or more, starting {programs}{confirmed}", tool.risk.as_str())
    });
    let sandbox = document.sandbox.map(PolicySandbox::words).unwrap_or_default();
    clients.into_iter().chain(sandbox.into_iter().map(str::to_owned)).chain(tools).collect()
}

fn plan(content: Option<&Content>) -> Option<ProposalPlan> {
    let Some(Content::ProposalCreated(content)) = content else { return None };
    Some(ProposalPlan {
        assumptions: texts(&content.assumptions),
        expected_evidence: texts(&content.expected_evidence),
        required_tools: texts(&content.required_tools),
    })
}

fn texts(list: &[impl ToString]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}
