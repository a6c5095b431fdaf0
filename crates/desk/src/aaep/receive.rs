//! What a subscriber sends after its request: replies, other terms, the end.
//!
//! A sender is never told why a reply does not count (6.3.4), nor whether it does: that shows in events. The log has the reason.

use demur_aaep::{
    form::{ReplyToken, SubscriptionId},
    handshake::{ProducerMessage, SubscriberMessage},
    negotiation::rejected,
    prompt::{Prompt, PromptInput, PromptStep, ReplySender},
    reply::{ClarificationReply, ConfirmationReply},
    subscription::{SubscriptionEndCause, SubscriptionInput},
    word::RejectionReason,
};
use demur_api::{code::Code, refusal::Refusal};
use demur_core::{limit::Text, time::Timestamp};
use demur_sequencer::Changes;
use demur_store::contract::{RecordKey, Store, Swap, Version};

use super::{
    FOLLOWING,
    audience::{Viewpoint, replier},
    broken,
    kept::{
        KeptPrompt, KeptSession, KeptSubscription, PROMPTS, PromptSource, SUBSCRIPTIONS, session_key,
        subscription_key,
    },
    posted::terms_post,
    resolve,
};
use crate::{
    access::Caller,
    desk::Desk,
    owner::Owner,
    records::{self, listed},
};

/// What the sender of a message hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// Nothing.
    Nothing,
    /// The new terms, or that there are none.
    Terms(Box<ProducerMessage>),
}

impl Desk {
    /// Takes a message of a subscriber. May block.
    pub fn receive_message(&self, caller: &Caller, bytes: &[u8]) -> Result<Received, Refusal> {
        let by = self.admit(caller, FOLLOWING)?;
        let owner = &*self.owner()?;
        let from = Viewpoint::of(by.caller(), owner)?;
        match SubscriberMessage::read(bytes).map_err(|violation| broken(&violation))? {
            SubscriberMessage::Renegotiate(message) => {
                let id = &message.subscription_id;
                let reply = self.change_subscription(
                    owner,
                    &subscription_key(&from.holder, id)?,
                    SubscriptionInput::Renegotiate(&message),
                )?;
                let none = || self.no_subscription();
                Ok(Received::Terms(Box::new(reply.map_or_else(none, Ok)?)))
            }
            SubscriberMessage::Close(message) => {
                let key = subscription_key(&from.holder, &message.subscription_id)?;
                self.change_subscription(owner, &key, SubscriptionInput::Close(&message))?;
                Ok(Received::Nothing)
            }
            SubscriberMessage::Clarification(reply) => {
                self.reply(owner, by.caller(), &from, &Reply::Clarification(reply))?;
                Ok(Received::Nothing)
            }
            SubscriberMessage::Confirmation(reply) => {
                self.reply(owner, by.caller(), &from, &Reply::Confirmation(reply))?;
                Ok(Received::Nothing)
            }
            SubscriberMessage::Request(_) => {
                let message = "expected a message of a subscription, found subscription.request";
                Err(Refusal::new(Code::MessageMalformed, message)
                    .about("type")
                    .with_cure("POST /aaep/v1/subscriptions takes it"))
            }
        }
    }

    /// Hands a subscription an input, and does what follows. Returns what the subscriber is told; none where there is no such
    /// subscription.
    pub(super) fn change_subscription(
        &self,
        owner: &Owner,
        key: &RecordKey,
        input: SubscriptionInput<'_>,
    ) -> Result<Option<ProducerMessage>, Refusal> {
        let (store, offer) = (owner.sequencer().store(), self.aaep_offer()?);
        records::retry(|| {
            let Some((was, mut kept)) = records::find::<KeptSubscription>(store, key)? else {
                return Ok(None);
            };
            let now = self.now()?;
            let step = kept.subscription.handle(input, &offer, now);
            if step.is_changed {
                let mut changes =
                    Changes { swaps: vec![subscription_swap(key, was, &kept)?], ..Changes::default() };
                if step.has_ended || step.has_new_terms {
                    changes.posts.push(terms_post(kept.subscription.id(), self.events_expire(now))?);
                    self.keep_events(owner, changes)?;
                } else {
                    // That somebody follows is news for nobody.
                    owner.sequencer().change(changes)?;
                }
            }
            if step.has_ended {
                self.end_lonely_prompts(owner, &kept)?;
            }
            Ok(Some(step.reply.map_or_else(|| self.no_subscription(), Ok)?))
        })
    }

    fn no_subscription(&self) -> Result<ProducerMessage, Refusal> {
        let offer = self.aaep_offer()?;
        Ok(rejected(RejectionReason::Unknown, "there is no such subscription", &offer).into())
    }

    /// Ends prompts to which nobody replies any more who follows: their last subscriber closed its subscription (5.8.2). One that was
    /// only lost may come back, and the prompt's own time goes on.
    fn end_lonely_prompts(&self, owner: &Owner, ended: &KeptSubscription) -> Result<(), Refusal> {
        let cause = ended.subscription.end().map(|end| end.cause);
        if !ended.speaks || cause != Some(SubscriptionEndCause::ClosedBySubscriber) {
            return Ok(());
        }
        let store = owner.sequencer().store();
        let left: Vec<KeptSubscription> =
            records::all(store, SUBSCRIPTIONS)?.iter().filter_map(listed).collect();
        for record in records::all(store, PROMPTS)? {
            let Some(kept) = listed::<KeptPrompt>(&record) else { continue };
            let can_reply = |one: &KeptSubscription| one.speaks && takes(one, &kept.prompt);
            let is_theirs = matches!(kept.source, PromptSource::Producer { .. });
            if is_theirs && can_reply(ended) && !left.iter().any(can_reply) {
                self.move_prompt(owner, kept.prompt.token(), PromptInput::Abandon)?;
            }
        }
        Ok(())
    }

