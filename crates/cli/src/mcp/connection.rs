//! The connection of the bridge: every operation over the socket, in the name of the client that the bridge serves. What the
//! client's session asked, and of which answers it knows, is noted on the way.

use std::{sync::Arc, time::Duration};

use demur_api::{
    call::{self, ApiReply, ApiRequest},
    operation::{NoArguments, Nothing, Operation, ShowServer},
    refusal::Refusal,
};
use demur_ledger::name::{ClientId, Sequence, TraceId};
use demur_mcp::host::{CallerConnection, export_too_large};
use serde_json::Value;

use crate::{
    client::{SocketApi, SocketRequest},
    hook::session::Session,
};

/// The way over the socket, in the name of a client.
#[derive(Clone)]
pub(super) struct BridgeConnection {
    api: SocketApi,
    /// The session of the client, where it says which it is.
    session: Option<Arc<Session>>,
    client: String,
    /// Which program the client is, where that can be told.
    id: Option<ClientId>,
    /// How long a server that is away is waited for, where the caller says so.
    patience: Option<Duration>,
}

impl BridgeConnection {
    pub(super) const fn new(
        api: SocketApi,
        session: Option<Arc<Session>>,
        client: String,
        id: Option<ClientId>,
    ) -> Self {
        Self { api, session, client, id, patience: None }
    }

    /// Returns a request in the name of the client.
    fn named(&self, call: SocketRequest) -> Result<SocketRequest, Refusal> {
        let call = call.for_client(self.client.clone(), self.id)?;
        Ok(if let Some(patience) = self.patience { call.within(patience) } else { call })
    }

    async fn bytes(&self, call: SocketRequest) -> Result<Vec<u8>, Refusal> {
        Ok(self.api.send(&self.named(call)?).await?.into_body().to_vec())
    }
}

impl<O: Operation> call::Call<O> for BridgeConnection {
    async fn call(&self, request: ApiRequest<O>) -> Result<ApiReply<O::Output>, Refusal> {
        let reply = self.api.perform::<O>(&self.named(SocketRequest::of(&request)?)?).await?;
        if let Some(session) = &self.session {
            session.note::<O>(&reply.document);
        }
        Ok(reply)
    }
}

impl CallerConnection for BridgeConnection {
    fn within(&self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self.clone() }
    }

    async fn inbox_address(&self) -> Option<String> {
        let asked = ApiRequest::<ShowServer>::get(NoArguments {}, Nothing {});
        let status = call::Call::call(&self.api, asked).await.ok()?.document;
        status.pages.or(status.address)
    }

    async fn artifact(&self, trace: TraceId, event: Sequence) -> Result<Vec<u8>, Refusal> {
        self.bytes(SocketRequest::get(&format!("/v1/traces/{trace}/artifacts/{event}"))?).await
    }

    async fn export(&self, trace: TraceId, limit: usize) -> Result<Vec<u8>, Refusal> {
        let call = self.named(SocketRequest::get(&format!("/v1/traces/{trace}/export"))?)?;
        self.api.send_within(&call, limit).await?.ok_or_else(|| export_too_large(trace, limit))
    }

    async fn verify(&self, export: Vec<u8>) -> Result<Value, Refusal> {
        let call = SocketRequest::post_bytes("/v1/verify", export, "application/x-ndjson")?;
        serde_json::from_slice(&self.bytes(call).await?).map_err(|error| Refusal::bug(&error))
    }
}
