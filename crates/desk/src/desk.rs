//! The desk: everything that callers of one data folder share, whatever interface they come through. [`Desk::call`] is the
//! way in; what is here is what it works with.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use demur_api::{refusal::Refusal, server_limits::ServerLimits};
use demur_core::{limit::Text, time::Timestamp};
use demur_rules::Rules;
pub use demur_sequencer::Listener;
use demur_store::contract::Store;
use tokio::{
    sync::{Semaphore, oneshot, watch},
    task,
};

use crate::{
    aaep::EventLog,
    access::{self, Caller, Quotas},
    data::DataFolder,
    follower::Follower,
    held_folder::HeldFolder,
    large_turns::{LargeTurn, LargeTurns},
    owner::Owner,
    question::Showings,
    rules::{RulesCache, RulesSource},
    token::{SessionTimeouts, Tokens},
    waiters::Waiters,
};

/// What a desk is made of.
pub struct DeskConfig {
    /// The data folder.
    pub data: DataFolder,
    /// The rules that plans are held against.
    pub rules: RulesSource,
    /// The user who runs it.
    pub user: Text<1, 256>,
    /// The version of demur.
    pub version: String,
    /// How many connections, tokens and people it takes.
    pub limits: ServerLimits,
    /// How long browsers stay signed in.
    pub sessions: SessionTimeouts,
}

/// Where people and programs reach a desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Programs.
    pub api: String,
    /// Browsers, under a name of their own.
    pub pages: String,
    /// Whether browsers come from elsewhere, through a proxy.
    pub is_public: bool,
}

/// Whether a desk is reached over TCP.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
enum Reach {
    /// It does not listen.
    #[default]
    Nowhere,
    /// Another program has the port of the folder.
    Waits(u16),
    /// There.
    At(Addresses),
}

/// Counts what happens, beside what is recorded.
pub trait Count: Listener {
    /// Notes how long a question waited for its answer.
    fn answered_after(&self, seconds: f64);
}

/// A data folder that callers are served from.
pub struct Desk {
    folder: HeldFolder,
    waiters: Arc<Waiters>,
    follower: Follower,
    events: EventLog,
    showings: Showings,
    tokens: Tokens,
    counts: Arc<dyn Count>,
    rules: Mutex<RulesCache>,
    user: Text<1, 256>,
    version: String,
    limits: ServerLimits,
    quotas: Arc<Quotas>,
    reach: Mutex<Reach>,
    ending: watch::Sender<bool>,
    workers: Arc<Semaphore>,
    large: LargeTurns,
}

impl Desk {
    /// Takes a data folder.
    pub fn open(config: &DeskConfig, counts: Arc<dyn Count>) -> Result<Arc<Self>, Refusal> {
        Self::with(config, counts, HeldFolder::open)
    }

    /// Takes a store that other processes may have open, too; the data folder has the secrets.
    pub fn over(
        config: &DeskConfig,
        store: &Arc<dyn Store>,
        counts: Arc<dyn Count>,
    ) -> Result<Arc<Self>, Refusal> {
        Self::with(config, counts, |data, user, listeners| HeldFolder::over(data, store, user, listeners))
    }

    fn with(
        config: &DeskConfig,
        counts: Arc<dyn Count>,
        take: impl FnOnce(DataFolder, Text<1, 256>, Vec<Arc<dyn Listener>>) -> Result<HeldFolder, Refusal>,
    ) -> Result<Arc<Self>, Refusal> {
        let waiters = Arc::<Waiters>::default();
        let quotas = Arc::new(Quotas::new(config.limits.quotas));
        let listeners: Vec<Arc<dyn Listener>> =
            vec![Arc::clone(&counts) as _, Arc::clone(&waiters) as _, Arc::clone(&quotas) as _];
        Ok(Arc::new(Self {
            folder: take(config.data.clone(), config.user.clone(), listeners)?,
            waiters,
            follower: Follower::default(),
            events: EventLog::default(),
            showings: Showings::default(),
            tokens: Tokens::new(config.limits.tokens as usize).with_timeouts(config.sessions),
            counts,
            rules: Mutex::new(RulesCache::new(config.rules.clone(), config.data.clone())),
            user: config.user.clone(),
            version: config.version.clone(),
            limits: config.limits,
            quotas,
            reach: Mutex::default(),
            ending: watch::Sender::new(false),
            workers: Arc::new(Semaphore::new(MAX_WORKERS)),
            large: LargeTurns::default(),
        }))
    }

    /// Does work in the data folder, on a thread that may wait for the disk.
    pub(crate) async fn work<T, F>(self: &Arc<Self>, work: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&Self, &Owner) -> Result<T, Refusal> + Send + 'static,
    {
        self.on_worker(move |desk| work(desk, &*desk.owner()?)).await
    }

    /// Does something on a thread that may wait.
    pub async fn on_worker<T, F>(self: &Arc<Self>, work: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        // The work is done also if its caller has left: then nobody takes the result.
        let work = move |desk: &Self| drop(sender.send(work(desk)));
        self.hand_over(Box::new(work)).await?;
        receiver.await.map_err(|error| Refusal::bug(&error))?
    }

    /// Gives work to a thread that may wait, and returns when it is done. The same code for every kind of work: there are
    /// as many kinds as operations.
    async fn hand_over(self: &Arc<Self>, work: Box<dyn FnOnce(&Self) + Send>) -> Result<(), Refusal> {
        let desk = Arc::clone(self);
        let turn = Arc::clone(&self.workers).acquire_owned().await;
        let turn = turn.map_err(|error| Refusal::bug(&error))?;
        let done = task::spawn_blocking(move || {
            // The work goes on when whoever asked for it has left: its turn ends when it does.
            let _turn = turn;
            work(&desk);
        });
        done.await.map_err(|error| Refusal::bug(&error))
    }

