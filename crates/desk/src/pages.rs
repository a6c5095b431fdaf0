//! Lists that a store gives page by page, read to their end.

use demur_api::refusal::Refusal;
use demur_store::contract::StoreError;

/// Returns a whole list. `read` is given the last entry so far and returns up to [`ENTRIES_PER_READ`] more.
pub(crate) fn read_to_end<T>(
    mut read: impl FnMut(Option<&T>) -> Result<Vec<T>, StoreError>,
) -> Result<Vec<T>, Refusal> {
    let mut found = Vec::new();
    loop {
        let page = read(found.last())?;
        let is_last = page.len() < ENTRIES_PER_READ;
        found.extend(page);
        if is_last {
            return Ok(found);
        }
    }
}

/// How many entries are read at a time.
pub(crate) const ENTRIES_PER_READ: usize = 256;
