//! A desk that only remembers: questions in memory, answered once. The real one is behind the door in the tests of the
//! command and of the server.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use demur_api::{
    call::{ApiReply, ApiRequest, Call},
    code::{Code, RuleCode},
    operation::{ApiDocument as _, Method, Operation},
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_ledger::name::{Sequence, TraceId};
use demur_mcp::host::{CallerConnection, Extensions, Host, Visitor};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, Semaphore},
    time,
};

/// The desk.
pub(crate) struct Desk {
    questions: Mutex<BTreeMap<String, QuestionView>>,
    changed: Notify,
    /// How many answers were recorded.
    answers: Mutex<usize>,
    relays: bool,
    /// Whether it takes what is sent and never answers.
    mute: bool,
    client: Mutex<String>,
    /// The questions whose outcome their asker has heard.
    heard: Mutex<Vec<Value>>,
    /// Which operations were called, and with how much patience.
    calls: Mutex<Vec<(&'static str, Duration)>>,
    called: Notify,
    /// Lets one secret out at a time.
    secrets: Semaphore,
}

impl Desk {
    pub(crate) fn new(relays: bool) -> Arc<Self> {
        Arc::new(Self::plain(relays, false))
    }

    /// Returns a desk that takes what is sent and never answers.
    pub(crate) fn mute() -> Arc<Self> {
        Arc::new(Self::plain(true, true))
    }

    fn plain(relays: bool, mute: bool) -> Self {
        Self {
            questions: Mutex::default(),
            changed: Notify::new(),
            answers: Mutex::default(),
            relays,
            mute,
            client: Mutex::default(),
            heard: Mutex::default(),
            calls: Mutex::default(),
            called: Notify::new(),
            secrets: Semaphore::new(0),
        }
    }

    fn questions(&self) -> MutexGuard<'_, BTreeMap<String, QuestionView>> {
        self.questions.lock().unwrap()
    }

    /// Returns the newest question, once there is one.
    pub(crate) async fn asked(&self) -> QuestionView {
        loop {
            let changed = self.changed.notified();
            if let Some(found) = self.questions().values().next_back() {
                return found.clone();
            }
            changed.await;
        }
    }

    pub(crate) fn state(&self, id: &str) -> String {
        self.questions()[id].state.to_string()
    }

    /// Waits until a question is no longer open.
    pub(crate) async fn settled(&self, id: &str) {
        time::timeout(Duration::from_secs(20), self.wait(id)).await.expect("it is settled in time").unwrap();
    }

    pub(crate) fn answers(&self) -> usize {
        *self.answers.lock().unwrap()
    }

    /// Returns the questions whose outcome their asker has heard, as they were noted.
    pub(crate) fn heard(&self) -> Vec<Value> {
        self.heard.lock().unwrap().clone()
    }

    /// Returns which operations were called, in order, and how long each would have waited for a server that is away.
    pub(crate) fn calls(&self) -> Vec<(&'static str, Duration)> {
        self.calls.lock().unwrap().clone()
    }

    /// Waits until an operation was called.
    pub(crate) async fn called(&self, operation: &str) {
        loop {
            let mut called = std::pin::pin!(self.called.notified());
            called.as_mut().enable();
            if self.calls().iter().any(|(id, _)| *id == operation) {
                return;
            }
            called.await;
        }
    }

    /// Lets the next caller have a secret.
    pub(crate) fn release_secret(&self) {
        self.secrets.add_permits(1);
    }

    /// Somebody answers at another door.
    pub(crate) fn answer_elsewhere(&self, id: QuestionId, answer: &str) {
        self.settle(&id.to_string(), &json!({"answer": answer, "by": "ada"}), "answered", "terminal")
            .unwrap();
    }

    fn ask(&self, ask: &Value) -> Value {
        let mut questions = self.questions();
        let id = format!("01ARZ3NDEKTSV4RRFFQ69G5{:03}.0", questions.len());
        let view = json!({
            "id": id, "trace": &id[..26], "hash": "0".repeat(64), "state": "open",
            "question": ask["question"], "context": ask["context"], "severity": "block",
            "kinds": ask["kinds"], "choices": ask["choices"], "suggestions": [], "blocks": ask["blocks"],
            "asked": "2026-11-15T00:00:00.000Z",
            "asker": {"name": *self.client.lock().unwrap(), "principal": &id[..26]},
            "people": true, "assurance": "relayed",
        });
        questions.insert(id, serde_json::from_value(view.clone()).unwrap());
        drop(questions);
        self.changed.notify_waiters();
        let mut asked = view;
        asked["repeated"] = json!(false);
        asked
    }

