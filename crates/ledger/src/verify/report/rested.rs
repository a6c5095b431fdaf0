//! What was done on answers that no longer count, in the report: worth reading, and no failure.

use crate::question::RestedEvent;

/// The heading of the rows.
pub(super) const TITLE: &str = "Done on an answer that no longer counts";

/// Returns one event in words.
pub(super) fn row(rested: &RestedEvent) -> String {
    format!("{rested} (question #{})", rested.question)
}
