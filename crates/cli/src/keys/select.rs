//! Which key is meant: by name, or by the beginning of its fingerprint.

use demur_api::{
    code::Code,
    key::{KeyEntry, Status},
};
use demur_core::visible::visible;

use crate::{
    failure::Failure,
    lookup::{LAST, Noun, SHORTEST_PREFIX},
};

/// Returns the one key that is meant.
///
/// A name means the key its holder uses now; earlier keys of the same holder are meant by fingerprint. `last` is the key
/// that was registered last, unless a holder has that name.
pub(crate) fn select<'a>(entries: &'a [KeyEntry], wanted: &str) -> Result<&'a KeyEntry, Failure> {
    let named: Vec<&KeyEntry> = entries.iter().filter(|entry| entry.name == wanted).collect();
    let mut found = current(named);
    for entry in entries.iter().filter(|entry| has_prefix(entry, wanted)) {
        if !found.iter().any(|other| other.fingerprint == entry.fingerprint) {
            found.push(entry);
        }
    }
    match found.as_slice() {
        [] if wanted == LAST => entries.last().ok_or_else(|| Noun::Key.none()),
        [] => Err(unknown(entries, wanted)),
        [entry] => Ok(entry),
        many => Err(ambiguous(many, wanted)),
    }
}

/// Returns those among keys of one name that the name means now.
fn current(named: Vec<&KeyEntry>) -> Vec<&KeyEntry> {
    let active: Vec<&KeyEntry> =
        named.iter().copied().filter(|entry| entry.status == Status::Active).collect();
    if !active.is_empty() {
        return active;
    }
    let one_holder = named.windows(2).all(|pair| pair[0].principal == pair[1].principal);
    // Entries stand in the order they came in.
    if one_holder { named.last().copied().into_iter().collect() } else { named }
}

fn has_prefix(entry: &KeyEntry, wanted: &str) -> bool {
    wanted.len() >= SHORTEST_PREFIX && entry.fingerprint.to_string().starts_with(wanted)
}

fn unknown(entries: &[KeyEntry], wanted: &str) -> Failure {
    let message = format!("expected the name or fingerprint of a key, found none called {}", quoted(wanted));
    let error = Failure::of(Code::KeyUnknown, message);
    if entries.is_empty() {
        return error.with_hint("there are no keys yet: make one with `demur keys new NAME --role ROLE`");
    }
    let mut names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(MOST_NAMES);
    let list = names.into_iter().take(MOST_NAMES).map(quoted).collect::<Vec<_>>().join(", ");
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    error.with_hint(format!("there are: {list}{rest}; `demur keys list` shows them"))
}

fn ambiguous(found: &[&KeyEntry], wanted: &str) -> Failure {
    let describe = |entry: &&KeyEntry| {
        format!(
            "{} ({}, {}, {})",
            entry.fingerprint.short(),
            quoted(&entry.name),
            entry.roles(),
            entry.status()
        )
    };
    let candidates = found.iter().take(MOST_NAMES).map(describe).collect::<Vec<_>>().join("; ");
    let message = format!("expected one key, found {} for {}", found.len(), quoted(wanted));
    Failure::input("KEY_AMBIGUOUS", message)
        .with_hint(format!("say which by the beginning of its fingerprint: {candidates}"))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(text))
}

/// How many candidates a message lists.
const MOST_NAMES: usize = 20;

#[cfg(test)]
mod tests {
    use demur_core::{key::SecretKey, random::Seeded, time::Timestamp};
    use demur_ledger::{
        name::{PrincipalId, Sequence},
        role::Role,
    };

    use super::*;
    use demur_api::key::{Moment, Origin};

    fn entry(name: &str, number: u8, principal: u64, status: Status) -> KeyEntry {
        let public_key = SecretKey::from_seed(&[number; 32]).public();
        KeyEntry {
            fingerprint: public_key.fingerprint(),
            name: name.to_owned(),
            origin: Origin::First,
            principal: PrincipalId::new(Timestamp::MIN, &mut Seeded::from_number(principal)),
            public_key,
            recovery: None,
            retires_after: None,
            retired: None,
            revoked: None,
            roles: vec![Role::Planner],
            rotated: None,
            secret_here: Some(false),
            since: Moment { event: Sequence::from(u32::from(number)), time: Timestamp::MIN },
            status,
        }
    }

    fn selected(entries: &[KeyEntry], wanted: &str) -> Option<u64> {
        select(entries, wanted).ok().map(|entry| entry.since.event.number())
    }

    #[test]
    fn name_means_the_key_in_use() {
        let entries = [entry("ann", 1, 1, Status::Rotated), entry("ann", 2, 1, Status::Active)];
        assert_eq!(selected(&entries, "ann"), Some(2));
        let prefix = entries[0].fingerprint.short();
        assert_eq!(selected(&entries, &prefix), Some(1));
    }

    #[test]
    fn name_of_one_holder_without_a_key_in_use_means_the_newest() {
        let entries = [entry("ann", 1, 1, Status::Retired), entry("ann", 2, 1, Status::Revoked)];
        assert_eq!(selected(&entries, "ann"), Some(2));
    }

    #[test]
    fn name_of_two_holders_without_a_key_in_use_is_ambiguous() {
        let entries = [entry("ann", 1, 1, Status::Revoked), entry("ann", 2, 2, Status::Revoked)];
        let error = select(&entries, "ann").unwrap_err();
        assert!(error.hint().unwrap().contains(&entries[0].fingerprint.short()));
        assert!(error.hint().unwrap().contains(&entries[1].fingerprint.short()));
    }

    #[test]
    fn name_that_is_also_a_prefix_of_another_key_is_ambiguous() {
        let other = entry("bob", 2, 2, Status::Active);
        let name = &other.fingerprint.short()[..SHORTEST_PREFIX];
        let entries = [entry(name, 1, 1, Status::Active), other.clone()];
        assert_eq!(selected(&entries, name), None);
        assert_eq!(selected(&entries, "bob"), Some(2));
    }

    #[test]
    fn last_is_the_newest_key_unless_a_holder_has_that_name() {
        let mut entries = vec![entry("ann", 1, 1, Status::Active), entry("bob", 2, 2, Status::Active)];
        assert_eq!(selected(&entries, "last"), Some(2));
        entries.insert(0, entry("last", 3, 3, Status::Active));
        assert_eq!(selected(&entries, "last"), Some(3));
        assert_eq!(selected(&[], "last"), None);
    }

    #[test]
    fn short_prefixes_select_nothing() {
        let entries = [entry("ann", 1, 1, Status::Active)];
        let short = &entries[0].fingerprint.short()[..SHORTEST_PREFIX - 1];
        assert_eq!(selected(&entries, short), None);
    }
}
