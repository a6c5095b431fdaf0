//! The order of events in a session (4.5, appendix A): what is wrong with the next one, given those before it.
//!
//! A [`SessionSequence`] is a value, like a prompt. It reports faults and refuses nothing: a few faults make an event useless, the others
//! concern its producer alone. Dropping the end of a session because a tool was left open would leave every subscriber waiting.

mod fault;

use std::collections::{BTreeMap, BTreeSet};

use demur_core::{
    hash::{Digest, sha256},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::{
    event::AgentEvent,
    form::{ReplyToken, SessionId, ToolCallId, ToolName},
    payload::{OutputStreaming, Payload, StateChanged, StateName, ToolCompleted, ToolInvoked},
    prompt::PromptCancellation,
};

pub use fault::SequenceFault;

/// What is known of a session from its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSequence {
    session: SessionId,
    /// When the last event was made; none before the first.
    last: Option<Timestamp>,
    /// The number of the next event, where they have numbers.
    next_number: Option<u64>,
    state: Option<StateName>,
    /// Calls that have not ended.
    calls: Vec<OpenCall>,
    /// Every name that a call had.
    call_ids: BTreeSet<ToolCallId>,
    /// Outputs by their ids; the one without has an empty one.
    outputs: BTreeMap<String, OutputPlace>,
    /// Open prompts; for a confirmation with the hash of its action.
    prompts: BTreeMap<ReplyToken, Option<Digest>>,
    /// How many actions were allowed and not yet done.
    allowed: u32,
    has_ended: bool,
}

/// A call that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenCall {
    tool: ToolName,
    id: Option<ToolCallId>,
}

/// How far an output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputPlace {
    next: u64,
    is_complete: bool,
}

/// The result of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceStep {
    /// What is wrong with it.
    pub faults: Vec<SequenceFault>,
    /// Which prompts it ends, and why.
    pub cancelled: Vec<(ReplyToken, PromptCancellation)>,
}

impl SessionSequence {
    /// Returns a session before its first event.
    pub const fn new(session: SessionId) -> Self {
        Self {
            session,
            last: None,
            next_number: None,
            state: None,
            calls: Vec::new(),
            call_ids: BTreeSet::new(),
            outputs: BTreeMap::new(),
            prompts: BTreeMap::new(),
            allowed: 0,
            has_ended: false,
        }
    }

    /// Returns the session.
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns what the agent does, by its last word; `idle` before the first.
    pub fn state(&self) -> &str {
        self.state.as_deref().unwrap_or(IDLE)
    }

    /// Returns whether the session has ended.
    pub const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the number that the next event of the session has; none where its events have none.
    pub const fn next_number(&self) -> Option<u64> {
        self.next_number
    }

    /// Returns the tokens of the prompts that are open.
    pub fn open_prompts(&self) -> impl Iterator<Item = &ReplyToken> {
        self.prompts.keys()
    }

    /// Takes the next event. After a fault that is fatal nothing has changed.
    pub fn apply(&mut self, event: &AgentEvent) -> SequenceStep {
        let mut faults = self.order_faults(event);
        if faults.iter().any(SequenceFault::is_fatal) {
            return SequenceStep { faults, cancelled: Vec::new() };
        }
        let mut cancelled = Vec::new();
        match &event.payload {
            Payload::SessionCancelled(_) => {
                cancelled = self.end(PromptCancellation::SessionCancelled, &mut faults);
            }
            Payload::SessionCompleted(_) | Payload::SessionErrored(_) => {
                cancelled = self.end(PromptCancellation::SessionEnded, &mut faults);
            }
            Payload::StateChanged(state) => cancelled = self.change_state(state, &mut faults),
            Payload::ToolInvoked(call) => self.invoke(call, &mut faults),
            Payload::ToolCompleted(call) => self.complete(call, &mut faults),
            Payload::OutputStreaming(output) => self.stream(output, &mut faults),
            Payload::AwaitingConfirmation(prompt) => {
                let action = sha256(prompt.action.as_bytes());
                if self.prompts.values().any(|open| *open == Some(action)) {
                    faults.push(SequenceFault::SameAction);
                }
                self.ask(&prompt.reply_token, Some(action), &mut faults);
            }
            Payload::AwaitingClarification(prompt) => self.ask(&prompt.reply_token, None, &mut faults),
            Payload::SessionStarted(_)
            | Payload::ProgressUpdated(_)
            | Payload::HandoffRequested(_)
            | Payload::Extension(_) => {}
        }
        let time = event.envelope.timestamp.as_timestamp();
        self.last = self.last.max(Some(time));
        self.next_number = event.envelope.sequence_number.map(|number| number.as_u64() + 1);
        SequenceStep { faults, cancelled }
    }

    /// Takes note that a prompt was resolved; of a confirmation, whether its action was allowed.
    pub fn resolved(&mut self, token: &ReplyToken, is_allowed: bool) {
        if self.prompts.remove(token).flatten().is_some() && is_allowed {
            self.allowed += 1;
        }
    }

