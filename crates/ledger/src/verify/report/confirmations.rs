//! The confirmations of a trace in the report: which operation, who said yes or no and how we know, and what was carried out on
//! it.

use demur_core::{hash::Digest, words::counted_as};
use schemars::JsonSchema;
use serde::Serialize;

use super::{super::acts::ActBook, passkeys::Acquaintance, questions::who};
use crate::{
    confirmation::{Confirmation, ConfirmationStanding, Confirmations},
    facts::{Assurance, Attribution},
    name::{PrincipalId, Sequence},
    trace_state::TraceState,
};

/// One confirmation, and what was done on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfirmationReport {
    /// The event that asked.
    pub confirmation: Sequence,
    /// The digest of the operation, where it is disclosed.
    pub digest: Option<Digest>,
    /// What became of it.
    pub outcome: ConfirmationStanding,
    /// The event with the yes or the no, if somebody said one.
    pub said: Option<Sequence>,
    /// Whose key said it; none for a person on the desk's word.
    pub by: Option<PrincipalId>,
    /// The name that the desk gives for a person.
    pub person: Option<String>,
    /// How sure one can be who said it, as far as the proof carries it.
    pub assurance: Option<Assurance>,
    /// The way it came, where no key stands behind it.
    pub attribution: Option<Attribution>,
    /// How one knows who said it, in words.
    pub how: Option<String>,
    /// What was started on it.
    pub started: Vec<Sequence>,
    /// Whether something was started on it that nobody had said yes to.
    pub against: bool,
}

/// Returns the confirmations of a trace, in order.
pub(super) fn reports(
    state: &TraceState,
    acts: &ActBook,
    known: &Acquaintance<'_>,
) -> Vec<ConfirmationReport> {
    let report = |(confirmation, asked): (Sequence, &Confirmation)| {
        let said = asked.outcome().said();
        let words = said.and_then(|said| acts.said(said.at));
        let outcome = asked.outcome().standing();
        let yes = said.filter(|_| outcome == ConfirmationStanding::Given).map(|said| said.at);
        let against = |started: &Sequence| yes.is_none_or(|yes| *started < yes);
        ConfirmationReport {
            confirmation,
            digest: asked.digest().copied(),
            outcome,
            said: said.map(|said| said.at),
            by: said.and_then(|said| said.by),
            person: words.and_then(|words| words.by.clone()),
            assurance: said.map(|said| said.assurance),
            attribution: words.and_then(|words| words.way.clone()),
            how: said.map(|said| known.how(said.assurance, words, "this operation")),
            started: asked.starts().to_vec(),
            against: asked.starts().iter().any(against),
        }
    };
    state.confirmations().into_iter().flat_map(Confirmations::iter).map(report).collect()
}

/// Returns one confirmation in words.
pub(super) fn row(report: &ConfirmationReport) -> String {
    let operation = report.digest.map_or_else(
        || "an operation that is not disclosed".to_owned(),
        |digest| format!("operation {digest}"),
    );
    let who = who(report.by, report.person.as_deref(), report.how.as_deref());
    let decided = match (report.outcome, report.said) {
        (ConfirmationStanding::Given, Some(said)) => format!("confirmed by {who} in #{said}"),
        (ConfirmationStanding::Refused, Some(said)) => format!("refused by {who} in #{said}"),
        (ConfirmationStanding::Expired, _) => "refused, as nobody confirmed it in time".to_owned(),
        (_, _) => "neither confirmed nor refused".to_owned(),
    };
    let ran = match &report.started[..] {
        [] if report.outcome == ConfirmationStanding::Given => "and not carried out".to_owned(),
        [] => "and nothing was started on it".to_owned(),
        [once] if report.against => format!("and started ALL THE SAME as event {once}"),
        [once] => format!("ran once as event {once}"),
        more => {
            let events: Vec<_> = more.iter().map(Sequence::to_string).collect();
            let times = counted_as(more.len() as u64, "time", "times");
            let against = if report.against { " ALL THE SAME" } else { "" };
            format!("and started{against} {times}, as events {}", events.join(", "))
        }
    };
    format!("#{} {operation}, {decided}, {ran}", report.confirmation)
}
