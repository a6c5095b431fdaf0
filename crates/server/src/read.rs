//! A request is read with limits: the names in its path, the parameters in its query, its JSON document. If a part cannot be
//! read, the refusal says in one sentence what was expected.

use std::{error::Error, time::Duration};

use axum::{
    body::Body,
    extract::{FromRequestParts, Path, Query, Request},
};
use bytes::Bytes;
use demur_api::{
    call::{ApiRequest, IdempotencyKey},
    code::Code,
    operation::{ApiDocument as _, Operation},
    refusal::Refusal,
};
use demur_core::{canonical, limit::Limits};
use demur_desk::{access::Caller, large_turns::LargeTurn};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::{HeaderMap, header, http::request::Parts};
use serde::de::DeserializeOwned;
use tokio::{task, time};

use crate::{
    api::JSON,
    body_room::{BodyShare, read_whole},
    problem::Problem,
    service::Shared,
};

/// Returns the request for an operation, the turn of a document that is large, and what it takes of the memory.
pub(crate) async fn request<O: Operation>(
    request: Request,
    service: &Shared,
) -> Result<(ApiRequest<O>, Option<LargeTurn>, BodyShare), Problem> {
    let (mut parts, body) = request.into_parts();
    let Named(path) = Named::<O::Path>::from_request_parts(&mut parts, service).await?;
    let Parameters(query) = Parameters::<O::Query>::from_request_parts(&mut parts, service).await?;
    let key = if O::ABOUT.keyed { idempotency_key(&parts.headers)? } else { None };
    let mut share = BodyShare::of(service, &parts.extensions);
    let (body, turn) = if O::Body::is_nothing() {
        (parse(b"", &LIMITS)?, None)
    } else {
        document(&parts, (body, &mut share), service, O::ABOUT.large).await?
    };
    Ok((ApiRequest { path, query, body, key }, turn, share))
}

/// Returns the JSON document in a body. Where it may carry an artifact it can be large, and takes a turn then.
async fn document<T: DeserializeOwned + Send + 'static>(
    parts: &Parts,
    (body, share): (Body, &mut BodyShare),
    service: &Shared,
    may_be_large: bool,
) -> Result<(T, Option<LargeTurn>), Problem> {
    let length = parts.headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    let is_large = may_be_large && length.is_none_or(|length| length > LIMITS.bytes);
    let caller = parts.extensions.get::<Caller>().unwrap_or(&Caller::Stranger);
    let turn = is_large.then(|| service.desk.large_turn(caller)).transpose()?;
    let limits = if is_large { &LARGE_LIMITS } else { &LIMITS };
    expect_media(&parts.headers, &[JSON])?;
    let text = read_whole(share, body, limits.bytes, service.timeouts().body).await?;
    if !is_large {
        return Ok((parse(&text, limits)?, None));
    }
    // Parsing so much takes a while: no other request waits for it.
    let parsed = task::spawn_blocking(move || parse(&text, limits)).await;
    Ok((parsed.map_err(|error| Refusal::bug(&error))??, turn))
}

fn parse<T: DeserializeOwned>(text: &[u8], limits: &Limits) -> Result<T, Problem> {
    // An empty body is an empty document: its members have defaults, or one of them is named as missing.
    let text = if text.is_empty() { b"{}" } else { text };
    // Strict: a name that stands there twice, or a number that is not exact, would mean one thing here and another elsewhere.
    canonical::from_json(text, limits).map_err(|error| Problem::malformed(format!("the document: {error}")))
}

/// Parameters in the query.
pub struct Parameters<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query
            .map(|Query(read)| Self(read))
            .map_err(|error| Problem::malformed(part("query", &error.body_text())))
    }
}

/// A name in the path. One that cannot be a name is as unknown as one that nobody has.
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(read)| Self(read))
            .map_err(|error| Problem::new(Code::NameUnknown, part("path", &error.body_text())))
    }
}

/// Returns the whole of a small body, if it is not too long and does not take too long.
pub async fn read(body: Body, max_bytes: usize, timeout: Duration) -> Result<Bytes, Problem> {
    let collected = time::timeout(timeout, Limited::new(body, max_bytes).collect());
    let collected = collected.await.map_err(|_| too_slow(timeout))?;
    collected.map(http_body_util::Collected::to_bytes).map_err(|error| broken(&*error, max_bytes))
}

/// Returns the problem of a body that did not come in time.
pub(crate) fn too_slow(timeout: Duration) -> Problem {
    let detail = format!("expected the whole request within {} seconds", timeout.as_secs());
    Problem::new(Code::TooSlow, detail)
}

/// Returns what is wrong with a body that could not be read to its end.
pub fn broken(error: &(dyn Error + Send + Sync + 'static), max_bytes: usize) -> Problem {
    if error.is::<LengthLimitError>() {
        let detail = format!("expected at most {max_bytes} bytes, found more");
        return Problem::new(Code::TooLarge, detail);
    }
    Problem::malformed("the request ended before its time")
}

/// Returns the value of a header that makes a retry safe.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = IdempotencyKey::try_from(value.to_str().unwrap_or_default().to_owned());
    key.map(Some).map_err(|error| Problem::malformed(error.to_string()))
}

/// Checks that a body is of one of these media types, where it says so.
pub fn expect_media(headers: &HeaderMap, known: &[&str]) -> Result<(), Problem> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let media = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if known.iter().any(|known| known.eq_ignore_ascii_case(media)) {
        return Ok(());
    }
    let detail = format!("expected Content-Type: {}, found another", known.join(" or "));
    Err(Problem::new(Code::MediaType, detail))
}

/// Returns what is wrong with a part of an address, without the words that the library puts before it.
fn part(name: &str, told: &str) -> String {
    let why = ["Failed to deserialize query string: ", "Invalid URL: "];
    let why = why.into_iter().find_map(|before| told.strip_prefix(before)).unwrap_or(told);
    format!("the {name}: {why}")
}

/// What a document holds at most; a list of files is the longest.
const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 32, members: 16_384, text: 1 << 20 };
/// What a document with an artifact holds at most: the largest artifact there is fits, in base64.
const LARGE_LIMITS: Limits = Limits { bytes: 48 << 20, depth: 32, members: 16_384, text: 48 << 20 };