    fn order_faults(&self, event: &AgentEvent) -> Vec<SequenceFault> {
        let mut faults = Vec::new();
        let is_start = matches!(event.payload, Payload::SessionStarted(_));
        if event.envelope.session_id != self.session {
            faults.push(SequenceFault::OtherSession);
        } else if self.has_ended {
            faults.push(SequenceFault::Ended);
        } else if is_start && self.last.is_some() {
            faults.push(SequenceFault::StartedTwice);
        } else if !is_start && self.last.is_none() {
            faults.push(SequenceFault::NotStarted);
        }
        let time = event.envelope.timestamp.as_timestamp();
        if self.last.is_some_and(|last| time < last) {
            faults.push(SequenceFault::TimeBack);
        }
        let number = event.envelope.sequence_number.map(crate::number::Position::as_u64);
        match (self.last, self.next_number, number) {
            (None, _, Some(found)) if found != 0 => {
                faults.push(SequenceFault::Number { expected: 0, found });
            }
            (Some(_), Some(expected), Some(found)) if expected != found => {
                faults.push(SequenceFault::Number { expected, found });
            }
            (Some(_), Some(_), None) | (Some(_), None, Some(_)) => faults.push(SequenceFault::NumberMixed),
            _ => {}
        }
        faults
    }

    fn end(
        &mut self,
        reason: PromptCancellation,
        faults: &mut Vec<SequenceFault>,
    ) -> Vec<(ReplyToken, PromptCancellation)> {
        if !self.calls.is_empty() {
            faults.push(SequenceFault::ToolOpen);
        }
        if self.outputs.values().any(|output| !output.is_complete) {
            faults.push(SequenceFault::OutputOpen);
        }
        self.has_ended = true;
        self.cancel_all(reason)
    }

    /// An agent that goes back to thinking and says why no longer waits (6.8).
    fn change_state(
        &mut self,
        change: &StateChanged,
        faults: &mut Vec<SequenceFault>,
    ) -> Vec<(ReplyToken, PromptCancellation)> {
        if self.state() != change.from_state.as_str() {
            faults.push(SequenceFault::StateChain {
                expected: self.state().to_owned(),
                found: change.from_state.as_str().to_owned(),
            });
        }
        let (from, to) = (change.from_state.as_str(), change.to_state.as_str());
        if from == CALLING_TOOL && to != CALLING_TOOL && !self.calls.is_empty() {
            faults.push(SequenceFault::ToolOpen);
        }
        self.state = Some(change.to_state.clone());
        let says_why = change.summary_normal.is_some() || change.summary_terse.is_some();
        if from == AWAITING_INPUT && matches!(to, "thinking" | "deciding") && says_why {
            return self.cancel_all(PromptCancellation::Superseded);
        }
        Vec::new()
    }

    fn cancel_all(&mut self, reason: PromptCancellation) -> Vec<(ReplyToken, PromptCancellation)> {
        std::mem::take(&mut self.prompts).into_keys().map(|token| (token, reason)).collect()
    }

    fn invoke(&mut self, call: &ToolInvoked, faults: &mut Vec<SequenceFault>) {
        if call.irreversible == Some(true) {
            match self.allowed.checked_sub(1) {
                Some(left) => self.allowed = left,
                None => faults.push(SequenceFault::Unconfirmed),
            }
        }
        if call.tool_call_id.as_ref().is_some_and(|id| self.call_ids.contains(id)) {
            faults.push(SequenceFault::CallReused);
        }
        if self.calls.len() >= MAX_OPEN {
            faults.push(SequenceFault::TooMany);
            return;
        }
        // In a very long session later names are not remembered; that an open call is found does not depend on it.
        if self.call_ids.len() < MAX_NAMED {
            self.call_ids.extend(call.tool_call_id.clone());
        }
        self.calls.push(OpenCall { tool: call.tool.clone(), id: call.tool_call_id.clone() });
    }

    /// A call is found by its name, or by its tool where it has none.
    fn complete(&mut self, call: &ToolCompleted, faults: &mut Vec<SequenceFault>) {
        let is_it = |open: &OpenCall| open.id == call.tool_call_id && open.tool == call.tool;
        match self.calls.iter().position(is_it) {
            Some(index) => drop(self.calls.remove(index)),
            None => faults.push(SequenceFault::ToolUnknown),
        }
    }

    /// Positions grow; the piece that only ends an output may stand where the one before it ended.
    fn stream(&mut self, output: &OutputStreaming, faults: &mut Vec<SequenceFault>) {
        let name = output.output_id.as_ref().map_or("", |id| id.as_str());
        if self.outputs.len() >= MAX_NAMED {
            self.outputs.retain(|known, place| known == name || !place.is_complete);
        }
        if !self.outputs.contains_key(name) && self.outputs.len() >= MAX_NAMED {
            faults.push(SequenceFault::TooMany);
            return;
        }
        let place = self.outputs.entry(name.to_owned()).or_default();
        if place.is_complete {
            faults.push(SequenceFault::OutputEnded);
        } else if output.position.as_u64() < place.next {
            faults.push(SequenceFault::OutputPosition {
                expected: place.next,
                found: output.position.as_u64(),
            });
        }
        let end = output.position.as_u64() + output.chunk.chars().count() as u64;
        *place = OutputPlace { next: place.next.max(end), is_complete: place.is_complete || output.complete };
    }

    fn ask(&mut self, token: &ReplyToken, action: Option<Digest>, faults: &mut Vec<SequenceFault>) {
        if self.prompts.contains_key(token) {
            faults.push(SequenceFault::TokenReused);
        } else if self.prompts.len() >= MAX_OPEN {
            faults.push(SequenceFault::TooMany);
        } else {
            self.prompts.insert(token.clone(), action);
        }
    }
}

/// What an agent does that does nothing.
const IDLE: &str = "idle";

/// What an agent does while a tool runs.
const CALLING_TOOL: &str = "calling_tool";

/// What an agent does while a prompt waits.
const AWAITING_INPUT: &str = "awaiting_input";

/// How many calls or prompts may be open at once.
const MAX_OPEN: usize = 256;

/// How many names of calls, and how many outputs, of one session are remembered.
const MAX_NAMED: usize = 1024;
