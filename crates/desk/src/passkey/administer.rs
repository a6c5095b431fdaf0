//! Who says in the registry what becomes of people and passkeys: demur with its own key, or an operator with a passkey. Which of
//! them has to, the registry decides.

use std::sync::Arc;

use demur_api::{code::Code, refusal::Refusal};
use demur_core::key::Fingerprint;
use demur_ledger::{
    event_type::{Content, Facts},
    facts::PasskeyRemoved,
    name::{PersonId, Sequence},
    role::Role,
};
use demur_sequencer::SequencerError;
use demur_store::contract::Swap;

use super::{PasskeySpeaker, StatementPlace, record_owed_checkpoint};
use crate::owner::Owner;

/// Who administers.
pub(crate) enum Administrator<'a> {
    /// Demur, for whoever was let in to do so.
    Desk,
    /// An operator with a passkey.
    Passkey(&'a Arc<PasskeySpeaker>),
}

impl Administrator<'_> {
    /// Records something in the registry together with changes of records; returns false if a record changed meanwhile.
    pub(crate) fn state(
        &self,
        owner: &Owner,
        facts: impl Into<Facts>,
        content: Option<Content>,
        swaps: &[Swap],
    ) -> Result<bool, Refusal> {
        record_owed_checkpoint(owner)?;
        let recorded = match self {
            Self::Desk => owner.sequencer().state_with(facts, content, swaps).map(drop),
            Self::Passkey(passkey) => {
                return recorded(say(owner, passkey, Role::Operator, &(facts.into(), content), swaps))
                    .and_then(|done| record_owed_checkpoint(owner).map(|()| done));
            }
        };
        match recorded {
            Ok(()) => record_owed_checkpoint(owner).map(|()| true),
            Err(SequencerError::RecordChanged) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Records what a passkey signs in the registry.
pub(super) fn say(
    owner: &Owner,
    passkey: &PasskeySpeaker,
    role: Role,
    said: &(Facts, Option<Content>),
    swaps: &[Swap],
) -> Result<Sequence, Refusal> {
    let registry = &*owner.sequencer().newest_registry()?;
    let place = StatementPlace { registry, trace: registry.trace(), seen: Some(registry.head()), role };
    let submission = passkey.submission(&place, said, owner.system())?;
    Ok(owner.sequencer().submit_with(submission, None, swaps)?.position.sequence)
}

fn recorded(said: Result<Sequence, Refusal>) -> Result<bool, Refusal> {
    match said {
        Ok(_) => Ok(true),
        Err(refusal) if refusal.code == Code::RecordChanged => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

/// Ends a passkey: one's own, or as an operator another's. Returns whose it was.
pub(super) fn remove_passkey(
    owner: &Owner,
    passkey: &Arc<PasskeySpeaker>,
    key: Fingerprint,
) -> Result<PersonId, Refusal> {
    record_owed_checkpoint(owner)?;
    let registry = owner.sequencer().newest_registry()?;
    let record =
        registry.passkey(&key).filter(|record| super::is_active(record)).ok_or_else(|| unknown(key))?;
    let holder = record.enrolment.person;
    let role = role(passkey.person(), holder);
    say(owner, passkey, role, &(PasskeyRemoved { key }.into(), None), &[])?;
    record_owed_checkpoint(owner)?;
    Ok(holder)
}

/// Returns the role in which somebody speaks about a passkey.
pub(super) fn role(speaker: PersonId, holder: PersonId) -> Role {
    if speaker == holder { Role::Person } else { Role::Operator }
}

/// Returns the refusal of a passkey that is not there.
pub(super) fn unknown(key: Fingerprint) -> Refusal {
    let message = format!("expected a passkey of this store, found none called {}", key.short());
    Refusal::new(Code::PasskeyUnknown, message).with_cure("`demur passkey list` shows them")
}
