//! What the server says when it says no: problem details (RFC 9457) with a stable code, what was expected, what was
//! found, and what to do.

use axum::response::{IntoResponse, Response};
use demur_desk::{error::CommandError, exit::Exit, question::Ending};
use demur_mcp::api::Refusal;
use hyper::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a request was refused.
#[derive(Clone, Debug)]
pub struct Problem(Box<ProblemDetails>);

/// A problem, as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemDetails {
    /// `urn:demur:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The HTTP status.
    pub status: u16,
    /// What kind of problem it is.
    pub title: String,
    /// The stable code.
    pub code: String,
    /// What was expected and found.
    pub detail: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The member it is about, as a dotted path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Who was first, when and how, where somebody was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
    /// After how many seconds it is worth another try; a header of its own.
    #[serde(skip)]
    pub retry_after: Option<u64>,
}

impl Problem {
    /// Returns the problem of this status and code.
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self(Box::new(ProblemDetails {
            kind: format!("urn:demur:problem:{code}"),
            status: status.as_u16(),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            code: code.to_owned(),
            detail: detail.into(),
            hint: None,
            field: None,
            outcome: None,
            retry_after: None,
        }))
    }

    /// Returns the same problem with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Returns the same problem with when it is worth another try.
    #[must_use]
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Returns its status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns what was expected and found.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Returns what to do.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns who was first, when and how, where somebody was.
    pub fn outcome(&self) -> Option<&Ending> {
        self.0.outcome.as_ref()
    }

    /// Returns its stable code.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// Returns the same problem with who was first, when and how.
    #[must_use]
    pub fn with_outcome(mut self, outcome: Option<Ending>) -> Self {
        self.0.outcome = outcome;
        self
    }

    /// Returns the problem as somebody elsewhere hears it: what went wrong inside stands in the log.
    #[must_use]
    pub fn for_others(mut self) -> Self {
        if self.0.status >= 500 && !RETRIED.contains(&self.0.status) {
            "the server could not do this; its log says why".clone_into(&mut self.0.detail);
            (self.0.hint, self.0.field) = (None, None);
        }
        self
    }

    /// Returns the problem of a request that cannot be read.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "MALFORMED", detail)
            .with_hint("GET /v1/openapi.json describes every request")
    }
}

impl From<ProblemDetails> for Problem {
    fn from(details: ProblemDetails) -> Self {
        Self(Box::new(details))
    }
}

impl From<Problem> for ProblemDetails {
    fn from(problem: Problem) -> Self {
        *problem.0
    }
}

/// As the door of MCP passes it on, whatever carries it.
impl From<ProblemDetails> for Refusal {
    fn from(problem: ProblemDetails) -> Self {
        let ProblemDetails { status, code, detail, hint, field, .. } = problem;
        Self { status, code, detail, hint, field }
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let status = status(&error);
        if status.is_server_error() {
            tracing::error!(code = error.code(), %error, "a request failed");
        }
        let mut problem = Self::new(status, error.code(), error.to_string());
        problem.0.hint = error.hint().map(str::to_owned);
        problem.0.field = error.field().map(str::to_owned);
        problem
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let body = serde_json::to_vec(&*self.0).unwrap_or_default();
        let retry_after = self.0.retry_after;
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

/// One way from what went wrong to a status; the code says the rest.
fn status(error: &CommandError) -> StatusCode {
    match error.code() {
        "UNAUTHENTICATED" => StatusCode::UNAUTHORIZED,
        "FORBIDDEN" => StatusCode::FORBIDDEN,
        "QUESTION_UNKNOWN" | "TRACE_UNKNOWN" | "SESSION_UNKNOWN" | "GAP_UNKNOWN" | "TOKEN_UNKNOWN"
        | "SECRET_GONE" | "EVENT_UNKNOWN" | "ARTIFACT_UNKNOWN" | "RECEIPT_UNKNOWN" | "IDENTITY_UNKNOWN"
        | "NO_TRACE" | "PERSON_UNKNOWN" => StatusCode::NOT_FOUND,
        "IDEMPOTENCY_CONFLICT" => StatusCode::UNPROCESSABLE_ENTITY,
        "FOLDER_LENT" | "STOPPING" | "FOLDER_BUSY" | "FOLDER_IN_USE" | "STORE_LOCKED" | "OVERLOADED" => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        "RECORD_DAMAGED" | "STORE_DAMAGED" | "NO_DESK_KEY" | "STORE_READ_ONLY" | "STORE_FOREIGN"
        | "STORE_NEWER" | "STORE_OLDER" | "NO_STORE" | "NO_KEYS" | "RULES_MALFORMED" | "FILE_UNREADABLE"
        | "FILE_UNUSABLE" => StatusCode::INTERNAL_SERVER_ERROR,
        "DISK_FULL" => StatusCode::INSUFFICIENT_STORAGE,
        _ => match error.exit() {
            Exit::Refused => StatusCode::CONFLICT,
            Exit::BadInput => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

/// What passes by itself, and tells nothing about the inside.
const RETRIED: [u16; 2] = [503, 507];
/// The media type of problem details.
pub const CONTENT_TYPE: &str = "application/problem+json";
