//! What became of prompts, as their producer hears it: with its own token and the answer itself. A stream for each session, which its
//! publisher reads and acknowledges.

use std::{sync::Arc, time::Duration};

use demur_aaep::{
    form::{EventId, ReplyToken, SessionId},
    prompt::{Prompt, PromptOutcome, PromptResolution},
    reply::Response,
    resolved::{PromptResolved, ResolvedOutcome},
    time::EventTime,
    word::{ReplyDecision, ResponseKind},
};
use demur_api::{code::Code, refusal::Refusal};
use demur_core::{
    limit::{Text, Whole},
    time::Timestamp,
};
use demur_sequencer::Changes;
use demur_store::contract::{Acknowledgement, ConsumerName, KeptPost, Post, StreamPosition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time;

use super::{
    PUBLISHING,
    audience::{Audience, holder},
    kept::{KeptSession, session_key},
    posted::outcomes,
};
use crate::{access::Caller, desk::Desk, owner::Owner, records};

/// From where on, and how long to wait.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeParameters {
    /// The place of the last outcome that was taken in: it and those before it are not told again. Where it is left out, what the
    /// producer named last holds.
    #[serde(default)]
    pub after: Option<u64>,
    /// For how many seconds to wait where there is nothing yet.
    #[serde(default)]
    pub seconds: Option<Whole<0, 60>>,
}

/// What became of prompts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PromptOutcomes {
    /// In the order in which it happened.
    pub outcomes: Vec<PlacedNotice>,
}

/// What became of one prompt, and the place at which it is told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlacedNotice {
    /// Its place.
    pub place: u64,
    /// What became of it.
    #[serde(flatten)]
    pub notice: PromptNotice,
}

/// What became of one prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptNotice {
    /// The producer's own token.
    pub reply_token: ReplyToken,
    /// The producer's own event.
    pub event_id: EventId,
    /// How it ended.
    pub outcome: ResolvedOutcome,
    /// When.
    pub resolved_at: EventTime,
    /// Who replied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<Text<1, 256>>,
    /// The answer, or the default that holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// Of which kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_kind: Option<ResponseKind>,
    /// The decision, or the default that holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ReplyDecision>,
}

impl PromptNotice {
    /// Returns what a producer is told of its prompt.
    pub(super) fn of(
        token: &ReplyToken,
        event: &EventId,
        prompt: &Prompt,
        resolution: &PromptResolution,
    ) -> Self {
        let told = PromptResolved::of(prompt, resolution);
        let (mut response, mut response_kind, mut decision) = (None, None, None);
        match &resolution.outcome {
            PromptOutcome::Answered { response: given, kind, .. } => {
                (response, response_kind) = (Some(given.clone()), Some(*kind));
            }
            PromptOutcome::AnswerDefaulted(default) => {
                (response, response_kind) = (Some(default.response.clone()), Some(default.kind));
            }
            PromptOutcome::Decided { decision: given, .. }
            | PromptOutcome::DecisionDefaulted { decision: given } => decision = Some(*given),
            PromptOutcome::Expired | PromptOutcome::Cancelled(_) => {}
        }
        Self {
            reply_token: token.clone(),
            event_id: event.clone(),
            outcome: told.outcome,
            resolved_at: told.resolved_at,
            resolved_by: told.resolved_by,
            response,
            response_kind,
            decision,
        }
    }

    /// Returns the post that tells it.
    pub(super) fn post(&self, session: &SessionId, expires: Timestamp) -> Result<Post, Refusal> {
        let bytes = serde_json::to_vec(self).map_err(|error| Refusal::bug(&error))?;
        Ok(Post { stream: outcomes(session)?, name: None, bytes, expires: Some(expires) })
    }
}

impl Desk {
    /// Returns what became of the prompts of a session that the caller publishes; waits where there is nothing yet.
    pub async fn prompt_outcomes(
        self: &Arc<Self>,
        caller: &Caller,
        session: &str,
        parameters: OutcomeParameters,
    ) -> Result<PromptOutcomes, Refusal> {
        let by = self.admit_now(caller, PUBLISHING).await?;
        let session: SessionId = session.parse().map_err(|_| unknown())?;
        let patience = Duration::from_secs(parameters.seconds.map_or(0, Whole::as_u64));
        let _share = if patience.is_zero() { None } else { Some(self.quotas().wait(caller)?) };
        let until = time::Instant::now() + patience;
        let mut posted = self.events().listen();
        let mut after = parameters.after;
        loop {
            // Seen before the look: whatever is posted after it wakes us again.
            posted.mark_unchanged();
            self.expect_good(by.caller()).await?;
            let (session, caller) = (session.clone(), by.caller().clone());
            let found =
                self.work(move |desk, owner| desk.outcomes_of(owner, &caller, &session, after)).await?;
            // It is acknowledged by now.
            after = None;
            if !found.is_empty() || time::Instant::now() >= until {
                return Ok(PromptOutcomes { outcomes: found });
            }
            tokio::select! {
                changed = posted.changed() => if changed.is_err() { return Ok(PromptOutcomes { outcomes: found }) },
                // Another process may have posted it.
                () = time::sleep(LOOK_INTERVAL) => {}
                () = time::sleep_until(until) => {}
                () = self.stopping() => return Ok(PromptOutcomes { outcomes: found }),
            }
        }
    }

    fn outcomes_of(
        &self,
        owner: &Owner,
        caller: &Caller,
        session: &SessionId,
        after: Option<u64>,
    ) -> Result<Vec<PlacedNotice>, Refusal> {
        let (store, audience) = (owner.sequencer().store(), Audience::Publisher(holder(caller)?));
        let kept = records::find::<KeptSession>(store, &session_key(session)?)?;
        kept.filter(|(_, kept)| kept.audience == audience).ok_or_else(unknown)?;
        let (stream, consumer) = (outcomes(session)?, ConsumerName::new(PUBLISHER)?);
        let known = store.acknowledged(&stream, &consumer)?;
        let position = StreamPosition::new(after.unwrap_or(known.number()));
        if position > known {
            let expires = Some(self.events_expire(self.now()?));
            let acknowledged = vec![Acknowledgement { stream: stream.clone(), consumer, position, expires }];
            owner.sequencer().change(Changes { acknowledged, ..Changes::default() })?;
        }
        let notice = |post: &KeptPost| {
            let notice = serde_json::from_slice(&post.bytes).ok()?;
            Some(PlacedNotice { place: post.position.number(), notice })
        };
        Ok(store.posts(&stream, position, OUTCOMES_PER_READ)?.iter().filter_map(notice).collect())
    }
}

fn unknown() -> Refusal {
    Refusal::new(Code::SessionUnknown, "expected a session that this caller publishes, found none")
        .with_cure("a session begins with agent.session.started")
}

/// Who acknowledges outcomes.
const PUBLISHER: &str = "publisher";
const OUTCOMES_PER_READ: usize = 100;
/// How often it is looked without a hint.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
