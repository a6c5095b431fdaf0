//! The two readers reduced to their verdicts.

use demur_core::canonical::{self, ReadError};
use demur_core::limit::Limits;

/// Returns what the canonical reader says about these bytes.
pub(crate) fn check(bytes: &[u8], limits: &Limits) -> Result<(), ReadError> {
    canonical::check(bytes, limits).map(drop)
}

/// Returns what the lenient reader says about these bytes.
pub(crate) fn scan(bytes: &[u8], limits: &Limits) -> Result<(), ReadError> {
    canonical::scan(bytes, limits).map(drop)
}
