//! The operations of a trace in the report: who began each, and whether a person had said no.

use demur_core::quote::quoted;

use crate::verify::acts::OperationReport;

/// Returns one operation in words.
pub(super) fn row(report: &OperationReport) -> String {
    let name = report.operation.as_deref().map_or_else(|| "a tool, not disclosed".to_owned(), quoted);
    let against = match report.against {
        Some(answer) => format!("; AGAINST THE ANSWER in #{answer}, which is no"),
        None => String::new(),
    };
    format!("#{} {name}, begun by the key of {}{against}", report.event, report.by)
}
