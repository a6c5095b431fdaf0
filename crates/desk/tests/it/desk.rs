//! A desk over a folder of its own, with callers.

use std::sync::Arc;

use demur_api::{
    call::ApiRequest,
    operation::{self as op, Operation},
    question::QuestionId,
    refusal::Refusal,
    server_limits::ServerLimits,
};
use demur_core::time::Timestamp;
use demur_desk::{
    aaep,
    access::{Browser, Caller},
    data::DataFolder,
    deadlines,
    desk::{Addresses, Count, Desk, DeskConfig},
    entry::Handle,
    follower,
    rules::RulesSource,
    token::SessionTimeouts,
};
use demur_ledger::{entry::Entry, name::TraceId};
use demur_sequencer::Listener;
use demur_store::memory::MemoryStore;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// A desk in use.
pub(crate) struct House {
    pub(crate) desk: Arc<Desk>,
    tasks: [JoinHandle<()>; 3],
    _folder: Arc<TempDir>,
}

fn config(folder: &TempDir) -> DeskConfig {
    DeskConfig {
        data: DataFolder::at(folder.path().to_owned()),
        rules: RulesSource::default(),
        user: "somebody".try_into().unwrap(),
        version: "0".to_owned(),
        limits: ServerLimits::default(),
        sessions: SessionTimeouts::default(),
    }
}

struct Uncounted;

impl Listener for Uncounted {
    fn recorded(&self, _: TraceId, _: &[Entry]) {}
}

impl Count for Uncounted {
    fn answered_after(&self, _: f64) {}
}

impl House {
    pub(crate) fn open() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let desk = Desk::open(&config(&folder), Arc::new(Uncounted)).unwrap();
        Self::of(desk, folder)
    }

    /// Returns two desks with the same secrets over one store, as two processes would have it.
    pub(crate) fn two() -> [Self; 2] {
        Self::two_of(["somebody"; 2])
    }

    /// Returns two such desks, which work for these users.
    pub(crate) fn two_of(users: [&str; 2]) -> [Self; 2] {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let store = Arc::new(MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap()));
        users.map(|user| {
            let (store, user) = (Arc::clone(&store) as _, user.try_into().unwrap());
            let config = DeskConfig { user, ..config(&folder) };
            let desk = Desk::over(&config, &store, Arc::new(Uncounted)).unwrap();
            Self::of(desk, Arc::clone(&folder))
        })
    }

    fn of(desk: Arc<Desk>, folder: Arc<TempDir>) -> Self {
        let tasks = [
            tokio::spawn(follower::run(Arc::clone(&desk))),
            tokio::spawn(deadlines::run(Arc::clone(&desk))),
            tokio::spawn(aaep::run(Arc::clone(&desk))),
        ];
        Self { desk, tasks, _folder: folder }
    }

    /// Returns the user of this machine.
    pub(crate) fn local(&self) -> Caller {
        Caller::Local { name: self.desk.user().clone(), client: None, id: None }
    }

    /// Has an operation done by the user of this machine.
    pub(crate) async fn call<O: Operation>(&self, path: Value, body: Value) -> Result<O::Output, Refusal>
    where
        Desk: Handle<O>,
    {
        self.query::<O>(path, json!({}), body).await
    }

    /// Has an operation done with something in its query.
    pub(crate) async fn query<O: Operation>(
        &self,
        path: Value,
        query: Value,
        body: Value,
    ) -> Result<O::Output, Refusal>
    where
        Desk: Handle<O>,
    {
        let request = request::<O>(path, query, body);
        self.desk.call::<O>(&self.local(), request).await.map(|reply| reply.document)
    }

    /// Has the user of this machine ask.
    pub(crate) async fn ask(&self, words: &str) -> QuestionId {
        let asked = self.call::<op::Ask>(json!({}), json!({"question": words})).await.unwrap();
        asked.question.id
    }

    /// Returns somebody who may read, and the name of the token.
    pub(crate) async fn reader(&self) -> (Caller, String) {
        self.token(json!({"name": "reader", "scopes": ["read"]})).await
    }

    /// Returns somebody with a new token, and the name of the token.
    pub(crate) async fn token(&self, wanted: Value) -> (Caller, String) {
        let made = self.call::<op::MakeToken>(json!({}), wanted).await.unwrap();
        (self.known(&made.secret).await, made.token.id)
    }

    /// Returns a person who was added and has signed in.
    pub(crate) async fn person(&self, name: &str) -> Caller {
        let new = json!({"name": name, "role": "answerer"});
        self.call::<op::AddPerson>(json!({}), new).await.unwrap();
        self.reach();
        let link = self.call::<op::MakeSignInLink>(json!({}), json!({"person": name})).await.unwrap();
        let signed = self.desk.on_worker(move |desk| desk.sign_in(&link.code, &Browser::default())).await;
        self.known(&signed.unwrap().0).await
    }

    /// Gives the desk an address.
    pub(crate) fn reach(&self) {
        let [api, pages] = ["http://localhost", "http://demur.localhost"].map(str::to_owned);
        self.desk.set_addresses(Addresses { api, pages, is_public: false });
    }

    async fn known(&self, secret: &str) -> Caller {
        self.desk.on_worker(Desk::load_tokens).await.unwrap();
        Caller::Token(self.desk.tokens().find(secret, self.desk.now().unwrap()).unwrap())
    }
}

/// Returns what goes into an operation.
pub(crate) fn request<O: Operation>(path: Value, query: Value, body: Value) -> ApiRequest<O> {
    ApiRequest {
        path: serde_json::from_value(path).unwrap(),
        query: serde_json::from_value(query).unwrap(),
        body: serde_json::from_value(body).unwrap(),
        key: None,
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}
