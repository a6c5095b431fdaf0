//! What one subscriber is sent over one connection: everything that it follows, filtered, paced and merged as agreed, from the place
//! that it names. Whoever does not read is sent nothing and costs nothing; what is told meanwhile waits in the stream.
//!
//! The id of a frame says where to go on: the newest event up to which everything was sent or left out. Mostly that is the event in
//! the frame. A critical event that overtakes others carries the id of what was sent before them, so that nothing between is lost.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use demur_aaep::{
    capability::Capabilities,
    extension::KnownExtension,
    form::{EventId, SubscriptionId},
    handshake::{ProducerMessage, SubscriptionClose},
    resolved,
    subscription::{Delivery, DeliveryQueue, SubscriptionInput},
};
use demur_api::{code::Code, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_store::contract::{RecordKey, StreamPosition};
use tokio::{sync::watch, task::AbortHandle, time};

use super::{
    FOLLOWING,
    audience::{Viewpoint, holder},
    kept::{KeptSubscription, subscription_key},
    log::{LogState, entries_after},
    posted::{LogContent, LogEntry},
};
use crate::{
    access::{Admitted, Caller, WaitShare},
    desk::Desk,
    owner::Owner,
    records,
};

mod start;

/// One message to a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFrame {
    /// After which event to go on; none where this says nothing about it.
    pub id: Option<EventId>,
    /// The message, on one line.
    pub text: Arc<str>,
}

/// A connection that a subscriber follows.
pub struct EventWatch {
    desk: Arc<Desk>,
    by: Admitted,
    viewpoint: Viewpoint,
    id: SubscriptionId,
    key: RecordKey,
    terms: Capabilities,
    known: Vec<KnownExtension>,
    queue: DeliveryQueue,
    /// Up to here the stream was handed to the queue.
    read: u64,
    /// Up to here it was looked through for critical events, where the queue had no room.
    ahead: u64,
    /// The events that it follows, from the newest settled one on.
    names: VecDeque<(u64, EventId)>,
    /// Entries that deliveries may be made from.
    held: VecDeque<Arc<LogEntry>>,
    ready: VecDeque<EventFrame>,
    state: watch::Receiver<LogState>,
    seen_at: time::Instant,
    _presence: Presence,
    is_over: bool,
    /// One of the places that its caller has for what waits.
    _share: WaitShare,
}

impl Desk {
    /// Lets a subscriber follow its subscription: from now on, or after the event that it names.
    pub async fn follow_events(
        self: &Arc<Self>,
        caller: &Caller,
        subscription: &str,
        last: Option<&str>,
    ) -> Result<EventWatch, Refusal> {
        let by = self.admit_now(caller, FOLLOWING).await?;
        let share = self.quotas().wait(caller)?;
        let id: SubscriptionId = subscription.parse().map_err(|_| unknown())?;
        // Before the stream is looked at: what comes after that look is told.
        let state = self.events().subscribe();
        let key = subscription_key(&holder(by.caller())?, &id)?;
        let (from, followed, last) = (by.caller().clone(), key.clone(), last.map(str::to_owned));
        let started = self.work(move |desk, owner| {
            let viewpoint = Viewpoint::of(&from, owner)?;
            let start = desk.start(owner, &viewpoint, &followed, last.as_deref())?;
            Ok((viewpoint, start))
        });
        let (viewpoint, start) = started.await?;
        let presence = Presence::begin(self, &key);
        let queue = DeliveryQueue::new(&start.terms, start.place, self.now()?);
        Ok(EventWatch {
            desk: Arc::clone(self),
            by,
            viewpoint,
            id,
            key,
            terms: start.terms,
            known: vec![resolved::known().map_err(|error| Refusal::bug(&error))?],
            queue,
            read: start.place,
            ahead: start.place,
            names: start.after.into_iter().map(|id| (start.place, id)).collect(),
            held: VecDeque::new(),
            ready: start.frames.into(),
            state,
            seen_at: time::Instant::now(),
            _presence: presence,
            is_over: false,
            _share: share,
        })
    }
}

