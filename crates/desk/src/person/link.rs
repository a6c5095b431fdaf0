//! Links that sign a browser in, once. A link is a record: whoever takes it away is the only one, at whatever process.

use std::time::Duration;

use demur_api::refusal::Refusal;
use demur_core::{hash::sha256, limit::Text, random::Random as _};
use demur_store::contract::{KeptRecord, RecordKey, Store, Swap, Version};
use serde::{Deserialize, Serialize};

use crate::{access::LinkOrigin, name, owner::Owner, records};

/// A link that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// Who signs in with it; otherwise the user of this machine.
    pub(super) person: Option<Text<1, 64>>,
    /// What the session is worth that it opens.
    pub(super) origin: LinkOrigin,
}

/// Makes a link and returns its code.
pub(super) fn make(
    owner: &Owner,
    person: Option<Text<1, 64>>,
    origin: LinkOrigin,
) -> Result<String, Refusal> {
    let (mut system, store) = (owner.system(), owner.sequencer().store());
    let now = system.now()?;
    for kept in store.due(PREFIX, now, MAX_LINKS)? {
        records::swap(owner, vec![records::removal(kept.key, kept.version)])?;
    }
    let mut waiting = records::all(store, PREFIX)?;
    waiting.sort_by_key(|kept| kept.value.expires);
    let too_many = (waiting.len() + 1).saturating_sub(MAX_LINKS);
    for kept in waiting.into_iter().take(too_many) {
        records::swap(owner, vec![records::removal(kept.key, kept.version)])?;
    }
    let mut bytes = [0; 32];
    system.fill(&mut bytes);
    let code = sha256(&bytes).to_string();
    let expires = now.plus_millis(LINK_TIMEOUT.as_secs() * 1000);
    let next = records::value(&Link { person, origin }, Some(expires))?;
    records::swap(owner, vec![records::creation(key(&code)?, next)])?;
    Ok(code)
}

/// Returns the link of a code that is still good.
pub(super) fn find(owner: &Owner, code: &str) -> Result<Option<(Version, Link)>, Refusal> {
    let now = owner.system().now()?;
    let kept = owner.sequencer().store().record(&key(code)?)?;
    let good = kept.filter(|kept| kept.value.expires.is_some_and(|expires| now < expires));
    good.map(|kept| Ok((kept.version, records::read(&kept)?))).transpose()
}

/// Returns the swap that spends a link.
pub(super) fn spending(code: &str, was: Version) -> Result<Swap, Refusal> {
    Ok(records::removal(key(code)?, was))
}

/// Returns the swaps that take away the links of somebody.
pub(super) fn forgetting(store: &dyn Store, name: &str) -> Result<Vec<Swap>, Refusal> {
    // One that cannot be read may be theirs. A link is soon made again.
    let theirs = |kept: &KeptRecord| {
        records::listed(kept)
            .is_none_or(|link: Link| link.person.is_some_and(|person| name::same(&person, name)))
    };
    let found = records::all(store, PREFIX)?.into_iter().filter(theirs);
    Ok(found.map(|kept| records::removal(kept.key, kept.version)).collect())
}

/// Only the digest of a code is kept.
fn key(code: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{}", sha256(code.as_bytes())))?)
}

/// What the keys of their records begin with.
pub(crate) const PREFIX: &str = "link/";
/// How long a link is good.
pub const LINK_TIMEOUT: Duration = Duration::from_mins(5);
/// How many links wait at once.
const MAX_LINKS: usize = 16;
