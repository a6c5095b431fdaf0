//! A form before a client's user (2025-11-25 and 2025-06-18): everybody else can answer too, and then it is taken back. When
//! the call ends first, the form stays where the connection does, and what comes back through it still counts.

use demur_api::question::QuestionView;
use std::sync::Arc;

use rmcp::{
    Peer, RoleServer,
    model::{ClientResult, ElicitRequest, ElicitationAction, ServerRequest},
    service::{PeerRequestOptions, RequestHandle},
};
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::{self, Instant},
};

use crate::{
    host::{CallerConnection, Visitor},
    memory::{Memory, Screen},
    pass::{Passed, RETURN_DELAY, closing, over, pass_on},
    prompt::{Prompt, Said},
    reply::Stop,
    tier::Modes,
    tool_call::ToolCall,
};

/// A form that is on screen.
struct Form<C> {
    handle: RequestHandle<RoleServer>,
    prompt: Prompt,
    target: FormTarget<C>,
}

/// Where forms are shown.
#[derive(Clone)]
struct FormTarget<C> {
    peer: Peer<RoleServer>,
    visitor: Visitor<C>,
    modes: Modes,
    address: Option<String>,
    memory: Arc<Memory>,
}

/// What came first while a form was on screen.
enum First {
    /// The client's user said something.
    Said(Said),
    /// The user went to the inbox: the answer comes there.
    Sent,
    /// The client cannot show it.
    Cannot,
    /// Somebody else settled it.
    Elsewhere(Box<QuestionView>),
    /// Nobody did until the time was over.
    Late,
    /// The connection is gone, and the form with it.
    Gone,
}

impl<C: CallerConnection> ToolCall<'_, C> {
    /// Returns whether a form may be shown: none is on screen, and its user has not closed one.
    pub(crate) fn may_show(&self, prompt: &Prompt) -> bool {
        self.memory.screen(&self.visitor.identity, &prompt.question.to_string()).is_none()
    }

    /// Asks the client's user while everybody else can answer too. None if the time is over and it is still open.
    pub(crate) async fn elicit(&self, prompt: &Prompt, modes: Modes) -> Result<Option<Passed>, Stop> {
        let target = FormTarget {
            peer: self.context.peer.clone(),
            visitor: self.visitor.clone(),
            modes,
            address: self.address().await,
            memory: Arc::clone(self.memory),
        };
        let Some(mut form) = target.show(prompt).await else { return self.elsewhere(prompt).await };
        match self.patiently(prompt.question, form.first(Some(self.until))).await {
            Ok(Some(First::Said(said))) => form.pass_on(said).await.map(Some),
            Ok(Some(First::Sent | First::Gone)) => self.elsewhere(prompt).await,
            Ok(Some(First::Cannot)) => Ok(Some(Passed::Nothing)),
            Ok(Some(First::Elsewhere(shown))) => {
                form.take_back("another answer was first").await;
                Ok(Some(Passed::Done(shown)))
            }
            Ok(Some(First::Late) | None) => {
                let room =
                    self.memory.leave_form().filter(|_| self.settings.lasting && !*self.ended.borrow());
                match room {
                    Some(room) => drop(tokio::spawn(form.stay(self.ended.clone(), room))),
                    None => form.take_back("nobody answered in time; the question stays open").await,
                }
                Ok(None)
            }
            Err(stop) => {
                form.take_back("the call was taken back").await;
                Err(stop)
            }
        }
    }

    async fn elsewhere(&self, prompt: &Prompt) -> Result<Option<Passed>, Stop> {
        Ok(self.closed(prompt.question).await?.map(|shown| Passed::Done(Box::new(shown))))
    }
}

impl<C: CallerConnection> FormTarget<C> {
    /// Shows a form; none where the client has no way that fits.
    async fn show(&self, prompt: &Prompt) -> Option<Form<C>> {
        let params = prompt.request(self.modes, self.address.as_deref())?;
        let asking = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let sent = self.peer.send_cancellable_request(asking, PeerRequestOptions::no_options()).await;
        let form = Form { handle: sent.ok()?, prompt: prompt.clone(), target: self.clone() };
        form.place(Some(Screen::Shown));
        Some(form)
    }
}

impl<C: CallerConnection> Form<C> {
    /// Waits for whatever comes first. What is said, and that it cannot be, is noted at once.
    async fn first(&mut self, until: Option<Instant>) -> Result<First, Stop> {
        let first = tokio::select! {
            heard = &mut self.handle.rx => match heard {
                Ok(Ok(ClientResult::ElicitResult(result))) => match self.prompt.read(&result) {
                    Said::Nothing if result.action == ElicitationAction::Accept => First::Sent,
                    said => First::Said(said),
                },
                Ok(_) => First::Cannot,
                Err(_) => First::Gone,
            },
            closed = closing(&self.target.visitor, self.prompt.question, until) => match closed? {
                Some(shown) => First::Elsewhere(Box::new(shown)),
                None => First::Late,
            },
        };
        match &first {
            First::Said(Said::Nothing | Said::Declined) | First::Sent | First::Cannot => {
                self.place(Some(Screen::Closed));
            }
            First::Late => {}
            First::Said(_) | First::Elsewhere(_) | First::Gone => self.place(None),
        }
        Ok(first)
    }

    async fn pass_on(&self, said: Said) -> Result<Passed, Stop> {
        pass_on(&self.target.visitor, &self.prompt, said).await
    }

    /// Stays on screen after its call, as long as the connection lasts and nobody has answered. It keeps its room so long.
    async fn stay(mut self, mut ended: watch::Receiver<bool>, _room: OwnedSemaphorePermit) {
        loop {
            let first = tokio::select! {
                first = self.first(None) => first,
                () = over(&mut ended) => return,
            };
            let why = match first {
                Ok(First::Said(said)) => match self.pass_on(said).await {
                    Ok(Passed::Misfit(why)) => why,
                    Ok(_) => return,
                    Err(error) => {
                        tracing::warn!(?error, question = %self.prompt.question, "a late reply was not recorded");
                        return;
                    }
                },
                Ok(First::Elsewhere(_)) | Err(_) => {
                    return self.take_back("the question is no longer open here").await;
                }
                Ok(First::Sent | First::Cannot | First::Late | First::Gone) => return,
            };
            match self.target.show(&self.prompt.again(&why)).await {
                Some(form) => self = form,
                None => return,
            }
        }
    }

    async fn take_back(self, why: &str) {
        self.place(None);
        // On a connection that is closing nobody says that it was sent, and the bridge would not end for seconds.
        let _ = time::timeout(RETURN_DELAY, self.handle.cancel(Some(why.to_owned()))).await;
    }

    fn place(&self, screen: Option<Screen>) {
        let (memory, caller) = (&self.target.memory, &self.target.visitor.identity);
        memory.place(caller, &self.prompt.question.to_string(), screen);
    }
}
