//! The session of a browser that is signed in, and the key that its forms carry.

use demur_core::hash::{Digest, sha256};
use demur_desk::access::{Browser, Caller};
use hyper::{HeaderMap, Method, header};

use super::Names;

/// What everything carries that changes something for a session. Another site can neither read nor guess it, and a program that
/// got hold of the cookie has it only where the browser keeps no key of its own.
#[derive(Clone, Debug)]
pub struct FormKey {
    digest: Digest,
    /// What pages carry; nothing where the script of the page keeps the key.
    pub(crate) shown: String,
}

impl FormKey {
    /// Returns the key of a session with this secret.
    pub(super) fn of(browser: &Browser, secret: &str) -> Self {
        if let Some(digest) = browser.bound {
            return Self { digest, shown: String::new() };
        }
        let shown = sha256(format!("demur form {secret}").as_bytes()).to_string()[..32].to_owned();
        Self { digest: sha256(shown.as_bytes()), shown }
    }

    /// Returns whether this is it.
    pub(crate) fn is(&self, sent: &str) -> bool {
        // The digest of a guess says nothing about the key: comparing it needs no constant time.
        sent.len() <= MAX_KEY_BYTES && sha256(sent.as_bytes()) == self.digest
    }

    /// Returns whether a header carries it. No page of another origin can send that header.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        headers.get(FORM_KEY_HEADER).and_then(|value| value.to_str().ok()).is_some_and(|sent| self.is(sent))
    }
}

/// Returns the cookie of a browser that is signed in: it counts under the name of the pages only. What changes something must come
/// from a page of this server: the browser says so in `Origin`.
pub(super) fn session<'a>(names: &Names, method: &Method, headers: &'a HeaderMap) -> Option<&'a str> {
    let looks = matches!(*method, Method::GET | Method::HEAD);
    let counts = names.is_of_pages(headers) && (looks || names.is_from_page(headers));
    cookie_value(headers, &names.cookie).filter(|_| counts)
}

/// Returns the browser of a caller that has one.
pub(super) fn browser_of(caller: &Caller) -> Option<&Browser> {
    match caller {
        Caller::Token(token) => token.browser.as_deref(),
        Caller::Local { .. } | Caller::Stranger => None,
    }
}

/// Returns the value of a cookie of this name.
pub(crate) fn cookie_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// The header with the key of a session, for what is no form.
pub(crate) const FORM_KEY_HEADER: &str = "demur-form-key";
/// No key is longer.
const MAX_KEY_BYTES: usize = 128;
