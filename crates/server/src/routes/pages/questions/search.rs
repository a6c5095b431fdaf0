//! What the address of a list asks for.

use demur_api::code::Code;
use demur_desk::question::QuestionSearch;
use demur_ledger::{facts::Severity, name::TraceId, question::OutcomeKind};
use demur_web::list::{Filters, Which};

use crate::problem::Problem;

/// Returns what an address asks for.
pub(super) fn read(filters: &Filters) -> Result<QuestionSearch, Problem> {
    let severity = match filters.severity.as_str() {
        "" => None,
        "block" => Some(Severity::Block),
        "warn" => Some(Severity::Warn),
        _ => return Err(unknown("severity: expected block or warn, found another word")),
    };
    let trace = filters.trace.as_deref().map(str::parse::<TraceId>).transpose();
    let trace = trace.map_err(|_| unknown("trace: expected the name of a trace, found something else"))?;
    let after = filters.after.as_deref().map(str::parse).transpose();
    let after = after.map_err(|_| unknown("after: expected a place in this list, found something else"))?;
    let (outcomes, people) = match filters.list {
        Which::Mine => (vec![OutcomeKind::Open], Some(true)),
        Which::Others => (vec![OutcomeKind::Open], Some(false)),
        Which::Done => {
            (OutcomeKind::ALL.into_iter().filter(|kind| *kind != OutcomeKind::Open).collect(), None)
        }
    };
    Ok(QuestionSearch {
        outcomes,
        people,
        severity,
        trace,
        text: filters.text.clone(),
        asker: filters.asker.clone(),
        newest_first: filters.list == Which::Done,
        after,
    })
}

fn unknown(detail: &str) -> Problem {
    Problem::new(Code::Malformed, detail).with_cure("begin anew at the inbox")
}
