//! The one way in: every interface has an operation done by [`Desk::call`]. It admits the caller, begins at once what needs
//! nothing from the disk, gives everything else to a thread that may wait, and waits for an answer where the caller does.

use std::{future, pin::Pin, sync::Arc, time::Duration};

use demur_api::{
    call::{ApiReply, ApiRequest, Call},
    code::Code,
    operation::{Method, Operation},
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_sequencer::{Acknowledged, Progress, SequencerError, Underway};
use tokio::{task, time};

use crate::{
    access::{self, Admitted, Caller, seen_question},
    desk::Desk,
    large_turns::LargeTurn,
    lookup::Lookup,
    owner::Owner,
    recording::{Finished, Recording},
    waiters::Waiter,
};

/// What comes of an operation.
pub type Handled<O> = Result<ApiReply<<O as Operation>::Output>, Refusal>;

/// How an operation is done. One that is missing does not compile where it is mounted.
pub trait Handle<O: Operation>: Sized {
    /// Does it. May block.
    fn handle(&self, by: &Admitted, request: ApiRequest<O>) -> Handled<O>;

    /// Begins it with what is in memory, on a thread that must not wait.
    fn begin(at: &Lookup<'_>, by: &Admitted, request: &ApiRequest<O>) -> Result<Begun<O::Output>, Refusal> {
        let _ = (at, by, request);
        Ok(Begun::NotHere)
    }

    /// Takes note of what was done.
    fn settled(&self, reply: &ApiReply<O::Output>) {
        let _ = reply;
    }

    /// Returns how long the caller waits until the question in the reply is no longer open, if it does.
    fn patience(request: &ApiRequest<O>) -> Result<Option<Duration>, Refusal> {
        let _ = request;
        Ok(None)
    }

    /// Returns the question in the reply that can be waited for.
    fn awaited(reply: &mut O::Output) -> Option<&mut QuestionView> {
        let _ = reply;
        None
    }
}

/// How far an operation came with what is in memory.
pub enum Begun<T> {
    /// Something has to be read first.
    NotHere,
    /// To its end.
    Done(ApiReply<T>),
    /// Something is to be recorded; made by `Begun::recording`.
    Recording(StartRecording<T>),
}

/// Has it recorded.
type StartRecording<T> = Box<dyn FnOnce(Arc<Desk>, Arc<Owner>) -> Pending<T> + Send>;

/// What comes in a moment.
type Pending<T> = Pin<Box<dyn Future<Output = Result<ApiReply<T>, Refusal>> + Send>>;

impl<T: Send + 'static> Begun<T> {
    /// Returns that something is to be recorded. Only operations that begin so carry the code for it.
    pub(crate) fn recording(recording: Recording<ApiReply<T>>) -> Self {
        Self::Recording(Box::new(|desk, owner| Box::pin(async move { desk.record(owner, recording).await })))
    }
}

impl Desk {
    /// Has an operation done in a caller's name.
    pub async fn call<O>(self: &Arc<Self>, caller: &Caller, request: ApiRequest<O>) -> Handled<O>
    where
        O: Operation,
        Self: Handle<O>,
    {
        self.call_holding(caller, request, None).await
    }

