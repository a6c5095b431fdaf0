//! The way to the desk: one request of its API, whatever carries it. And whoever comes through this door, as the host of
//! the door knows it.

use std::{fmt::Display, future::Future, pin::Pin, sync::Arc, time::Duration};

pub use demur_api::operation::Method;
use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{ApiDocument as _, Operation},
    question::Whom,
    refusal::Refusal,
};
pub use rmcp::model::Extensions;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time;

use crate::tools::Sets;

/// A way to the desk.
pub trait Api: Send + Sync {
    /// Sends one request and returns the bytes that come back.
    fn call(&self, call: Call) -> Pending<'_, Result<Vec<u8>, Refusal>>;

    /// Returns where people reach the inbox, if they do.
    fn address(&self) -> Pending<'_, Option<String>>;

    /// Returns whether whoever sent a request is still there, as far as the way to the client shows it by itself.
    fn is_heard(&self) -> Pending<'_, bool> {
        Box::pin(async { true })
    }
}

/// Something that comes in a moment.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One request.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is done.
    pub method: Method,
    /// Where, with the query: `/v1/...`.
    pub path: String,
    /// What is sent along.
    pub body: Option<Sent>,
    /// What makes a retry safe.
    pub key: Option<String>,
    /// How long a server that is away is waited for.
    pub patience: Duration,
}

/// What is sent along with a request.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Their media type.
    pub media: &'static str,
}

impl Call {
    /// Returns the request for an operation.
    pub fn of<O: Operation>(request: &ApiRequest<O>) -> Result<Self, Refusal> {
        let path = request.address().map_err(|error| Refusal::bug(&error))?;
        let bytes = serde_json::to_vec(&request.body).map_err(|error| Refusal::bug(&error))?;
        let body = (!O::Body::is_nothing()).then_some(Sent { bytes, media: "application/json" });
        let key = request.key.as_ref().map(ToString::to_string);
        Ok(Self { method: O::ABOUT.method, path, body, key, patience: SERVER_TIMEOUT })
    }

    /// Returns a request that reads.
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), body: None, key: None, patience: SERVER_TIMEOUT }
    }

    /// Returns a request that does something.
    pub fn post(path: impl Into<String>, document: &Value) -> Self {
        Self::send(path, document.to_string().into_bytes(), "application/json")
    }

    /// Returns a request that sends bytes of this media type.
    pub fn send(path: impl Into<String>, bytes: Vec<u8>, media: &'static str) -> Self {
        Self { method: Method::Post, body: Some(Sent { bytes, media }), ..Self::get(path) }
    }

    /// Returns the request with this patience.
    #[must_use]
    pub const fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// Returns the refusal of a document that is not what it has to be.
pub fn unreadable(error: &dyn Display) -> Refusal {
    let message = format!("the server answered with a document that cannot be read: {error}");
    Refusal::new(Code::Bug, message)
}

/// Returns the refusal of a desk that does not answer at all.
pub(crate) fn silent() -> Refusal {
    Refusal::new(Code::NoReply, "the server did not answer in time; nobody knows what it recorded")
        .with_cure("Do not assume. `demur status` says whether it runs; then call the tool again.")
}

/// Whoever comes through the door with one request.
#[derive(Clone)]
pub struct Visitor {
    /// Who asks, by principal or by name: a request state of one is worth nothing in another's hands.
    pub identity: String,
    /// The name under which it asks.
    pub name: String,
    /// The conversation its questions belong to: what is asked twice in the same words of one is asked once.
    pub conversation: String,
    /// Whether what its user says may be passed on.
    pub relays: bool,
    /// The tools it wants to be offered, if it says so.
    pub sets: Option<Sets>,
    /// The way to the desk, in its name.
    pub api: Arc<dyn Api>,
}

impl Visitor {
    /// Has an operation done.
    pub async fn ask<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Refusal> {
        self.read::<O>(Call::of(&request)?).await
    }

    /// Has an operation done that may take so long.
    pub async fn ask_within<O: Operation>(
        &self,
        request: ApiRequest<O>,
        patience: Duration,
    ) -> Result<O::Output, Refusal> {
        self.read::<O>(Call::of(&request)?.within(patience)).await
    }

    async fn read<O: Operation>(&self, call: Call) -> Result<O::Output, Refusal> {
        if O::Output::is_nothing() {
            self.bytes(call).await?;
            return serde_json::from_str("{}").map_err(|error| Refusal::bug(&error));
        }
        self.call(call).await
    }

    /// Sends one request and returns the bytes that come back.
    async fn bytes(&self, call: Call) -> Result<Vec<u8>, Refusal> {
        let patience = call.patience + REPLY_GRACE;
        time::timeout(patience, self.api.call(call)).await.unwrap_or_else(|_| Err(silent()))
    }

    /// Sends one request and returns what comes back as a type of the desk.
    pub async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, Refusal> {
        let bytes = self.bytes(call).await?;
        serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))
    }
}

impl Visitor {
    /// Returns whether a question is its own: asked under its principal or name, or in a role that it plays in a run.
    pub fn is_asker(&self, asker: &Whom) -> bool {
        let role = asker.name.strip_prefix(&*self.name).and_then(|rest| rest.strip_prefix('.'));
        self.identity == format!("client:{}", asker.name)
            || self.identity == format!("principal:{}", asker.principal)
            || role.is_some_and(|role| ROLES.contains(&role))
    }
}

/// Whatever the door stands in: it knows who comes.
pub trait Host: Send + Sync + 'static {
    /// Returns whoever sent a request, by what the transport knows and by the name that the client gives itself.
    fn visitor(&self, extensions: &Extensions, client: &str) -> Result<Visitor, Refusal>;
}

/// How much longer than its patience something may take.
pub(crate) const REPLY_GRACE: Duration = Duration::from_millis(1_900);
/// What agents are in a run: each has a key of its own, under the name of the agent.
const ROLES: &[&str] = &["planner", "executor", "critic", "auditor"];
/// How long a server that is away is usually waited for.
const SERVER_TIMEOUT: Duration = Duration::from_secs(20);
