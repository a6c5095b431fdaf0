//! What waits to be delivered to one subscriber (5.5.4, 5.6): filtered, paced, and merged where that loses nothing.
//!
//! Events come in with their places in a log, in order. What is critical goes out at once; everything else in the order of its session.
//! An event beyond the rate waits. Waiting progress is replaced by newer progress, waiting states become one step, and waiting
//! output becomes one piece, which goes out where the subscriber lets it be cut. An error ends its session, so what waits of that
//! session goes out just before it, and the rate makes up for it later.
//!
//! The queue is bounded. When it has no room, its feeder stops, reads on for critical events alone
//! ([`look_ahead`](DeliveryQueue::look_ahead)), and comes back to where it stopped.

use std::collections::BTreeSet;

use demur_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Delivery, Merge, TokenBucket};
use crate::{
    capability::Capabilities,
    event::AgentEvent,
    event_type::{CoreType, EventName},
    extension::KnownExtension,
    form::{MediaType, OutputId, SessionId},
    language::LanguageTag,
    payload::{OutputStreaming, Payload, StateName},
};

/// What waits for one subscriber.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliveryQueue {
    bucket: TokenBucket,
    waiting: Vec<Waiting>,
    /// Up to here the queue was fed.
    fed: u64,
    /// Critical events beyond that which are out already.
    ahead: BTreeSet<u64>,
}

/// The queue has no room for anything that can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "expected a queue with room, found {waiting} events waiting; deliver some, or look ahead for critical ones"
)]
pub struct QueueFull {
    /// How many wait.
    pub waiting: usize,
}

/// An event that waits, or several that became one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiting {
    /// The type, by which it is filtered again under new terms.
    name: String,
    session: SessionId,
    first: u64,
    last: u64,
    content: WaitingContent,
    /// Whether it may go out; output that was cut elsewhere than the subscriber wants waits for more of it.
    is_ready: bool,
}

/// What more of the same can be merged into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum WaitingContent {
    Output(Box<WaitingOutput>),
    Progress,
    State { from_state: StateName, to_state: StateName },
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitingOutput {
    output: Option<OutputId>,
    language: Option<LanguageTag>,
    content_type: Option<MediaType>,
    position: u64,
    characters: usize,
    chunk: String,
    is_complete: bool,
}

impl DeliveryQueue {
    /// Returns an empty queue that goes on after this place.
    pub fn new(terms: &Capabilities, settled: u64, now: Timestamp) -> Self {
        let bucket = TokenBucket::new(terms.max_events_per_second, now);
        Self { bucket, waiting: Vec::new(), fed: settled, ahead: BTreeSet::new() }
    }

    /// Takes new terms. They hold for everything that is not out yet, so what waits is filtered again (5.7.2).
    pub fn renegotiated(&mut self, terms: &Capabilities, known: &[KnownExtension], now: Timestamp) {
        self.waiting.retain(|waiting| {
            EventName::of_any(&waiting.name).is_some_and(|name| terms.wants_type(&name, known))
        });
        self.bucket.change(terms.max_events_per_second, now);
        for waiting in &mut self.waiting {
            // Where the boundaries changed, what waits for the old ones may wait for ever.
            waiting.is_ready = true;
        }
    }

    /// Returns the last place that the queue was fed.
    pub const fn fed(&self) -> u64 {
        self.fed
    }

    /// Returns up to which place everything was delivered or left out.
    pub fn settled(&self) -> u64 {
        self.waiting.iter().map(|waiting| waiting.first.saturating_sub(1)).min().unwrap_or(self.fed)
    }

