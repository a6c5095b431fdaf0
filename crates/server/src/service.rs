//! What every request works with.

use std::{
    future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::{code::Code, refusal::Refusal, server_limits::ServerLimits};
use demur_core::limit::Text;
use demur_desk::{owner::Owner, recording::Recording, rules::Shelf};
use demur_rules::Rules;
use demur_sequencer::{Acknowledged, Progress, SequencerError, Underway};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task,
};

use crate::{
    caller::Caller, limits::Limits, live::Live, metrics::Metrics, notices::Notices, patience::Patience,
    premises::Premises, problem::Problem, routes::sign_in::Links, serve::Config, tokens::Tokens,
};

/// The server, as its routes see it.
pub struct Service {
    pub(crate) premises: Arc<Premises>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) tokens: Tokens,
    pub(crate) links: Links,
    pub(crate) live: Live,
    pub(crate) limits: Limits,
    pub(crate) most: ServerLimits,
    /// Whoever adds, removes or signs in a person does so alone.
    people: Mutex<()>,
    /// The user who runs the server.
    pub(crate) user: Text<1, 256>,
    pub(crate) metrics: Arc<Metrics>,
    ending: watch::Sender<bool>,
    pub(crate) address: Mutex<Option<String>>,
    pub(crate) version: String,
    rules: Mutex<Shelf>,
    at_work: Arc<Semaphore>,
    heavy: Arc<Semaphore>,
    patience: Patience,
}

/// What routes are given.
pub type Shared = Arc<Service>;

impl Service {
    /// Returns the service of a data folder.
    pub fn new(
        premises: Arc<Premises>,
        notices: Arc<Notices>,
        metrics: Arc<Metrics>,
        config: &Config,
        patience: Patience,
    ) -> Self {
        Self {
            premises,
            notices,
            tokens: Tokens::new(config.limits.tokens as usize),
            links: Links::default(),
            live: Live::default(),
            limits: Limits::default(),
            most: config.limits,
            people: Mutex::default(),
            user: config.user.clone(),
            metrics,
            ending: watch::Sender::new(false),
            address: Mutex::default(),
            version: config.version.clone(),
            rules: Mutex::new(Shelf::new(config.rules.clone(), false)),
            at_work: Arc::new(Semaphore::new(AT_WORK)),
            heavy: Arc::new(Semaphore::new(HEAVY)),
            patience,
        }
    }

    /// Does work in the data folder, on a thread that may wait for the disk.
    pub async fn work<T, F>(self: &Arc<Self>, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Service, &Owner) -> Result<T, Refusal> + Send + 'static,
    {
        let service = Arc::clone(self);
        let turn = Arc::clone(&self.at_work).acquire_owned().await;
        let turn = turn.map_err(|error| Refusal::bug(&error))?;
        let done = task::spawn_blocking(move || {
            // The work goes on when whoever asked for it has left: its turn ends when it does.
            let _turn = turn;
            let owner = service.premises.owner()?;
            work(&service, &owner)
        });
        Ok(done.await.map_err(|error| Refusal::bug(&error))??)
    }

    /// Has something recorded. No thread waits for the disk but the one that writes for everybody, where that can be.
    pub async fn record<T>(self: &Arc<Self>, owner: Arc<Owner>, recording: Recording<T>) -> Result<T, Problem>
    where
        T: Send + 'static,
    {
        let Some(underway) = recording.begin(&owner)? else {
            return self.work(move |_, owner| recording.perform(owner)).await;
        };
        // It goes on when whoever asked for it has left.
        let (here, service) = (Arc::clone(&owner), Arc::clone(self));
        let done = task::spawn(async move {
            match follow(&here, underway).await.transpose() {
                Some(recorded) => Ok(recording.finish(&here, recorded)?),
                None => service.work(move |_, owner| recording.perform(owner)).await,
            }
        });
        done.await.map_err(|error| Refusal::bug(&error))?
    }

    /// Returns the turn of a request that takes a thread or much memory for as long as the other side likes.
    pub fn heavy_turn(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.heavy).try_acquire_owned().map_err(|_| {
            let message = format!("expected at most {HEAVY} large files on their way, found more");
            Refusal::new(Code::Overloaded, message).with_cure("try again in a moment").into()
        })
    }

    /// Returns the right to change who may sign in, or to sign somebody in, once nobody else has it.
    pub(crate) fn people_turn(&self) -> MutexGuard<'_, ()> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long the other side of a connection may take.
    pub const fn patience(&self) -> Patience {
        self.patience
    }

    /// Returns the rules that plans are held against.
    pub fn rules(&self) -> Result<Arc<Rules>, Refusal> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).rules()
    }

    /// Says that the server ends.
    pub fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Returns what says when the server ends.
    pub fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }

    /// Waits until the server ends.
    pub async fn stopping(&self) {
        over(&mut self.ending()).await;
    }

    /// Takes note of what another process may have done in the folder: whoever waits looks again.
    pub(crate) fn look_again(&self, owner: &Owner) {
        if let Err(error) = self.tokens.reload(owner) {
            tracing::error!(code = error.code.as_str(), %error, "the tokens cannot be read");
        }
        self.notices.wake_all();
    }

    /// Returns whether a caller may still do what it could when it came.
    pub(crate) fn is_good(&self, caller: &Caller) -> bool {
        match caller {
            Caller::Local { .. } => true,
            Caller::Token(token) => self.premises.now().is_ok_and(|now| self.tokens.is_good(&token.id, now)),
            Caller::Stranger => false,
        }
    }

    /// Returns where the server listens on TCP, if it does.
    pub fn address(&self) -> Option<String> {
        self.address.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Waits for what is under way, and finds a thread that writes whenever it has to. None means that something came between.
async fn follow(owner: &Arc<Owner>, mut underway: Underway) -> Result<Option<Acknowledged>, SequencerError> {
    loop {
        match future::poll_fn(|context| underway.poll(context)).await? {
            Progress::Lead(leader) => {
                let owner = Arc::clone(owner);
                task::spawn_blocking(move || owner.ledger().lead(leader));
            }
            Progress::Again => return Ok(None),
            Progress::Recorded(recorded) => return Ok(Some(recorded)),
        }
    }
}

/// Waits until the server ends.
pub async fn over(ending: &mut watch::Receiver<bool>) {
    // Without a sender there is no server.
    let _ = ending.wait_for(|ending| *ending).await;
}

/// How many requests work in the folder at once; the others wait for their turn.
const AT_WORK: usize = 128;
/// How many large files go in or out at once.
const HEAVY: usize = 8;
