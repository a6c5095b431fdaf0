//! The connection of a caller of `/mcp`: every operation in this process, in the caller's name. Nothing is written as JSON on
//! the way.

use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use demur_api::{
    call::{ApiReply, ApiRequest, Call},
    operation::Operation,
    refusal::Refusal,
};
use demur_desk::{access::Caller, entry::InProcessApi};
use demur_ledger::name::{Sequence, TraceId};
use demur_mcp::host::{CallerConnection, export_too_large};
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use serde_json::Value;

use super::sessions::Sessions;
use crate::{problem::Problem, routes::verify, service::Shared};

/// The operations in this process, in somebody's name.
#[derive(Clone)]
pub(super) struct ServerConnection {
    service: Shared,
    caller: Caller,
    operations: InProcessApi,
    /// The session that the request came in, of an older client.
    session: Option<(Arc<Sessions>, SessionId)>,
}

impl ServerConnection {
    pub(super) fn new(service: Shared, caller: Caller, session: Option<(Arc<Sessions>, SessionId)>) -> Self {
        let operations = InProcessApi::new(Arc::clone(&service.desk), caller.clone());
        Self { service, caller, operations, session }
    }

    /// Returns why something was not done, as this caller hears it: what went wrong inside stands in the log.
    fn told(&self, refusal: Refusal) -> Refusal {
        let problem = Problem::from(refusal);
        let problem = if self.caller.is_local() { problem } else { problem.for_others() };
        problem.refusal().clone()
    }
}

impl<O: Operation> Call<O> for ServerConnection
where
    InProcessApi: Call<O>,
{
    async fn call(&self, request: ApiRequest<O>) -> Result<ApiReply<O::Output>, Refusal> {
        // No key: nothing is lost on the way, so nothing is sent twice.
        let request = ApiRequest { key: None, ..request };
        self.operations.call(request).await.map_err(|refusal| self.told(refusal))
    }
}

impl CallerConnection for ServerConnection {
    fn within(&self, _: Duration) -> Self {
        // The server is not away.
        self.clone()
    }

    async fn inbox_address(&self) -> Option<String> {
        self.service.desk.pages()
    }

    async fn is_heard(&self) -> bool {
        match &self.session {
            // The library lets calls of a session that is over run on for a few seconds.
            Some((sessions, id)) => sessions.has_session(id).await.unwrap_or(false),
            None => true,
        }
    }

    async fn artifact(&self, trace: TraceId, event: Sequence) -> Result<Vec<u8>, Refusal> {
        let caller = self.caller.clone();
        let found = self.service.desk.on_worker(move |desk| desk.artifact(&caller, trace, event));
        found.await.map_err(|refusal| self.told(refusal))
    }

    async fn export(&self, trace: TraceId, limit: usize) -> Result<Vec<u8>, Refusal> {
        let turn = self.service.desk.large_turn(&self.caller)?;
        let caller = self.caller.clone();
        let exported = self.service.desk.on_worker(move |desk| {
            let _turn = turn;
            let mut out = LimitedBytes { bytes: Vec::new(), limit, is_full: false };
            match desk.export(&caller, trace, &mut out) {
                _ if out.is_full => Err(export_too_large(trace, limit)),
                exported => exported.map(|()| out.bytes),
            }
        });
        exported.await.map_err(|refusal| self.told(refusal))
    }

    async fn verify(&self, export: Vec<u8>) -> Result<Value, Refusal> {
        let found = verify::verified(&self.service, &self.caller, export).await;
        let found = found.map_err(|refusal| self.told(refusal))?;
        serde_json::to_value(found).map_err(|error| Refusal::bug(&error))
    }
}

/// Bytes that are kept in memory, so many at most.
struct LimitedBytes {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl Write for LimitedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + bytes.len() > self.limit;
        if self.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_the_limit_are_not_kept() {
        let mut out = LimitedBytes { bytes: Vec::new(), limit: 4, is_full: false };
        out.write_all(b"four").unwrap();
        assert!(!out.is_full);
        out.write_all(b"!").unwrap_err();
        assert!(out.is_full && out.bytes == b"four");
    }
}
