//! The questions of a trace in the report: what became of each, and what stands behind its answer.

use demur_core::quote::quoted;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    super::acts::{ActBook, PutAgain},
    passkeys::Acquaintance,
};
use crate::{
    facts::{Assurance, Attribution, Severity},
    name::{PrincipalId, Sequence},
    question::{Asked, Given, OutcomeKind},
    trace_state::TraceState,
};

/// One question and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestionReport {
    /// The event that asked.
    pub question: Sequence,
    /// How much depends on it.
    pub severity: Severity,
    /// What became of it.
    pub outcome: &'static str,
    /// The event that put a gap again which was answered, because the answer settled nothing or settles it no more.
    pub put_again: Option<Sequence>,
    /// The event with the answer or acceptance, if there is one.
    pub answer: Option<Sequence>,
    /// Whose key answered; none for a person on the desk's word.
    pub by: Option<PrincipalId>,
    /// Who the desk says answered, where no key stands behind it and the name is disclosed.
    pub name: Option<String>,
    /// What the answer says, in words, where it is disclosed.
    pub says: Option<String>,
    /// How sure one can be who answered, as far as the proof carries it.
    pub assurance: Option<Assurance>,
    /// The way the answer came, where no key stands behind it.
    pub attribution: Option<Attribution>,
    /// How one knows who answered, in words.
    pub how: Option<String>,
}

/// Returns the questions of a trace, in order. One that was put again stands under its last wording, and under an earlier one where
/// somebody had answered that.
pub(super) fn reports(state: &TraceState, acts: &ActBook, known: &Acquaintance<'_>) -> Vec<QuestionReport> {
    let questions = state.questions().map(|questions| questions.iter().collect::<Vec<_>>());
    let report = |question, severity, outcome, given: Option<Given>, put_again| {
        let said = given.and_then(|given| acts.said(given.at));
        QuestionReport {
            question,
            severity,
            outcome,
            put_again,
            answer: given.map(|given| given.at),
            by: given.and_then(|given| given.by),
            name: said.and_then(|said| said.by.clone()),
            says: said.and_then(|said| said.words.clone()),
            assurance: given.map(|given| given.assurance),
            attribution: said.and_then(|said| said.way.clone()),
            how: given.map(|given| known.how(given.assurance, said, "this answer")),
        }
    };
    let now = |(question, asked): (Sequence, &Asked)| {
        let outcome = asked.outcome();
        report(question, asked.facts().severity, outcome.as_str(), outcome.given(), None)
    };
    let before = |gap: &PutAgain| {
        let outcome = OutcomeKind::Answered.as_str();
        report(gap.question, gap.severity, outcome, Some(gap.answer), Some(gap.again))
    };
    let mut reports: Vec<_> = questions.unwrap_or_default().into_iter().map(now).collect();
    reports.extend(acts.put_again().iter().map(before));
    reports.sort_by_key(|report| report.question);
    reports
}

/// Returns one question in words.
pub(super) fn row(report: &QuestionReport) -> String {
    let weight = match report.severity {
        Severity::Block => "must be answered",
        Severity::Warn => "please confirm",
    };
    let Some(answer) = report.answer else {
        return format!("#{} {weight}: {}", report.question, report.outcome);
    };
    let says = report.says.as_ref().map_or_else(String::new, |says| format!(": {says}"));
    let who = who(report.by, report.name.as_deref(), report.how.as_deref());
    let again = report.put_again.map_or_else(String::new, |again| format!("; put again as #{again}"));
    format!("#{} {weight}: {} in #{answer}{says}; by {who}{again}", report.question, report.outcome)
}

/// Returns who did something, and how one knows.
pub(super) fn who(key: Option<PrincipalId>, person: Option<&str>, how: Option<&str>) -> String {
    let who = match (key, person) {
        (Some(key), _) => key.to_string(),
        (None, Some(name)) => quoted(name),
        (None, None) => "a person".to_owned(),
    };
    how.map_or_else(|| who.clone(), |how| format!("{who} ({how})"))
}
