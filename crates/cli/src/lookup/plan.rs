//! Which plan is meant, by its session.

use demur_api::store::IdKind;
use demur_clarify::uuid::Uuid;

use super::{Noun, TypedId, parsed};
use crate::{failure::Failure, reader::Find};

/// Returns the session that is meant; `last` is the one that was submitted last.
pub(crate) fn session(at: &impl Find, typed: &TypedId) -> Result<Uuid, Failure> {
    // A whole id is looked at where it is used.
    if let Ok(whole) = typed.as_str().parse() {
        return Ok(whole);
    }
    if !typed.is_last() {
        typed.check_length(Noun::Plan)?;
    }
    let found = parsed(&at.find(IdKind::Plan, typed.as_str())?);
    match found.first() {
        Some((newest, _)) if typed.is_last() => Ok(*newest),
        None if typed.is_last() => Err(Noun::Plan.none()),
        _ => Noun::Plan.one(typed.as_str(), &found),
    }
}
