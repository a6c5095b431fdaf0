//! The one way in: every interface has an operation done by [`Desk::call`]. It admits the caller, begins at once what needs
//! nothing from the disk, gives everything else to a thread that may wait, and waits for an answer where the caller does.

use std::{pin::Pin, sync::Arc, time::Duration};

use demur_api::{
    call::{ApiReply, ApiRequest, Call},
    code::Code,
    operation::{Method, Operation},
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use tokio::time;

use crate::{
    access::{Admitted, Caller, seen_question},
    desk::{Count, Desk},
    large_turns::LargeTurn,
    lookup::Lookup,
    owner::Owner,
    recording::Recording,
    waiters::Waiter,
};

/// The reply of an operation, or why it is refused.
pub type Handled<O> = Result<ApiReply<<O as Operation>::Output>, Refusal>;

/// How an operation is done. Mounting an operation without this does not compile.
pub trait Handle<O: Operation>: Sized {
    /// Does it. May block.
    fn handle(&self, by: &Admitted, request: ApiRequest<O>) -> Handled<O>;

    /// Begins it with what is in memory, on a thread that must not wait.
    fn begin(at: &Lookup, by: &Admitted, request: &ApiRequest<O>) -> Result<Begun<O::Output>, Refusal> {
        let _ = (at, by, request);
        Ok(Begun::NotHere)
    }

    /// Takes note of what was done, on a thread that must not wait.
    fn settled(notes: &ReplyNotes<'_>, reply: &ApiReply<O::Output>) {
        let _ = (notes, reply);
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

/// What can be noted of a reply: nothing that reads or writes a store.
pub struct ReplyNotes<'a>(&'a Desk);

impl ReplyNotes<'_> {
    /// Returns what counts.
    pub(crate) fn counts(&self) -> &dyn Count {
        self.0.counts()
    }

    /// Says that the desk is about to end.
    pub(crate) fn end(&self) {
        self.0.end();
    }
}

/// How far an operation comes with what is in memory.
pub enum Begun<T> {
    /// Nowhere: something has to be read first.
    NotHere,
    /// To its end.
    Done(ApiReply<T>),
    /// To a command that is to be recorded; made by `Begun::recording`.
    Recording(StartRecording<T>),
}

/// Records a command.
type StartRecording<T> = Box<dyn FnOnce(Arc<Desk>, Arc<Owner>) -> Pending<T> + Send>;

/// A reply that is there once the command is on the disk.
type Pending<T> = Pin<Box<dyn Future<Output = Result<ApiReply<T>, Refusal>> + Send>>;

impl<T: Send + 'static> Begun<T> {
    /// Returns a command that is to be recorded. It is boxed so that other operations do not carry the code for recording.
    pub(crate) fn recording(recording: Recording<ApiReply<T>>) -> Self {
        Self::Recording(Box::new(|desk, owner| Box::pin(recording.record(desk, owner))))
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
        let mut by = self.admit_now(caller, O::ABOUT.scopes).await?;
        // Dropped with this call: long work looks whether anybody still waits for it.
        let held = Arc::new(());
        by.while_held(&held);
        let patience = <Self as Handle<O>>::patience(&request)?;
        // The owner is let go before this waits for anything else: a folder is closed once nobody holds it.
        let begun = match self.here() {
            Some(owner) => match <Self as Handle<O>>::begin(owner.lookup(), &by, &request)? {
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
        <Self as Handle<O>>::settled(&ReplyNotes(self), &reply);
        if let Some(patience) = patience
            && let Some(question) = <Self as Handle<O>>::awaited(&mut reply.document)
            && question.is_open()
        {
            match self.until_closed(question.id, caller, patience).await {
                Ok(shown) => *question = shown,
                // The question is recorded: its asker must hear its id.
                Err(refusal) if refusal.code == Code::Stopping && O::ABOUT.method == Method::Post => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(reply)
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
        let mut ended = self.tokens().ended();
        loop {
            // Listening before looking: nothing that happens in between is missed.
            let mut told = std::pin::pin!(waiter.notify().notified());
            told.as_mut().enable();
            self.expect_good(caller).await?;
            let shown = self.look(caller, id).await?;
            if !shown.is_open() {
                return Ok(shown);
            }
            if caller.waits_as(&shown.asker) {
                waiter.note_asker();
            }
            tokio::select! {
                () = told => {}
                _ = ended.changed() => {}
                () = time::sleep_until(until) => return self.expect_good(caller).await.map(|()| shown),
                () = self.stopping() => {
                    return Err(Refusal::new(Code::Stopping, "the server is about to end")
                        .with_cure("the question stays open: wait again"));
                }
            }
        }
    }

    /// Returns a question that this caller may see: from memory if it was just recorded, otherwise on a thread that may wait.
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

/// The operations of a desk in this process, in the name of one caller.
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
