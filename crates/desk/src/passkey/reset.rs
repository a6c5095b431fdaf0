//! All passkeys end but one, on the word of the recovery key of the desk: the way back for a person who has lost theirs. The recovery
//! key lies elsewhere; whoever has it signs what is prepared here.

use demur_api::{
    code::Code,
    key::RegistryPlace,
    passkey::{PasskeyToReset, ShownPasskey},
    refusal::Refusal,
    statement::SignedStatement,
};
use demur_core::key::Fingerprint;
use demur_ledger::{
    event_type::Facts,
    facts::PasskeyReset,
    statement::{Statement, Submission},
};

use super::{list::shown, record_owed_checkpoint, waiting};
use crate::{key, owner::Owner};

/// Returns what the recovery key has to sign.
pub(super) fn passkey_to_reset(owner: &Owner, key: Fingerprint) -> Result<PasskeyToReset, Refusal> {
    record_owed_checkpoint(owner)?;
    let (waiting, _) = waiting::find(owner, key)?;
    let directory = owner.key_directory()?;
    let registry: RegistryPlace = key::list(&directory, owner.keyring()).registry;
    Ok(PasskeyToReset {
        desk: directory.registry().desk(),
        person: directory.person_name(waiting.facts.person).unwrap_or("(no name)").to_owned(),
        facts: PasskeyReset(waiting.facts),
        label: waiting.label,
        registry,
    })
}

/// Records that all passkeys end but this one.
pub(super) fn reset_passkeys(
    owner: &Owner,
    key: Fingerprint,
    signed: SignedStatement,
) -> Result<ShownPasskey, Refusal> {
    let (waiting, taken) = waiting::find(owner, key)?;
    let submission = Submission::from(signed);
    let statement = Statement::parse(&submission.statement)
        .map_err(|error| Refusal::new(Code::Malformed, error).about("statement"))?;
    if statement.facts != Facts::from(PasskeyReset(waiting.facts)) {
        let message = "expected a reset to the passkey that waits, found another statement";
        return Err(Refusal::new(Code::Malformed, message).about("statement"));
    }
    owner.sequencer().submit_with(submission, None, &[taken])?;
    record_owed_checkpoint(owner)?;
    let directory = owner.key_directory()?;
    let record = directory.registry().passkey(&key).ok_or_else(|| super::administer::unknown(key))?;
    Ok(shown(&directory, (&key, record), None))
}
