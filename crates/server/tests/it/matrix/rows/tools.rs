//! The tools of MCP, each called at least once. Those that change nothing come first.

use serde_json::{Value, json};

use super::{super::seed::plan, DIGEST, OTHER_DIGEST};

/// One way to call one tool.
pub(in super::super) struct Tool {
    pub(in super::super) name: &'static str,
    pub(in super::super) case: &'static str,
    pub(in super::super) arguments: Value,
}

fn tool(name: &'static str, case: &'static str, arguments: Value) -> Tool {
    Tool { name, case, arguments }
}

pub(in super::super) fn rows() -> Vec<Tool> {
    let mut rows = looked();
    rows.extend(done());
    rows.extend(played());
    rows.extend(confirmed());
    rows
}

/// Confirmations: asked for, looked at, decided, spent. A model decides nothing about what it wants itself.
fn confirmed() -> Vec<Tool> {
    let operation = json!({"amount": 10});
    let wanted = json!({"action": "Send 10", "operation": operation, "wait_s": 0});
    let decide = |id: &str, digest: &str, yes: bool| json!({"confirmation_id": id, "digest": digest, "confirm": yes, "by": "kim"});
    let start = |id: &str, amount: u64| json!({"confirmation_id": id, "operation": {"amount": amount}});
    vec![
        tool("confirm_operation", "new", wanted),
        tool("confirm_operation", "without an operation", json!({"action": "Send 10", "wait_s": 0})),
        tool("check_confirmation", "open", json!({"confirmation_id": "<confirmation open>", "wait_s": 0})),
        tool("check_confirmation", "unknown", json!({"confirmation_id": super::NO_QUESTION, "wait_s": 0})),
        tool("decide_confirmation", "another digest", decide("<confirmation open>", OTHER_DIGEST, true)),
        tool("decide_confirmation", "refused", decide("<confirmation to refuse by a tool>", DIGEST, false)),
        tool("decide_confirmation", "too late", decide("<confirmation given>", DIGEST, false)),
        tool("start_operation", "not given", start("<confirmation open>", 10)),
        tool("start_operation", "another operation", start("<confirmation given for a tool>", 1_000_000)),
        tool("start_operation", "given", start("<confirmation given for a tool>", 10)),
        tool("start_operation", "a second time", start("<confirmation given for a tool>", 10)),
        tool("end_operation", "started", json!({"confirmation_id": "<confirmation given for a tool>"})),
        tool("end_operation", "not started", json!({"confirmation_id": "<confirmation open>"})),
    ]
}

fn looked() -> Vec<Tool> {
    vec![
        tool("list_questions", "answered", json!({"state": "answered"})),
        tool("check_question", "answered", json!({"question_id": "<question answered>", "wait_s": 0})),
        tool("check_question", "open", json!({"question_id": "<question open>", "wait_s": 0})),
        tool("check_question", "unknown", json!({"question_id": super::NO_QUESTION, "wait_s": 0})),
        tool("wwa_clarify_audit", "open", json!({"session_id": "<plan open>"})),
        tool("wwa_attest_verify", "attested", json!({"session_id": "<plan attested>"})),
        tool("wwa_attest_audit", "attested", json!({"session_id": "<plan attested>"})),
        tool("session_list", "all", json!({})),
        tool("session_show", "open", json!({"trace": "<run open>"})),
        tool("session_show", "unknown", json!({"trace": super::NO_TRACE})),
        tool("session_verify", "concluded", json!({"trace": "<run concluded>"})),
    ]
}

fn done() -> Vec<Tool> {
    let mut made = super::plans::files();
    let mut at = |session: &str| {
        made["session_id"] = json!(session);
        made.clone()
    };
    vec![
        tool("ask_human", "new", json!({"question": "Which region?", "wait_s": 0})),
        tool("ask_human", "in a run", json!({"question": "And?", "trace": "<run open>", "wait_s": 0})),
        tool("ask_human", "without a question", json!({})),
        tool("cancel_question", "open", json!({"question_id": "<question to cancel>"})),
        tool("cancel_question", "answered", json!({"question_id": "<question answered>"})),
        tool("wwa_clarify_check", "whole", json!({"plan": plan(&json!({})), "wait_s": 0})),
        tool("wwa_scaffold_plan", "whole", json!({"plan": plan(&json!({})), "wait_s": 0})),
        tool(
            "wwa_clarify_resolve",
            "for people",
            json!({"session_id": "<plan open>", "gap_id": "gap-001", "answer": "uswds-only"}),
        ),
        tool(
            "wwa_change_plan",
            "a gap",
            json!({"session_id": "<plan open>", "change": "ask_again", "gap_id": "gap-001"}),
        ),
        tool("wwa_change_plan", "without a gap", json!({"session_id": "<plan open>", "change": "ask_again"})),
        tool("wwa_confirm_plan", "open", json!({"session_id": "<plan open>"})),
        tool("wwa_confirm_plan", "whole", json!({"session_id": "<plan whole>"})),
        tool("wwa_scaffold_attest", "open", at("<plan open>")),
        tool("wwa_scaffold_attest", "whole", at("<plan whole>")),
        tool("wwa_attest_sign", "confirmed", at("<plan confirmed>")),
    ]
}

fn played() -> Vec<Tool> {
    let intent = json!({
        "trace": "<run open>", "proposal": 2, "tool": "cargo", "input": {}, "risk": "low", "justification": "to see",
    });
    let claim = json!({
        "trace": "<run open>", "text": "All tests pass", "confidence": 90, "evidence": [4], "executions": [9],
    });
    vec![
        tool("session_open", "alone", json!({"task": "tests", "objective": "They pass"})),
        tool(
            "session_propose",
            "open",
            json!({"trace": "<run open>", "objective": "More", "tools": ["cargo"]}),
        ),
        tool(
            "session_review",
            "decided before",
            json!({"trace": "<run open>", "event": 2, "decision": "approved", "rationale": "fine"}),
        ),
        tool("session_intend", "open", intent),
        tool("session_start", "no intent", json!({"trace": "<run open>", "intent": 4})),
        tool("session_report", "no start", json!({"trace": "<run open>", "started": 4})),
        tool("session_claim", "no execution", claim),
        tool(
            "session_challenge",
            "no claim",
            json!({"trace": "<run open>", "event": 4, "act": "challenge", "reason": "why?"}),
        ),
        tool("session_conclude", "too early", json!({"trace": "<run open>", "verdict": "done"})),
        tool("session_audit", "concluded", json!({"trace": "<run concluded>"})),
        tool("session_audit", "unknown", json!({"trace": super::NO_TRACE})),
        tool("session_abort", "open", json!({"trace": "<run open>", "reason": "no longer needed"})),
        tool("session_abort", "unknown", json!({"trace": super::NO_TRACE, "reason": "no longer needed"})),
    ]
}
