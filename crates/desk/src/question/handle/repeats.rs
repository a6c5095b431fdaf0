//! Clients that repeat themselves: what says that a question belongs to a conversation, and that its outcome was heard.

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation as op,
    refusal::Refusal,
};

use crate::{
    access::{Admitted, asker_of},
    desk::Desk,
    entry::{Handle, Handled},
    question::{Once, note_heard},
};

/// How a client asks that may repeat itself.
pub(super) struct Repeating {
    session: String,
    again: bool,
}

impl Repeating {
    /// Returns the conversation that the question belongs to.
    pub(super) fn into_session(self) -> String {
        self.session
    }

    /// Returns the same under the key of the request.
    pub(super) fn under<'a>(&'a self, key: Option<&'a str>) -> Once<'a> {
        Once { session: &self.session, again: self.again, key }
    }
}

/// Returns how a client asks, if it says that it may repeat itself.
pub(super) fn repeating(
    once: Option<String>,
    again: Option<bool>,
    has_key: bool,
) -> Result<Option<Repeating>, Refusal> {
    let again = again.unwrap_or(false);
    match once {
        // A key promises the same question for good, the words only until its outcome was heard.
        Some(_) if has_key && !again => {
            let message =
                "once: expected it without an Idempotency-Key, found one: it makes a retry safe by itself";
            let cure = "leave out one of the two, or ask anew with again=true";
            Err(Refusal::malformed(message).with_cure(cure))
        }
        Some(session) if (1..=256).contains(&session.len()) => Ok(Some(Repeating { session, again })),
        Some(session) => {
            Err(Refusal::malformed(format!("once: expected 1 to 256 bytes, found {}", session.len())))
        }
        None if again => Err(Refusal::malformed("again: expected it beside once, found it alone")),
        None => Ok(None),
    }
}

impl Handle<op::NoteHeard> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::NoteHeard>) -> Handled<op::NoteHeard> {
        let owner = &*self.owner()?;
        for id in &*request.body.questions {
            asker_of(owner, by.caller(), *id, None)?;
            note_heard(owner, *id)?;
        }
        Ok(ApiReply::new(op::Nothing {}))
    }
}
