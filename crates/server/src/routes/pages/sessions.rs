//! Which browsers are signed in, and how to sign them out.

use axum::{extract::State, response::Response};
use demur_api::{
    call::ApiRequest,
    operation::{self as op, Operation as _},
    person::EndSessionsParameters,
};
use demur_desk::access::Caller;
use demur_web::sessions::SessionRow;
use hyper::Method;

use super::{Form, Visiting, listed, see_other};
use crate::{
    api::{Api, Route},
    problem::Problem,
    service::Shared,
};

/// Adds the page.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::POST, "/sessions/end", op::EndSession::ABOUT.scopes), end)
}

/// Returns the sessions that a caller may see; none of a caller who is no person.
pub(super) async fn rows(service: &Shared, caller: &Caller) -> Result<Vec<SessionRow>, Problem> {
    if caller.person().is_none() {
        return Ok(Vec::new());
    }
    let listed = listed::<op::ListSessions>(service, caller).await?;
    Ok(SessionRow::all(listed.sessions, service.desk.now()?))
}

/// Signs one browser out, or all of the person who asks.
async fn end(State(service): State<Shared>, visiting: Visiting, form: Form) -> Result<Response, Problem> {
    form.check_key()?;
    if form.one("all").is_some() {
        let person = visiting.caller.person().map(|token| token.name.to_string());
        let query = EndSessionsParameters { person };
        let request = ApiRequest::<op::EndSessions>::get(op::NoArguments {}, query);
        service.desk.call(&visiting.caller, request).await?;
    } else {
        let sign_in = form.one("session").unwrap_or_default();
        let request = ApiRequest::<op::EndSession>::get(op::OfSignIn { sign_in }, op::Nothing {});
        service.desk.call(&visiting.caller, request).await?;
    }
    let place = if form.one("place").as_deref() == Some("/people") { "/people" } else { "/settings" };
    Ok(see_other(place))
}
