//! Pages that say one thing: sign in, signed out, not found, refused. Strangers see them too, so they need no file but
//! themselves: their style stands in the page, and its hash in the policy.

use askama::Template;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_core::hash::sha256;

use crate::{
    assets::PASSKEY_SCRIPT,
    frame::{Frame, Here},
    words::{ENGLISH, Words},
};

/// The page on which a code is typed.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignIn {
    words: &'static Words,
}

impl SignIn {
    /// Returns the page.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: &ENGLISH }
    }
}

impl Default for SignIn {
    fn default() -> Self {
        Self::new()
    }
}

/// The page that says as whom a code signs in, before it does.
#[derive(Template)]
#[template(path = "sign_in_as.html")]
pub struct SignInAs<'a> {
    /// The code.
    pub code: &'a str,
    /// Who signs in with it.
    pub name: &'a str,
    /// What this one may do.
    pub role: &'a str,
    words: &'static Words,
}

impl<'a> SignInAs<'a> {
    /// Returns the page of this code.
    pub const fn new(code: &'a str, name: &'a str, role: &'a str) -> Self {
        Self { code, name, role, words: &ENGLISH }
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

/// The page about a code that signs nobody in.
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
    policy_hash(STYLE)
}

/// Returns the hash of the script that makes a key for a session, as a policy names it.
pub fn script_hash() -> String {
    policy_hash(SCRIPT)
}

/// Returns the one script that such pages have inside.
const fn script() -> &'static str {
    SCRIPT
}

/// Returns the hash of a text in a page, as a policy names it.
pub(crate) fn policy_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(sha256(text.as_bytes()).as_bytes()))
}

/// Returns the one script that the page has inside on which somebody signs in.
fn sign_in_script() -> String {
    format!("{SCRIPT}\n{PASSKEY_SCRIPT}")
}

/// Returns its hash, as a policy names it.
pub fn sign_in_script_hash() -> String {
    policy_hash(&sign_in_script())
}

/// Makes a key that stays in this browser, under this very address; what signs in carries its digest. Where that cannot be done, nothing
/// is sent, and the session is one without a script. What is stored is stored when somebody signs in, so that looking changes nothing.
const SCRIPT: &str = r#"const sessionKey = (async () => {
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const key = hex(crypto.getRandomValues(new Uint8Array(32)));
const digest = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key))));
return () => { try { localStorage.setItem(`demur ${digest}`, key); return digest; } catch { return ""; } };
})();
sessionKey.then((keep) => {
const form = document.querySelector("form.sign-in");
form?.addEventListener("submit", () => { form.elements.key.value = keep(); });
});"#;

const STYLE: &str = ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:light-dark(#fff,#16181c);color:light-dark(#16181c,#f2f3f5)}\
main{max-width:34rem;margin:10vh auto;padding:1rem;overflow-wrap:anywhere}\
button,input{font:inherit;padding:.75rem 1.5rem;min-height:44px;box-sizing:border-box;max-width:100%}\
[hidden]{display:none}.error{font-weight:600;color:light-dark(#a5301a,#ff9f88)}form+form{margin-top:2.5rem}\
input{width:100%;padding:.75rem;letter-spacing:.05em}textarea{font:inherit;width:100%;min-height:6rem}\
code{font-size:1.1em}a{color:light-dark(#1a5a9e,#8fbfff);display:inline-block;padding:.5rem 0}";
