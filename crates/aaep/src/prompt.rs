//! A prompt from the moment it is asked until it is resolved, exactly once (4.4, 6).
//!
//! A [`Prompt`] is a value. Its keeper loads it, hands it one input together with the time, and stores it again
//! if the step says that it changed. Two processes may do that at once as long as the store takes only one of two changes to the same
//! version: the other one loads anew, and its input meets a prompt that is resolved. That is all that single use rests on.
//!
//! An instant belongs to one side only: a reply counts before the deadline, and at the deadline the time is up.

mod terms;

use demur_core::{limit::Text, time::Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    event::AgentEvent,
    form::{EventId, ReplyToken, SessionId, SubscriptionId},
    payload::Payload,
    reply::{ClarificationReply, ConfirmationReply, Response},
    time::MAX_SKEW_MS,
    word::{ReplyDecision, ResponseKind},
};

pub use terms::{ClarificationTerms, ConfirmationTerms, DefaultAnswer};

/// One prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    token: ReplyToken,
    session: SessionId,
    event: EventId,
    asked: Timestamp,
    deadline: Timestamp,
    terms: PromptTerms,
    /// How many of the reminders were due so far.
    reminders: u8,
    resolution: Option<PromptResolution>,
}

/// What a prompt asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum PromptTerms {
    /// An answer.
    Clarification(ClarificationTerms),
    /// Permission for one action.
    Confirmation(ConfirmationTerms),
}

/// The sender of a reply, as the transport knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplySender {
    /// The subscription it was authenticated for.
    pub subscription: SubscriptionId,
    /// Whether that subscription received the prompt, or may reply for others.
    pub is_entitled: bool,
}

/// An input to a prompt.
#[derive(Clone, Copy, Debug)]
pub enum PromptInput<'a> {
    /// A reply to a confirmation arrived.
    Confirmation(&'a ConfirmationReply, &'a ReplySender),
    /// A reply to a clarification arrived.
    Clarification(&'a ClarificationReply, &'a ReplySender),
    /// Time passed.
    Tick,
    /// It is no longer asked.
    Cancel(PromptCancellation),
    /// No subscription is left that could reply (5.8.2).
    Abandon,
}

/// The result of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptStep {
    /// How the prompt ended, in the step that ended it and in no other.
    pub resolution: Option<PromptResolution>,
    /// Why a reply was ignored. For the log: a sender is not told.
    pub refusal: Option<ReplyRefusal>,
    /// That half or a tenth of the time is left, and how many milliseconds that is.
    pub remaining_ms: Option<u64>,
    /// Whether the prompt has to be stored.
    pub is_changed: bool,
}

/// How a prompt ended, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptResolution {
    /// When.
    pub at: Timestamp,
    /// How.
    pub outcome: PromptOutcome,
}

/// How a prompt ended. An answer and a decision are never the same thing, and a default is neither.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum PromptOutcome {
    /// A question was answered.
    Answered {
        /// What was said.
        response: Response,
        /// By which kind it was taken.
        kind: ResponseKind,
        /// The replier.
        by: Replier,
    },
    /// An action was allowed or not.
    Decided {
        /// What holds.
        decision: ReplyDecision,
        /// Whether the person would allow something else; then the decision is to reject.
        is_modified: bool,
        /// The replier.
        by: Replier,
    },
    /// The time was up, and the question has a default.
    AnswerDefaulted(DefaultAnswer),
    /// The time was up, and the default decision holds.
    DecisionDefaulted {
        /// What holds.
        decision: ReplyDecision,
    },
    /// The time was up, and the question has no default. The session hands off or ends; nothing is assumed.
    Expired,
    /// It is no longer asked.
    Cancelled(PromptCancellation),
}

/// The replier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replier {
    /// The subscription.
    pub subscription: SubscriptionId,
    /// The person, by the sender's word.
    pub decided_by: Option<Text<1, 256>>,
}

/// Why a prompt is no longer asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptCancellation {
    /// Its session was cancelled.
    SessionCancelled,
    /// Its session ended otherwise.
    SessionEnded,
    /// The agent does something else.
    Superseded,
    /// The same was asked again, under another token.
    Renewed,
    /// It was settled on another way than by a reply.
    SettledElsewhere,
}

