//! Subscriptions, sessions and prompts as records. Whoever changes one stores it with what follows, in one write.

use std::collections::BTreeMap;

use demur_aaep::{
    event::AgentEvent,
    form::{EventId, ReplyToken, SessionId, SubscriptionId},
    language::LanguageTag,
    prompt::Prompt,
    sequence::SessionSequence,
    subscription::Subscription,
};
use demur_api::{question::QuestionId, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_store::contract::{RecordKey, RecordValue, Swap, Version};
use serde::{Deserialize, Serialize};

use super::audience::Audience;
use crate::records;

/// A subscription.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptSubscription {
    pub(super) subscription: Subscription,
    /// After which place of the stream it began.
    pub(super) begun: u64,
    /// Whether somebody followed it already.
    pub(super) was_followed: bool,
    /// Whether whoever opened it may reply to anything.
    pub(super) speaks: bool,
}

/// A session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptSession {
    /// For whom it is. A publisher alone goes on with it.
    pub(super) audience: Audience,
    pub(super) sequence: SessionSequence,
    /// The language of its first event.
    pub(super) language: Option<LanguageTag>,
    /// The time of its last event, ours included.
    pub(super) last: Timestamp,
    /// Our token for each of the producer's that is open.
    pub(super) prompts: BTreeMap<ReplyToken, ReplyToken>,
}

/// A prompt that is open. One that is resolved is no record: nobody can reply to it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptPrompt {
    /// With our token and our event.
    pub(super) prompt: Prompt,
    /// For whom its session is.
    pub(super) audience: Audience,
    /// Where it comes from.
    pub(super) source: PromptSource,
}

/// Where a prompt comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum PromptSource {
    /// A producer, which knows it by these.
    Producer { token: ReplyToken, event: EventId },
    /// A question of this folder: the ledger says how it ends.
    Question(QuestionId),
}

impl KeptSession {
    /// Returns a session before its first event.
    pub(super) fn new(publisher: &str, event: &AgentEvent) -> Self {
        let envelope = &event.envelope;
        let language = envelope.localization_hints.as_ref().and_then(|hints| hints.primary_language.clone());
        Self {
            audience: Audience::Publisher(publisher.to_owned()),
            sequence: SessionSequence::new(envelope.session_id.clone()),
            language,
            last: envelope.timestamp.as_timestamp(),
            prompts: BTreeMap::new(),
        }
    }

    /// Returns what the record says from now on, and until when: an open session is given up after a while without events, and an
    /// ended one is remembered, so that nothing follows its end.
    pub(super) fn value(&self, now: Timestamp, idle_ms: u64) -> Result<RecordValue, Refusal> {
        let kept_ms = if self.sequence.has_ended() { ENDED_SESSION_MS } else { idle_ms };
        records::value(self, Some(now.plus_millis(kept_ms)))
    }
}

impl KeptSubscription {
    pub(super) fn value(&self) -> Result<RecordValue, Refusal> {
        records::value(self, self.subscription.next_timeout())
    }
}

impl KeptPrompt {
    /// Returns the swap that keeps it.
    pub(super) fn swap(&self, was: Version) -> Result<Swap, Refusal> {
        let next = Some(records::value(self, self.prompt.next_timeout())?);
        Ok(Swap { key: prompt_key(self.prompt.token())?, was, next })
    }
}

/// Returns the key of a subscription: only its holder finds it.
pub(super) fn subscription_key(holder: &str, id: &SubscriptionId) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{SUBSCRIPTIONS}{holder}/{}", id.as_str()))?)
}

/// Returns the key of a session.
pub(super) fn session_key(id: &SessionId) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{SESSIONS}{}", id.as_str()))?)
}

/// Returns the key of the record by which the open sessions of a publisher are counted.
pub(super) fn open_session_key(publisher: &str, id: &SessionId) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{}{}", open_sessions(publisher), id.as_str()))?)
}

/// Returns what the keys of a publisher's open sessions begin with.
pub(super) fn open_sessions(publisher: &str) -> String {
    format!("{OPEN_SESSIONS}{publisher}/")
}

/// Returns what the keys of a holder's subscriptions begin with.
pub(super) fn subscriptions_of(holder: &str) -> String {
    format!("{SUBSCRIPTIONS}{holder}/")
}

/// Returns the key of what was told of a question.
pub(super) fn question_key(id: QuestionId) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{QUESTIONS}{id}"))?)
}

/// Returns the key of an open prompt.
pub(super) fn prompt_key(token: &ReplyToken) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PROMPTS}{}", token.as_str()))?)
}

/// What all of these keys begin with.
pub(super) const ALL: &str = "aaep/";
pub(super) const SUBSCRIPTIONS: &str = "aaep/subscription/";
pub(super) const SESSIONS: &str = "aaep/session/";
pub(super) const PROMPTS: &str = "aaep/prompt/";
pub(super) const QUESTIONS: &str = "aaep/question/";
const OPEN_SESSIONS: &str = "aaep/open-session/";

/// How long an ended session is remembered. Ids of events are longer.
const ENDED_SESSION_MS: u64 = 24 * 3_600_000;
