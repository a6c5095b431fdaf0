//! Questions: asked, seen, answered, ended.

use serde_json::json;

use super::{DIGEST, NO_QUESTION, OTHER_DIGEST, Row, Show, row};

pub(in super::super) fn rows() -> Vec<Row> {
    let mut rows = seen();
    rows.extend(asked());
    rows.extend(answered());
    rows.extend(ended());
    rows.extend(confirmed());
    rows
}

fn seen() -> Vec<Row> {
    vec![
        row("listQuestions", "the first two", &[]).query("?limit=2"),
        row("listQuestions", "answered", &[]).query("?state=answered"),
        row("listQuestions", "one's own, newest first", &[]).query("?mine=true&newest=true&limit=2"),
        row("listQuestions", "of somebody's trace", &[]).query("?trace=<trace open>"),
        row("listQuestions", "of a run", &[]).query("?trace=<run open>"),
        row("listQuestions", "of a plan", &[]).query("?trace=<trace of plan open>"),
        row("listQuestions", "a state that is none", &[]).query("?state=nothing"),
        row("question", "open", &["<question open>"]),
        row("question", "answered", &["<question answered>"]),
        row("question", "secret", &["<question secret>"]),
        row("question", "for agents", &["<question for agents>"]),
        row("question", "of the machine", &["<question of the machine>"]),
        row("question", "of the client", &["<question of the client>"]),
        row("question", "in a run", &["<question in the run>"]),
        row("question", "of a plan", &["<question of plan open>"]),
        row("question", "unknown", &[NO_QUESTION]),
        row("question", "no name", &["nothing"]),
        row("questionHistory", "answered", &["<question answered>"]).show(Show::Members),
        row("questionHistory", "of somebody else", &["<question of the machine>"]).show(Show::Members),
        row("questionHistory", "unknown", &[NO_QUESTION]),
        row("waitForQuestion", "answered", &["<question answered>"]),
        row("waitForQuestion", "open, no time", &["<question open>"]).query("?seconds=0"),
        row("waitForQuestion", "too long", &["<question open>"]).query("?seconds=301"),
        row("waitForQuestion", "unknown", &[NO_QUESTION]),
        row("secret", "answered", &["<question secret>"]),
        row("secret", "open", &["<question secret and open>"]),
        row("secret", "none", &["<question answered>"]),
        row("secret", "unknown", &[NO_QUESTION]),
    ]
}

/// Confirmations: asked for, seen, given, refused, spent.
fn confirmed() -> Vec<Row> {
    let ask = || json!({"action": "Send 10", "operation": {"amount": 10}});
    let say = |digest: &str| json!({"digest": digest, "by": "kim"});
    let operation = |amount: u64| json!({"operation": {"amount": amount}});
    vec![
        row("listConfirmations", "all", &[]).query("?limit=1"),
        row("listConfirmations", "given", &[]).query("?state=given"),
        row("listConfirmations", "a state that is none", &[]).query("?state=answered"),
        row("confirmation", "open", &["<confirmation open>"]),
        row("confirmation", "given", &["<confirmation given>"]),
        row("confirmation", "a question", &["<question open>"]),
        row("confirmation", "unknown", &[NO_QUESTION]),
        row("waitForConfirmation", "given", &["<confirmation given>"]),
        row("waitForConfirmation", "open, no time", &["<confirmation open>"]).query("?seconds=0"),
        row("askConfirmation", "new", &[]).json(ask()),
        row("askConfirmation", "under a key", &[]).json(ask()).key("c"),
        row("askConfirmation", "under the same key", &[]).json(ask()).key("c"),
        row("askConfirmation", "without an operation", &[]).json(json!({"action": "Send 10"})),
        row("askConfirmation", "with a default", &[])
            .json(json!({"action": "Send 10", "operation": {}, "default": true})),
        row("giveConfirmation", "another digest", &["<confirmation open>"]).json(say(OTHER_DIGEST)),
        row("giveConfirmation", "open", &["<confirmation to give>"]).json(say(DIGEST)),
        row("giveConfirmation", "again", &["<confirmation to give>"]).json(say(DIGEST)),
        row("giveConfirmation", "a question", &["<question open>"]).json(say(DIGEST)),
        row("refuseConfirmation", "given before", &["<confirmation to give>"]).json(say(DIGEST)),
        row("refuseConfirmation", "open", &["<confirmation to refuse>"]).json(say(DIGEST)),
        row("answer", "a confirmation", &["<confirmation open>"]).json(json!({"answer": "yes", "by": "kim"})),
        row("startOperation", "not given", &["<confirmation open>"]).json(operation(10)),
        row("startOperation", "another operation", &["<confirmation given>"]).json(operation(1_000_000)),
        row("endOperation", "not started", &["<confirmation given>"]).json(json!({})),
        row("startOperation", "given", &["<confirmation given>"]).json(operation(10)),
        row("startOperation", "a second time", &["<confirmation given>"]).json(operation(10)),
        row("endOperation", "started", &["<confirmation given>"]).json(json!({})),
        row("endOperation", "a second time", &["<confirmation given>"]).json(json!({"failed": true})),
    ]
}

