//! Sessions of clients before 2026-07-28: in memory, so many at most, and over when nobody used them for a while. A client
//! whose session is gone hears 404 and begins a new one; its questions are in the ledger and wait for it.

use std::{future::Future, time::Duration};

use demur_mcp::ids::FromOne;
use futures_core::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

/// The sessions of a server.
pub(super) struct Sessions(LocalSessionManager);

/// Why a session does nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    /// There are too many.
    #[error("expected at most {MAX_SESSIONS} sessions, found more; try again in a while")]
    TooMany,
    /// It went wrong.
    #[error(transparent)]
    Trouble(#[from] LocalSessionManagerError),
}

impl Default for Sessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE_TIMEOUT);
        manager.session_config.init_timeout = Some(BEGIN_TIMEOUT);
        Self(manager)
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = FromOne<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        if self.0.sessions.read().await.len() >= MAX_SESSIONS {
            return Err(SessionError::TooMany);
        }
        let (id, transport) = self.0.create_session().await?;
        Ok((id, FromOne(transport)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.0.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.0.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        Ok(self.0.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.0.create_stream(id, message).await?)
    }

    fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), SessionError>> + Send {
        let accepted = self.0.accept_message(id, message);
        async { Ok(accepted.await?) }
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.0.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.0.resume(id, last_event_id).await?)
    }
}

/// How many sessions there are at once.
const MAX_SESSIONS: usize = 512;
/// How long a session stays that nobody uses.
const IDLE_TIMEOUT: Duration = Duration::from_mins(30);
/// How long a session may take to begin.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(30);