    /// Returns the turn of a request that takes a thread or much memory for as long as the other side likes.
    pub fn large_turn(&self, caller: &Caller) -> Result<LargeTurn, Refusal> {
        self.large.take(caller)
    }

    /// Returns the folder in use, for whoever may wait for the disk.
    pub(crate) fn owner(&self) -> Result<Arc<Owner>, Refusal> {
        self.folder.owner()
    }

    /// Returns the folder in use, unless it is let go.
    pub(crate) fn here(&self) -> Option<Arc<Owner>> {
        self.folder.here()
    }

    /// Returns whether requests are served right now.
    pub fn is_open(&self) -> bool {
        self.here().is_some()
    }

    /// Returns why nothing can be recorded any more: the files of the store are not where they were. None where all is well.
    pub fn store_trouble(&self) -> Option<Refusal> {
        self.here()?.sequencer().store().expect_in_place().err().map(Refusal::from)
    }

    /// Returns where the folder is.
    pub const fn data(&self) -> &DataFolder {
        self.folder.data()
    }

    /// Lets go of the folder. Blocks until nobody works in it.
    pub fn close(&self) {
        self.folder.close();
    }

    /// Returns the time.
    pub fn now(&self) -> Result<Timestamp, Refusal> {
        self.folder.now()
    }

    /// Returns who waits for what.
    pub const fn waiters(&self) -> &Arc<Waiters> {
        &self.waiters
    }

    /// Returns who reads what is recorded.
    pub(crate) const fn follower(&self) -> &Follower {
        &self.follower
    }

    /// Returns what is told of accessibility events.
    pub(crate) const fn events(&self) -> &EventLog {
        &self.events
    }

    /// Returns who was shown which questions lately.
    pub(crate) const fn showings(&self) -> &Showings {
        &self.showings
    }

    /// Reads the tokens, so that whoever has one is known. May block.
    pub fn load_tokens(&self) -> Result<(), Refusal> {
        self.tokens.load(&*self.owner()?)
    }

    /// Returns the tokens.
    pub const fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Returns what counts.
    pub(crate) fn counts(&self) -> &dyn Count {
        &*self.counts
    }

    /// Returns the rules that plans are held against.
    pub fn rules(&self) -> Result<Arc<Rules>, Refusal> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).rules()
    }

    /// Returns the user who runs this.
    pub const fn user(&self) -> &Text<1, 256> {
        &self.user
    }

    /// Returns the version of demur.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns how many connections, tokens and people there can be.
    pub const fn limits(&self) -> ServerLimits {
        self.limits
    }

    /// Returns what tokens have of what they may.
    pub(crate) const fn quotas(&self) -> &Arc<Quotas> {
        &self.quotas
    }

    /// Says where people and programs reach this.
    pub fn set_addresses(&self, addresses: Addresses) {
        *self.reach() = Reach::At(addresses);
    }

    /// Says that nobody reaches this over TCP before a port is free.
    pub fn wait_for_port(&self, port: u16) {
        *self.reach() = Reach::Waits(port);
    }

    /// Returns where programs reach this, if they do.
    pub fn address(&self) -> Option<String> {
        self.addresses().map(|addresses| addresses.api)
    }

    /// Returns where browsers reach this, if they do.
    pub fn pages(&self) -> Option<String> {
        self.addresses().map(|addresses| addresses.pages)
    }

    /// Returns whether browsers reach this from elsewhere.
    pub fn is_public(&self) -> bool {
        self.addresses().is_some_and(|addresses| addresses.is_public)
    }

    /// Returns the port that this waits for, if it does.
    pub fn waits_for_port(&self) -> Option<u16> {
        match *self.reach() {
            Reach::Waits(port) => Some(port),
            Reach::Nowhere | Reach::At(_) => None,
        }
    }

    fn addresses(&self) -> Option<Addresses> {
        match &*self.reach() {
            Reach::At(addresses) => Some(addresses.clone()),
            Reach::Nowhere | Reach::Waits(_) => None,
        }
    }

    fn reach(&self) -> MutexGuard<'_, Reach> {
        self.reach.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a caller may still do what it could when it came.
    pub fn is_good(&self, caller: &Caller) -> bool {
        match caller {
            Caller::Local { .. } => true,
            Caller::Token(token) => self.now().is_ok_and(|now| self.tokens.is_good(&token.id, now)),
            Caller::Stranger => false,
        }
    }

    /// Refuses a caller whose credential is good no longer. Credentials that were read too long ago are read again first.
    pub(crate) async fn expect_good(self: &Arc<Self>, caller: &Caller) -> Result<(), Refusal> {
        if self.is_good(caller) {
            return Ok(());
        }
        if !self.tokens.is_loaded(self.now()?) {
            // On the heap: hardly anybody comes here, and everybody who waits has room for it.
            Box::pin(self.on_worker(Self::load_tokens)).await?;
        }
        if self.is_good(caller) { Ok(()) } else { Err(access::stranger()) }
    }

    /// Says that this is about to end.
    pub fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Returns what says when this ends.
    pub fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }

    /// Waits until this ends.
    pub async fn stopping(&self) {
        // Without a sender there is nothing left to end.
        let _ = self.ending().wait_for(|ending| *ending).await;
    }
}

/// How many requests work in the folder at once; the others wait for their turn.
const MAX_WORKERS: usize = 128;
