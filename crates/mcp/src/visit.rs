//! One call of a tool: who calls, in which tier, with what from the round before; and what waiting means: with progress,
//! until the time is over, the client takes the call back, or nobody listens any more.

use std::{future::Future, pin::pin, time::Duration};

use demur_desk::question::{Done, QuestionId, QuestionView};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
        InputRequiredResult, InputResponses, ProgressNotificationParam, ServerRequest,
    },
    service::{PeerRequestOptions, RequestContext},
};
use serde::Deserialize as _;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{self, Instant},
};

use crate::{
    api::{Call, Visitor},
    need::{Need, Said, user_of},
    reply::Stop,
    state::{Bound, States, Ticket},
    tier::{Modes, Tier},
};

/// One call of a tool.
pub(crate) struct Visit<'a> {
    pub(crate) visitor: Visitor,
    /// The client, by the name it gives itself.
    pub(crate) client: String,
    pub(crate) tier: Tier,
    pub(crate) context: &'a RequestContext<RoleServer>,
    pub(crate) states: &'a States,
    pub(crate) bound: Bound,
    /// What the call goes on with.
    pub(crate) ticket: Option<Ticket>,
    pub(crate) responses: InputResponses,
    /// When whoever calls wants to hear something.
    pub(crate) until: Instant,
    /// Says when nobody listens any more.
    pub(crate) ended: watch::Receiver<bool>,
}

/// What became of what a user said.
pub(crate) enum Passed {
    /// It was recorded, or something was before: the question as it stands.
    Done(Box<QuestionView>),
    /// It settles nothing, and why.
    Misfit(String),
    /// Nothing was said.
    Nothing,
}