    fn settle(&self, id: &str, given: &Value, state: &str, assurance: &str) -> Result<Value, Refusal> {
        let mut questions = self.questions();
        let found = questions.get_mut(id).ok_or_else(unknown)?;
        if !found.is_open() {
            return Err(Refusal::new(Code::Rule(RuleCode::ALREADY_ANSWERED), "somebody was first"));
        }
        let ending = json!({
            "state": state, "value": given["answer"], "by": given["by"], "assurance": assurance,
            "time": "2026-11-15T00:00:01.000Z", "event": 1,
        });
        found.state = serde_json::from_value(json!(state)).unwrap();
        found.outcome = Some(serde_json::from_value(ending).unwrap());
        *self.answers.lock().unwrap() += 1;
        let done = json!({"question": &*found, "repeated": false, "unsettled": null});
        drop(questions);
        self.changed.notify_waiters();
        Ok(done)
    }

    async fn wait(&self, id: &str) -> Result<Value, Refusal> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let found = self.questions().get(id).cloned().ok_or_else(unknown)?;
            if !found.is_open() {
                return Ok(json!(found));
            }
            changed.await;
        }
    }

    async fn reply(&self, method: Method, address: &str, body: Value) -> Result<Value, Refusal> {
        if self.mute {
            std::future::pending::<()>().await;
        }
        let path = address.split('?').next().unwrap();
        let parts: Vec<_> = path.trim_start_matches("/v1/").split('/').collect();
        match (method, parts.as_slice()) {
            (Method::Post, ["questions"]) => Ok(self.ask(&body)),
            (Method::Get, ["questions"]) => {
                let questions: Vec<_> = self.questions().values().cloned().collect();
                Ok(json!({"questions": questions, "next": null}))
            }
            (Method::Post, ["heard"]) => {
                self.heard.lock().unwrap().extend(body["questions"].as_array().unwrap().iter().cloned());
                Ok(Value::Null)
            }
            (Method::Get, ["questions", id]) => {
                self.questions().get(*id).map(|view| json!(view)).ok_or_else(unknown)
            }
            (Method::Get, ["questions", _, "secret"]) => {
                self.secrets.acquire().await.unwrap().forget();
                Ok(json!({"value": "hunter2", "salt": "a".repeat(64)}))
            }
            (Method::Delete, ["questions", _, "secret"]) => Ok(Value::Null),
            (Method::Get, ["questions", id, "wait"]) => {
                let seconds = address.split_once("seconds=").unwrap().1.parse().unwrap();
                assert!(seconds <= 300, "the desk takes no more");
                match time::timeout(Duration::from_secs(seconds), self.wait(id)).await {
                    Ok(closed) => closed,
                    Err(_) => self.questions().get(*id).map(|view| json!(view)).ok_or_else(unknown),
                }
            }
            (Method::Post, ["questions", id, "answer"]) => self.settle(id, &body, "answered", "relayed"),
            (Method::Post, ["questions", id, "decline"]) => self.settle(id, &body, "declined", "relayed"),
            (Method::Post, ["questions", id, "cancel"]) => self.settle(id, &body, "cancelled", "relayed"),
            _ => Err(unknown()),
        }
    }
}

fn unknown() -> Refusal {
    Refusal::new(Code::QuestionUnknown, "expected a question, found none")
}

/// The host of the door.
pub(crate) struct TestHost(pub(crate) Arc<Desk>);

impl Host for TestHost {
    type Connection = TestConnection;

    fn visitor(&self, _: &Extensions, client: &str) -> Result<Visitor<TestConnection>, Refusal> {
        client.clone_into(&mut self.0.client.lock().unwrap());
        let (identity, conversation) = (format!("client:{client}"), "test".to_owned());
        let (name, relays) = (client.to_owned(), self.0.relays);
        let connection = TestConnection { desk: Arc::clone(&self.0), patience: Duration::ZERO };
        Ok(Visitor { identity, name, conversation, relays, sets: None, connection })
    }
}

/// The connection to the desk: every operation goes by its place.
#[derive(Clone)]
pub(crate) struct TestConnection {
    desk: Arc<Desk>,
    patience: Duration,
}

impl<O: Operation> Call<O> for TestConnection {
    async fn call(&self, request: ApiRequest<O>) -> Result<ApiReply<O::Output>, Refusal> {
        let (address, body) = (request.address().unwrap(), serde_json::to_value(&request.body).unwrap());
        self.desk.calls.lock().unwrap().push((O::ABOUT.id, self.patience));
        self.desk.called.notify_waiters();
        let reply = self.desk.reply(O::ABOUT.method, &address, body).await?;
        let reply = if O::Output::is_nothing() { json!({}) } else { reply };
        Ok(ApiReply { document: serde_json::from_value(reply).unwrap(), repeated: false })
    }
}

impl CallerConnection for TestConnection {
    fn within(&self, patience: Duration) -> Self {
        Self { patience, ..self.clone() }
    }

    async fn inbox_address(&self) -> Option<String> {
        Some("http://localhost:7373".to_owned())
    }

    async fn artifact(&self, _: TraceId, _: Sequence) -> Result<Vec<u8>, Refusal> {
        Err(unknown())
    }

    async fn export(&self, _: TraceId, _: usize) -> Result<Vec<u8>, Refusal> {
        Err(unknown())
    }

    async fn verify(&self, _: Vec<u8>) -> Result<Value, Refusal> {
        Err(unknown())
    }
}
