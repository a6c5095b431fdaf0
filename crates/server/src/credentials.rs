//! Who calls: the user of this machine over the socket, a program with a token, a person whose browser is signed in, or a
//! stranger.

mod bearer;
mod cookie;
mod names;
pub mod socket;

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use demur_api::{code::Code, scope::Scope, server::PROTOCOL};
use demur_desk::{access::Caller, desk::Desk};
use hyper::{HeaderMap, Method, header, header::HeaderValue};

pub(crate) use self::cookie::{FORM_KEY_HEADER, cookie_value};
use self::{
    bearer::bearer,
    cookie::{browser_of, session},
    names::check_names,
    socket::{PROCESS_HEADER, PROTOCOL_HEADER, by_client, check_protocol, tool_calls},
};
pub use self::{cookie::FormKey, names::Names};

use crate::{
    limits::{Peer, TooMany},
    network::behind,
    places::OwnPlace,
    problem::Problem,
    service::Shared,
};

/// How a request came in.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Over the Unix socket, from the user who runs the server.
    Socket(Caller),
    /// Over the Unix socket, from a process that a tool under limits started.
    Tool,
    /// Over TCP.
    Tcp(Arc<Names>),
}

/// The address at the other end of a connection over TCP.
#[derive(Clone, Copy, Debug)]
pub struct ConnectedFrom(pub IpAddr);

/// Finds out who calls, and puts the caller into the request.
pub async fn identify(State(service): State<Shared>, mut request: Request, next: Next) -> Response {
    let transport = request.extensions().get::<Transport>().cloned();
    let peer = peer(&request);
    let caller = match transport {
        Some(Transport::Socket(caller)) => check_protocol(request.uri().path(), request.headers())
            .and_then(|()| by_client(caller, request.headers())),
        Some(Transport::Tool) => Err(tool_calls()),
        Some(Transport::Tcp(names)) => {
            match check_names(request.method(), request.uri(), request.headers(), &names) {
                Ok(()) => {
                    by_token(&service, &names, request.method(), request.headers()).await.map(|found| {
                        let limited = over_limit(&service, &found, peer, request.method());
                        limited.map(|limited| request.extensions_mut().insert(limited));
                        found.unwrap_or(Caller::Stranger)
                    })
                }
                Err(problem) => Err(problem),
            }
        }
        None => Ok(Caller::Stranger),
    };
    let caller = caller.and_then(|caller| claim(&request, &caller).map(|()| caller));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let (caller, mut response) = match caller {
        Ok(caller) => {
            if let Some(Transport::Tcp(names)) = request.extensions().get::<Transport>()
                && let Some(browser) = browser_of(&caller)
                && let Some(secret) = session(names, request.method(), request.headers())
            {
                let key = FormKey::of(browser, secret);
                note_use(&service, &caller, &request);
                request.extensions_mut().insert(key);
            }
            request.extensions_mut().insert(caller.clone());
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            (caller, next.run(request).await)
        }
        Err(problem) => {
            let is_full = problem.code() == Code::QuotaExceeded;
            let mut response = problem.into_response();
            if is_full {
                // It is one connection too many.
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            (Caller::Stranger, response)
        }
    };
    if response.status().is_server_error()
        && !caller.is_local()
        && let Some(problem) = response.extensions_mut().remove::<Problem>()
    {
        response = problem.for_others().into_response();
    }
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(PROTOCOL_HEADER, PROTOCOL.into());
    if caller.is_local() {
        headers.insert(PROCESS_HEADER, std::process::id().into());
    }
    let status = response.status().as_u16();
    service.metrics.count_request(status);
    tracing::debug!(%method, path, status, caller = caller.label(), "request");
    response
}

/// Notes whose connection it is, or refuses one more of the same token.
fn claim(request: &Request, caller: &Caller) -> Result<(), Problem> {
    let Caller::Token(token) = caller else { return Ok(()) };
    let place = request.extensions().get::<OwnPlace>();
    Ok(place.map_or(Ok(()), |place| place.claim(&token.id))?)
}

/// Returns where a request comes from, over TCP.
fn peer(request: &Request) -> Option<Peer> {
    let Some(Transport::Tcp(names)) = request.extensions().get::<Transport>() else { return None };
    let ConnectedFrom(address) = request.extensions().get::<ConnectedFrom>()?;
    Some(Peer::new(behind(*address, request.headers(), &names.trusted)))
}

/// Notes that somebody uses a session: goes to a page, or changes something. What an open page fetches by itself is no use.
fn note_use(service: &Shared, caller: &Caller, request: &Request) {
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    let dest = request.headers().get("sec-fetch-dest");
    if !looks || dest.is_none_or(|dest| dest == "document") {
        service.desk.note_used(caller);
    }
}

/// Returns whether credentials that are no good came too often from one address, or a session changes too much.
fn over_limit(service: &Shared, found: &Found, peer: Option<Peer>, method: &Method) -> Option<TooMany> {
    let now = service.desk.now().ok()?;
    match found {
        Err(BadCredentials) => service.limits.credentials.take(&peer?, now).err(),
        Ok(Caller::Token(token)) if token.scopes.contains(&Scope::Person) => {
            let looks = matches!(*method, Method::GET | Method::HEAD);
            if looks { None } else { service.limits.acts.take(&token.id, now).err() }
        }
        Ok(Caller::Local { .. } | Caller::Token(_) | Caller::Stranger) => None,
    }
}

/// Who a request says it is from.
type Found = Result<Caller, BadCredentials>;

/// Credentials that are no good.
struct BadCredentials;

async fn by_token(
    service: &Shared,
    names: &Names,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Found, Problem> {
    let bearer = bearer(headers);
    let Some(secret) = bearer.or_else(|| session(names, method, headers)) else {
        return Ok(Ok(Caller::Stranger));
    };
    if secret.len() > MAX_SECRET_BYTES {
        return Ok(Err(BadCredentials));
    }
    if !service.desk.tokens().is_loaded(service.desk.now()?) {
        service.work(Desk::load_tokens).await?;
    }
    let found = service.desk.tokens().find(secret, service.desk.now()?);
    // A session is a cookie or nothing: one that leaked to another page cannot be used by a program.
    let found = found.filter(|token| token.scopes.contains(&Scope::Person) == bearer.is_none());
    Ok(found.map(Caller::Token).ok_or(BadCredentials))
}

/// No token is longer.
const MAX_SECRET_BYTES: usize = 128;
