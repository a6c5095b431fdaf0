//! The gate of every connection: who calls, under which name the server was called, and from which page. Forged names
//! and foreign pages get nothing.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use demur_api::{code::Code, scope::Scope, server::PROTOCOL};
use demur_core::{hash::sha256, limit::Text};
use demur_desk::{access::Caller, desk::Desk};
use hyper::{HeaderMap, Method, header, header::HeaderValue};

use crate::{
    limits::{Peer, TooMany},
    problem::Problem,
    public_url::PublicUrl,
    service::Shared,
};

/// Under which names a server answers on TCP.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// `host:port` as browsers send it.
    pub hosts: Vec<String>,
    /// `http://host:port` as browsers send it.
    pub origins: Vec<String>,
    /// The name of the cookie of a browser that is signed in. Cookies belong to a host and not to a port, so the port is
    /// in the name.
    pub cookie: String,
    /// Whether browsers reach the server over TLS only.
    pub secure: bool,
    /// Whether a proxy stands between, which says for whom it speaks.
    pub proxied: bool,
}

impl Names {
    /// Returns the names of a server at this port, behind a proxy if it has an address of its own.
    pub fn new(port: u16, public: Option<&PublicUrl>) -> Self {
        let Some(url) = public else {
            let here = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
            let origins = here.iter().map(|host| format!("http://{host}")).collect();
            let cookie = format!("demur_session_{port}");
            return Self { hosts: here.to_vec(), origins, cookie, secure: false, proxied: false };
        };
        let secure = url.is_secure();
        // A browser takes a cookie of such a name from its own host over TLS only.
        let prefix = if secure { "__Host-" } else { "" };
        Self {
            hosts: vec![url.host().to_owned()],
            origins: vec![url.origin().to_owned()],
            cookie: format!("{prefix}demur_session_{port}"),
            secure,
            proxied: true,
        }
    }

