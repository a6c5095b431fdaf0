//! What the server says when it says no: a refusal as problem details (RFC 9457), under the HTTP status of its code.

use axum::response::{IntoResponse, Response};
use demur_api::{code::Code, problem::ProblemDetails, refusal::Refusal};
use hyper::{StatusCode, header};

/// A refusal on its way out over HTTP.
#[derive(Clone, Debug)]
pub struct Problem {
    refusal: Box<Refusal>,
    /// After how many seconds it is worth another try.
    retry_after: Option<u64>,
}

impl Problem {
    /// Returns the problem of this code.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { refusal: Box::new(Refusal::new(code, detail.into())), retry_after: None }
    }

    /// Returns the same problem with what to do about it.
    #[must_use]
    pub fn with_cure(mut self, cure: impl Into<String>) -> Self {
        self.refusal.cure = Some(cure.into());
        self
    }

    /// Returns the same problem with when it is worth another try.
    #[must_use]
    pub(crate) const fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Returns its status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.refusal.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns what it says.
    pub const fn refusal(&self) -> &Refusal {
        &self.refusal
    }

    /// Returns its stable code.
    pub const fn code(&self) -> Code {
        self.refusal.code
    }

    /// Returns the problem as somebody elsewhere hears it: what went wrong inside stands in the log.
    #[must_use]
    pub fn for_others(mut self) -> Self {
        *self.refusal = for_others(*self.refusal);
        self
    }

    /// Returns the problem of a request that cannot be read.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Refusal::malformed(detail.into()).into()
    }
}

/// Returns a refusal as somebody elsewhere hears it.
pub(crate) fn for_others(refusal: Refusal) -> Refusal {
    let status = refusal.code.status();
    if status < 500 || RETRIED.contains(&status) {
        return refusal;
    }
    Refusal::new(refusal.code, "the server could not do this; its log says why")
}

/// Returns what goes over the wire.
fn written(refusal: Refusal) -> ProblemDetails {
    let Refusal { code, field, message, cure, outcome } = refusal;
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    ProblemDetails {
        kind: format!("urn:demur:problem:{code}"),
        status: status.as_u16(),
        title: status.canonical_reason().unwrap_or("Problem").to_owned(),
        code: code.to_string(),
        detail: message,
        hint: cure,
        field,
        outcome: outcome.map(|outcome| *outcome),
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let problem = Self { refusal: Box::new(refusal), retry_after: None };
        if problem.status().is_server_error() {
            let refusal = problem.refusal();
            tracing::error!(code = refusal.code.as_str(), error = %refusal, "a request failed");
        }
        problem
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status(), self.retry_after);
        let body = serde_json::to_vec(&written(self.refusal().clone())).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, CONTENT_TYPE)], body).into_response();
        response.extensions_mut().insert(self);
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers
                .insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer realm=\"demur\""));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        response
    }
}

/// What passes by itself, and tells nothing about the inside.
const RETRIED: [u16; 2] = [503, 507];
/// The media type of problem details.
pub const CONTENT_TYPE: &str = "application/problem+json";
