//! The packs that tests use, and plans in one line.

use demur_clarify::{
    error::FieldError,
    gap::{AnswerText, Gap},
    name::GapId,
};
use demur_core::limit::{List, Text};
use demur_rules::{Finding, Pack, Plan, Rules, builtin};

/// Returns the files of the travel pack.
pub(crate) const TRAVEL: [(&str, &str); 2] = [
    ("travel/pack.toml", include_str!("../../../../examples/rules/travel/pack.toml")),
    ("travel/trip.cedar", include_str!("../../../../examples/rules/travel/trip.cedar")),
];

/// Returns the rules with this name.
pub(crate) fn rules(pack: &str) -> Rules {
    match pack {
        "default" => Rules::builtin().unwrap_or_else(|error| panic!("{error}")),
        "travel" => Rules::layer(&[travel()]).unwrap_or_else(|error| panic!("{error}")),
        other => panic!("no pack {other}"),
    }
}

/// Returns the files of a pack.
pub(crate) fn files(pack: &str) -> [(&'static str, &'static str); 2] {
    match pack {
        "default" => builtin::FILES,
        _ => TRAVEL,
    }
}

pub(crate) fn travel() -> Pack {
    Pack::read(TRAVEL).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn plan(text: &str) -> Plan {
    Plan::read(text.as_bytes()).unwrap()
}

/// Returns the full count where `DEMUR_PROOF=full` is set, and otherwise the reduced one.
#[expect(clippy::disallowed_methods, reason = "the test harness decides how long a proof takes")]
pub(crate) fn count(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").is_ok_and(|proof| proof == "full") { full } else { reduced }
}

/// Returns the gap of the protocol that a finding becomes: everything in it fits there.
pub(crate) fn gap(finding: &Finding) -> Result<Gap, FieldError> {
    let id = GapId::number(1).unwrap();
    let limit = |field: &'static str| {
        move |error: demur_core::limit::LimitError| FieldError {
            field: field.to_owned(),
            expected: error.to_string(),
            found: "another length".to_owned(),
        }
    };
    let question = Text::cut(&finding.question).map_err(limit("question"))?;
    let context = Text::cut(&finding.context).map_err(limit("context"))?;
    let suggestions = finding.suggestions.iter().take(32).map(|text| AnswerText::try_from(text.as_str()));
    let suggestions = suggestions.collect::<Result<Vec<_>, _>>().map_err(limit("suggestions"))?;
    let suggestions = List::try_from(suggestions).map_err(limit("suggestions"))?;
    let blocked = List::try_from(finding.blocked_operations.clone()).map_err(limit("blocked_operations"))?;
    Gap::new(id, finding.field.clone(), finding.severity, question)?
        .with_context(context)
        .with_suggestions(suggestions)?
        .with_blocked_operations(blocked)
}
