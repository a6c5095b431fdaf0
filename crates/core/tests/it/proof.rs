//! How much a proof runs: all of it for the figures, a little of it in every test run.

/// Returns the full count where `DEMUR_PROOF=full` is set, and otherwise the reduced one.
#[expect(clippy::disallowed_methods, reason = "the person at the keyboard chooses how long a proof may run")]
pub(crate) fn count(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").as_deref() == Ok("full") { full } else { reduced }
}
