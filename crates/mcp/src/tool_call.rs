//! One call of a tool: who calls, in which tier, with what from the round before; and what waiting means: with progress,
//! until the time is over, the client takes the call back, or nobody listens any more.

use demur_api::question::{QuestionId, QuestionView};
use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, InputRequest, InputRequiredResult, InputResponses,
        ProgressNotificationParam,
    },
    service::RequestContext,
};
use serde::Deserialize as _;
use tokio::{
    sync::watch,
    time::{self, Instant, MissedTickBehavior},
};

use crate::{
    door_settings::DoorSettings,
    host::{CallerConnection, Visitor},
    memory::{Memory, Screen},
    pass::{COURTESY_TIMEOUT, Passed, RETURN_DELAY, closing, glance, heard, look, over, pass_on},
    prompt::{Prompt, Said},
    reply::Stop,
    secret::SecretReplies,
    state::{Bound, RoundState, States},
    tier::Tier,
    written::ReplyWritten,
};

/// One call of a tool.
pub(crate) struct ToolCall<'a, C> {
    pub(crate) visitor: Visitor<C>,
    pub(crate) tier: Tier,
    pub(crate) context: &'a RequestContext<RoleServer>,
    pub(crate) states: &'a States,
    pub(crate) bound: Bound,
    pub(crate) memory: &'a Arc<Memory>,
    pub(crate) secrets: &'a SecretReplies,
    /// Whether the reply to the request that the call came with was written, where the transport says so.
    pub(crate) written: Option<ReplyWritten>,
    pub(crate) settings: DoorSettings,
    /// What the call goes on with.
    pub(crate) round: Option<RoundState>,
    pub(crate) responses: InputResponses,
    pub(crate) begun: Instant,
    /// Whether the client was told that somebody is waited for.
    pub(crate) announced: AtomicBool,
    /// Whether the caller looked so often that it hears one sentence.
    pub(crate) enough: AtomicBool,
    /// When whoever calls wants to hear something.
    pub(crate) until: Instant,
    /// Says when nobody listens any more.
    pub(crate) ended: watch::Receiver<bool>,
}

impl<C: CallerConnection> ToolCall<'_, C> {
    /// Returns the call with less patience, where whoever calls has less.
    pub(crate) fn within(&mut self, seconds: Option<u32>) -> &Self {
        if let Some(seconds) = seconds {
            self.until = self.until.min(self.begun + Duration::from_secs(seconds.into()));
        }
        self
    }

    /// Returns a question as it stands.
    pub(crate) async fn look(&self, id: QuestionId) -> Result<QuestionView, Stop> {
        look(&self.visitor, id).await
    }

    /// Returns a question as its asker knows it, without a look at the disk where it was just asked.
    pub(crate) async fn glance(&self, id: QuestionId) -> Result<QuestionView, Stop> {
        glance(&self.visitor, id).await
    }

    /// Notes what the client hears with this call, so that it is asked anew when it asks in the same words.
    pub(crate) async fn heard(&self, told: &QuestionView) {
        if !self.context.ct.is_cancelled() && !*self.ended.borrow() {
            heard(&self.visitor, told).await;
        }
    }

    /// Returns where people answer.
    pub(crate) async fn address(&self) -> Option<String> {
        // A server that is away has none that anybody could use.
        time::timeout(COURTESY_TIMEOUT, self.visitor.connection.inbox_address()).await.ok().flatten()
    }

    /// Returns whether whoever calls wants to hear something at once.
    pub(crate) fn is_brief(&self) -> bool {
        self.until <= self.begun
    }

    /// Waits until a question is no longer open; none if it still is when the time is over.
    pub(crate) async fn closed(&self, id: QuestionId) -> Result<Option<QuestionView>, Stop> {
        if Instant::now() >= self.until {
            return Ok(None);
        }
        self.patiently(id, closing(&self.visitor, id, Some(self.until))).await.map(Option::flatten)
    }

    /// Does what takes its time, and tells the client that it does. None if the time is over or nobody listens.
    pub(crate) async fn patiently<T>(
        &self,
        id: QuestionId,
        work: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Option<T>, Stop> {
        let (mut work, mut ended) = (pin!(work), self.ended.clone());
        // Over HTTP the first note is what makes the reply a stream: it is sent at once, and once.
        if !self.announced.swap(true, Ordering::Relaxed) {
            self.progress(id).await;
        }
        let mut tick = time::interval_at(Instant::now() + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
        // A machine that slept has nothing to make up for.
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                done = work.as_mut() => return done.map(Some),
                () = time::sleep_until(self.until) => return Ok(None),
                () = self.context.ct.cancelled() => return Err(Stop::Cancelled),
                () = over(&mut ended) => return Ok(None),
                _ = tick.tick() => self.progress(id).await,
            }
        }
    }

    async fn progress(&self, id: QuestionId) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let note = ProgressNotificationParam::new(token, self.begun.elapsed().as_secs_f64())
            .with_total(self.until.saturating_duration_since(self.begun).as_secs_f64())
            .with_message(format!("Waiting for an answer to {id}"));
        // A client that does not read must not hold up what it waits for.
        let _ = time::timeout(RETURN_DELAY, self.context.peer.notify_progress(note)).await;
    }

    /// Returns what a client of the first tier is told: what is missing, each under its key, and what to bring back.
    pub(crate) fn input_required(
        &self,
        requests: impl IntoIterator<Item = (String, ElicitRequestParams)>,
        round: &RoundState,
    ) -> Result<InputRequiredResult, Stop> {
        let request = |params| InputRequest::Elicitation(ElicitRequest::new(params));
        let requests = requests.into_iter().map(|(key, params)| (key, request(params))).collect();
        Ok(InputRequiredResult::new(Some(requests), Some(self.states.seal(round, &self.bound)?)))
    }

    /// Returns what the client brought back for a prompt, if anything.
    pub(crate) fn response(&self, prompt: &Prompt) -> Result<Option<Said>, Stop> {
        let Some(response) = self.responses.get(&prompt.key) else { return Ok(None) };
        let result = ElicitResult::deserialize(response).map_err(|error| {
            let message =
                format!("inputResponses.{}: expected the result of an elicitation: {error}", prompt.key);
            ErrorData::invalid_params(message, None)
        })?;
        Ok(Some(prompt.read(&result)))
    }

    /// Passes on what a user said. Whoever was first is what the user hears.
    pub(crate) async fn pass_on(&self, prompt: &Prompt, said: Said) -> Result<Passed, Stop> {
        if said == Said::Nothing {
            self.close(prompt);
        }
        pass_on(&self.visitor, prompt, said).await
    }

    /// Notes that the client's user closed the form of a question.
    pub(crate) fn close(&self, prompt: &Prompt) {
        self.memory.place(&self.visitor.identity, &prompt.question.to_string(), Some(Screen::Closed));
    }
}

/// How often a client hears that somebody is still waited for.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(15);