fn asked() -> Vec<Row> {
    let ask = || json!({"question": "Which region?"});
    vec![
        row("ask", "new", &[]).json(ask()),
        row("ask", "under a key", &[]).json(ask()).key("one"),
        row("ask", "under the same key", &[]).json(ask()).key("one"),
        row("ask", "another under the same key", &[]).json(json!({"question": "Which zone?"})).key("one"),
        row("ask", "once", &[]).query("?once=here").json(ask()),
        row("ask", "once again", &[]).query("?once=here").json(ask()),
        row("ask", "under the owner's name", &[]).query("?as=ada").json(ask()),
        row("ask", "in somebody's trace", &[]).json(json!({"question": "And?", "trace": "<trace open>"})),
        row("ask", "in a run", &[]).json(json!({"question": "And?", "trace": "<run open>"})),
        row("ask", "without a question", &[]).json(json!({})),
    ]
}

fn answered() -> Vec<Row> {
    let answer = || json!({"answer": "this"});
    vec![
        row("answer", "open", &["<question to answer>"]).json(answer()),
        row("answer", "the same again", &["<question to answer>"]).json(answer()),
        row("answer", "for somebody", &["<question to relay>"]).json(json!({"answer": "this", "by": "kim"})),
        row("answer", "too late", &["<question answered>"]).json(json!({"answer": "that", "by": "kim"})),
        row("answer", "for agents", &["<question for agents>"]).json(answer()),
        row("answer", "no choice", &["<question of choices>"]).json(json!({"answer": "maybe", "by": "kim"})),
        row("answer", "in a run", &["<question in the run>"]).json(json!({"answer": "yes", "by": "kim"})),
        row("answer", "secret", &["<question secret and open>"]).json(json!({"answer": "1234", "by": "kim"})),
        row("answer", "unknown", &[NO_QUESTION]).json(json!({"answer": "this", "by": "kim"})),
        row("answer", "without an answer", &["<question open>"]).json(json!({"by": "kim"})),
        row("replaceAnswer", "of whoever answered", &["<question to answer>"])
            .json(json!({"answer": "that"})),
        row("replaceAnswer", "the same again", &["<question to answer>"]).json(json!({"answer": "that"})),
        row("replaceAnswer", "of somebody else", &["<question answered>"])
            .json(json!({"answer": "that", "by": "kim"})),
        row("replaceAnswer", "that counts no longer", &["<question to answer>"])
            .json(json!({"answer": "another", "replaces": 0})),
        row("replaceAnswer", "open", &["<question open>"]).json(json!({"answer": "that", "by": "kim"})),
        row("replaceAnswer", "unknown", &[NO_QUESTION]).json(json!({"answer": "that", "by": "kim"})),
        row("revokeAnswer", "for somebody", &["<question to relay>"]).query("?by=kim&reason=a+mistake"),
        row("revokeAnswer", "of whoever answered", &["<question to answer>"]),
        row("revokeAnswer", "taken back before", &["<question to answer>"]),
        row("revokeAnswer", "declined", &["<question in the run>"]).query("?by=kim"),
        row("revokeAnswer", "unknown", &[NO_QUESTION]).query("?by=kim"),
        row("accept", "no gap", &["<question open>"]).json(json!({"by": "kim"})),
        row("accept", "a gap that blocks", &["<question of plan open>"]).json(json!({"by": "kim"})),
        row("accept", "a gap that warns", &["<question of plan warned>"])
            .json(json!({"by": "kim", "reason": "as it is"})),
        row("decline", "open", &["<question to decline>"]).json(json!({"reason": "no", "by": "kim"})),
        row("decline", "without a name", &["<question to do>"]).json(json!({"reason": "no"})),
        row("decline", "answered", &["<question answered>"]).json(json!({"by": "kim"})),
        row("pass", "to a key", &["<question for anybody>"]).json(json!({"to": ["ann"], "by": "kim"})),
        row("pass", "to a person", &["<question to pass>"]).json(json!({"to": ["ines"], "by": "kim"})),
        row("pass", "to nobody", &["<question open>"]).json(json!({"by": "kim"})),
        row("deliver", "to oneself", &[])
            .json(json!({"questions": ["<question open>"], "channel": "terminal"})),
        row("deliver", "to somebody", &[])
            .json(json!({"questions": ["<question open>"], "channel": "chat", "to": "kim"})),
        row("deliver", "unknown", &[])
            .json(json!({"questions": [NO_QUESTION], "channel": "chat", "to": "kim"})),
    ]
}

fn ended() -> Vec<Row> {
    vec![
        row("extend", "with a deadline", &["<question with a deadline>"]).json(json!({"seconds": 60})),
        row("extend", "without one", &["<question open>"]).json(json!({"seconds": 60})),
        row("cancel", "open", &["<question to cancel>"]).json(json!({"reason": "no need"})),
        row("cancel", "answered", &["<question answered>"]).json(json!({})),
        row("cancel", "of the machine", &["<question of the machine>"]).json(json!({})),
        row("cancel", "of the client", &["<question of the client>"]).json(json!({})),
        row("cancel", "of a player", &["<question in the run, to cancel>"]).json(json!({})),
        row("heard", "answered", &[]).json(json!({"questions": ["<question answered>"]})),
        row("heard", "unknown", &[]).json(json!({"questions": [NO_QUESTION]})),
        row("forgetSecret", "answered", &["<question secret>"]),
        row("forgetSecret", "gone", &["<question secret>"]),
    ]
}
