//! The server itself, and what is open to everybody. The last row ends it.

use serde_json::json;

use super::{Row, Show, row};

pub(in super::super) fn rows() -> Vec<Row> {
    vec![
        row("health", "now", &[]),
        row("ready", "now", &[]),
        row("openapi", "whole", &[]).show(Show::Members),
        row("docs", "whole", &[]).show(Show::Members),
        row("schemas", "all", &[]).show(Show::Members),
        row("schema", "there", &["ledger/envelope.json"]).show(Show::Members),
        row("schema", "unknown", &["ledger/nothing.json"]),
        row("server", "now", &[]),
        row("metrics", "now", &[]).show(Show::Counters),
        row("hook", "of the client", &[]).json(json!({"askers": ["helper"]})),
        row("hook", "taken out", &[]).json(json!({"askers": ["helper"], "off": true})),
        row("hook", "of nobody", &[]).json(json!({"askers": []})),
        row("stopServer", "now", &[]),
    ]
}
