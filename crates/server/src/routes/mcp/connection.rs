//! The connection of a caller of `/mcp`: every operation in this process, in the caller's name. It goes through the API's own
//! routes, so that the same is admitted, refused and limited as over HTTP.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, body::Body, extract::Request};
use bytes::Bytes;
use demur_api::{
    call::{ApiReply, ApiRequest, Call},
    code::Code,
    operation::{self, ApiDocument as _, Operation},
    problem::ProblemDetails,
    refusal::Refusal,
};
use demur_desk::access::Caller;
use demur_ledger::name::{Sequence, TraceId};
use demur_mcp::host::CallerConnection;
use http_body_util::BodyExt as _;
use hyper::{Method, StatusCode, header};
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use tokio::time;
use tower::ServiceExt as _;

use super::sessions::Sessions;
use crate::{problem::for_others, service::Shared};

/// The operations in this process, in somebody's name.
#[derive(Clone)]
pub(super) struct RouterConnection {
    pub(super) service: Shared,
    pub(super) router: Router,
    pub(super) caller: Caller,
    /// The session that the request came in, of an older client.
    pub(super) session: Option<(Arc<Sessions>, SessionId)>,
    /// How long a folder that another command has is waited for.
    pub(super) patience: Duration,
}

/// What goes through the routes.
struct Sent {
    method: Method,
    address: String,
    body: Bytes,
    media: Option<&'static str>,
}

impl Sent {
    fn of<O: Operation>(request: &ApiRequest<O>) -> Result<Self, Refusal> {
        let address = request.address().map_err(|error| Refusal::bug(&error))?;
        let method = match O::ABOUT.method {
            operation::Method::Get => Method::GET,
            operation::Method::Post => Method::POST,
            operation::Method::Delete => Method::DELETE,
        };
        if O::Body::is_nothing() {
            return Ok(Self { method, address, body: Bytes::new(), media: None });
        }
        let body = serde_json::to_vec(&request.body).map_err(|error| Refusal::bug(&error))?.into();
        Ok(Self { method, address, body, media: Some("application/json") })
    }

    const fn get(address: String) -> Self {
        Self { method: Method::GET, address, body: Bytes::new(), media: None }
    }

    /// Returns the request. It has no key: nothing is lost on the way, so nothing is sent twice.
    fn request(&self, caller: &Caller) -> Result<Request, Refusal> {
        let mut request = Request::builder().method(self.method.clone()).uri(&self.address);
        if let Some(media) = self.media {
            request = request.header(header::CONTENT_TYPE, media);
        }
        let request = request.extension(caller.clone()).body(Body::from(self.body.clone()));
        request.map_err(|error| Refusal::bug(&error))
    }
}

impl RouterConnection {
    async fn send(&self, sent: &Sent) -> Result<(StatusCode, Bytes), Refusal> {
        let until = Instant::now() + self.patience;
        loop {
            match self.attempt(sent).await {
                // Another command has the folder for a while.
                Err(refusal) if refusal.code == Code::FolderLent && Instant::now() < until => {
                    time::sleep(LENT_FOLDER_INTERVAL).await;
                }
                done => return done,
            }
        }
    }

    async fn attempt(&self, sent: &Sent) -> Result<(StatusCode, Bytes), Refusal> {
        let routed = self.router.clone().oneshot(sent.request(&self.caller)?).await;
        let response = routed.unwrap_or_else(|never| match never {});
        let (status, body) = (response.status(), response.into_body());
        let bytes = body.collect().await.map_err(|error| Refusal::bug(&error))?.to_bytes();
        if status.is_success() { Ok((status, bytes)) } else { Err(refusal(status, &bytes, &self.caller)) }
    }

    async fn bytes(&self, sent: &Sent) -> Result<Vec<u8>, Refusal> {
        Ok(self.send(sent).await?.1.into())
    }
}

impl<O: Operation> Call<O> for RouterConnection {
    async fn call(&self, request: ApiRequest<O>) -> Result<ApiReply<O::Output>, Refusal> {
        let (status, bytes) = self.send(&Sent::of(&request)?).await?;
        let text: &[u8] = if O::Output::is_nothing() { b"{}" } else { &bytes };
        let document = serde_json::from_slice(text).map_err(|error| Refusal::bug(&error))?;
        // Where a first time and a second time are told apart, the first one has made something.
        let repeated = O::ABOUT.statuses.len() > 1 && status != StatusCode::CREATED;
        Ok(ApiReply { document, repeated })
    }
}

impl CallerConnection for RouterConnection {
    fn within(&self, patience: Duration) -> Self {
        Self { patience, ..self.clone() }
    }

    async fn inbox_address(&self) -> Option<String> {
        self.service.address()
    }

    async fn is_heard(&self) -> bool {
        match &self.session {
            // The library lets calls of a session that is over run on for a few seconds.
            Some((sessions, id)) => sessions.has_session(id).await.unwrap_or(false),
            None => true,
        }
    }

    async fn artifact(&self, trace: TraceId, event: Sequence) -> Result<Vec<u8>, Refusal> {
        self.bytes(&Sent::get(format!("/v1/traces/{trace}/artifacts/{event}"))).await
    }

    async fn export(&self, trace: TraceId) -> Result<Vec<u8>, Refusal> {
        self.bytes(&Sent::get(format!("/v1/traces/{trace}/export"))).await
    }

    async fn verify(&self, export: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let (method, address) = (Method::POST, "/v1/verify".to_owned());
        self.bytes(&Sent { method, address, body: export.into(), media: Some("application/x-ndjson") }).await
    }
}

fn refusal(status: StatusCode, bytes: &[u8], caller: &Caller) -> Refusal {
    let Ok(problem) = serde_json::from_slice::<ProblemDetails>(bytes) else {
        return Refusal::new(Code::Bug, "the server said no without a reason");
    };
    let refusal = Refusal::from(problem);
    let hidden = status.is_server_error() && !caller.is_local();
    if hidden { for_others(refusal) } else { refusal }
}

/// How often a folder that is lent is tried.
const LENT_FOLDER_INTERVAL: Duration = Duration::from_millis(50);
