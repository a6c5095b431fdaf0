//! The session of a browser that is signed in, and the key that its forms carry.

use demur_core::hash::sha256;
use hyper::{HeaderMap, Method, header};

/// What every form of a session carries that changes something. Another site can neither read nor guess it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormKey(pub String);

impl FormKey {
    pub(super) fn of(secret: &str) -> Self {
        Self(sha256(format!("demur form {secret}").as_bytes()).to_string()[..32].to_owned())
    }
}

/// Returns the cookie of a browser that is signed in. What changes something must come from a page of this server: the
/// browser says so in `Origin`, which was checked before.
pub(super) fn session<'a>(cookie: &str, method: &Method, headers: &'a HeaderMap) -> Option<&'a str> {
    if !matches!(*method, Method::GET | Method::HEAD) && headers.get(header::ORIGIN).is_none() {
        return None;
    }
    cookie_value(headers, cookie)
}

/// Returns the value of a cookie of this name.
pub(crate) fn cookie_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}