    /// Returns whether there is room for events that can wait.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < MAX_WAITING && self.held_bytes() < MAX_HELD_BYTES
    }

    /// Returns whether something that waits will be made from the event at this place.
    pub fn holds(&self, place: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.last == place)
    }

    /// Returns when it wants to be asked again by [`due`](Self::due); none where nothing that waits may go out.
    pub fn next_timeout(&self) -> Option<Timestamp> {
        self.next_ready().map(|_| self.bucket.next_token())
    }

    /// Takes the next event of the log and returns what goes out because of it.
    ///
    /// A place that was fed before is left out, so that feeding again does no harm.
    pub fn feed(
        &mut self,
        place: u64,
        event: &AgentEvent,
        terms: &Capabilities,
        known: &[KnownExtension],
        now: Timestamp,
    ) -> Result<Vec<Delivery>, QueueFull> {
        if place <= self.fed {
            return Ok(Vec::new());
        }
        let is_settled = self.ahead.contains(&place) || !terms.wants(event, known);
        if !is_settled && !event.is_critical() && !self.has_room() {
            self.unblock();
            return Err(QueueFull { waiting: self.waiting.len() });
        }
        self.ahead.remove(&place);
        self.fed = place;
        if is_settled {
            return Ok(self.due(now));
        }
        if event.is_critical() {
            return Ok(self.urgent(place, event, now));
        }
        self.hold(place, event, terms);
        Ok(self.due(now))
    }

    /// Takes an event from beyond what was fed, if it is critical, and returns what goes out because of it.
    pub fn look_ahead(&mut self, place: u64, event: &AgentEvent, now: Timestamp) -> Vec<Delivery> {
        if place <= self.fed || !event.is_critical() || self.ahead.contains(&place) {
            return Vec::new();
        }
        // A place that finds no room here is delivered twice, which a subscriber has to take anyway.
        if self.ahead.len() < MAX_AHEAD {
            self.ahead.insert(place);
        }
        self.urgent(place, event, now)
    }

    /// Returns what may go out by now.
    pub fn due(&mut self, now: Timestamp) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        while let Some(index) = self.next_ready() {
            if !self.bucket.take(now) {
                break;
            }
            deliveries.push(self.release(index));
        }
        deliveries
    }

    /// Returns a critical event; before the end of a session also what waits of it.
    fn urgent(&mut self, place: u64, event: &AgentEvent, now: Timestamp) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        if event.payload.core_type().is_some_and(CoreType::is_terminal) {
            let is_own = |waiting: &Waiting| waiting.session == event.envelope.session_id;
            while let Some(index) = self.waiting.iter().position(is_own) {
                self.bucket.owe(now);
                let delivery = self.release(index);
                // The event itself is not out yet.
                deliveries
                    .push(Delivery { settled: delivery.settled.min(place.saturating_sub(1)), ..delivery });
            }
        }
        deliveries.push(Delivery { first: place, last: place, merge: None, settled: self.settled() });
        deliveries
    }

    /// Lets an event wait: in what waits of its session last, where it fits, or else behind it.
    fn hold(&mut self, place: u64, event: &AgentEvent, terms: &Capabilities) {
        let session = &event.envelope.session_id;
        let last = self.waiting.iter_mut().rev().find(|waiting| waiting.session == *session);
        if let Some(last) = last {
            if last.merge(place, event, terms) {
                return;
            }
            // Something else follows in its session, so no more of it will come: it must not hold that up.
            last.is_ready = true;
        }
        self.waiting.push(Waiting::new(place, event, terms));
    }

    /// Lets the oldest go out where everything waits for more of itself: nothing more comes in before there is room.
    fn unblock(&mut self) {
        if self.next_ready().is_none()
            && let Some(oldest) = self.waiting.first_mut()
        {
            oldest.is_ready = true;
        }
    }

    /// Returns the first that may go out: ready, and nothing of its session before it.
    fn next_ready(&self) -> Option<usize> {
        let is_first = |index: usize, waiting: &Waiting| {
            self.waiting[..index].iter().all(|before| before.session != waiting.session)
        };
        let mut waiting = self.waiting.iter().enumerate();
        waiting.find(|(index, waiting)| waiting.is_ready && is_first(*index, waiting)).map(|(index, _)| index)
    }

    fn release(&mut self, index: usize) -> Delivery {
        let waiting = self.waiting.remove(index);
        let (first, last) = (waiting.first, waiting.last);
        Delivery { first, last, merge: waiting.into_merge(), settled: self.settled() }
    }

    fn held_bytes(&self) -> usize {
        let bytes = |waiting: &Waiting| match &waiting.content {
            WaitingContent::Output(output) => output.chunk.len(),
            WaitingContent::Progress | WaitingContent::State { .. } | WaitingContent::Other => 0,
        };
        self.waiting.iter().map(bytes).sum()
    }
}

