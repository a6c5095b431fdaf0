//! A subscription from its acceptance to its end (5.4 to 5.8). It outlives its connections.
//!
//! A [`Subscription`] is a value, like a prompt: stored, handed one input together with the time, and stored again if the step says
//! that it changed. It holds what was agreed. What waits to be delivered over one connection is a [`DeliveryQueue`], which need not be
//! stored: it can be made anew from the last place that the subscriber has seen.

mod bucket;
mod delivery;
mod queue;

use demur_core::{limit::Text, time::Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    capability::Capabilities,
    form::{AaepVersion, SubscriptionId},
    handshake::{
        ProducerMessage, SubscriptionAccepted, SubscriptionClose, SubscriptionRejected,
        SubscriptionRenegotiate, SubscriptionRequest,
    },
    negotiation::{HonoredTerms, ServiceOffer, grant, honor, rejected},
    word::RejectionReason,
};

pub use bucket::TokenBucket;
pub use delivery::{Delivery, Merge};
pub use queue::{DeliveryQueue, QueueFull};

/// What was agreed with one subscriber.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    id: SubscriptionId,
    subscriber: Text<1, 256>,
    terms: Capabilities,
    /// When a connection of it was last there.
    seen: Timestamp,
    end: Option<SubscriptionEnd>,
}

/// How a subscription ended, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionEnd {
    /// When.
    pub at: Timestamp,
    /// How.
    pub cause: SubscriptionEndCause,
}

/// How a subscription ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionEndCause {
    /// The subscriber closed it.
    ClosedBySubscriber,
    /// The producer closed it.
    ClosedByProducer,
    /// New terms were refused.
    Rejected,
    /// No connection of it came back in time.
    Lost,
}

/// An input to a subscription.
#[derive(Clone, Copy, Debug)]
pub enum SubscriptionInput<'a> {
    /// A connection of it is there, or was until now.
    Seen,
    /// The subscriber wants other terms.
    Renegotiate(&'a SubscriptionRenegotiate),
    /// The subscriber ends it.
    Close(&'a SubscriptionClose),
    /// The producer ends it.
    Terminate,
    /// Time passed.
    Tick,
}

/// The result of an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubscriptionStep {
    /// What the subscriber is told.
    pub reply: Option<ProducerMessage>,
    /// Whether it ended in this step: its connections are closed, and prompts that it alone could reply to are abandoned.
    pub has_ended: bool,
    /// Whether events that are emitted from now on follow new terms.
    pub has_new_terms: bool,
    /// Whether the subscription has to be stored.
    pub is_changed: bool,
}

impl Subscription {
    /// Returns the subscription that a request opens and what the subscriber is told, or why there is none.
    pub fn open(
        request: &SubscriptionRequest,
        offer: &ServiceOffer,
        id: SubscriptionId,
        now: Timestamp,
    ) -> Result<(Self, SubscriptionAccepted), SubscriptionRejected> {
        let terms = grant(request, offer)?;
        let accepted = accepted(&id, &terms, offer);
        let subscriber = request.subscriber_id.clone();
        Ok((Self { id, subscriber, terms: terms.capabilities, seen: now, end: None }, accepted))
    }

    /// Returns its id.
    pub const fn id(&self) -> &SubscriptionId {
        &self.id
    }

    /// Returns the name of the subscriber, by its own word.
    pub fn subscriber(&self) -> &str {
        &self.subscriber
    }

    /// Returns what was agreed.
    pub const fn terms(&self) -> &Capabilities {
        &self.terms
    }

    /// Returns how it ended; none while it lasts.
    pub const fn end(&self) -> Option<&SubscriptionEnd> {
        self.end.as_ref()
    }

    /// Returns whether it lasts.
    pub const fn is_active(&self) -> bool {
        self.end.is_none()
    }

    /// Returns when it wants the next tick: when it is lost unless a connection is seen before.
    pub fn next_timeout(&self) -> Option<Timestamp> {
        self.is_active().then(|| self.seen.plus_millis(GRACE_MS))
    }

    /// Takes one input.
    pub fn handle(
        &mut self,
        input: SubscriptionInput<'_>,
        offer: &ServiceOffer,
        now: Timestamp,
    ) -> SubscriptionStep {
        let mut step = SubscriptionStep::default();
        if self.next_timeout().is_some_and(|lost| now >= lost) {
            self.finish(SubscriptionEndCause::Lost, now, &mut step);
        }
        match input {
            SubscriptionInput::Renegotiate(message) => self.renegotiate(message, offer, now, &mut step),
            _ if !self.is_active() => {}
            SubscriptionInput::Seen => {
                step.is_changed = now > self.seen;
                self.seen = self.seen.max(now);
            }
            SubscriptionInput::Close(message) if message.subscription_id == self.id => {
                self.finish(SubscriptionEndCause::ClosedBySubscriber, now, &mut step);
            }
            SubscriptionInput::Terminate => {
                self.finish(SubscriptionEndCause::ClosedByProducer, now, &mut step);
            }
            SubscriptionInput::Close(_) | SubscriptionInput::Tick => {}
        }
        step
    }

    /// Every request is answered: with the new terms, or with a refusal that ends the subscription.
    fn renegotiate(
        &mut self,
        message: &SubscriptionRenegotiate,
        offer: &ServiceOffer,
        now: Timestamp,
        step: &mut SubscriptionStep,
    ) {
        if !self.is_active() || message.subscription_id != self.id {
            let refusal = rejected(RejectionReason::Unknown, "there is no such subscription", offer);
            step.reply = Some(refusal.into());
            return;
        }
        match honor(&self.terms.updated(&message.capabilities), offer) {
            Ok(terms) => {
                step.reply = Some(Box::new(accepted(&self.id, &terms, offer)).into());
                step.has_new_terms = terms.capabilities != self.terms;
                step.is_changed = true;
                self.terms = terms.capabilities;
                self.seen = self.seen.max(now);
            }
            Err(refusal) => {
                step.reply = Some(refusal.into());
                self.finish(SubscriptionEndCause::Rejected, now, step);
            }
        }
    }

    fn finish(&mut self, cause: SubscriptionEndCause, at: Timestamp, step: &mut SubscriptionStep) {
        self.end = Some(SubscriptionEnd { at, cause });
        step.has_ended = true;
        step.is_changed = true;
    }
}

fn accepted(id: &SubscriptionId, terms: &HonoredTerms, offer: &ServiceOffer) -> SubscriptionAccepted {
    let notes = terms.notes.join(" ");
    SubscriptionAccepted {
        subscription_id: id.clone(),
        aaep_version: AaepVersion::current(),
        producer: offer.producer.clone(),
        honored_capabilities: terms.capabilities.clone(),
        manifest_uri: offer.manifest_uri.clone(),
        signed_manifest: offer.signed_manifest.as_deref().and_then(|manifest| Text::try_from(manifest).ok()),
        negotiation_notes: Text::cut(&notes).ok().filter(|_| !notes.is_empty()),
    }
}

/// How long a subscription waits for its subscriber to come back.
const GRACE_MS: u64 = 60_000;
