//! MCP over streamable HTTP at `/mcp`: the same door as `demur mcp`, with operations done in this process in the name of
//! the caller. It is no operation of the API: what goes in and out is the protocol's own. Clients of
//! 2026-07-28 bring everything with each request; for older ones there are sessions, bounded in number and in time.

mod connection;
mod sessions;
mod written;

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    Json, Router,
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    middleware,
    response::{IntoResponse as _, Response},
    routing::any,
};
use demur_api::{code::Code, refusal::Refusal, scope::Scope};
use demur_core::limit::Text;
use demur_desk::{
    access::{Caller, Token, stranger},
    desk::Desk,
};
use demur_mcp::{
    door::Door,
    door_settings::DoorSettings,
    fault::no_message,
    host::{Extensions, Host, Visitor},
    state::States,
    tools::Sets,
    written::{ReplyWriter, ReplyWritten},
};
use http_body_util::Full;
use hyper::{
    StatusCode,
    body::{Frame, SizeHint},
    header,
    http::request::Parts,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::SessionId,
};
use tokio::sync::OnceCell;

use self::{connection::ServerConnection, sessions::Sessions, written::WatchedBody};
use crate::{
    api::admit,
    body_room::{BodyShare, read_whole},
    places::OwnPlace,
    problem::Problem,
    service::{Shared, over},
};

/// The service that speaks the protocol.
type Protocol = StreamableHttpService<Door<ServerHost>, Sessions>;

/// Returns the route.
pub(super) fn route(service: &Shared) -> Router<Shared> {
    let config = StreamableHttpServerConfig::default()
        // Whose names these are was looked at when the caller was found out.
        .disable_allowed_hosts()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES);
    let (stop, mut ending) = (config.cancellation_token.clone(), service.desk.ending());
    tokio::spawn(async move {
        over(&mut ending).await;
        stop.cancel();
    });
    let sessions = Arc::new(Sessions::new(service));
    tokio::spawn(sessions::end_with_credentials(Arc::clone(service), Arc::clone(&sessions)));
    let host = Arc::new(ServerHost { service: Arc::clone(service), sessions: Arc::clone(&sessions) });
    let (states, ended) = (Arc::<OnceCell<Arc<States>>>::default(), service.desk.ending());
    let (shared, made) = (Arc::default(), Arc::clone(&states));
    let door = move || {
        let states = made.get().cloned().ok_or_else(|| io::Error::other("no key of request states"))?;
        Ok(Door::new(Arc::clone(&host), states, DoorSettings::default(), Arc::clone(&shared), ended.clone()))
    };
    let protocol: Protocol = StreamableHttpService::new(door, Arc::clone(&sessions), config);
    let protocol = (protocol, sessions);
    let gate = middleware::from_fn(move |request: Request, next| admit(ASKING, request, next));
    Router::new().route(
        PATH,
        any(move |State(service): State<Shared>, request: Request| async move {
            match states.get_or_try_init(|| states_of(&service)).await {
                Ok(_) => serve(service, protocol, request).await,
                Err(refusal) => Problem::from(refusal).into_response(),
            }
        })
        .layer(gate),
    )
}

/// Returns what seals the states of every client, the same at each server of one keyring.
async fn states_of(service: &Shared) -> Result<Arc<States>, Refusal> {
    let key = service.desk.on_worker(Desk::request_state_key).await?;
    States::with_key(&key).map(Arc::new).map_err(|error| Refusal::bug(&error))
}

