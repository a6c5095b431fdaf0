//! Who may come in: tokens, people, links.

use serde_json::{Value, json};

use super::{Row, Show, row};

pub(in super::super) fn rows() -> Vec<Row> {
    vec![
        row("listTokens", "all", &[]),
        row("listPeople", "all", &[]),
        row("newToken", "to ask", &[]).json(json!({"name": "new", "scopes": ["ask"]})),
        row("newToken", "two voices", &[]).json(json!({"name": "two", "scopes": ["ask", "answer"]})),
        row("newToken", "no scope", &[]).json(json!({"name": "none", "scopes": []})),
        row("addPerson", "new", &[]).json(json!({"name": "nora", "role": "answerer"})),
        row("addPerson", "a name that is taken", &[]).json(json!({"name": "ada", "role": "auditor"})),
        row("signInLink", "for the machine", &[]).json(json!({})),
        row("signInLink", "for somebody", &[]).json(json!({"person": "nora"})),
        row("signInLink", "for nobody", &[]).json(json!({"person": "nobody"})),
        row("removePerson", "there", &["nora"]),
        row("removePerson", "unknown", &["nobody"]),
        row("revokeToken", "there", &["<token max metrics>"]),
        row("revokeToken", "unknown", &["nothing"]),
        row("listSessions", "own or all", &[]).show(Show::Members),
        row("endSession", "unknown", &["nobody"]),
        row("endSessions", "of somebody else", &[]).query("?person=amal"),
        row("endSession", "of the auditor", &["<token amal person>"]),
        row("listPasskeys", "none", &[]),
        row("setupCode", "new", &[]).show(Show::Members),
        row("newPasskey", "of another algorithm", &[]).json(json!({
            "algorithm": -257, "authenticator": "AAAA", "credential": "AAAA", "label": "phone", "public_key": "AAAA",
        })),
        row("passkeyToReset", "unknown", &[NO_PASSKEY]),
        row("resetPasskeys", "unknown", &[NO_PASSKEY]).json(json!({})),
        row("prepareTouch", "without a passkey", &[])
            .json(json!({"acts": [{"act": "remove_person", "name": "nobody"}]})),
        row("finishTouch", "unknown", &["nothing"]).json(made()),
    ]
}

/// Returns what a browser would send of a touch.
pub(super) fn made() -> Value {
    json!({"authenticator": "AAAA", "client": "AAAA", "credential": "AAAA", "signature": "AAAA"})
}

const NO_PASSKEY: &str = "0000000000000000000000000000000000000000000000000000000000000000";