/// Notes that somebody follows, for as long as the connection is there: also one that is sent nothing, because it does not read.
struct Presence(AbortHandle);

impl Presence {
    fn begin(desk: &Arc<Desk>, key: &RecordKey) -> Self {
        let (desk, key) = (Arc::downgrade(desk), key.clone());
        let noting = async move {
            loop {
                time::sleep(SEEN_INTERVAL).await;
                let (Some(desk), key) = (desk.upgrade(), key.clone()) else { return };
                let seen = move |desk: &Desk, owner: &Owner| {
                    desk.change_subscription(owner, &key, SubscriptionInput::Seen).map(drop)
                };
                if let Err(error) = desk.work(seen).await {
                    tracing::warn!(code = error.code.as_str(), %error, "that somebody follows could not be noted");
                }
            }
        };
        Self(tokio::spawn(noting).abort_handle())
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl EventWatch {
    /// Waits for what is to be sent next; none at the end.
    pub async fn next(&mut self) -> Result<Option<EventFrame>, Refusal> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Some(frame));
            }
            if self.is_over || self.state.borrow().over {
                return Ok(None);
            }
            self.desk.expect_good(self.by.caller()).await?;
            if self.seen_at.elapsed() >= SEEN_INTERVAL {
                self.look_again().await?;
                continue;
            }
            // Seen before the look: whatever is told after it wakes us again.
            let newest = self.state.borrow_and_update().newest;
            let now = self.desk.now()?;
            let due = self.queue.due(now);
            self.send(due);
            if self.ready.is_empty() && !self.read_on(newest, now).await? && self.ready.is_empty() {
                self.wait(now).await?;
            }
        }
    }

    /// Hands on what was told, as far as there is room. Returns whether there was anything.
    async fn read_on(&mut self, newest: Option<u64>, now: Timestamp) -> Result<bool, Refusal> {
        let has_room = self.queue.has_room();
        let place = if has_room { self.read } else { self.ahead };
        if newest.is_none_or(|newest| newest <= place) {
            return Ok(false);
        }
        let entries = if let Some(entries) = self.desk.events().since(place) {
            entries
        } else {
            let after = StreamPosition::new(place);
            self.desk.work(move |_, owner| entries_after(owner, after)).await?
        };
        if entries.is_empty() {
            return Ok(false);
        }
        for entry in entries {
            match &entry.content {
                // Also where the queue has no room: other terms may make it.
                LogContent::Terms(changed) if *changed == self.id => self.take_terms(now).await?,
                LogContent::Event { audience, .. } if self.viewpoint.sees(audience) => {
                    if !self.take(&entry, has_room, now) {
                        return Ok(true);
                    }
                }
                LogContent::Event { .. } | LogContent::Terms(_) | LogContent::Unread => {}
            }
            if has_room {
                self.read = entry.place;
            }
            self.ahead = self.ahead.max(entry.place);
        }
        Ok(true)
    }

    /// Takes an event that is followed. Returns whether there was room for it.
    fn take(&mut self, entry: &Arc<LogEntry>, has_room: bool, now: Timestamp) -> bool {
        let LogContent::Event { event, .. } = &entry.content else { return true };
        let taken = if has_room {
            self.queue.feed(entry.place, event, &self.terms, &self.known, now)
        } else {
            Ok(self.queue.look_ahead(entry.place, event, now))
        };
        let Ok(deliveries) = taken else { return false };
        if has_room {
            self.names.push_back((entry.place, event.envelope.event_id.clone()));
        }
        self.held.push_back(Arc::clone(entry));
        self.send(deliveries);
        self.forget_settled();
        true
    }

    fn send(&mut self, deliveries: Vec<Delivery>) {
        for delivery in deliveries {
            let found = self.held.iter().rfind(|entry| entry.place == delivery.last);
            let Some(LogContent::Event { event, text, .. }) = found.map(|entry| &entry.content) else {
                continue;
            };
            let text = match delivery.merged(event, &self.id).map(|merged| merged.to_json()) {
                Some(Ok(merged)) => merged.into(),
                Some(Err(_)) | None => Arc::clone(text),
            };
            let id =
                self.names.iter().rfind(|(place, _)| *place <= delivery.settled).map(|(_, id)| id.clone());
            self.ready.push_back(EventFrame { id, text });
        }
        self.forget_settled();
    }

    /// Lets go of what no delivery is made from any more, and of names before the newest settled one. Where too many are not settled,
    /// some go as well: a subscriber that comes back is sent a little more again.
    fn forget_settled(&mut self) {
        let settled = self.queue.settled();
        let Self { held, names, queue, .. } = self;
        held.retain(|entry| queue.holds(entry.place));
        while names.get(1).is_some_and(|(place, _)| *place <= settled) {
            names.pop_front();
        }
        if names.len() > MAX_NAMES {
            names.remove(1);
        }
    }

    async fn wait(&mut self, now: Timestamp) -> Result<(), Refusal> {
        let mut ended = self.desk.ended_credentials();
        let due = self.queue.next_timeout().map(|due| due.as_millis().saturating_sub(now.as_millis()).max(1));
        let wait = due.map_or(BEAT_INTERVAL, |millis| Duration::from_millis(millis).min(BEAT_INTERVAL));
        tokio::select! {
            changed = self.state.changed() => changed.map_err(|_| stopping())?,
            _ = ended.changed() => {}
            () = self.desk.stopping() => self.is_over = true,
            () = time::sleep(wait) => {}
        }
        Ok(())
    }

    /// Looks whether the subscription lasts, and what its holder sees now.
    async fn look_again(&mut self) -> Result<(), Refusal> {
        self.seen_at = time::Instant::now();
        let (key, caller) = (self.key.clone(), self.by.caller().clone());
        let found = self.desk.work(move |_, owner| {
            let kept = records::find::<KeptSubscription>(owner.sequencer().store(), &key)?;
            // What a program may see follows from its keys, which may be others by now.
            Ok((kept, Viewpoint::of(&caller, owner)?))
        });
        let (kept, viewpoint) = found.await?;
        self.viewpoint = viewpoint;
        if kept.is_none() {
            self.close();
        }
        Ok(())
    }

    /// Takes in that the terms changed, or that the subscription ended.
    async fn take_terms(&mut self, now: Timestamp) -> Result<(), Refusal> {
        let key = self.key.clone();
        let found = self
            .desk
            .work(move |_, owner| records::find::<KeptSubscription>(owner.sequencer().store(), &key));
        match found.await? {
            Some((_, kept)) if kept.subscription.is_active() => {
                self.terms = kept.subscription.terms().clone();
                self.queue.renegotiated(&self.terms, &self.known, now);
            }
            Some(_) | None => self.close(),
        }
        Ok(())
    }

    fn close(&mut self) {
        let close =
            SubscriptionClose { subscription_id: self.id.clone(), reason_code: None, reason_message: None };
        let message = serde_json::to_string(&ProducerMessage::from(close));
        self.ready.extend(message.ok().map(|text| EventFrame { id: None, text: text.into() }));
        self.is_over = true;
    }
}

fn unknown() -> Refusal {
    Refusal::new(Code::NotFound, "expected a subscription of this caller, found none")
        .about("subscription_id")
        .with_cure("POST /aaep/v1/subscriptions begins one; one that nobody follows ends after a minute")
}

fn stopping() -> Refusal {
    Refusal::new(Code::Stopping, "the server is about to end").with_cure("follow again")
}

/// How often it is noted that somebody follows: a subscription is lost after sixty seconds.
const SEEN_INTERVAL: Duration = Duration::from_secs(20);
/// How many events are remembered by their ids.
const MAX_NAMES: usize = 256;
/// How long nothing is looked at at the most.
const BEAT_INTERVAL: Duration = Duration::from_secs(10);