    /// Has an operation done in a caller's name that has a turn for something large: it ends when the work does.
    pub async fn call_holding<O>(
        self: &Arc<Self>,
        caller: &Caller,
        request: ApiRequest<O>,
        turn: Option<LargeTurn>,
    ) -> Handled<O>
    where
        O: Operation,
        Self: Handle<O>,
    {
        let by = access::admit(caller, O::ABOUT.scopes)?;
        let patience = <Self as Handle<O>>::patience(&request)?;
        // Let go of before anybody waits: a folder is closed once nobody holds it.
        let begun = match self.here() {
            Some(owner) => match <Self as Handle<O>>::begin(&owner.lookup(), &by, &request)? {
                Begun::NotHere => None,
                Begun::Done(reply) => Some(Ok(reply)),
                Begun::Recording(recording) => Some(Err((owner, recording))),
            },
            None => None,
        };
        let mut reply = match begun {
            Some(Ok(reply)) => reply,
            Some(Err((owner, recording))) => recording(Arc::clone(self), owner).await?,
            None => {
                let handled = self.on_worker(move |desk| {
                    let _turn = turn;
                    desk.handle(&by, request)
                });
                handled.await?
            }
        };
        self.settled(&reply);
        if let Some(patience) = patience
            && let Some(question) = <Self as Handle<O>>::awaited(&mut reply.document)
            && question.is_open()
        {
            match self.until_closed(question.id, caller, patience).await {
                Ok(shown) => *question = shown,
                // What was recorded has a name that its asker must hear.
                Err(refusal) if refusal.code == Code::Stopping && O::ABOUT.method == Method::Post => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(reply)
    }

    /// Has something recorded. No thread waits for the disk but the one that writes for everybody, where that can be.
    async fn record<T>(self: &Arc<Self>, owner: Arc<Owner>, recording: Recording<T>) -> Result<T, Refusal>
    where
        T: Send + 'static,
    {
        let Some(underway) = recording.begin(&owner.lookup())? else {
            return self.on_worker(move |desk| recording.perform(&*desk.owner()?)).await;
        };
        // It goes on when whoever asked for it has left.
        let desk = Arc::clone(self);
        let done = task::spawn(async move {
            let Some(recorded) = follow(&owner, underway).await.transpose() else {
                return desk.on_worker(move |desk| recording.perform(&*desk.owner()?)).await;
            };
            match recording.finish(&owner.lookup(), recorded)? {
                Finished::Done(done) => Ok(done),
                // It is recorded: what is left to read is read, also while the desk ends.
                Finished::Rest(rest) => desk.on_worker(move |_| rest(&owner)).await,
            }
        });
        done.await.map_err(|error| Refusal::bug(&error))?
    }

    /// Returns the question once it is no longer open, or as it stands when the time is over.
    async fn until_closed(
        self: &Arc<Self>,
        id: QuestionId,
        caller: &Caller,
        patience: Duration,
    ) -> Result<QuestionView, Refusal> {
        let waiter = self.waiters().wait_for(id);
        let shown = self.waited(&waiter, id, caller, patience).await;
        waiter.end();
        shown
    }

    async fn waited(
        self: &Arc<Self>,
        waiter: &Waiter,
        id: QuestionId,
        caller: &Caller,
        patience: Duration,
    ) -> Result<QuestionView, Refusal> {
        let until = time::Instant::now() + patience;
        loop {
            // Listening before looking: nothing that happens in between is missed.
            let mut told = std::pin::pin!(waiter.notify().notified());
            told.as_mut().enable();
            if !self.is_good(caller) {
                return Err(access::stranger());
            }
            let shown = self.look(caller, id).await?;
            if !shown.is_open() {
                return Ok(shown);
            }
            if caller.waits_as(&shown.asker) {
                waiter.note_asker();
            }
            tokio::select! {
                () = told => {}
                () = time::sleep_until(until) => return Ok(shown),
                () = self.stopping() => {
                    return Err(Refusal::new(Code::Stopping, "the server is about to end")
                        .with_cure("the question stays open: wait again"));
                }
            }
        }
    }

    /// Returns a question that this caller may see: what was just recorded at once, the rest on a thread that may wait.
    async fn look(self: &Arc<Self>, caller: &Caller, id: QuestionId) -> Result<QuestionView, Refusal> {
        if let Some(owner) = self.here()
            && let Some(shown) = owner.lookup().seen_question(caller, id)
        {
            return Ok(shown);
        }
        let caller = caller.clone();
        self.work(move |_, owner| seen_question(owner, &caller, id)).await
    }
}

/// Waits for what is under way, and finds a thread that writes whenever it has to. None means that something came between.
async fn follow(owner: &Arc<Owner>, mut underway: Underway) -> Result<Option<Acknowledged>, SequencerError> {
    loop {
        match future::poll_fn(|context| underway.poll(context)).await? {
            Progress::Lead(leader) => {
                let owner = Arc::clone(owner);
                task::spawn_blocking(move || owner.sequencer().lead(leader));
            }
            Progress::Again => return Ok(None),
            Progress::Recorded(recorded) => return Ok(Some(recorded)),
        }
    }
}

/// The operations of a desk in this process, in somebody's name.
#[derive(Clone)]
pub struct InProcessApi {
    desk: Arc<Desk>,
    caller: Caller,
}

impl InProcessApi {
    /// Returns the operations of a desk, as this caller may use them.
    pub const fn new(desk: Arc<Desk>, caller: Caller) -> Self {
        Self { desk, caller }
    }
}

impl<O: Operation> Call<O> for InProcessApi
where
    Desk: Handle<O>,
{
    async fn call(&self, request: ApiRequest<O>) -> Handled<O> {
        self.desk.call(&self.caller, request).await
    }
}
