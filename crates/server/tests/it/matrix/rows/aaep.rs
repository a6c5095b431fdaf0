//! Accessibility events: published, followed, replied to.

use serde_json::json;

use super::{Row, row};

pub(in super::super) fn rows() -> Vec<Row> {
    let request = json!({
        "type": "subscription.request", "aaep_version": "2.0.0", "subscriber_id": "reader", "capabilities": {},
    });
    let close = json!({"type": "subscription.close", "subscription_id": "sub_none"});
    vec![
        row("aaepManifest", "as it is", &[]),
        row("aaepEvents", "of a subscription that is none", &[]).query("?subscription_id=sub_none"),
        row("aaepEvents", "of no subscription", &[]),
        row("aaepReplies", "the end of a subscription that is none", &[]).json(close),
        row("aaepReplies", "no message", &[]).json(json!({})),
        row("aaepOutcomes", "of a session that is none", &["sess_none"]),
        row("aaepPublish", "no event", &["sess_none"]).json(json!({})),
        row("aaepSubscribe", "in another version", &[]).json(request),
    ]
}
