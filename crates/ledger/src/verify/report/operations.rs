//! The operations of a trace in the report: who began each, on which confirmation, and whether a person had said no.

use demur_core::{quote::quoted, visible::visible};

use crate::verify::acts::OperationReport;

/// Returns one operation in words.
pub(super) fn row(report: &OperationReport) -> String {
    let name = report.operation.as_deref().map_or_else(|| "a tool, not disclosed".to_owned(), quoted);
    let told = report.told.as_deref().map_or_else(String::new, |told| format!(" {}", visible(told)));
    let digest = report.digest.map_or_else(String::new, |digest| format!(" ({digest})"));
    let confirmed = match report.confirmation {
        Some(confirmation) => format!("on confirmation #{confirmation}"),
        None => "no confirmation behind it".to_owned(),
    };
    let against = match report.against {
        Some(answer) => format!("; AGAINST THE ANSWER in #{answer}, which is no"),
        None => String::new(),
    };
    format!("#{} {name}{told}{digest}, {confirmed}, begun by the key of {}{against}", report.event, report.by)
}
