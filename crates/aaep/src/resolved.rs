//! Our extension: how a prompt was resolved. The core has no event for it, so a subscriber would have to guess from a state.
//!
//! The fields stand under the prefix `demur`: in an event of the type `demur:prompt.resolved` for subscribers that list the extension, and in the
//! `agent.state.changed` that leaves `awaiting_input`, which everybody gets.

use demur_core::limit::{List, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    envelope::Contexts,
    event::AgentEvent,
    extension::KnownExtension,
    form::{EventId, ReplyToken, TextFormError},
    member::present,
    prompt::{Prompt, PromptOutcome, PromptResolution},
    time::EventTime,
    word::ReplyDecision,
};

/// How a prompt was resolved, for every subscriber that received it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptResolved {
    /// Which prompt.
    pub reply_token: ReplyToken,
    /// The event that asked.
    pub event_id: EventId,
    /// How it was resolved.
    pub outcome: ResolvedOutcome,
    /// When.
    pub resolved_at: EventTime,
    /// Who replied, as far as it may be told.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<Text<1, 256>>,
}

/// How a prompt was resolved, in one word. The answer itself is for the asker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ResolvedOutcome {
    /// The question was answered.
    Answered,
    /// The action was allowed.
    Accepted,
    /// The action was not allowed.
    Rejected,
    /// The time was up, and the default holds.
    Defaulted,
    /// The time was up, and there is no default.
    Expired,
    /// It is no longer asked.
    Cancelled,
}

impl PromptResolved {
    /// Returns what to tell of a prompt and its resolution.
    pub fn of(prompt: &Prompt, resolution: &PromptResolution) -> Self {
        let (outcome, by) = match &resolution.outcome {
            PromptOutcome::Answered { by, .. } => (ResolvedOutcome::Answered, Some(by)),
            PromptOutcome::Decided { decision: ReplyDecision::Accept, by, .. } => {
                (ResolvedOutcome::Accepted, Some(by))
            }
            PromptOutcome::Decided { decision: ReplyDecision::Reject, by, .. } => {
                (ResolvedOutcome::Rejected, Some(by))
            }
            PromptOutcome::AnswerDefaulted(_) | PromptOutcome::DecisionDefaulted { .. } => {
                (ResolvedOutcome::Defaulted, None)
            }
            PromptOutcome::Expired => (ResolvedOutcome::Expired, None),
            PromptOutcome::Cancelled(_) => (ResolvedOutcome::Cancelled, None),
        };
        Self {
            reply_token: prompt.token().clone(),
            event_id: prompt.event().clone(),
            outcome,
            resolved_at: resolution.at.into(),
            resolved_by: by.and_then(|by| by.decided_by.clone()),
        }
    }

    /// Returns the event with these fields and the context that declares them.
    pub fn told_in(&self, mut event: AgentEvent) -> Result<AgentEvent, TextFormError> {
        let extension = known()?;
        let fields = match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let mut contexts = event.envelope.contexts.extensions().to_vec();
        if !contexts.contains(&extension.context) {
            contexts.push(extension.context);
        }
        let contexts = List::try_from(contexts).map_err(|error| TextFormError {
            expected: "an event with fewer contexts",
            found: error.to_string(),
        })?;
        event.envelope.contexts = Contexts::from(contexts);
        event.envelope.extensions.get_or_insert_default().insert(extension.prefix, fields);
        Ok(event)
    }

    /// Returns the fields of our extension in an event.
    pub fn of_fields(fields: &Map<String, Value>) -> Result<Self, serde_json::Error> {
        Self::deserialize(fields)
    }
}

/// Returns our extension, for readers and offers.
pub fn known() -> Result<KnownExtension, TextFormError> {
    let check = |fields: &Map<String, Value>| {
        PromptResolved::of_fields(fields).map(drop).map_err(|_| "the fields of a resolved prompt".to_owned())
    };
    Ok(KnownExtension { prefix: OUR_PREFIX.parse()?, context: OUR_CONTEXT.parse()?, check })
}

/// The type of the event that tells of nothing else.
pub const RESOLVED_TYPE: &str = "demur:prompt.resolved";

/// Our prefix.
const OUR_PREFIX: &str = "demur";

/// Our context. It is a name and no address: nothing is fetched from there.
const OUR_CONTEXT: &str = "urn:demur:aaep:v1";
