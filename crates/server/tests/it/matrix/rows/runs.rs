//! Accountable runs: opened, spoken in, driven, audited.

use serde_json::{Value, json};

use super::{NO_TRACE, Row, Show, row};
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
        row("sayInRun", "out of turn", &["<run open>"]).json(run::start(8, 8)),
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
        row("readRun", "open", &["<run open>"]).query("?from=1").show(Show::Members),
        row("readRun", "unknown", &[NO_TRACE]),
        row("driveRun", "without a claim", &["<run open>"]).json(json!({"claim": CLAIM})),
        row("submitInRun", "without a claim", &["<run open>"])
            .json(json!({"claim": CLAIM, "role": "critic", "line": "{\"done\":{}}"})),
        row("claimRun", "without its orders", &["<run open>"]).json(json!({"claim": CLAIM})),
        row("claimRun", "with orders that nobody can read", &[NEW_TRACE])
            .json(json!({"claim": CLAIM, "orders": {"task": "", "policy": "", "files": ""}})),
        row("claimRun", "with other orders than the run was opened with", &["<run open>"]).json(claim()),
        row("claimRun", "new", &[NEW_TRACE]).json(claim()),
        row("abortRun", "claimed", &[NEW_TRACE]).json(json!({"reason": "no longer needed"})),
        row("driveRun", "claimed", &[NEW_TRACE])
            .json(json!({"claim": CLAIM, "until": "reviewing"}))
            .show(Show::Members),
        row("abortRun", "open", &[NEW_TRACE]).json(json!({"reason": "no longer needed"})),
        row("abortRun", "aborted", &[NEW_TRACE]).json(json!({"reason": "no longer needed"})),
        row("abortRun", "unknown", &[NO_TRACE]).json(json!({"reason": "no longer needed"})),
    ]
}

/// A claim on a run, with its orders.
fn claim() -> Value {
    let task = "name = \"t\"\nobjective = \"o\"\n[[goal]]\nobjective = \"p\"\n[[goal.call]]\nname = \"c\"\n\
                tool = \"c\"\ncommand = [\"c\"]\nrisk = \"low\"\n[[goal.claim]]\ntext = \"d\"\nconfidence = 90\ncalls = [\"c\"]\n";
    json!({"claim": CLAIM, "orders": {"task": task, "policy": "[tools.c]\n", "files": ""}})
}

const CLAIM: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAW";
const NEW_TRACE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAX";