    /// Takes a reply. Whatever is wrong with it stays between us and the log.
    fn reply(&self, owner: &Owner, caller: &Caller, from: &Viewpoint, reply: &Reply) -> Result<(), Refusal> {
        let refused = records::retry(|| self.try_reply(owner, caller, from, reply))?;
        if let Some(why) = refused {
            let subscription = reply.subscription().as_str();
            tracing::info!(caller = caller.label(), subscription, why, "a reply does not count");
        }
        Ok(())
    }

    /// Takes a reply, and returns why it does not count.
    fn try_reply(
        &self,
        owner: &Owner,
        caller: &Caller,
        from: &Viewpoint,
        reply: &Reply,
    ) -> Result<Option<String>, Refusal> {
        let (store, now) = (owner.sequencer().store(), self.now()?);
        let subscription = find_active(store, from, reply.subscription(), now)?;
        let Some(subscription) = subscription else {
            return Ok(Some("the sender has no such subscription".to_owned()));
        };
        let Some((was, mut kept)) = resolve::find(store, reply.token())? else {
            return Ok(Some("no open prompt has this token".to_owned()));
        };
        let by = replier(caller, reply.claims());
        if let PromptSource::Question(id) = kept.source {
            return self.answer_question(owner, caller, (from, subscription), (id, &kept), reply);
        }
        let is_entitled = from.replies_to(&kept.audience) && by.is_some();
        let sender = ReplySender { subscription, is_entitled };
        let step = reply.by(by).hand_to(&mut kept.prompt, &sender, now);
        let refusal = step.refusal.map(|refusal| refusal.to_string());
        // A reply that comes too late ends the prompt as its time does.
        let Some(resolution) = &step.resolution else { return Ok(refusal) };
        let key = session_key(kept.prompt.session())?;
        let Some((session_was, mut session)) = records::find::<KeptSession>(store, &key)? else {
            return Ok(Some("the session of the prompt is forgotten".to_owned()));
        };
        let mut changes = Changes::default();
        self.add_resolution(owner, &(was, kept), resolution, &mut session, &mut changes)?;
        changes.swaps.push(self.session_swap(&session, session_was)?);
        self.keep_events(owner, changes)?;
        Ok(refusal)
    }
}

/// A reply of either kind.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Confirmation(ConfirmationReply),
    Clarification(ClarificationReply),
}

impl Reply {
    const fn token(&self) -> &ReplyToken {
        match self {
            Self::Confirmation(reply) => &reply.reply_token,
            Self::Clarification(reply) => &reply.reply_token,
        }
    }

    pub(super) const fn subscription(&self) -> &SubscriptionId {
        match self {
            Self::Confirmation(reply) => &reply.subscription_id,
            Self::Clarification(reply) => &reply.subscription_id,
        }
    }

    /// Returns who decided, by the reply's own word.
    pub(super) fn claims(&self) -> Option<&str> {
        match self {
            Self::Confirmation(reply) => reply.decided_by.as_deref(),
            Self::Clarification(reply) => reply.decided_by.as_deref(),
        }
    }

    /// Returns the same reply, decided by whom its sender may speak for.
    pub(super) fn by(&self, decided_by: Option<Text<1, 256>>) -> Self {
        let mut reply = self.clone();
        match &mut reply {
            Self::Confirmation(reply) => reply.decided_by = decided_by,
            Self::Clarification(reply) => reply.decided_by = decided_by,
        }
        reply
    }

    pub(super) fn hand_to(&self, prompt: &mut Prompt, sender: &ReplySender, now: Timestamp) -> PromptStep {
        match self {
            Self::Confirmation(reply) => prompt.handle(PromptInput::Confirmation(reply, sender), now),
            Self::Clarification(reply) => prompt.handle(PromptInput::Clarification(reply, sender), now),
        }
    }
}

/// Returns a subscription of this caller that lasts.
fn find_active(
    store: &dyn Store,
    from: &Viewpoint,
    id: &SubscriptionId,
    now: Timestamp,
) -> Result<Option<SubscriptionId>, Refusal> {
    let kept = records::find::<KeptSubscription>(store, &subscription_key(&from.holder, id)?)?;
    let lasts = |kept: &KeptSubscription| kept.subscription.next_timeout().is_some_and(|lost| now < lost);
    Ok(kept.filter(|(_, kept)| lasts(kept)).map(|_| id.clone()))
}

/// Returns the swap that keeps a subscription; one that has ended is no record.
pub(super) fn subscription_swap(
    key: &RecordKey,
    was: Version,
    kept: &KeptSubscription,
) -> Result<Swap, Refusal> {
    let next = if kept.subscription.is_active() { Some(kept.value()?) } else { None };
    Ok(Swap { key: key.clone(), was, next })
}

/// Returns whether the terms of a subscription let it reply to a prompt.
fn takes(kept: &KeptSubscription, prompt: &Prompt) -> bool {
    use demur_aaep::prompt::PromptTerms;
    let terms = kept.subscription.terms();
    kept.subscription.is_active()
        && match prompt.terms() {
            PromptTerms::Clarification(_) => terms.supports_clarification_reply == Some(true),
            PromptTerms::Confirmation(_) => terms.supports_confirmation_reply == Some(true),
        }
}
