//! What is recorded, and whether it holds: traces, events, artifacts, receipts, exports, keys, the feed.

use serde_json::json;

use super::{Body, NO_TRACE, Row, Show, row};
use crate::identity;

pub(in super::super) fn rows() -> Vec<Row> {
    vec![
        row("listTraces", "the first three", &[]).query("?limit=3"),
        row("listTraces", "after one that is none", &[]).query("?after=01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        row("trace", "of a question", &["<trace answered>"]),
        row("trace", "of the machine", &["<trace of the machine>"]),
        row("trace", "of a plan", &["<trace of plan open>"]),
        row("trace", "of a run", &["<run open>"]),
        row("trace", "unknown", &[NO_TRACE]),
        row("listEvents", "of a question", &["<trace answered>"]),
        row("listEvents", "of a secret", &["<trace secret>"]),
        row("listEvents", "of a run", &["<run open>"]).query("?after=3&limit=1"),
        row("listEvents", "unknown", &[NO_TRACE]),
        row("artifact", "here", &["<run open>", "4"]),
        row("artifact", "none", &["<run open>", "0"]),
        row("artifact", "unknown", &[NO_TRACE, "0"]),
        row("receipt", "of a key", &["<trace answered>", "0"]),
        row("receipt", "of the desk", &["<trace answered>", "1"]),
        row("receipt", "unknown", &[NO_TRACE, "0"]),
        row("eraseEvent", "of an open question", &["<trace open>", "0"]).json(json!({"why": "asked to"})),
        row("eraseEvent", "unknown", &["<trace answered>", "99"]).json(json!({"why": "asked to"})),
        row("eraseEvent", "unknown trace", &[NO_TRACE, "0"]).json(json!({"why": "asked to"})),
        row("eraseEvent", "without a reason", &["<trace answered>", "0"]).json(json!({"why": ""})),
        row("exportTrace", "of a question", &["<trace answered>"]),
        row("exportTrace", "unknown", &[NO_TRACE]),
        row("verify", "an export", &[]).with(Body::Export),
        row("verify", "none", &[]).json(json!({})),
        row("feed", "from the beginning", &[]).query("?after=0").show(Show::Events(2)),
        row("feed", "a place that is none", &[]).query("?after=nowhere"),
        row("listIdentities", "all", &[]),
        row("identity", "of the owner", &["<key ada>"]),
        row("identity", "unknown", &["0000000000000000000000000000000000000000000000000000000000000000"]),
        row("verifyIdentity", "a registration", &[])
            .json(json!({"messages": [identity::registration()], "at": "2020-05-10T15:00:50Z"})),
        row("verifyIdentity", "no messages", &[]).json(json!({"messages": []})),
    ]
}
