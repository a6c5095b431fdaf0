//! What keeps an open page up to date: server-sent events for whoever is signed in. They say that a question was asked, or that
//! something became of one, and the same of confirmations; never their words. Whoever is too slow, or comes back too late, is told to look at the page again.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::State,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use demur_api::{confirmation::ConfirmationId, question::QuestionId};
use demur_desk::{
    follower::{ChangedConfirmation, ChangedQuestion, QuestionChange},
    watch::{Cursor, Interest, News, Watch},
};
use demur_ledger::facts::Severity;
use hyper::{HeaderMap, Method, header};
use serde::Serialize;

use super::{LOOKING, Visiting};
use crate::{
    api::{Api, Route},
    places::OwnPlace,
    problem::Problem,
    service::Shared,
    watching::watching,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, "/live", LOOKING), live)
}

async fn live(
    State(service): State<Shared>,
    visiting: Visiting,
    Extension(place): Extension<OwnPlace>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // A place that cannot be read is as unknown as one that is long gone.
    let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default());
    let after = last.map(|last| last.parse().unwrap_or_default());
    place.wait()?;
    let watch = service.desk.watch(&visiting.caller, Interest::Questions, after)?;
    let head = [
        (header::CONTENT_TYPE, "text/event-stream"),
        // A proxy that gathers would make it late.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((head, Body::from_stream(watching(watch, text))).into_response())
}

/// Returns what a browser is sent.
fn text(watch: &Watch, news: News) -> Option<Bytes> {
    Some(match news {
        News::Begins(place) => beginning(watch, "begin", place),
        News::Resumes(place) => beginning(watch, "resumed", place),
        News::Missed(place) => beginning(watch, "reload", place),
        News::Questions(changes) => joined(&changes),
        News::Quiet => Bytes::from_static(b":\n\n"),
        News::Event(..) => return None,
    })
}

/// Says from where on a browser is told, and how long it waits before it comes back.
fn beginning(watch: &Watch, name: &str, place: Cursor) -> Bytes {
    // After a restart they do not all come back in the same moment.
    let retry = 1000 + watch.others() * 97 % 2000;
    format!("retry: {retry}\nid: {place}\nevent: {name}\ndata: {{}}\n\n").into()
}

/// Returns messages in one piece. Most come alone, and are the same bytes for everybody.
fn joined(changes: &[Arc<QuestionChange>]) -> Bytes {
    if let [only] = changes {
        return only.written(message);
    }
    let mut all = Vec::new();
    for change in changes {
        all.extend_from_slice(&change.written(message));
    }
    all.into()
}

fn message(change: &QuestionChange) -> Bytes {
    let mut parts: Vec<_> = change.questions.iter().map(told).collect();
    parts.extend(change.confirmation.as_ref().map(told_confirmation));
    if let Some(last) = parts.last_mut() {
        // Whoever remembers the place has got everything that stands before it.
        last.insert_str(0, &format!("id: {}\n", change.at));
    }
    parts.concat().into()
}

/// What a browser learns about a question.
#[derive(Serialize)]
struct Told {
    question: QuestionId,
    state: &'static str,
    severity: Severity,
    people: bool,
}

/// What a browser learns about a confirmation.
#[derive(Serialize)]
struct ToldConfirmation {
    confirmation: ConfirmationId,
    state: &'static str,
    people: bool,
}

fn told_confirmation(changed: &ChangedConfirmation) -> String {
    let ChangedConfirmation { id, state, people } = *changed;
    let told = ToldConfirmation { confirmation: id, state: state.as_str(), people };
    let data = serde_json::to_string(&told).unwrap_or_default();
    format!("event: confirmation\ndata: {data}\n\n")
}

fn told(question: &ChangedQuestion) -> String {
    let ChangedQuestion { id, is_new, state, severity, people } = *question;
    let told = Told { question: id, state: state.as_str(), severity, people };
    let name = if is_new { "asked" } else { "changed" };
    // Plain words and names: there is nothing in them that could not be written.
    let data = serde_json::to_string(&told).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}
