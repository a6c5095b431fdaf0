//! Accountable runs: opened, spoken in, audited.

use serde_json::json;

use super::{NO_TRACE, Row, row};
use crate::run;

pub(in super::super) fn rows() -> Vec<Row> {
    let log = || run::artifact("log", "all is well");
    vec![
        row("run", "open", &["<run open>"]),
        row("run", "concluded", &["<run concluded>"]),
        row("run", "no run", &["<trace open>"]),
        row("run", "unknown", &[NO_TRACE]),
        row("openRun", "alone", &[]).json(json!({"task": "tests", "objective": "They pass"})),
        row("openRun", "with others", &[]).json(run::opening()),
        row("openRun", "with a name that nobody has", &[])
            .json(json!({"task": "t", "objective": "o", "agents": {"executor": "nobody"}})),
        row("openRun", "in the owner's name", &[])
            .json(json!({"task": "t", "objective": "o", "agent": "ada"})),
        row("sayInRun", "as planner", &["<run open>"]).json(run::proposal()),
        row("sayInRun", "as executor", &["<run open>"]).json(log()).key("one"),
        row("sayInRun", "as executor again", &["<run open>"]).json(log()).key("one"),
        row("sayInRun", "out of turn", &["<run open>"]).json(run::start(7, 7)),
        row("sayInRun", "in the player's name", &["<run open>"]).json({
            let mut document = log();
            document["agent"] = json!("bo");
            document
        }),
        row("sayInRun", "no run", &["<trace open>"]).json(run::proposal()),
        row("sayInRun", "unknown", &[NO_TRACE]).json(run::proposal()),
        row("auditRun", "open", &["<run open>"]).json(json!({})),
        row("auditRun", "concluded", &["<run concluded>"]).json(json!({})),
        row("auditRun", "in the auditor's name", &["<run concluded>"]).json(json!({"agent": "dee"})),
        row("auditRun", "unknown", &[NO_TRACE]).json(json!({})),
    ]
}
