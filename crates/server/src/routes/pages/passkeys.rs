//! The page on which one looks after passkeys. What it does is done by its script with the operations of the API: nothing is signed
//! without one.

use axum::{extract::State, response::Response};
use demur_api::operation::{self as op, Operation as _};
use demur_desk::passkey::PASSKEYS_PATH;
use demur_web::{frame::Here, passkey::PasskeysPage};
use hyper::{Method, StatusCode};
use serde::Deserialize;

use super::{Visiting, listed, page};
use crate::{
    api::{Api, Route},
    problem::Problem,
    read::Parameters,
    service::Shared,
};

/// Adds the page.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, PASSKEYS_PATH, op::ListPasskeys::ABOUT.scopes), show)
}

#[derive(Clone, Debug, Default, Deserialize)]
struct PasskeysParameters {
    done: Option<String>,
}

async fn show(
    State(service): State<Shared>,
    visiting: Visiting,
    Parameters(parameters): Parameters<PasskeysParameters>,
) -> Result<Response, Problem> {
    let listed = listed::<op::ListPasskeys>(&service, &visiting.caller).await?;
    let frame = visiting.signing_frame(&service, Here::Settings).await?;
    let visitor = frame.visitor.as_ref().ok_or_else(demur_desk::access::stranger)?;
    let person = visiting.caller.person().and_then(|token| token.person);
    let person = person.map(|person| person.to_string()).unwrap_or_default();
    let done = parameters.done.unwrap_or_default();
    page(StatusCode::OK, &PasskeysPage::new(&frame, visitor, &person, listed, &done))
}
