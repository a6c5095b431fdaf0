//! The script of a page says which questions somebody had before the eyes. It says so with the key of the session: no other page can,
//! and nothing that a browser fetches in passing does. Without a script the answer itself says it.

use axum::extract::State;
use demur_api::question::QuestionId;
use demur_web::frame::Level;
use hyper::{Method, StatusCode};

use super::{
    Form, LOOKING, Visiting,
    questions::{look_at, wording},
};
use crate::{
    api::{Api, Route},
    problem::Problem,
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::POST, "/shown", LOOKING), shown)
}

async fn shown(State(service): State<Shared>, visiting: Visiting, form: Form) -> Result<StatusCode, Problem> {
    form.check_key()?;
    let level = form.one("level").and_then(|word| Level::from_word(&word)).unwrap_or_default();
    let mut questions = Vec::new();
    for id in form.all("question").take(MAX_QUESTIONS) {
        let id: QuestionId = id
            .parse()
            .map_err(|_| Problem::malformed("expected the id of a question, found another word"))?;
        questions.push(look_at(&service, &visiting.caller, id).await?);
    }
    service.desk.note_shown(&visiting.caller, &questions, wording(level));
    Ok(StatusCode::NO_CONTENT)
}

/// How many questions are before somebody's eyes at once.
const MAX_QUESTIONS: usize = 32;
