//! Plans: held against the rules, submitted, settled, confirmed, attested.

use serde_json::{Value, json};

use super::{super::seed::plan, Body, NO_SESSION, Row, row};

pub(in super::super) fn rows() -> Vec<Row> {
    let mut rows = seen();
    rows.extend(submitted());
    rows.extend(settled());
    rows.extend(changed());
    rows
}

/// Returns what was made of a plan.
pub(in super::super) fn files() -> Value {
    let hash = format!("sha256:{}", "0".repeat(64));
    json!({"output_path": "dist", "program_version": "1", "files": [{"path": "index.html", "sha256": hash}]})
}

fn seen() -> Vec<Row> {
    vec![
        row("plan", "open", &["<plan open>"]),
        row("plan", "attested", &["<plan attested>"]),
        row("plan", "unknown", &[NO_SESSION]),
        row("auditPlan", "open", &["<plan open>"]),
        row("auditPlan", "unknown", &[NO_SESSION]),
        row("wholePlan", "open", &["<plan open>"]),
        row("wholePlan", "whole", &["<plan whole>"]),
        row("attestation", "none", &["<plan whole>"]),
        row("attestation", "attested", &["<plan attested>"]),
        row("verifyAttestation", "of this desk", &[]).with(Body::Attestation),
        row("verifyAttestation", "none", &[]).json(json!({"attestation": {}})),
        row("checkPlan", "with a gap", &[]).json(json!({"plan": gappy()})),
        row("checkPlan", "no plan", &[]).json(json!({"plan": {"a b": 1}})),
        row("handOffPlan", "open", &["<plan open>"]).json(json!({"task": "take over"})),
        row("handOffPlan", "unknown", &[NO_SESSION]).json(json!({"task": "take over"})),
    ]
}

fn submitted() -> Vec<Row> {
    let another = "0196bb7c-0000-7000-8000-0000000000aa";
    vec![
        row("submitPlan", "new", &[]).json(json!({"plan": gappy(), "session_id": another})),
        row("submitPlan", "the same again", &[]).json(json!({"plan": gappy(), "session_id": another})),
        row("submitPlan", "another in somebody's session", &[])
            .json(json!({"plan": plan(&json!({})), "session_id": "<plan open>"})),
        row("submitPlan", "in the owner's name", &[]).json(json!({"plan": gappy(), "agent": "ada"})),
        row("submitPlan", "without a plan", &[]).json(json!({})),
    ]
}

fn settled() -> Vec<Row> {
    let begin = || json!({"operation": "build"});
    vec![
        row("beginOperation", "blocked", &["<plan open>"]).json(begin()),
        row("beginOperation", "free", &["<plan whole>"]).json(begin()),
        row("beginOperation", "in the owner's name", &["<plan whole>"])
            .json(json!({"operation": "build", "agent": "ada"})),
        row("beginOperation", "in another's name", &["<plan whole>"])
            .json(json!({"operation": "build", "agent": "eve"})),
        row("confirmPlan", "open", &["<plan open>"]).json(json!({})),
        row("confirmPlan", "whole", &["<plan whole>"]).json(json!({})),
        row("confirmPlan", "again", &["<plan whole>"]).json(json!({})),
        row("attestPlan", "open", &["<plan open>"]).json(files()),
        row("attestPlan", "confirmed", &["<plan confirmed>"]).json(files()),
        row("attestPlan", "attested", &["<plan attested>"]).json(files()),
        row("resolveOwnGap", "for people", &["<plan open>", "gap-001"]).json(json!({"answer": "uswds-only"})),
        row("resolveOwnGap", "a warning", &["<plan warned>", "gap-001"]).json(json!({"note": "as it is"})),
        row("resolveOwnGap", "for anybody", &["<plan warned>", "gap-002"]).json(json!({"answer": "dist"})),
        row("resolveOwnGap", "another answer", &["<plan warned>", "gap-002"])
            .json(json!({"answer": "out", "change": "replace"})),
        row("resolveOwnGap", "taken back", &["<plan warned>", "gap-002"]).json(json!({"change": "revoke"})),
        row("resolveOwnGap", "changed without an answer", &["<plan warned>", "gap-002"])
            .json(json!({"change": "replace"})),
        row("resolveGap", "without a name", &["<plan open>", "gap-001"])
            .json(json!({"answer": "uswds-only"})),
        row("resolveGap", "for somebody", &["<plan open>", "gap-001"])
            .json(json!({"answer": "uswds-only", "by": "kim"})),
        row("resolveGap", "another answer", &["<plan open>", "gap-001"])
            .json(json!({"answer": "jsp-440-only", "by": "kim"})),
        row("resolveGap", "no gap", &["<plan open>", "gap-009"]).json(json!({"answer": "x", "by": "kim"})),
        row("resolveGap", "unknown", &[NO_SESSION, "gap-001"]).json(json!({"answer": "x", "by": "kim"})),
    ]
}

/// What becomes of a plan that is open, of one gap and then of the whole.
fn changed() -> Vec<Row> {
    let reason = || json!({"reason": "nobody needs it"});
    vec![
        row("amendPlan", "open", &["<plan open>"]).json(json!({"plan": gappy()})),
        row("amendPlan", "confirmed", &["<plan confirmed>"]).json(json!({"plan": gappy()})),
        row("amendPlan", "unknown", &[NO_SESSION]).json(json!({"plan": gappy()})),
        row("amendPlan", "without a plan", &["<plan open>"]).json(json!({})),
        row("withdrawGap", "open", &["<plan open>", "gap-001"]).json(reason()),
        row("withdrawGap", "no gap", &["<plan open>", "gap-009"]).json(reason()),
        row("askGapAgain", "withdrawn", &["<plan open>", "gap-001"]).json(reason()),
        row("askGapAgain", "unknown", &[NO_SESSION, "gap-001"]).json(reason()),
        row("withdrawPlan", "open", &["<plan open>"]).json(reason()),
        row("withdrawPlan", "attested", &["<plan attested>"]).json(reason()),
        row("withdrawPlan", "unknown", &[NO_SESSION]).json(reason()),
    ]
}

fn gappy() -> Value {
    plan(&json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"}))
}
