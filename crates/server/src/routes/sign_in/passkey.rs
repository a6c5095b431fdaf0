//! Signing in with a passkey: the script of the sign-in page asks what is to be signed, and sends what the passkey made of it.

use axum::{
    Extension, Json,
    extract::{Path, Request, State},
    response::{IntoResponse as _, Response},
};
use demur_api::{code::Code, passkey::BrowserAssertion};
use demur_core::limit::Text;
use hyper::{StatusCode, header, http::request::Parts};
use serde::{Deserialize, de::DeserializeOwned};

use super::browser;
use crate::{
    credentials::{Names, Transport},
    limits::Peer,
    problem::Problem,
    read,
    service::Shared,
};

/// Who wants to sign in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    name: Text<1, 64>,
}

/// What a passkey made of the touch that signs in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedIn {
    made: BrowserAssertion,
    /// The digest of a key that the script of the page keeps: without it the cookie alone would be worth a passkey.
    key: String,
}

pub(super) async fn prepare(
    State(service): State<Shared>,
    Extension(way): Extension<Transport>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Result<Response, Problem> {
    let (_, _, Name { name }) = document(&service, &way, request).await?;
    // It is no try, and nothing is kept for it; the work is bounded all the same.
    if let Some(Extension(peer)) = peer {
        service.limits.sign_in_preparations.take(&peer, service.desk.now()?)?;
    }
    let prepared = service.work(move |desk| desk.prepare_sign_in(&name)).await?;
    Ok(Json(prepared).into_response())
}

pub(super) async fn finish(
    State(service): State<Shared>,
    Extension(way): Extension<Transport>,
    Path(touch): Path<String>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Result<Response, Problem> {
    let (names, parts, SignedIn { made, key }) = document(&service, &way, request).await?;
    if key.is_empty() {
        return Err(Problem::malformed(
            "key: expected the digest of the key that the page keeps, found none",
        ));
    }
    let browser = browser(&parts.headers, peer.as_deref(), &key)?;
    let signed = service.work(move |desk| desk.sign_in_with_passkey(&touch, &made, &browser)).await;
    let (secret, seconds) = match signed {
        Ok(signed) => signed,
        // One that is good counts for nothing: whoever guesses keeps nobody out.
        Err(problem) => return Err(count(&service, peer).err().unwrap_or(problem)),
    };
    let cookie = names.set_cookie(&names.cookie, &secret, seconds);
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// Returns the document that this server's own page sends.
async fn document<T: DeserializeOwned>(
    service: &Shared,
    way: &Transport,
    request: Request,
) -> Result<(std::sync::Arc<Names>, Parts, T), Problem> {
    let (parts, body) = request.into_parts();
    let Transport::Tcp(names) = way else {
        return Err(Problem::malformed("expected a browser, found a program at the socket"));
    };
    if !names.is_from_page(&parts.headers) {
        return Err(Problem::new(Code::OriginForbidden, "expected a request from the page, found another"));
    }
    read::expect_media(&parts.headers, &["application/json"])?;
    let bytes = read::read(body, MAX_DOCUMENT_BYTES, service.timeouts().body).await?;
    let document = demur_core::canonical::from_json(&bytes, &demur_core::limit::Limits::EVENT)
        .map_err(|error| Problem::malformed(format!("the document: {error}")))?;
    Ok((std::sync::Arc::clone(names), parts, document))
}

/// Counts a try that failed.
fn count(service: &Shared, peer: Option<Extension<Peer>>) -> Result<(), Problem> {
    let Some(Extension(peer)) = peer else { return Ok(()) };
    Ok(service.limits.sign_in.take(&peer, service.desk.now()?)?)
}

/// No document is longer.
const MAX_DOCUMENT_BYTES: usize = 1 << 14;
