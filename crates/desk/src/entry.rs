//! The one way in: every interface has an operation done by [`Desk::call`]. It admits the caller, begins at once what needs
//! nothing from the disk, gives everything else to a thread that may wait, and waits for an answer where the caller does.

use std::{io, pin::Pin, sync::Arc, time::Duration};

use demur_api::{
    call::{ApiReply, ApiRequest, Call},
    code::Code,
    confirmation::{ConfirmationId, ConfirmationView},
    operation::{Method, Operation},
    question::{QuestionId, QuestionView, Whom},
    refusal::Refusal,
};
use serde::Serialize;
use tokio::{task, time};

use crate::{
    access::{Admitted, AskShare, Caller, seen_question},
    confirmation,
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

    /// Whether it asks people for something: how much of that one token does is limited.
    const ASKS: bool = false;

    /// Returns the reply to a request that was done before, where it can be told: it counts once. May block.
    fn repeated(
        &self,
        by: &Admitted,
        request: &ApiRequest<O>,
    ) -> Result<Option<ApiReply<O::Output>>, Refusal> {
        let _ = (by, request);
        Ok(None)
    }

    /// Takes note of what was done, on a thread that must not wait.
    fn settled(notes: &ReplyNotes<'_>, reply: &ApiReply<O::Output>) {
        let _ = (notes, reply);
    }

    /// Returns how long the caller waits until what is in the reply is no longer open, if it does.
    fn patience(request: &ApiRequest<O>) -> Result<Option<Duration>, Refusal> {
        let _ = request;
        Ok(None)
    }

    /// Returns what can be waited for in the reply.
    fn awaited(reply: &mut O::Output) -> Option<Awaited<'_>> {
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
        let room = if O::ABOUT.method == Method::Get {
            None
        } else {
            self.quotas().expect_room(caller, self.now()?, || json_bytes(&request.body))?
        };
        let is_counted = room.is_some();
        let desk = Arc::clone(self);
        let work = async move {
            let _room = room;
            if <Self as Handle<O>>::ASKS {
                desk.asked(by, request, turn).await
            } else {
                desk.done(by, request, turn).await
            }
        };
        // What is reserved for a caller is given back when the work has ended, not when the caller has left.
        let reply = if is_counted {
            task::spawn(work).await.map_err(|error| Refusal::bug(&error))?
        } else {
            work.await
        };
        self.replied(caller, reply?, patience).await
    }

    /// Does an operation that asks for something, within the quotas of its caller.
    async fn asked<O>(
        self: &Arc<Self>,
        by: Admitted,
        request: ApiRequest<O>,
        turn: Option<LargeTurn>,
    ) -> Handled<O>
    where
        O: Operation,
        Self: Handle<O>,
    {
        let (caller, now) = (by.caller().clone(), self.now()?);
        let (by, request, _share) = if let Some(share) = self.quotas().ask(&caller, now) {
            (by, request, share)
        } else {
            let counted = self.on_worker(move |desk| {
                let owner = desk.owner()?;
                match desk.quotas().ask_counted(owner.sequencer().store(), by.caller(), now) {
                    Ok(share) => Ok(Counted::Within(by, request, share)),
                    Err(refusal) => {
                        let repeated = desk.repeated(&by, &request)?;
                        repeated.map(Counted::Repeated).ok_or(refusal)
                    }
                }
            });
            match counted.await? {
                Counted::Within(by, request, share) => (by, request, share),
                Counted::Repeated(reply) => return Ok(reply),
            }
        };
        let done = self.done(by, request, turn).await;
        if done.as_ref().map_or(true, |reply| reply.repeated) {
            self.quotas().ask_not(&caller, now);
        }
        done
    }

    async fn done<O>(
        self: &Arc<Self>,
        by: Admitted,
        request: ApiRequest<O>,
        turn: Option<LargeTurn>,
    ) -> Handled<O>
    where
        O: Operation,
        Self: Handle<O>,
    {
        // The owner is let go before this waits for anything else: a folder is closed once nobody holds it.
        let begun = match self.here() {
            Some(owner) => match <Self as Handle<O>>::begin(owner.lookup(), &by, &request)? {
                Begun::NotHere => None,
                Begun::Done(reply) => Some(Ok(reply)),
                Begun::Recording(recording) => Some(Err((owner, recording))),
            },
            None => None,
        };
        match begun {
            Some(Ok(reply)) => Ok(reply),
            Some(Err((owner, recording))) => recording(Arc::clone(self), owner).await,
            None => {
                let handled = self.on_worker(move |desk| {
                    let _turn = turn;
                    desk.handle(&by, request)
                });
                handled.await
            }
        }
    }

    /// Returns a reply once nothing in it is waited for any more.
    async fn replied<O>(
        self: &Arc<Self>,
        caller: &Caller,
        mut reply: ApiReply<O::Output>,
        patience: Option<Duration>,
    ) -> Handled<O>
    where
        O: Operation,
        Self: Handle<O>,
    {
        <Self as Handle<O>>::settled(&ReplyNotes(self), &reply);
        if let Some(patience) = patience
            && let Some(awaited) = <Self as Handle<O>>::awaited(&mut reply.document)
            && awaited.is_open()
        {
            match self.until_closed(awaited.place(), caller, patience).await {
                Ok(shown) => awaited.replace(shown),
                // It is recorded: its asker must hear its id.
                Err(refusal)
                    if matches!(refusal.code, Code::Stopping | Code::QuotaExceeded)
                        && O::ABOUT.method == Method::Post => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(reply)
    }

    /// Returns what is waited for once it is no longer open, or as it stands when the time is over.
    async fn until_closed(
        self: &Arc<Self>,
        place: AwaitedPlace,
        caller: &Caller,
        patience: Duration,
    ) -> Result<Shown, Refusal> {
        let _share = if patience.is_zero() { None } else { Some(self.quotas().wait(caller)?) };
        let waiter = self.waiters().wait_for(place.id());
        let shown = self.waited(&waiter, place, caller, patience).await;
        waiter.end();
        shown
    }

    async fn waited(
        self: &Arc<Self>,
        waiter: &Waiter,
        place: AwaitedPlace,
        caller: &Caller,
        patience: Duration,
    ) -> Result<Shown, Refusal> {
        let until = time::Instant::now() + patience;
        let mut ended = self.tokens().ended();
        loop {
            // Listening before looking: nothing that happens in between is missed.
            let mut told = std::pin::pin!(waiter.notify().notified());
            told.as_mut().enable();
            self.expect_good(caller).await?;
            let shown = self.look(caller, place).await?;
            if !shown.is_open() {
                return Ok(shown);
            }
            if caller.waits_as(shown.asker()) {
                waiter.note_asker();
            }
            // Even the shortest timer takes a millisecond. Others get their turn, should somebody look again and again.
            if patience.is_zero() {
                task::yield_now().await;
                return Ok(shown);
            }
            tokio::select! {
                () = told => {}
                _ = ended.changed() => {}
                () = time::sleep_until(until) => return self.expect_good(caller).await.map(|()| shown),
                () = self.stopping() => {
                    return Err(Refusal::new(Code::Stopping, "the server is about to end")
                        .with_cure("it stays open: wait again"));
                }
            }
        }
    }

    /// Returns what is waited for, if this caller may see it: a question from memory if it was just recorded, everything else
    /// on a thread that may wait.
    async fn look(self: &Arc<Self>, caller: &Caller, place: AwaitedPlace) -> Result<Shown, Refusal> {
        if let (AwaitedPlace::Question(id), Some(owner)) = (place, self.here())
            && let Some(shown) = owner.lookup().seen_question(caller, id)
        {
            return Ok(Shown::Question(Box::new(shown)));
        }
        let caller = caller.clone();
        self.work(move |_, owner| match place {
            AwaitedPlace::Question(id) => {
                seen_question(owner, &caller, id).map(|shown| Shown::Question(Box::new(shown)))
            }
            AwaitedPlace::Confirmation(id) => confirmation::seen(owner, &caller, ConfirmationId(id))
                .map(|shown| Shown::Confirmation(Box::new(shown))),
        })
        .await
    }
}

/// Returns how long a document is as JSON.
fn json_bytes(document: &impl Serialize) -> u64 {
    let mut count = ByteCount(0);
    // A document that cannot be written is refused by whoever does the work.
    let _ = serde_json::to_writer(&mut count, document);
    count.0
}

/// Counts what is written and keeps nothing of it.
struct ByteCount(u64);

impl io::Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What came of counting what a caller asks.
enum Counted<O: Operation> {
    Within(Admitted, ApiRequest<O>, AskShare),
    Repeated(ApiReply<O::Output>),
}

/// What a caller waits for, in a reply.
pub enum Awaited<'a> {
    /// An answer.
    Question(&'a mut QuestionView),
    /// A yes or a no.
    Confirmation(&'a mut ConfirmationView),
}

impl Awaited<'_> {
    fn is_open(&self) -> bool {
        match self {
            Self::Question(question) => question.is_open(),
            Self::Confirmation(confirmation) => confirmation.is_open(),
        }
    }

    const fn place(&self) -> AwaitedPlace {
        match self {
            Self::Question(question) => AwaitedPlace::Question(question.id),
            Self::Confirmation(confirmation) => AwaitedPlace::Confirmation(confirmation.id.0),
        }
    }

    /// Puts what was looked at last into the reply.
    fn replace(self, shown: Shown) {
        match (self, shown) {
            (Self::Question(question), Shown::Question(shown)) => *question = *shown,
            (Self::Confirmation(confirmation), Shown::Confirmation(shown)) => *confirmation = *shown,
            (Self::Question(_), Shown::Confirmation(_)) | (Self::Confirmation(_), Shown::Question(_)) => {}
        }
    }
}

/// Which event a caller waits for, and as what it is looked at.
#[derive(Clone, Copy, Debug)]
enum AwaitedPlace {
    Question(QuestionId),
    Confirmation(QuestionId),
}

impl AwaitedPlace {
    const fn id(self) -> QuestionId {
        match self {
            Self::Question(id) | Self::Confirmation(id) => id,
        }
    }
}

/// What a caller waits for, as it stands.
enum Shown {
    Question(Box<QuestionView>),
    Confirmation(Box<ConfirmationView>),
}

impl Shown {
    fn is_open(&self) -> bool {
        match self {
            Self::Question(question) => question.is_open(),
            Self::Confirmation(confirmation) => confirmation.is_open(),
        }
    }

    const fn asker(&self) -> &Whom {
        match self {
            Self::Question(question) => &question.asker,
            Self::Confirmation(confirmation) => &confirmation.asker,
        }
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