/// Why a reply is ignored, in the order of the checks (6.3.4, 6.5.5). A sender is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplyRefusal {
    /// The token is that of another prompt.
    #[error("expected the token of this prompt, found another")]
    Token,
    /// The prompt is resolved.
    #[error("expected a prompt that is open, found one that is resolved")]
    Used,
    /// It came when the time was up.
    #[error("expected a reply before the deadline, found one that came later")]
    Late,
    /// It says that it was decided after the deadline.
    #[error("expected a decision before the deadline, found one that is dated later")]
    LateClaim,
    /// The sender did not receive the prompt, and does not reply for others.
    #[error("expected a sender that is entitled to reply, found one that is not")]
    Sender,
    /// The reply names another subscription than the sender's.
    #[error("expected the sender's own subscription, found another")]
    Subscription,
    /// A confirmation was answered with a clarification, or the other way round. An answer allows nothing.
    #[error("expected the reply that belongs to the prompt, found the other one")]
    Message,
    /// The decision is not among the allowed replies.
    #[error("expected one of the allowed replies, found another")]
    Decision,
    /// The response is of a kind that is not accepted.
    #[error("expected a response of an accepted kind, found another")]
    Kind,
    /// The response is none of the choices.
    #[error("expected the value of a choice, found another text")]
    Choice,
}

impl Prompt {
    /// Returns the prompt that an event opens; none for events that ask nothing. Its time runs from the event's own, so an event that
    /// [is dated ahead](crate::time::EventTime::is_dated_ahead) is refused before.
    pub fn open(event: &AgentEvent) -> Option<Self> {
        let (token, timeout, terms) = match &event.payload {
            Payload::AwaitingClarification(payload) => {
                let terms = PromptTerms::Clarification(ClarificationTerms::of(payload));
                (&payload.reply_token, payload.timeout_seconds, terms)
            }
            Payload::AwaitingConfirmation(payload) => {
                let terms = PromptTerms::Confirmation(ConfirmationTerms::of(payload));
                (&payload.reply_token, payload.timeout_seconds, terms)
            }
            _ => return None,
        };
        let asked = event.envelope.timestamp.as_timestamp();
        Some(Self {
            token: token.clone(),
            session: event.envelope.session_id.clone(),
            event: event.envelope.event_id.clone(),
            asked,
            deadline: asked.plus_millis(timeout.as_u64() * 1000),
            terms,
            reminders: 0,
            resolution: None,
        })
    }

    /// Returns what a reply has to name.
    pub const fn token(&self) -> &ReplyToken {
        &self.token
    }

    /// Returns the session that waits.
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the event that opened it.
    pub const fn event(&self) -> &EventId {
        &self.event
    }

    /// Returns when the time is up.
    pub const fn deadline(&self) -> Timestamp {
        self.deadline
    }

    /// Returns what it asks for.
    pub const fn terms(&self) -> &PromptTerms {
        &self.terms
    }

    /// Returns how it ended; none while it is open.
    pub const fn resolution(&self) -> Option<&PromptResolution> {
        self.resolution.as_ref()
    }

    /// Returns whether it is open.
    pub const fn is_open(&self) -> bool {
        self.resolution.is_none()
    }

    /// Returns when it wants the next tick; none once it is resolved.
    pub fn next_timeout(&self) -> Option<Timestamp> {
        let next = || self.reminder(self.reminders).unwrap_or(self.deadline);
        self.is_open().then(next)
    }

    /// Takes one input. An input that comes when the time is up meets a prompt that has just timed out.
    pub fn handle(&mut self, input: PromptInput<'_>, now: Timestamp) -> PromptStep {
        let mut step = PromptStep::default();
        if self.is_open() && now >= self.deadline {
            self.resolve(self.without_reply(), now, &mut step);
            step.refusal = input.is_reply().then_some(ReplyRefusal::Late);
            return step;
        }
        match input {
            PromptInput::Tick => self.remind(now, &mut step),
            PromptInput::Cancel(reason) if self.is_open() => {
                self.resolve(PromptOutcome::Cancelled(reason), now, &mut step);
            }
            PromptInput::Abandon if self.is_open() && self.may_end_early() => {
                self.resolve(self.without_reply(), now, &mut step);
            }
            PromptInput::Cancel(_) | PromptInput::Abandon => {}
            PromptInput::Confirmation(reply, sender) => {
                let found = self.decided(reply, sender);
                self.take(found, now, &mut step);
            }
            PromptInput::Clarification(reply, sender) => {
                let found = self.answered(reply, sender);
                self.take(found, now, &mut step);
            }
        }
        step
    }

