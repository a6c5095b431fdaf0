//! What is delivered to a subscriber: an event as it is, or several in one.

use demur_core::{
    hash::{Digest, sha256},
    limit::Text,
};
use serde::{Deserialize, Serialize};

use crate::{
    event::AgentEvent,
    form::{EventId, SubscriptionId},
    number::Position,
    payload::{Payload, StateName},
};

/// One delivery. Places are those of the log that events are read from: whole numbers from 1 that grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// The first event that this one stands for.
    pub first: u64,
    /// The event that is delivered, or that the merged one is made from.
    pub last: u64,
    /// What is different from the event at `last`; nothing where its exact text is sent.
    pub merge: Option<Merge>,
    /// Up to here everything was delivered or left out. A subscriber that comes back goes on after this place, and may get again what
    /// was delivered beyond it: whole events under the same ids, and output that its positions show to be known.
    pub settled: u64,
}

/// How a merged event differs from the last of those that it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Merge {
    /// Output that came in pieces.
    Output {
        /// Where it begins.
        position: u64,
        /// The pieces in one.
        chunk: String,
    },
    /// States that were passed through.
    State {
        /// The first of them.
        from_state: StateName,
    },
}

impl Delivery {
    /// Returns the merged event, made from the event at `last`; none where that event is sent as it is.
    ///
    /// Its id follows from the subscription and the places, so that the same merge has the same id in every process, and another
    /// content another id. Its number is that of the last event: a session has numbers on all of its events or on none.
    pub fn merged(&self, last: &AgentEvent, subscription: &SubscriptionId) -> Option<AgentEvent> {
        let merge = self.merge.as_ref()?;
        let mut event = last.clone();
        event.envelope.event_id = EventId::of_digest(&self.digest(subscription));
        match (merge, &mut event.payload) {
            (Merge::Output { position, chunk }, Payload::OutputStreaming(output)) => {
                output.position = Position::try_from(*position).ok()?;
                output.chunk = Text::try_from(chunk.as_str()).ok()?;
            }
            (Merge::State { from_state }, Payload::StateChanged(state)) => {
                state.from_state = from_state.clone();
            }
            _ => return None,
        }
        Some(event)
    }

    fn digest(&self, subscription: &SubscriptionId) -> Digest {
        let places = [self.first.to_be_bytes(), self.last.to_be_bytes()].concat();
        sha256(&[MERGED_PREFIX, subscription.as_str().as_bytes(), &places].concat())
    }
}

/// Keeps ids of merged events apart from everything else that is hashed.
const MERGED_PREFIX: &[u8] = b"aaep merged event\0";
