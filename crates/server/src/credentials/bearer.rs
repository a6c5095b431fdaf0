//! The token of a program, in a header.

use hyper::{HeaderMap, header};

/// Returns the token that a request carries.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}