impl Waiting {
    fn new(place: u64, event: &AgentEvent, terms: &Capabilities) -> Self {
        let (content, is_ready) = match &event.payload {
            Payload::OutputStreaming(output) => {
                let is_ready = terms.may_cut_at(output.boundary());
                (WaitingContent::Output(Box::new(WaitingOutput::new(output))), is_ready)
            }
            // What extensions say about one step is not said about several.
            Payload::StateChanged(state) if event.envelope.extensions.is_none() => {
                let (from_state, to_state) = (state.from_state.clone(), state.to_state.clone());
                (WaitingContent::State { from_state, to_state }, true)
            }
            Payload::ProgressUpdated(_) => (WaitingContent::Progress, true),
            _ => (WaitingContent::Other, true),
        };
        let (name, session) = (event.payload.name().as_str().to_owned(), event.envelope.session_id.clone());
        Self { name, session, first: place, last: place, content, is_ready }
    }

    /// Takes an event in, if it is more of the same.
    fn merge(&mut self, place: u64, event: &AgentEvent, terms: &Capabilities) -> bool {
        let is_merged = match (&mut self.content, &event.payload) {
            (WaitingContent::Output(waiting), Payload::OutputStreaming(more)) => {
                let is_merged = waiting.append(more);
                if is_merged {
                    self.is_ready = terms.may_cut_at(more.boundary());
                }
                is_merged
            }
            (WaitingContent::Progress, Payload::ProgressUpdated(_)) => true,
            (WaitingContent::State { to_state, .. }, Payload::StateChanged(more))
                if *to_state == more.from_state && event.envelope.extensions.is_none() =>
            {
                to_state.clone_from(&more.to_state);
                true
            }
            _ => false,
        };
        if is_merged {
            self.last = place;
        }
        is_merged
    }

    /// Returns how what goes out differs from the last event. Newer progress takes the place of older as it is.
    fn into_merge(self) -> Option<Merge> {
        let is_one = self.first == self.last;
        match self.content {
            _ if is_one => None,
            WaitingContent::Output(output) => {
                Some(Merge::Output { position: output.position, chunk: output.chunk })
            }
            WaitingContent::State { from_state, .. } => Some(Merge::State { from_state }),
            WaitingContent::Progress | WaitingContent::Other => None,
        }
    }
}

impl WaitingOutput {
    fn new(output: &OutputStreaming) -> Self {
        Self {
            output: output.output_id.clone(),
            language: output.language.clone(),
            content_type: output.content_type.clone(),
            position: output.position.as_u64(),
            characters: output.chunk.chars().count(),
            chunk: output.chunk.as_str().to_owned(),
            is_complete: output.complete,
        }
    }

    /// Takes a piece in, if it goes on where this one ends and both together are not too long.
    fn append(&mut self, more: &OutputStreaming) -> bool {
        let characters = self.characters + more.chunk.chars().count();
        let goes_on = !self.is_complete
            && self.output == more.output_id
            && self.language == more.language
            && self.content_type == more.content_type
            && more.position.as_u64() == self.position + self.characters as u64
            && characters <= MAX_MERGED_CHARACTERS;
        if goes_on {
            self.chunk.push_str(&more.chunk);
            self.characters = characters;
            self.is_complete = more.complete;
        }
        goes_on
    }
}

/// How many may wait.
const MAX_WAITING: usize = 64;

/// How much output may wait.
const MAX_HELD_BYTES: usize = 64 << 10;

/// How many critical events are remembered that went out ahead of their place.
const MAX_AHEAD: usize = 1024;

/// How long merged output may be.
const MAX_MERGED_CHARACTERS: usize = crate::payload::MAX_CHUNK_CHARACTERS;