    /// Returns what sets the cookie of a session for so many seconds.
    pub(crate) fn set_cookie(&self, secret: &str, seconds: u64) -> String {
        let (name, secure) = (&self.cookie, if self.secure { "; Secure" } else { "" });
        format!("{name}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
    }
}

/// How a request came in.
#[derive(Clone, Debug)]
pub enum Way {
    /// Over the Unix socket, from the user who runs the server.
    Socket(Caller),
    /// Over TCP.
    Tcp(Arc<Names>),
}

/// The address at the other end of a connection over TCP.
#[derive(Clone, Copy, Debug)]
pub struct ConnectedFrom(pub IpAddr);

/// What every form of a session carries that changes something. Another site can neither read nor guess it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormKey(pub String);

impl FormKey {
    fn of(secret: &str) -> Self {
        Self(sha256(format!("demur form {secret}").as_bytes()).to_string()[..32].to_owned())
    }
}

/// Finds out who calls, and lets nobody in under a false name.
pub async fn pass(State(service): State<Shared>, mut request: Request, next: Next) -> Response {
    let way = request.extensions().get::<Way>().cloned();
    let peer = peer(&request);
    let caller = match way {
        Some(Way::Socket(caller)) => check_protocol(request.uri().path(), request.headers())
            .and_then(|()| by_client(caller, request.headers())),
        Some(Way::Tcp(names)) => match check_names(request.headers(), &names) {
            Ok(()) => by_token(&service, &names, request.method(), request.headers()).await.map(|found| {
                let limited = over_limit(&service, &found, peer, request.method());
                limited.map(|limited| request.extensions_mut().insert(limited));
                found.unwrap_or(Caller::Stranger)
            }),
            Err(problem) => Err(problem),
        },
        None => Ok(Caller::Stranger),
    };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let (caller, mut response) = match caller {
        Ok(caller) => {
            if let Some(Way::Tcp(names)) = request.extensions().get::<Way>()
                && let Some(secret) = session(&names.cookie, request.method(), request.headers())
            {
                let key = FormKey::of(secret);
                request.extensions_mut().insert(key);
            }
            request.extensions_mut().insert(caller.clone());
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            (caller, next.run(request).await)
        }
        Err(problem) => (Caller::Stranger, problem.into_response()),
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

/// A command of another version would misunderstand what it is told; one that does not say its version knows what it does.
fn check_protocol(path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    // Whoever is told to end this server must be able to.
    if path == STOP_PATH {
        return Ok(());
    }
    match headers.get(PROTOCOL_HEADER).map(|value| value.to_str().unwrap_or_default()) {
        Some(found) if found != PROTOCOL.to_string() => {
            let detail =
                format!("expected a command that speaks version {PROTOCOL} of the socket, found {found:?}");
            Err(Problem::new(Code::VersionMismatch, detail)
                .with_cure("`demur stop` ends this server; the next command starts the right one"))
        }
        _ => Ok(()),
    }
}

/// Returns the user of this machine as whoever its client says it speaks for.
fn by_client(caller: Caller, headers: &HeaderMap) -> Result<Caller, Problem> {
    let Some(value) = headers.get(RELAY_HEADER) else { return Ok(caller) };
    let client = value.to_str().ok().and_then(|name| Text::try_from(name).ok()).ok_or_else(|| {
        Problem::malformed(format!("expected a name of 1 to 64 characters in {RELAY_HEADER}, found another"))
    })?;
    match caller {
        Caller::Local { name, .. } => Ok(Caller::through(name, client)?),
        other @ (Caller::Token(_) | Caller::Stranger) => Ok(other),
    }
}

/// A page of another site must not speak through somebody's browser, nor a name that leads here by a trick.
fn check_names(headers: &HeaderMap, names: &Names) -> Result<(), Problem> {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let known = |list: &[String], found: &str| list.iter().any(|name| name.eq_ignore_ascii_case(found));
    if !text(header::HOST).is_some_and(|host| known(&names.hosts, host)) {
        let detail = format!("expected the Host {}, found another", names.hosts.join(" or "));
        return Err(Problem::new(Code::HostForbidden, detail));
    }
    match text(header::ORIGIN) {
        Some(origin) if !known(&names.origins, origin) => {
            let detail = "expected no Origin or that of this server, found another";
            Err(Problem::new(Code::OriginForbidden, detail))
        }
        _ => Ok(()),
    }
}

/// Returns where a request comes from, over TCP.
fn peer(request: &Request) -> Option<Peer> {
    let Some(Way::Tcp(names)) = request.extensions().get::<Way>() else { return None };
    let ConnectedFrom(address) = request.extensions().get::<ConnectedFrom>()?;
    let peer = Peer::new(*address);
    Some(if names.proxied { peer.behind(request.headers()) } else { peer })
}

/// Returns whether credentials that are no good came too often from one address, or a session changes too much.
fn over_limit(service: &Shared, found: &Found, peer: Option<Peer>, method: &Method) -> Option<TooMany> {
    let now = service.desk.now().ok()?;
    match found {
        Err(NoGood) => service.limits.credentials.take(&peer?, now).err(),
        Ok(Caller::Token(token)) if token.scopes.contains(&Scope::Person) => {
            let looks = matches!(*method, Method::GET | Method::HEAD);
            if looks { None } else { service.limits.acts.take(&token.id, now).err() }
        }
        Ok(Caller::Local { .. } | Caller::Token(_) | Caller::Stranger) => None,
    }
}

/// Who a request says it is from.
type Found = Result<Caller, NoGood>;

/// Credentials that are no good.
struct NoGood;

async fn by_token(
    service: &Shared,
    names: &Names,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Found, Problem> {
    let bearer = bearer(headers);
    let Some(secret) = bearer.or_else(|| session(&names.cookie, method, headers)) else {
        return Ok(Ok(Caller::Stranger));
    };
    if secret.len() > MAX_SECRET_BYTES {
        return Ok(Err(NoGood));
    }
    if !service.desk.tokens().is_loaded() {
        service.work(Desk::load_tokens).await?;
    }
    let found = service.desk.tokens().find(secret, service.desk.now()?);
    // A session is a cookie or nothing: one that leaked to another page cannot be used by a program.
    let found = found.filter(|token| token.scopes.contains(&Scope::Person) == bearer.is_none());
    Ok(found.map(Caller::Token).ok_or(NoGood))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// Returns the cookie of a browser that is signed in. What changes something must come from a page of this server: the
/// browser says so in `Origin`, which was checked before.
fn session<'a>(cookie: &str, method: &Method, headers: &'a HeaderMap) -> Option<&'a str> {
    if !matches!(*method, Method::GET | Method::HEAD) && headers.get(header::ORIGIN).is_none() {
        return None;
    }
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == cookie).map(|(_, value)| value)
}

/// How a server ends, whatever version the command has.
const STOP_PATH: &str = "/v1/server/stop";

/// Says which version of what goes over the socket a side speaks.
pub const PROTOCOL_HEADER: &str = "demur-protocol";

/// Says which client passes on, over the socket, what its own user says.
pub const RELAY_HEADER: &str = "demur-relay";

/// Says which process answered, to the user of this machine.
pub const PROCESS_HEADER: &str = "demur-process";

/// No token is longer.
const MAX_SECRET_BYTES: usize = 128;
