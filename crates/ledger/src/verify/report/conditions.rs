//! The conditions of approvals in the report: judged by the critic, on what.

use crate::verify::conditions::{ConditionAnswer, ConditionReport};

/// The heading of the rows.
pub(super) const TITLE: &str = "Conditions";

/// Returns one condition in words.
pub(super) fn row(report: &ConditionReport) -> String {
    let ConditionReport { intent, condition, event, .. } = report;
    let how = match (report.is_check, report.holds) {
        (false, Some(true)) => "judged to hold",
        (false, _) => "judged NOT to hold",
        (true, Some(true)) => "shown by a check that is true",
        (true, Some(false)) => "NOT shown: the check is false",
        (true, None) => "shown by a check that could not be made here",
    };
    let artifacts = report.artifacts.iter().map(|artifact| format!("artifact #{artifact}"));
    let evidence: Vec<_> = artifacts.chain(report.answers.iter().map(answer)).collect();
    let on = if evidence.is_empty() { "nothing".to_owned() } else { evidence.join(", ") };
    let started = match report.started {
        Some(started) => format!("; the tool started in #{started}"),
        None => "; the tool did not start".to_owned(),
    };
    format!("condition {condition} of intent #{intent}: {how} by the critic in #{event}, on {on}{started}")
}

fn answer(answer: &ConditionAnswer) -> String {
    let question = answer.question;
    match answer.answer {
        None => format!("question #{question}, which nobody had answered"),
        Some(at) if answer.stands => format!("the answer in #{at} to question #{question}"),
        Some(at) => format!("the answer in #{at} to question #{question}, which NO LONGER COUNTS"),
    }
}
