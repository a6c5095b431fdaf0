//! Passkeys that wait until an earlier one vouches for them: records of a day. Each has shown already that somebody holds it.

use std::sync::Arc;

use demur_api::refusal::Refusal;
use demur_core::{key::Fingerprint, limit::Text, time::Timestamp};
use demur_ledger::{
    content::LabelContent,
    event_type::Content,
    facts::{Enrolment, PasskeyAdded},
    name::PersonId,
    passkey::Assertion,
};
use demur_store::contract::{RecordKey, Swap};
use serde::{Deserialize, Serialize};

use super::{
    PasskeySpeaker,
    administer::{role, say, unknown},
    record_owed_checkpoint,
};
use crate::{owner::Owner, records};

/// A passkey that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Waiting {
    pub(super) facts: PasskeyAdded,
    pub(super) label: Text<1, 256>,
    pub(super) expires: Timestamp,
}

impl Waiting {
    /// Returns what its person calls it, as the event says it.
    pub(super) fn label(&self) -> LabelContent {
        LabelContent { label: self.label.clone() }
    }
}

/// Keeps a passkey that has shown that somebody holds it.
pub(super) fn keep(
    owner: &Owner,
    enrolment: Enrolment,
    possession: Assertion,
    label: Text<1, 256>,
) -> Result<Fingerprint, Refusal> {
    let fingerprint = enrolment.key.fingerprint();
    let now = owner.system().now()?;
    records::make_room(owner, PREFIX, MAX_WAITING, now)?;
    make_room(owner, enrolment.person)?;
    let expires = now.plus_millis(WAITING_MILLIS);
    let waiting = Waiting { facts: PasskeyAdded::new(enrolment, possession), label, expires };
    let key = key(&fingerprint)?;
    let value = records::value(&waiting, Some(expires))?;
    // The same again changes nothing: it is as good as before.
    records::swap(owner, vec![records::creation(key, value)])?;
    Ok(fingerprint)
}

/// Returns a passkey that waits, and the swap that takes it away.
pub(super) fn find(owner: &Owner, key: Fingerprint) -> Result<(Waiting, Swap), Refusal> {
    let record = self::key(&key)?;
    let found = records::find::<Waiting>(owner.sequencer().store(), &record)?;
    let now = owner.system().now()?;
    let (version, waiting) =
        found.filter(|(_, waiting)| now < waiting.expires).ok_or_else(|| unknown(key))?;
    Ok((waiting, records::removal(record, version)))
}

/// Returns every passkey that waits, those that end first at the beginning.
pub(super) fn list(owner: &Owner) -> Result<Vec<Waiting>, Refusal> {
    let now = owner.system().now()?;
    let all = records::all(owner.sequencer().store(), PREFIX)?;
    let mut waiting: Vec<Waiting> = all.iter().filter_map(records::listed).collect();
    waiting.retain(|waiting| now < waiting.expires);
    waiting.sort_by_key(|waiting| waiting.expires);
    Ok(waiting)
}

/// Has a passkey vouch for one that waits.
pub(super) fn vouch(owner: &Owner, passkey: &Arc<PasskeySpeaker>, key: Fingerprint) -> Result<(), Refusal> {
    record_owed_checkpoint(owner)?;
    let (waiting, taken) = find(owner, key)?;
    let role = role(passkey.person(), waiting.facts.person);
    let content = Content::PasskeyAdded(waiting.label());
    say(owner, passkey, role, &(waiting.facts.into(), Some(content)), &[taken]).map(drop)
}

/// Takes away the oldest of one person where there are many: nobody pushes out what others have waiting.
fn make_room(owner: &Owner, person: PersonId) -> Result<(), Refusal> {
    let mut own: Vec<_> = list(owner)?.into_iter().filter(|waiting| waiting.facts.person == person).collect();
    let too_many = (own.len() + 1).saturating_sub(MAX_WAITING_OF_ONE);
    for waiting in own.drain(..too_many) {
        records::remove(owner, &key(&waiting.facts.key.fingerprint())?)?;
    }
    Ok(())
}

fn key(fingerprint: &Fingerprint) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{fingerprint}"))?)
}

/// What the keys of their records begin with.
const PREFIX: &str = "passkey/";
/// How long one waits, in milliseconds.
const WAITING_MILLIS: u64 = 24 * 60 * 60 * 1000;
/// How many wait at once.
const MAX_WAITING: usize = 4096;
/// How many of one person.
const MAX_WAITING_OF_ONE: usize = 4;
