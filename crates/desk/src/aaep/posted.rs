//! What is posted: one line of JSON that says what it is and for whom, then the text of the event.

use std::sync::Arc;

use demur_aaep::{
    event::AgentEvent,
    form::{EventId, ReplyToken, SessionId, SubscriptionId},
};
use demur_api::refusal::Refusal;
use demur_core::time::Timestamp;
use demur_store::contract::{KeptPost, Post, PostName, StoreError, StreamName};
use serde::{Deserialize, Serialize};

use super::{audience::Audience, reader};

/// What is said before the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum PostHead {
    /// An event, and for whom it is.
    Event(Audience),
    /// The terms of a subscription changed here, or it ended.
    Terms { subscription: SubscriptionId },
}

/// What is said before the text of an event whose ids are others where it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Told {
    pub(super) event: EventId,
    pub(super) token: ReplyToken,
}

/// What stands at one place of the stream of events.
#[derive(Debug)]
pub(super) struct LogEntry {
    pub(super) place: u64,
    pub(super) content: LogContent,
    /// How much memory it takes, about.
    pub(super) bytes: usize,
}

#[derive(Debug)]
pub(super) enum LogContent {
    /// An event, with its exact text.
    Event { audience: Audience, event: Box<AgentEvent>, text: Arc<str> },
    /// The terms of a subscription changed here, or it ended.
    Terms(SubscriptionId),
    /// Something that a newer version wrote.
    Unread,
}

impl LogEntry {
    /// Returns what stands in a post.
    pub(super) fn read(post: &KeptPost) -> Self {
        let place = post.position.number();
        let content = content(&post.bytes).unwrap_or_else(|| {
            tracing::warn!(place, "a post of the stream of events is passed over: a newer version wrote it");
            LogContent::Unread
        });
        Self { place, content, bytes: post.bytes.len() * 3 + 512 }
    }
}

fn content(bytes: &[u8]) -> Option<LogContent> {
    let (head, text) = parted(bytes)?;
    match serde_json::from_slice(head).ok()? {
        PostHead::Event(audience) => {
            let event = Box::new(reader().ok()?.read(text.as_bytes()).ok()?.event);
            Some(LogContent::Event { audience, event, text: text.into() })
        }
        PostHead::Terms { subscription } => Some(LogContent::Terms(subscription)),
    }
}

/// Returns the line and the text of a post.
pub(super) fn parted(bytes: &[u8]) -> Option<(&[u8], &str)> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((&bytes[..end], str::from_utf8(&bytes[end + 1..]).ok()?))
}

/// Returns the post of an event, under its id.
pub(super) fn event_post(
    audience: &Audience,
    id: &EventId,
    text: &str,
    expires: Timestamp,
) -> Result<Post, Refusal> {
    post(events()?, Some(id.as_str()), &PostHead::Event(audience.clone()), text, expires)
}

/// Returns the post of an event of ours.
pub(super) fn own_event_post(
    audience: &Audience,
    event: &AgentEvent,
    expires: Timestamp,
) -> Result<Post, Refusal> {
    let text = event.to_json().map_err(|error| Refusal::bug(&error))?;
    event_post(audience, &event.envelope.event_id, &text, expires)
}

/// Returns the post by which everybody who serves a subscription hears that its terms changed.
pub(super) fn terms_post(subscription: &SubscriptionId, expires: Timestamp) -> Result<Post, Refusal> {
    post(events()?, None, &PostHead::Terms { subscription: subscription.clone() }, "", expires)
}

/// Returns the post of an event as its producer sent it, under the producer's id.
pub(super) fn original_post(
    id: &EventId,
    told: &Told,
    text: &str,
    expires: Timestamp,
) -> Result<Post, Refusal> {
    post(originals()?, Some(id.as_str()), told, text, expires)
}

fn post(
    stream: StreamName,
    name: Option<&str>,
    head: &impl Serialize,
    text: &str,
    expires: Timestamp,
) -> Result<Post, Refusal> {
    let mut bytes = serde_json::to_vec(head).map_err(|error| Refusal::bug(&error))?;
    bytes.push(b'\n');
    bytes.extend_from_slice(text.as_bytes());
    let name = name.map(PostName::new).transpose()?;
    Ok(Post { stream, name, bytes, expires: Some(expires) })
}

/// Returns the stream of everything that subscribers are told.
pub(super) fn events() -> Result<StreamName, StoreError> {
    StreamName::new("aaep/events")
}

/// Returns the stream of prompts as their producers sent them.
pub(super) fn originals() -> Result<StreamName, StoreError> {
    StreamName::new("aaep/originals")
}

/// Returns the stream of what became of the prompts of a session.
pub(super) fn outcomes(session: &SessionId) -> Result<StreamName, StoreError> {
    StreamName::new(format!("aaep/outcomes/{}", session.as_str()))
}
