//! Secret answers: the ledger holds a salted commitment; the value waits in an operational table until its asker has
//! taken it, then it is gone. It waits sealed, under a key that is made for it from the keyring: what the file system or a
//! journal keeps of that table says nothing without the keyring. That it is what was answered, its commitment shows.

use demur_api::{code::Code, refusal::Refusal};
use demur_core::commitment::{Commitment, Salt};
use demur_ledger::{
    content::{AnswerValue, Sealed},
    question::OutcomeKind,
};
use demur_store::contract::Store;
use zeroize::Zeroizing;

use super::{Delivered, QuestionId, view};
use crate::{keyring::SecretPurpose, owner::Owner, seal::apply_key, session::Speaker};

/// Returns a secret answer that its asker has not taken yet.
pub fn secret(owner: &Owner, id: QuestionId) -> Result<Delivered, Refusal> {
    let commitment = recorded(owner, id)?;
    let kept = owner.sequencer().store().secret(&commitment)?.map(Zeroizing::new);
    let mut kept = kept.ok_or_else(|| gone(id))?;
    apply_key(owner, &SecretPurpose::SecretAnswer(&commitment), &mut kept)?;
    // What was sealed with another keyring, or changed since, is no answer.
    opened(&commitment, &kept).ok_or_else(|| gone(id))
}

/// Forgets a secret answer, because its asker has it.
pub fn forget_secret(owner: &Owner, id: QuestionId) -> Result<(), Refusal> {
    let commitment = recorded(owner, id)?;
    Ok(owner.sequencer().store().forget_secret(&commitment)?)
}

/// Returns the commitment of the answer that counts: before there is one nobody gets a value, and nobody throws it away.
fn recorded(owner: &Owner, id: QuestionId) -> Result<Commitment, Refusal> {
    let answered = Some(view(owner, id)?).filter(|question| question.state == OutcomeKind::Answered);
    match answered.and_then(|question| question.outcome?.value) {
        Some(AnswerValue::Sealed(sealed)) => Ok(sealed.commitment),
        _ => Err(gone(id)),
    }
}

fn gone(id: QuestionId) -> Refusal {
    let message = format!("expected a secret answer to {id} that waits, found none");
    Refusal::new(Code::SecretGone, message).with_cure("it is delivered once: ask again")
}

/// Seals a secret and records the answer with `say`. The value is kept for its asker before the answer is recorded, so
/// that nothing acknowledged is lost, and goes away again if the answer does not count.
pub(super) fn seal<T>(
    owner: &Owner,
    id: QuestionId,
    (speaker, answer): (&Speaker, &AnswerValue),
    say: impl FnOnce(AnswerValue) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let AnswerValue::Text(text) = answer else {
        return Err(Refusal::new(Code::AnswerKind, "expected a text, found another answer"));
    };
    // What a passkey signs stands before it is recorded.
    let salt = match speaker {
        Speaker::Passkey(passkey) => passkey.secret_salt(owner.system())?,
        Speaker::Key(_) | Speaker::Person { .. } => Salt::draw(&mut { owner.system() }),
    };
    let commitment = Commitment::to_secret(&salt, text.as_bytes());
    let sealed = AnswerValue::Sealed(Sealed { commitment });
    let mut kept = Zeroizing::new([&salt.as_bytes()[..], text.as_bytes()].concat());
    apply_key(owner, &SecretPurpose::SecretAnswer(&commitment), &mut kept)?;
    let store = owner.sequencer().store();
    let before = view(owner, id)?.outcome.and_then(|ending| ending.value);
    // Under its own commitment: whoever comes second does not touch what the first one left.
    store.keep_secret(&commitment, &kept)?;
    match say(sealed) {
        Ok(said) => {
            // Another answer stands in its place now: nobody asks for that value any more.
            if let Some(AnswerValue::Sealed(replaced)) = before {
                forget(store, &replaced.commitment);
            }
            Ok(said)
        }
        Err(error) => {
            if !error.code.is_uncertain() {
                forget(store, &commitment);
            }
            Err(error)
        }
    }
}

/// Returns the value that opens the commitment: its salt, and its text.
fn opened(commitment: &Commitment, kept: &[u8]) -> Option<Delivered> {
    let (salt, text) = kept.split_first_chunk::<32>()?;
    let salt = Salt::from_bytes(*salt);
    if !commitment.opens_secret(&salt, text) {
        return None;
    }
    Some(Delivered { value: std::str::from_utf8(text).ok()?.to_owned(), salt })
}

/// Forgets the value of an answer whose words are erased, if it was a secret that its asker has not taken.
pub(crate) fn forget_erased(owner: &Owner, answer: &AnswerValue) -> Result<(), Refusal> {
    let AnswerValue::Sealed(erased) = answer else { return Ok(()) };
    Ok(owner.sequencer().store().forget_secret(&erased.commitment)?)
}

/// Forgets the value of an answer that was taken back, if it was a secret.
pub(super) fn forget_revoked(owner: &Owner, answer: Option<&AnswerValue>) {
    if let Some(AnswerValue::Sealed(revoked)) = answer {
        forget(owner.sequencer().store(), &revoked.commitment);
    }
}

/// Forgets a value that nobody asks for. What became of the answer is settled: a value that stays behind does not change it.
fn forget(store: &dyn Store, commitment: &Commitment) {
    if let Err(error) = store.forget_secret(commitment) {
        tracing::warn!(%error, "a secret that does not count stays in the store");
    }
}