    fn take(&mut self, found: Result<PromptOutcome, ReplyRefusal>, now: Timestamp, step: &mut PromptStep) {
        match found {
            Ok(outcome) => self.resolve(outcome, now, step),
            Err(refusal) => step.refusal = Some(refusal),
        }
    }

    fn resolve(&mut self, outcome: PromptOutcome, at: Timestamp, step: &mut PromptStep) {
        let resolution = PromptResolution { at, outcome };
        self.resolution = Some(resolution.clone());
        step.resolution = Some(resolution);
        step.is_changed = true;
    }

    /// Tells the reminders that are due; of two that are, the later one.
    fn remind(&mut self, now: Timestamp, step: &mut PromptStep) {
        while self.is_open() && self.reminder(self.reminders).is_some_and(|due| due <= now) {
            self.reminders += 1;
            step.remaining_ms = Some(self.deadline.as_millis() - now.as_millis());
            step.is_changed = true;
        }
    }

    /// Returns when a reminder is due: when half and when a tenth of the time is left, if there is more than a minute of it.
    fn reminder(&self, index: u8) -> Option<Timestamp> {
        let whole = self.deadline.as_millis().saturating_sub(self.asked.as_millis());
        let left = match index {
            0 => whole / 2,
            1 => whole / 10,
            _ => return None,
        };
        (whole > MIN_REMINDED_MS).then(|| self.asked.plus_millis(whole - left))
    }

    fn without_reply(&self) -> PromptOutcome {
        match &self.terms {
            PromptTerms::Confirmation(terms) => {
                PromptOutcome::DecisionDefaulted { decision: terms.default_decision() }
            }
            PromptTerms::Clarification(terms) => {
                terms.default_answer().map_or(PromptOutcome::Expired, PromptOutcome::AnswerDefaulted)
            }
        }
    }

    /// Returns whether the time may be cut short: never where an action would be done because of it.
    fn may_end_early(&self) -> bool {
        let accepts = PromptOutcome::DecisionDefaulted { decision: ReplyDecision::Accept };
        self.without_reply() != accepts
    }

    fn decided(
        &self,
        reply: &ConfirmationReply,
        sender: &ReplySender,
    ) -> Result<PromptOutcome, ReplyRefusal> {
        self.check(&reply.reply_token, &reply.subscription_id, reply.timestamp.as_timestamp(), sender)?;
        let PromptTerms::Confirmation(terms) = &self.terms else { return Err(ReplyRefusal::Message) };
        Ok(PromptOutcome::Decided {
            decision: terms.decision_of(reply)?,
            is_modified: reply.modified_action.is_some(),
            by: Replier { subscription: sender.subscription.clone(), decided_by: reply.decided_by.clone() },
        })
    }

    fn answered(
        &self,
        reply: &ClarificationReply,
        sender: &ReplySender,
    ) -> Result<PromptOutcome, ReplyRefusal> {
        self.check(&reply.reply_token, &reply.subscription_id, reply.timestamp.as_timestamp(), sender)?;
        let PromptTerms::Clarification(terms) = &self.terms else { return Err(ReplyRefusal::Message) };
        Ok(PromptOutcome::Answered {
            kind: terms.kind_of(&reply.response)?,
            response: reply.response.clone(),
            by: Replier { subscription: sender.subscription.clone(), decided_by: reply.decided_by.clone() },
        })
    }

    /// Returns why a reply is ignored, whatever it says.
    fn check(
        &self,
        token: &ReplyToken,
        subscription: &SubscriptionId,
        claimed: Timestamp,
        sender: &ReplySender,
    ) -> Result<(), ReplyRefusal> {
        if *token != self.token {
            Err(ReplyRefusal::Token)
        } else if !self.is_open() {
            Err(ReplyRefusal::Used)
        } else if claimed >= self.deadline.plus_millis(MAX_SKEW_MS) {
            // Clocks differ. That the reply came in time is known; what it says about itself may be a little off.
            Err(ReplyRefusal::LateClaim)
        } else if !sender.is_entitled {
            Err(ReplyRefusal::Sender)
        } else if *subscription != sender.subscription {
            Err(ReplyRefusal::Subscription)
        } else {
            Ok(())
        }
    }
}

impl PromptInput<'_> {
    const fn is_reply(&self) -> bool {
        matches!(self, Self::Confirmation(..) | Self::Clarification(..))
    }
}

/// Prompts that wait no longer than this have no reminders.
const MIN_REMINDED_MS: u64 = 60_000;
