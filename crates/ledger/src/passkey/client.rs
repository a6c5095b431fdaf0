//! The browser's part of an assertion: a JSON object with more in it than demur knows, and at random more than that. So it is
//! read and never compared with a template.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use demur_core::{canonical, hash::Digest, limit::Limits};
use serde_json::{Map, Value};

use super::PasskeyError;

/// Checks that the client data are of this challenge and this origin.
pub(super) fn check(text: &str, challenge: &Digest, origin: &str) -> Result<(), PasskeyError> {
    let wrong = |expected| Err(PasskeyError::Client { expected });
    let Ok(client) = canonical::from_json::<Map<String, Value>>(text.as_bytes(), &LIMITS) else {
        return wrong("a JSON object");
    };
    let says = |member: &str, value: &str| client.get(member).and_then(Value::as_str) == Some(value);
    if !says("type", "webauthn.get") {
        return wrong("the type webauthn.get");
    }
    if !says("challenge", &URL_SAFE_NO_PAD.encode(challenge.as_bytes())) {
        return wrong("the challenge that is made from the leaves");
    }
    if !says("origin", origin) {
        return wrong("the origin that the passkey was enrolled at");
    }
    if !matches!(client.get("crossOrigin"), None | Some(Value::Bool(false)))
        || client.contains_key("topOrigin")
    {
        return wrong("a page that stands in no other (crossOrigin, topOrigin)");
    }
    Ok(())
}

/// The limits of an event, in which it stands, and on the whole 4 KiB.
const LIMITS: Limits = Limits { bytes: 4 << 10, ..Limits::EVENT };
