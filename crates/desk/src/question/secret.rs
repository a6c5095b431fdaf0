//! Secret answers: the ledger holds a salted commitment; the value waits in an operational table until its asker has
//! taken it, then it is gone.

use demur_api::{code::Code, refusal::Refusal};
use demur_core::commitment::{Commitment, Salt};
use demur_ledger::{
    content::{AnswerValue, Sealed},
    question::OutcomeKind,
};
use zeroize::Zeroizing;

use super::{Delivered, QuestionId, view};
use crate::owner::Owner;

/// Returns a secret answer that its asker has not taken yet.
pub fn secret(owner: &Owner, id: QuestionId) -> Result<Delivered, Refusal> {
    expect_answered(owner, id)?;
    let kept = owner.ledger().store().secret(id.trace, id.sequence)?.map(Zeroizing::new);
    let found = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    found.ok_or_else(|| gone(id))
}

/// Forgets a secret answer, because its asker has it.
pub fn forget_secret(owner: &Owner, id: QuestionId) -> Result<(), Refusal> {
    expect_answered(owner, id)?;
    Ok(owner.ledger().store().forget_secret(id.trace, id.sequence)?)
}

/// Before the answer counts nobody gets it, and nobody throws it away.
fn expect_answered(owner: &Owner, id: QuestionId) -> Result<(), Refusal> {
    if view(owner, id)?.state == OutcomeKind::Answered { Ok(()) } else { Err(gone(id)) }
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
    answer: &AnswerValue,
    say: impl FnOnce(AnswerValue) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let AnswerValue::Text(text) = answer else {
        return Err(Refusal::new(Code::AnswerKind, "expected a text, found another answer"));
    };
    let salt = Salt::draw(&mut { owner.world() });
    let commitment = Commitment::to_secret(&salt, text.as_str().as_bytes());
    let sealed = AnswerValue::Sealed(Sealed { commitment });
    let delivered = Delivered { value: text.as_str().to_owned(), salt };
    let bytes = Zeroizing::new(serde_json::to_vec(&delivered).map_err(|error| Refusal::bug(&error))?);
    // One at a time: whoever comes second must not touch what the first one left.
    let _turn = owner.secret_turn();
    let store = owner.ledger().store();
    if !view(owner, id)?.is_open() {
        return say(sealed);
    }
    store.keep_secret(id.trace, id.sequence, &bytes)?;
    let said = say(sealed);
    if said.as_ref().is_err_and(|error| !error.code.is_uncertain()) {
        store.forget_secret(id.trace, id.sequence)?;
    }
    said
}
