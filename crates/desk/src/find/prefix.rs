//! The beginning of an id as a range of ids: ids sort as numbers, and an index finds a range without looking at the rest.

use std::ops::RangeInclusive;

use demur_api::refusal::Refusal;
use demur_core::id::Ulid;
use demur_ledger::{event_type::TraceKind, name::TraceId};
use demur_store::contract::Store;

/// Calls `visit` with the traces of a range by ascending id, page by page, until it returns false.
pub(super) fn walk(
    store: &dyn Store,
    ids: RangeInclusive<TraceId>,
    mut visit: impl FnMut(TraceId, TraceKind) -> Result<bool, Refusal>,
) -> Result<(), Refusal> {
    let (mut from, last) = ids.into_inner();
    loop {
        let page = store.traces_between(&(from..=last), TRACES_PER_READ)?;
        for (id, kind) in &page {
            if !visit(*id, *kind)? {
                return Ok(());
            }
        }
        let after = page.last().and_then(|(id, _)| id.as_ulid().as_u128().checked_add(1));
        match after {
            Some(number) if page.len() == TRACES_PER_READ => from = Ulid::from_u128(number).into(),
            _ => return Ok(()),
        }
    }
}

/// Returns the ids whose 26 characters begin so; none where no id does.
pub(super) fn of_ulid(typed: &str) -> Option<RangeInclusive<TraceId>> {
    let beginning = typed.to_ascii_uppercase();
    let bound = |fill: &str| -> Option<TraceId> {
        let missing = ULID_LENGTH.checked_sub(beginning.len())?;
        format!("{beginning}{}", fill.repeat(missing)).parse().ok()
    };
    Some(bound("0")?..=bound("Z")?)
}

/// Returns the traces of the sessions whose UUIDs begin so, with or without hyphens; none where no UUID does.
pub(super) fn of_uuid(typed: &str) -> Option<RangeInclusive<TraceId>> {
    let digits: String = typed.chars().filter(|character| *character != '-').collect();
    let bound = |fill: &str| -> Option<TraceId> {
        let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let missing = UUID_DIGITS.checked_sub(digits.len()).filter(|_| plain)?;
        let number = u128::from_str_radix(&format!("{digits}{}", fill.repeat(missing)), 16).ok()?;
        Some(Ulid::from_u128(number).into())
    };
    Some(bound("0")?..=bound("f")?)
}

/// How many characters a ULID has.
const ULID_LENGTH: usize = 26;
/// How many digits a UUID has.
const UUID_DIGITS: usize = 32;
/// How many traces are read at a time.
const TRACES_PER_READ: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TraceId {
        text.parse().unwrap()
    }

    #[test]
    fn a_beginning_is_every_id_that_has_it() {
        let range = of_ulid("01ARZ3").unwrap();
        assert_eq!(*range.start(), id("01ARZ300000000000000000000"));
        assert_eq!(*range.end(), id("01ARZ3ZZZZZZZZZZZZZZZZZZZZ"));
        assert_eq!(of_ulid("01arz3"), Some(range));
        let whole = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(of_ulid(whole), Some(id(whole)..=id(whole)));
    }

    #[test]
    fn what_begins_no_id_is_no_range() {
        for text in ["8ZZZZZ", "01ARZU", "01ARZ3 ", "01ARZ3NDEKTSV4RRFFQ69G5FAVX", "é1ARZ3", "../../"] {
            assert_eq!(of_ulid(text), None, "{text}");
        }
        for text in ["0198g1", "+198a1", "0198a1b2-c3d4-7000-8000-0000000000000", "é198a1"] {
            assert_eq!(of_uuid(text), None, "{text}");
        }
    }

    #[test]
    fn uuids_begin_alike_with_hyphens_and_without() {
        assert_eq!(of_uuid("0198a1b2-c3"), of_uuid("0198A1B2C3"));
        assert!(of_uuid("0198a1").unwrap().contains(of_uuid("0198a1b2").unwrap().start()));
    }
}
