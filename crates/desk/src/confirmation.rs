//! Confirmations at the desk, the same for every interface: asked for, listed, looked at, given, refused, spent on one start
//! (ONE-09). The engine decides what counts; here requests become commands. Nothing of it is a question.

mod act;
mod ask;
mod handle;
mod view;

use demur_api::refusal::Refusal;
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{facts::ConfirmationExpired, role::Role};
use demur_store::contract::ConfirmationSummary;

pub use act::{give, refuse};
pub use view::view;
pub(crate) use view::{list, seen};

use crate::owner::Owner;

/// Records that nobody said yes in time: that is a no.
pub(crate) fn expire(owner: &Owner, confirmation: &ConfirmationSummary) -> Result<(), Refusal> {
    let facts = ConfirmationExpired { confirmation: confirmation.sequence }.into();
    let first = Saying { role: Role::Desk, facts, content: None };
    match owner.sequencer().record(confirmation.trace, first, Consequences::default()) {
        Ok(_) => Ok(()),
        Err(error) => match Refusal::from(error) {
            // Given or refused meanwhile, here or by another process: there is nothing left to record.
            refusal if refusal.code.is_late() => Ok(()),
            refusal => Err(refusal),
        },
    }
}
