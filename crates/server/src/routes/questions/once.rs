//! Clients that repeat themselves: what says that a question belongs to a conversation, and that its outcome was heard.

use axum::{Extension, extract::State};
use demur_api::{operation, question::Heard};
use demur_desk::question::{self, Once};
use hyper::StatusCode;

use super::asker_of;
use crate::{
    api::{Api, Operation},
    caller::Caller,
    problem::Problem,
    read::Document,
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::NoteHeard>(), heard)
}

/// How a client asks that may repeat itself.
pub(super) struct Repeating {
    session: String,
    again: bool,
}

impl Repeating {
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
) -> Result<Option<Repeating>, Problem> {
    let again = again.unwrap_or(false);
    match once {
        // A key promises the same question for good, the words only until its outcome was heard.
        Some(_) if has_key && !again => {
            let detail =
                "once: expected it without an Idempotency-Key, found one: it makes a retry safe by itself";
            Err(Problem::malformed(detail).with_cure("leave out one of the two, or ask anew with again=true"))
        }
        Some(session) if (1..=256).contains(&session.len()) => Ok(Some(Repeating { session, again })),
        Some(session) => {
            let detail = format!("once: expected 1 to 256 bytes, found {}", session.len());
            Err(Problem::malformed(detail))
        }
        None if again => Err(Problem::malformed("again: expected it beside once, found it alone")),
        None => Ok(None),
    }
}

async fn heard(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Document(given): Document<Heard>,
) -> Result<StatusCode, Problem> {
    let noted = service.work(move |_, owner| {
        for id in &*given.questions {
            asker_of(owner, &caller, *id, None)?;
            question::note_heard(owner, *id)?;
        }
        Ok(())
    });
    noted.await.map(|()| StatusCode::NO_CONTENT)
}
