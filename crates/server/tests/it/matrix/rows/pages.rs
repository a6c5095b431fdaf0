//! The pages for people, and what their forms do. Looking at a question is noted a moment later: what shows notes comes first.

use serde_json::json;

use super::{DIGEST, NO_QUESTION, NO_TRACE, OTHER_DIGEST, Row, Show, access, row};

pub(in super::super) fn rows() -> Vec<Row> {
    let mut rows = looked_at();
    rows.extend(sent());
    rows
}

fn looked_at() -> Vec<Row> {
    vec![
        row("GET /assets/{asset}", "there", &["demur.css"]).show(Show::Members),
        row("GET /assets/{asset}", "unknown", &["nothing.css"]),
        row("GET /live", "now", &[]).show(Show::Events(1)),
        row("GET /confirmations", "all", &[]),
        row("GET /confirmations/{confirmation}", "open", &["<confirmation open>"]),
        row("GET /confirmations/{confirmation}", "unknown", &[NO_QUESTION]),
        row("GET /settings", "now", &[]),
        row("GET /traces", "all", &[]),
        row("GET /traces/{trace}", "of a question", &["<trace answered>"]),
        row("GET /traces/{trace}", "of a run", &["<run open>"]),
        row("GET /traces/{trace}", "unknown", &[NO_TRACE]),
        row("GET /traces/{trace}/events/{sequence}", "there", &["<trace answered>", "0"]),
        row("GET /traces/{trace}/events/{sequence}", "unknown", &["<trace answered>", "99"]),
        row("GET /traces/{trace}/artifacts/{sequence}", "here", &["<run open>", "4"]),
        row("GET /traces/{trace}/artifacts/{sequence}", "none", &["<run open>", "0"]),
        row("GET /traces/{trace}/verification", "of a question", &["<trace answered>"]),
        row("GET /traces/{trace}/run", "of a run", &["<run open>"]),
        row("GET /traces/{trace}/run", "no run", &["<trace answered>"]),
        row("GET /questions/{question}", "open", &["<question open>"]),
        row("GET /questions/{question}", "answered", &["<question answered>"]),
        row("GET /questions/{question}", "for agents", &["<question for agents>"]),
        row("GET /questions/{question}", "unknown", &[NO_QUESTION]),
        row("GET /", "open", &[]),
        row("GET /", "settled", &[]).query("?list=done"),
    ]
}

fn sent() -> Vec<Row> {
    const KEY: (&str, &str) = ("form_key", "<form key>");
    vec![
        row("POST /questions/{question}/review", "an answer", &["<question open>"]).form(&[
            ("act", "answer"),
            ("kind", "text"),
            ("text", "this"),
        ]),
        row("POST /questions/{question}/{act}", "without a key", &["<question open>", "answer"])
            .form(&[("kind", "text"), ("text", "this")]),
        row("POST /questions/{question}/{act}", "answered", &["<question to answer>", "answer"]).form(&[
            ("kind", "text"),
            ("text", "this"),
            KEY,
        ]),
        row("POST /questions/{question}/{act}", "answered again", &["<question to answer>", "answer"])
            .form(&[("kind", "text"), ("text", "that"), KEY]),
        row("POST /questions/{question}/review", "a change", &["<question to answer>"])
            .form(&[("act", "replace"), ("text", "that")]),
        row("POST /questions/{question}/{act}", "changed", &["<question to answer>", "replace"])
            .form(&[("text", "that"), KEY]),
        row("POST /questions/{question}/{act}", "taken back", &["<question to answer>", "revoke"])
            .form(&[("reason", "a mistake"), KEY]),
        row("POST /questions/{question}/{act}", "declined", &["<question to decline>", "decline"])
            .form(&[("reason", "no"), KEY]),
        row("POST /questions/{question}/{act}", "more time", &["<question with a deadline>", "extend"])
            .form(&[("amount", "1"), ("unit", "hours"), ("seconds", "3600"), KEY]),
        row("POST /questions/{question}/{act}", "called off", &["<question to cancel>", "cancel"])
            .form(&[("reason", "no need"), KEY]),
        row("POST /questions/{question}/{act}", "no act", &["<question open>", "nothing"]).form(&[KEY]),
        row("POST /questions/{question}/{act}", "unknown", &[NO_QUESTION, "answer"]).form(&[
            ("kind", "text"),
            ("text", "this"),
            KEY,
        ]),
        row("POST /review", "of two", &[]).form(&[
            ("question", "<question to do>"),
            ("question", "<question to pass>"),
            ("act", "decline"),
            ("reason", "no"),
        ]),
        row("POST /bulk", "without a key", &[]).form(&[
            ("question", "<question to do>"),
            ("act", "decline"),
            ("reason", "no"),
        ]),
        row("POST /bulk", "of two", &[]).form(&[
            ("question", "<question to do>"),
            ("question", "<question to pass>"),
            ("act", "decline"),
            ("reason", "no"),
            KEY,
        ]),
        row("POST /confirmations/{confirmation}/{act}", "without a key", &["<confirmation open>", "give"])
            .form(&[("digest", DIGEST)]),
        row("POST /confirmations/{confirmation}/{act}", "another digest", &["<confirmation open>", "give"])
            .form(&[("digest", OTHER_DIGEST), KEY]),
        row("POST /confirmations/{confirmation}/{act}", "refused", &["<confirmation on the page>", "refuse"])
            .form(&[("digest", DIGEST), KEY]),
        row("POST /confirmations/{confirmation}/{act}", "too late", &["<confirmation given>", "refuse"])
            .form(&[("digest", DIGEST), KEY]),
        row("POST /settings", "without a key", &[]).form(&[("level", "terse")]),
        row("POST /settings", "changed", &[]).form(&[("level", "terse"), KEY]),
        row("POST /shown", "without a key", &[]).form(&[("question", "<question open>")]),
        row("POST /shown", "open", &[]).form(&[("question", "<question open>"), ("level", "terse"), KEY]),
        row("POST /traces/{trace}/abort", "without a key", &["<run open>"]).form(&[("reason", "enough")]),
        row("POST /traces/{trace}/abort", "no run", &["<trace answered>"]).form(&[("reason", "enough"), KEY]),
        row("GET /passkeys", "none", &[]),
        row("POST /touch", "without a key", &[]).form(&[("touch", "question")]),
        row("POST /touch", "of nothing", &[]).form(&[("touch", "nothing"), KEY]),
        row("POST /touch", "without a passkey", &[]).form(&[
            ("touch", "question"),
            ("question", "<question open>"),
            ("act", "answer"),
            ("text", "this"),
            KEY,
        ]),
        row("GET /people", "not from elsewhere", &[]),
        row("POST /people/{change}", "not from elsewhere", &["add"]).form(&[
            ("name", "nils"),
            ("role", "auditor"),
            KEY,
        ]),
        row("GET /sign-in", "now", &[]),
        row("POST /sign-in", "without a code", &[]).form(&[]),
        row("POST /sign-in/passkey", "of nobody", &[]).json(json!({"name": "nobody"})),
        row("POST /sign-in/passkey/{touch}", "unknown", &["nothing"]).json(json!({"made": access::made()})),
        row("POST /sign-in", "with a code", &[]).form(&[("code", "<link>")]),
        row("POST /sessions/end", "without a key", &[]).form(&[("all", "yes")]),
        row("POST /sessions/end", "of nobody", &[]).form(&[("session", "nobody"), KEY]),
        row("POST /sign-out", "without a key", &[]).form(&[]),
        row("POST /sign-out", "now", &[]).form(&[KEY]),
        row("GET /settings", "signed out", &[]),
    ]
}
