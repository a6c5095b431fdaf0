//! Sessions of clients before 2026-07-28: in memory, so many at most, and over when nobody used them for a while. Each is its
//! caller's: any other hears of it what it hears of one that is not there, and it ends with the caller's token (ONE-15). A client
//! whose session is gone hears 404 and begins a new one; its questions are in the ledger and wait for it.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use demur_api::refusal::Refusal;
use demur_desk::access::{Caller, exceeded};
use demur_mcp::ids::FromOne;
use futures_core::Stream;
use hyper::Request;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};
use serde::Deserialize;

use crate::service::{Shared, over};

/// The sessions of a server.
pub(super) struct Sessions {
    manager: LocalSessionManager,
    /// Whose each is.
    callers: Mutex<HashMap<SessionId, Caller>>,
    /// How many one token has at most.
    most_each: usize,
}

/// Why a session does nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    /// There are too many.
    #[error("expected at most {MAX_SESSIONS} sessions, found more; try again in a while")]
    TooMany,
    /// Nobody begins one.
    #[error("expected a session to begin with a request, found none")]
    NoCaller,
    /// It went wrong.
    #[error(transparent)]
    Trouble(#[from] LocalSessionManagerError),
}

tokio::task_local! {
    /// Whose request is served.
    static CALLER: Caller;
}

/// Serves a request of a caller: the sessions that it reaches are this caller's.
pub(super) async fn on_behalf_of<T>(caller: Caller, request: impl Future<Output = T>) -> T {
    CALLER.scope(caller, request).await
}

/// Ends the sessions of callers whose credential ended, until the server does.
pub(super) async fn end_with_credentials(service: Shared, sessions: Arc<Sessions>) {
    let (mut ended, mut ending) = (service.desk.ended_credentials(), service.desk.ending());
    loop {
        tokio::select! {
            changed = ended.changed() => if changed.is_err() { return },
            () = over(&mut ending) => return,
        }
        for id in sessions.without_credential(&service) {
            let _ = sessions.manager.close_session(&id).await;
            sessions.callers().remove(&id);
        }
    }
}

impl Sessions {
    pub(super) fn new(service: &Shared) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE_TIMEOUT);
        manager.session_config.init_timeout = Some(BEGIN_TIMEOUT);
        let most_each = service.desk.limits().quotas.mcp_sessions as usize;
        Self { manager, callers: Mutex::default(), most_each }
    }

    /// Refuses a request that begins one session more than its token may have.
    pub(super) async fn expect_room<B: Sync>(
        &self,
        request: &Request<B>,
        message: &[u8],
        caller: &Caller,
    ) -> Result<(), Refusal> {
        let is_new = !request.headers().contains_key("mcp-session-id")
            && serde_json::from_slice::<Method>(message).is_ok_and(|found| found.method == "initialize");
        if !is_new || caller.is_local() {
            return Ok(());
        }
        self.tidy().await;
        let found = self.of(caller);
        if found < self.most_each {
            return Ok(());
        }
        let most = self.most_each as u64;
        let cure = "nothing was changed; end one of them, or try again in 30 minutes: one that nobody uses ends by itself";
        Err(exceeded("mcp_sessions", (most, found as u64), "sessions of MCP clients", cure))
    }

    /// Returns how many sessions a caller has.
    fn of(&self, caller: &Caller) -> usize {
        self.callers().values().filter(|known| known.label() == caller.label()).count()
    }

    fn without_credential(&self, service: &Shared) -> Vec<SessionId> {
        let callers = self.callers();
        let over = callers.iter().filter(|(_, caller)| !service.desk.is_good(caller));
        over.map(|(id, _)| id.clone()).collect()
    }

    /// Returns whether a session may be touched: by its caller, and by whatever serves it already.
    fn is_open_to_caller(&self, id: &SessionId) -> bool {
        CALLER
            .try_with(|caller| self.callers().get(id).is_none_or(|known| known.label() == caller.label()))
            .unwrap_or(true)
    }

    /// Forgets whose the sessions were that ended by themselves.
    async fn tidy(&self) {
        let there: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        self.callers().retain(|id, _| there.contains(id));
    }

    fn callers(&self) -> MutexGuard<'_, HashMap<SessionId, Caller>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As much of a message as says what it wants.
#[derive(Deserialize)]
struct Method {
    method: String,
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = FromOne<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let caller = CALLER.try_with(Clone::clone).map_err(|_| SessionError::NoCaller)?;
        self.tidy().await;
        let is_full = !caller.is_local() && self.of(&caller) >= self.most_each;
        if is_full || self.manager.sessions.read().await.len() >= MAX_SESSIONS {
            return Err(SessionError::TooMany);
        }
        let (id, transport) = self.manager.create_session().await?;
        self.callers().insert(id.clone(), caller);
        Ok((id, FromOne(transport)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.manager.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.is_open_to_caller(id) && self.manager.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        // Of a session that is not there, nothing is said either.
        if self.is_open_to_caller(id) {
            self.manager.close_session(id).await?;
            self.callers().remove(id);
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.manager.create_stream(id, message).await?)
    }

    fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), SessionError>> + Send {
        let accepted = self.manager.accept_message(id, message);
        async { Ok(accepted.await?) }
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.manager.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.manager.resume(id, last_event_id).await?)
    }
}

/// How many sessions there are at once.
const MAX_SESSIONS: usize = 512;
/// How long a session stays that nobody uses.
const IDLE_TIMEOUT: Duration = Duration::from_mins(30);
/// How long a session may take to begin.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(30);
