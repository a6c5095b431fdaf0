//! A subscription begins.

use demur_aaep::{
    form::SubscriptionId,
    handshake::{SubscriberMessage, SubscriptionAccepted, SubscriptionRejected, SubscriptionRequest},
    negotiation::rejected,
    subscription::Subscription,
    word::RejectionReason,
};
use demur_api::{code::Code, refusal::Refusal};
use demur_sequencer::Changes;

use super::{
    FOLLOWING,
    audience::Viewpoint,
    broken,
    kept::{KeptSubscription, subscription_key, subscriptions_of},
    posted,
};
use crate::{access::Caller, desk::Desk, records};

/// The answer to a request for a subscription. There is always one.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscribed {
    /// It begins.
    Accepted(Box<SubscriptionAccepted>),
    /// It does not.
    Rejected(Box<SubscriptionRejected>),
}

impl Desk {
    /// Begins a subscription for whoever may follow anything. May block.
    pub fn subscribe(&self, caller: &Caller, bytes: &[u8]) -> Result<Subscribed, Refusal> {
        let by = self.admit(caller, FOLLOWING)?;
        match SubscriberMessage::read(bytes).map_err(|violation| broken(&violation))? {
            SubscriberMessage::Request(request) => {
                let from = Viewpoint::of(by.caller(), &*self.owner()?)?;
                self.subscribe_as(&from, &request)
            }
            other => {
                let message = format!("expected subscription.request, found {}", other.name());
                Err(Refusal::new(Code::MessageMalformed, message)
                    .about("type")
                    .with_cure("POST /aaep/v1/replies takes every other message"))
            }
        }
    }

    fn subscribe_as(&self, by: &Viewpoint, request: &SubscriptionRequest) -> Result<Subscribed, Refusal> {
        let (owner, offer, now) = (&*self.owner()?, self.aaep_offer()?, self.now()?);
        let store = owner.sequencer().store();
        let most = self.limits().aaep.subscriptions as usize;
        if store.records(&subscriptions_of(&by.holder), None, most)?.len() >= most {
            let message = format!("one token has at most {most} subscriptions; close one, or wait");
            let mut refusal = rejected(RejectionReason::RateLimit, &message, &offer);
            refusal.retry_after_seconds = RETRY_SECONDS.try_into().ok();
            return Ok(Subscribed::Rejected(Box::new(refusal)));
        }
        let id = SubscriptionId::random(&mut owner.system());
        let (subscription, accepted) = match Subscription::open(request, &offer, id, now) {
            Ok(opened) => opened,
            Err(refusal) => return Ok(Subscribed::Rejected(Box::new(refusal))),
        };
        let begun = store.newest_post(&posted::events()?)?.number();
        let key = subscription_key(&by.holder, subscription.id())?;
        let kept = KeptSubscription { subscription, begun, was_followed: false, speaks: by.speaks() };
        let swaps = vec![records::creation(key, kept.value()?)];
        self.keep_events(owner, Changes { swaps, ..Changes::default() })?;
        Ok(Subscribed::Accepted(Box::new(accepted)))
    }
}

/// After how long another try may succeed: a subscription that nobody follows is lost by then.
const RETRY_SECONDS: u64 = 60;
