//! The host of this door: it knows who comes, and has the connection on which everything is done in a caller's name.

use std::{future::Future, time::Duration};

use demur_api::{
    call::{ApiRequest, Call},
    code::Code,
    operation::{Connection, Operation},
    question::Whom,
    refusal::Refusal,
};
use demur_ledger::name::{Sequence, TraceId};
pub use rmcp::model::Extensions;
use serde_json::Value;
use tokio::time;

use crate::{tools::Sets, written::ReplyWritten};

/// Whatever the door stands in: it knows who comes.
pub trait Host: Send + Sync + 'static {
    /// The connection of a caller.
    type Connection: CallerConnection;

    /// Returns the caller that sent a request, by what the transport knows and by the name that the client gives itself.
    fn visitor(&self, extensions: &Extensions, client: &str) -> Result<Visitor<Self::Connection>, Refusal>;

    /// Returns what says whether the reply to a request was written, where the transport left it with the request.
    fn reply_written(&self, extensions: &Extensions) -> Option<ReplyWritten> {
        extensions.get().cloned()
    }
}

/// The connection of one caller: every operation, and beside it what is none because bytes go in or out.
pub trait CallerConnection: Connection {
    /// Returns the same connection, with so much patience for a server that is away.
    #[must_use]
    fn within(&self, patience: Duration) -> Self;

    /// Returns where people reach the inbox, if they do.
    fn inbox_address(&self) -> impl Future<Output = Option<String>> + Send;

    /// Returns whether the sender of a request is still there, as far as the way to the client shows it by itself.
    fn is_heard(&self) -> impl Future<Output = bool> + Send {
        async { true }
    }

    /// Returns the bytes of the artifact that an event records.
    fn artifact(
        &self,
        trace: TraceId,
        event: Sequence,
    ) -> impl Future<Output = Result<Vec<u8>, Refusal>> + Send;

    /// Returns the export of a trace, of so many bytes at most.
    fn export(&self, trace: TraceId, limit: usize) -> impl Future<Output = Result<Vec<u8>, Refusal>> + Send;

    /// Verifies an export, and returns what was found.
    fn verify(&self, export: Vec<u8>) -> impl Future<Output = Result<Value, Refusal>> + Send;
}

/// Whoever comes through the door with one request.
#[derive(Clone)]
pub struct Visitor<C> {
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
    /// The connection on which everything is done in its name.
    pub connection: C,
}

impl<C: CallerConnection> Visitor<C> {
    /// Has an operation done.
    pub(crate) async fn ask<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Refusal>
    where
        C: Call<O>,
    {
        self.ask_within(request, SERVER_TIMEOUT).await
    }

    /// Has an operation done that may take so long.
    pub(crate) async fn ask_within<O: Operation>(
        &self,
        request: ApiRequest<O>,
        patience: Duration,
    ) -> Result<O::Output, Refusal>
    where
        C: Call<O>,
    {
        let connection = self.connection.within(patience);
        in_time(patience, connection.call(request)).await.map(|reply| reply.document)
    }

    /// Returns the bytes of the artifact that an event records.
    pub(crate) async fn artifact(&self, trace: TraceId, event: Sequence) -> Result<Vec<u8>, Refusal> {
        self.connection.within(SERVER_TIMEOUT).artifact(trace, event).await
    }

    /// Returns the export of a trace, of so many bytes at most.
    pub(crate) async fn export(&self, trace: TraceId, limit: usize) -> Result<Vec<u8>, Refusal> {
        self.connection.within(SERVER_TIMEOUT).export(trace, limit).await
    }

    /// Returns what the export of a trace proves.
    pub(crate) async fn verify(&self, trace: TraceId) -> Result<Value, Refusal> {
        let export = self.export(trace, MAX_VERIFIED_BYTES).await?;
        in_time(SERVER_TIMEOUT, self.connection.within(SERVER_TIMEOUT).verify(export)).await
    }
}

impl<C> Visitor<C> {
    /// Returns whether a question is its own: asked under its principal or name, or in a role that it plays in a run.
    pub(crate) fn is_asker(&self, asker: &Whom) -> bool {
        let role = asker.name.strip_prefix(&*self.name).and_then(|rest| rest.strip_prefix('.'));
        self.identity == format!("client:{}", asker.name)
            || self.identity == format!("principal:{}", asker.principal)
            || role.is_some_and(|role| ROLES.contains(&role))
    }
}

async fn in_time<T>(
    patience: Duration,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    time::timeout(patience + REPLY_GRACE, work).await.unwrap_or_else(|_| Err(silent()))
}

/// Returns the refusal of a server that does not answer at all.
pub(crate) fn silent() -> Refusal {
    Refusal::new(Code::NoReply, "the server did not answer in time; nobody knows what it recorded")
        .with_cure("Do not assume. `demur status` says whether it runs; then call the tool again.")
}

/// Returns the refusal of an export that has more bytes than are wanted.
pub fn export_too_large(trace: TraceId, limit: usize) -> Refusal {
    Refusal::new(Code::TooLarge, format!("expected an export of at most {limit} bytes, found more"))
        .with_cure(format!("`demur export {trace}` writes it to a file"))
}

/// How large an export may be that is verified for a client.
const MAX_VERIFIED_BYTES: usize = 64 << 20;
/// How much longer than its patience something may take.
pub(crate) const REPLY_GRACE: Duration = Duration::from_millis(1_900);
/// What agents are in a run: each has a key of its own, under the name of the agent.
const ROLES: &[&str] = &["planner", "executor", "critic", "auditor"];
/// How long a server that is away is usually waited for.
const SERVER_TIMEOUT: Duration = Duration::from_secs(20);
