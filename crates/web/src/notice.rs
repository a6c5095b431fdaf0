//! Pages that say one thing: sign in, signed out, not found, refused. Strangers see them too, so they need no file but
//! themselves: their style stands in the page, and its hash in the policy.

use askama::Template;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_core::hash::sha256;

use crate::{
    frame::{Frame, Here},
    words::{ENGLISH, Words},
};

/// The page behind a link that signs in.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignIn<'a> {
    /// The code in the link.
    pub code: &'a str,
    words: &'static Words,
}

impl<'a> SignIn<'a> {
    /// Returns the page of this code.
    pub const fn new(code: &'a str) -> Self {
        Self { code, words: &ENGLISH }
    }
}

/// The page for somebody who has to sign in first.
#[derive(Template)]
#[template(path = "signed_out.html")]
pub struct SignedOut<'a> {
    /// What was typed and is not sent yet.
    pub draft: &'a [(String, String)],
    /// Where it was to be sent.
    pub action: &'a str,
    /// How long to wait, if somebody tried too often.
    pub wait: Option<&'a str>,
    words: &'static Words,
}

impl<'a> SignedOut<'a> {
    /// Returns the page, with what was typed.
    pub const fn new(draft: &'a [(String, String)], action: &'a str, wait: Option<&'a str>) -> Self {
        Self { draft, action, wait, words: &ENGLISH }
    }
}

/// The page behind a link that signs nobody in.
#[derive(Template)]
#[template(path = "refused.html")]
pub struct Refused<'a> {
    /// What was expected and found.
    pub detail: &'a str,
    /// What to do.
    pub hint: Option<&'a str>,
    words: &'static Words,
}

impl<'a> Refused<'a> {
    /// Returns the page of a refusal.
    pub const fn new(detail: &'a str, hint: Option<&'a str>) -> Self {
        Self { detail, hint, words: &ENGLISH }
    }
}

/// A page that says what did not work, or that something is done.
#[derive(Template)]
#[template(path = "message.html")]
pub struct Message<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// What happened.
    pub title: &'a str,
    /// What was expected and found.
    pub detail: &'a str,
    /// What to do.
    pub hint: Option<&'a str>,
}

/// Returns the one style that such pages have inside.
const fn style() -> &'static str {
    STYLE
}

/// Returns the hash of the style, as a policy names it.
pub fn style_hash() -> String {
    format!("'sha256-{}'", STANDARD.encode(sha256(STYLE.as_bytes()).as_bytes()))
}

const STYLE: &str = ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:0}\
main{max-width:34rem;margin:10vh auto;padding:1rem;overflow-wrap:anywhere}\
button{font:inherit;padding:.75rem 1.5rem;min-height:44px}textarea{font:inherit;width:100%;min-height:6rem}\
code{font-size:1.1em}";