/// Serves one request. Its body is read here, where a slow one is told so.
async fn serve(
    service: Shared,
    (protocol, sessions): (Protocol, Arc<Sessions>),
    request: Request,
) -> Response {
    let (mut parts, body) = request.into_parts();
    // A call may be held until somebody answers, and a stream for as long as its client likes.
    if let Err(refusal) = parts.extensions.get::<OwnPlace>().map_or(Ok(()), OwnPlace::wait) {
        return Problem::from(refusal).into_response();
    }
    let mut share = BodyShare::of(&service, &parts.extensions);
    let bytes = match read_whole(&mut share, body, MAX_MESSAGE_BYTES, service.timeouts().body).await {
        Ok(bytes) => bytes,
        Err(problem) => return problem.into_response(),
    };
    let caller = parts.extensions.get::<Caller>().cloned().unwrap_or(Caller::Stranger);
    let media = parts.headers.get(header::CONTENT_TYPE);
    let is_json = media.is_some_and(|media| media.as_bytes().starts_with(b"application/json"));
    // Whoever leaves meanwhile takes this end along.
    let (writer, written) = ReplyWriter::new();
    parts.extensions.insert(written);
    let request = Request::from_parts(parts, Full::new(bytes.clone()));
    if let Err(refusal) = sessions.expect_room(&request, &bytes, &caller).await {
        return Problem::from(refusal).into_response();
    }
    let response = tokio::select! {
        response = sessions::on_behalf_of(caller.clone(), protocol.handle(request)) => response,
        () = service.desk.ended_credential(&caller) => return Problem::from(stranger()).into_response(),
    };
    let desk = Arc::clone(&service.desk);
    let ended = async move { desk.ended_credential(&caller).await };
    let response = response.map(|body| Body::new(Ending { body: Body::new(body), ended: Box::pin(ended) }));
    // The library says so, in words of its own, of whatever it cannot read.
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
        return (StatusCode::BAD_REQUEST, Json(no_message(&bytes))).into_response();
    }
    response.map(|body| Body::new(WatchedBody::new(body, writer)))
}

/// A body that ends with the credential of whoever it is for.
struct Ending {
    body: Body,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Ending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The server, as the host of the door.
struct ServerHost {
    service: Shared,
    sessions: Arc<Sessions>,
}

impl Host for ServerHost {
    type Connection = ServerConnection;

    fn visitor(&self, extensions: &Extensions, client: &str) -> Result<Visitor<ServerConnection>, Refusal> {
        let parts = extensions.get::<Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned();
        let sets = parts.and_then(|parts| parts.uri.query()).map(sets).transpose()?;
        let (caller, identity, name, relays) = match caller.unwrap_or(Caller::Stranger) {
            Caller::Local { name, id, .. } => {
                let caller = Caller::through(name, Text::cut(client)?, id.map(|id| *id))?;
                let asks_as = caller.client().unwrap_or_default().to_owned();
                (caller, format!("client:{asks_as}"), asks_as, true)
            }
            Caller::Token(token) => {
                let principal = token.principal.map(|principal| principal.to_string());
                let identity = format!("principal:{}", principal.unwrap_or_else(|| token.id.clone()));
                let (name, relays) = (token.name.to_string(), token.scopes.contains(&Scope::Relay));
                (Caller::Token(Arc::new(Token { by_mcp: true, ..(*token).clone() })), identity, name, relays)
            }
            Caller::Stranger => return Err(stranger()),
        };
        let session = parts.and_then(|parts| parts.headers.get("mcp-session-id")?.to_str().ok());
        let session = session.map(|id| (Arc::clone(&self.sessions), SessionId::from(id)));
        let connection = ServerConnection::new(Arc::clone(&self.service), caller, session);
        // Nothing else is known here that lasts longer than a connection.
        let conversation = "mcp".to_owned();
        Ok(Visitor { identity, name, conversation, relays, sets, connection })
    }

    fn reply_written(&self, extensions: &Extensions) -> Option<ReplyWritten> {
        extensions.get::<Parts>()?.extensions.get().cloned()
    }
}

/// Returns the sets of tools that an address names, such as `/mcp?tools=wwa,session`.
fn sets(query: &str) -> Result<Sets, Refusal> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query)
        .map_err(|error| Refusal::new(Code::Malformed, format!("the query: {error}")))?;
    let Some((_, words)) = pairs.iter().find(|(name, _)| name == "tools") else {
        return Ok(Sets::default());
    };
    words.parse().map_err(|error| Refusal::new(Code::Malformed, format!("tools: {error}")))
}

/// Where the door is.
pub const PATH: &str = "/mcp";
/// Who may come through it.
pub const ASKING: &[Scope] = &[Scope::Ask];
/// How long a message may be.
const MAX_MESSAGE_BYTES: usize = 4 << 20;