impl Visit<'_> {
    /// Returns a question as it stands.
    pub(crate) async fn look(&self, id: QuestionId) -> Result<QuestionView, Stop> {
        Ok(self.visitor.call(Call::get(format!("/v1/questions/{id}"))).await?)
    }

    /// Notes what the client hears with this call, so that it is asked anew when it asks in the same words.
    pub(crate) async fn heard<'q>(&self, told: impl IntoIterator<Item = &'q QuestionView>) {
        let ended = told.into_iter().filter(|shown| shown.state != "open").map(|shown| shown.id);
        let ended: Vec<_> = ended.collect();
        if ended.is_empty() || self.context.ct.is_cancelled() || *self.ended.borrow() {
            return;
        }
        if self.visitor.api.is_heard().await {
            // What cannot be noted is told once more: better than a person who is asked twice.
            let call = Call::post("/v1/heard", &json!({"questions": ended})).within(SECOND);
            let _ = self.visitor.api.call(call).await;
        }
    }

    /// Returns where people answer.
    pub(crate) async fn address(&self) -> Option<String> {
        // A server that is away has none that anybody could use.
        time::timeout(SECOND, self.visitor.api.address()).await.ok().flatten()
    }

    /// Waits until a question is no longer open; none if it still is when the time is over.
    pub(crate) async fn closed(&self, id: QuestionId) -> Result<Option<QuestionView>, Stop> {
        self.patiently(id, self.closing(id)).await.map(Option::flatten)
    }

    async fn closing(&self, id: QuestionId) -> Result<Option<QuestionView>, Stop> {
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let seconds = left.as_secs().max(1);
            let call = Call::get(format!("/v1/questions/{id}/wait?seconds={seconds}")).within(left);
            match self.visitor.call::<QuestionView>(call).await {
                Ok(shown) if shown.state != "open" => return Ok(Some(shown)),
                Ok(_) => {}
                // The server is away for a moment: the question is still there.
                Err(refusal) if refusal.is_passing() => time::sleep(MOMENT).await,
                Err(refusal) => return Err(refusal.into()),
            }
            if Instant::now() >= self.until {
                return Ok(None);
            }
        }
    }

    /// Does what takes its time, and tells the client that it does. None if the time is over or nobody listens.
    async fn patiently<T>(
        &self,
        id: QuestionId,
        work: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Option<T>, Stop> {
        let (mut work, mut ended) = (pin!(work), self.ended.clone());
        let begun = Instant::now();
        // Often enough that no client gives up in between.
        let pace = (self.until.saturating_duration_since(begun) / STEPS).max(SHORTEST);
        let mut tick = time::interval_at(begun + pace, pace);
        loop {
            tokio::select! {
                done = work.as_mut() => return done.map(Some),
                () = time::sleep_until(self.until) => return Ok(None),
                () = self.context.ct.cancelled() => return Err(Stop::Cancelled),
                () = over(&mut ended) => return Ok(None),
                _ = tick.tick() => self.progress(id, begun).await,
            }
        }
    }

    async fn progress(&self, id: QuestionId, begun: Instant) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let note = ProgressNotificationParam::new(token, begun.elapsed().as_secs_f64())
            .with_total(self.until.saturating_duration_since(begun).as_secs_f64())
            .with_message(format!("Waiting for an answer to {id}"));
        // A client that does not read must not hold up what it waits for.
        let _ = time::timeout(MOMENT, self.context.peer.notify_progress(note)).await;
    }

    /// Returns what a client of the first tier is told: what is missing, each under its key, and what to bring back.
    pub(crate) fn input_required(
        &self,
        requests: impl IntoIterator<Item = (String, ElicitRequestParams)>,
        ticket: &Ticket,
    ) -> Result<InputRequiredResult, Stop> {
        let request = |params| InputRequest::Elicitation(ElicitRequest::new(params));
        let requests = requests.into_iter().map(|(key, params)| (key, request(params))).collect();
        Ok(InputRequiredResult::new(Some(requests), Some(self.states.seal(ticket, &self.bound)?)))
    }

    /// Returns what the client brought back for a need, if anything.
    pub(crate) fn response(&self, need: &Need) -> Result<Option<Said>, Stop> {
        let Some(response) = self.responses.get(&need.key) else { return Ok(None) };
        let result = ElicitResult::deserialize(response).map_err(|error| {
            let message =
                format!("inputResponses.{}: expected the result of an elicitation: {error}", need.key);
            ErrorData::invalid_params(message, None)
        })?;
        Ok(Some(need.read(&result)))
    }

    /// Asks the client's user while everybody else can answer too. None if the time is over, the user was not asked, or
    /// only sent elsewhere and nobody answered there.
    pub(crate) async fn elicit(&self, need: &Need, modes: Modes) -> Result<Option<Passed>, Stop> {
        let address = self.address().await;
        let Some(params) = need.request(modes, address.as_deref()) else { return self.elsewhere(need).await };
        let asking = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let Ok(mut handle) = self.context.peer.send_cancellable_request(asking, options).await else {
            return self.elsewhere(need).await;
        };
        let first = {
            let response = async { Ok((&mut handle.rx).await) };
            let mut closing = pin!(self.closing(need.question));
            self.patiently(need.question, async {
                tokio::select! {
                    response = response => response.map(First::Client),
                    closed = closing.as_mut() => closed.map(|closed| First::Elsewhere(closed.map(Box::new))),
                }
            })
            .await
        };
        match first {
            Ok(Some(First::Client(Ok(Ok(ClientResult::ElicitResult(result)))))) => match need.read(&result) {
                // Its user was sent to the inbox: the answer comes there.
                Said::Nothing if result.action == ElicitationAction::Accept => self.elsewhere(need).await,
                said => self.pass_on(need, said).await.map(Some),
            },
            // It said that it could, and cannot: whoever else is asked may answer.
            Ok(Some(First::Client(_))) => self.elsewhere(need).await,
            Ok(Some(First::Elsewhere(closed))) => {
                let _ = handle.cancel(Some("somebody else was first".to_owned())).await;
                Ok(closed.map(Passed::Done))
            }
            Ok(None) => {
                let _ =
                    handle.cancel(Some("nobody answered in time; the question stays open".to_owned())).await;
                Ok(None)
            }
            Err(stop) => {
                let _ = handle.cancel(Some("the call was taken back".to_owned())).await;
                Err(stop)
            }
        }
    }

    async fn elsewhere(&self, need: &Need) -> Result<Option<Passed>, Stop> {
        Ok(self.closed(need.question).await?.map(|shown| Passed::Done(Box::new(shown))))
    }

    /// Passes on what a user said. Whoever was first is what the user hears.
    pub(crate) async fn pass_on(&self, need: &Need, said: Said) -> Result<Passed, Stop> {
        let (id, by) = (need.question, user_of(&self.client));
        let call = match said {
            Said::Nothing => return Ok(Passed::Nothing),
            Said::Misfit(why) => return Ok(Passed::Misfit(why)),
            Said::Declined => Call::post(format!("/v1/questions/{id}/decline"), &json!({"by": by})),
            Said::Accepted => Call::post(format!("/v1/questions/{id}/accept"), &json!({"by": by})),
            Said::Answer(answer) => {
                let mut body = json!({"answer": answer, "by": by});
                if let Some(request) = need.request_digest() {
                    body["request"] = json!(request);
                }
                Call::post(format!("/v1/questions/{id}/answer"), &body)
            }
        };
        match self.visitor.call::<Done>(call).await {
            Ok(Done { unsettled: Some(why), .. }) => Ok(Passed::Misfit(why)),
            Ok(done) => Ok(Passed::Done(Box::new(done.question))),
            Err(refusal) if refusal.is_late() => Ok(Passed::Done(Box::new(self.look(id).await?))),
            Err(refusal) if refusal.is_about_the_kind() => Ok(Passed::Misfit(refusal.detail)),
            Err(refusal) => Err(refusal.into()),
        }
    }
}

/// Waits until nobody listens any more.
async fn over(ended: &mut watch::Receiver<bool>) {
    // Without anybody to say so, it does not happen.
    if ended.wait_for(|ended| *ended).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What came first while a client's user was asked.
enum First<T> {
    Client(T),
    Elsewhere(Option<Box<QuestionView>>),
}

/// How often a client hears during a whole wait that somebody is still waited for: every five seconds.
const STEPS: u32 = 9;
/// How often at most.
const SHORTEST: Duration = Duration::from_millis(20);
/// How long the inbox is looked for.
const SECOND: Duration = Duration::from_secs(1);
/// How long something may be away that comes back at once.
const MOMENT: Duration = Duration::from_millis(100);
