//! The pages of the inbox: each reads what the desk says, and `demur-web` turns it into HTML. What a form asks for goes
//! through the same functions of the desk as every other door.

mod assets;
mod confirmations;
mod form;
mod live;
mod passkeys;
mod people;
mod questions;
mod review;
mod session;
mod sessions;
mod settings;
mod shown;
mod touch;
mod traces;
mod verification;

use std::sync::LazyLock;

use askama::Template;
use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{NoArguments, Nothing, Operation},
    refusal::Refusal,
    scope::Scope,
};
use demur_core::limit::LimitError;
use demur_desk::{access::Caller, desk::Desk, entry::Handle, person::SIGN_IN_PATH};
use demur_web::{
    frame::{Frame, Here, key_script_hash},
    notice::{Message, Refused, SignIn, SignedOut, script_hash, sign_in_script_hash, style_hash},
};
use hyper::{HeaderMap, Method, StatusCode, header, header::HeaderValue};

pub(crate) use form::Form;
pub(crate) use session::Visiting;

use crate::{api::Api, credentials::Transport, problem::Problem, service::Shared};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    let api = assets::add(api);
    let api = confirmations::add(api);
    let api = live::add(api);
    let api = passkeys::add(api);
    let api = people::add(api);
    let api = questions::add(api);
    let api = review::add(api);
    let api = sessions::add(api);
    let api = settings::add(api);
    let api = shown::add(api);
    let api = touch::add(api);
    let api = traces::add(api);
    let api = verification::add(api);
    session::add(api)
}

/// Returns what an operation lists that takes no arguments.
async fn listed<O>(service: &Shared, caller: &Caller) -> Result<O::Output, Problem>
where
    O: Operation<Path = NoArguments, Query = Nothing, Body = Nothing>,
    Desk: Handle<O>,
{
    let request = ApiRequest::<O>::get(NoArguments {}, Nothing {});
    Ok(service.desk.call(caller, request).await?.document)
}

/// Returns the reply to a form that leads on to a page.
fn see_other(place: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, place.to_owned())]).into_response()
}

/// Returns the problem with a field that is too long, or empty.
fn limit(field: &str, error: &LimitError) -> Problem {
    Problem::malformed(format!("the {field}: {error}"))
}

/// Returns a page.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Result<Response, Problem> {
    let mut response = respond(status, template)?;
    set_policy(response.headers_mut(), &POLICY);
    Ok(response)
}

/// Returns a page for somebody who is not signed in: it needs nothing but itself.
pub(crate) fn stranger_page(status: StatusCode, template: &impl Template) -> Result<Response, Problem> {
    page_for_stranger(status, template, &script_hash())
}

/// Returns the page on which somebody signs in; its script asks this server what a passkey is to sign.
pub(crate) fn sign_in_page() -> Result<Response, Problem> {
    let scripts = format!("{}; connect-src 'self'", sign_in_script_hash());
    page_for_stranger(StatusCode::OK, &SignIn::new(), &scripts)
}

fn page_for_stranger(
    status: StatusCode,
    template: &impl Template,
    scripts: &str,
) -> Result<Response, Problem> {
    let mut response = respond(status, template)?;
    let style = style_hash();
    let policy =
        format!("default-src 'none'; style-src {style}; script-src {scripts}; img-src data:; {NO_FRAMES}");
    set_policy(response.headers_mut(), &policy);
    Ok(response)
}

fn respond(status: StatusCode, template: &impl Template) -> Result<Response, Problem> {
    let text = template.render().map_err(|error| Refusal::bug(&error))?;
    Ok((status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response())
}

fn set_policy(headers: &mut HeaderMap, policy: &str) {
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // Without any referrer a browser would not say either which page a form is of.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
}

/// Turns what a page refuses into a page, but for a script that asks for JSON. Strangers are told how to sign in, and keep what they typed.
pub(crate) async fn answer_with_pages(request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Caller>().cloned().unwrap_or(Caller::Stranger);
    if caller.is_stranger()
        && let Some(elsewhere) = elsewhere(&request)
    {
        return elsewhere;
    }
    let visiting = Visiting::of(&request);
    let (parts, body) = request.into_parts();
    let action = parts.uri.path().to_owned();
    let is_script = parts.headers.get(header::ACCEPT).is_some_and(|media| media == "application/json");
    let (body, draft) = match &caller {
        // The code of a link is no draft.
        Caller::Stranger if action != SIGN_IN_PATH => form::keep(&parts.headers, body).await,
        Caller::Local { .. } | Caller::Token(_) | Caller::Stranger => (body, Vec::new()),
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    let Some(problem) = response.extensions().get::<Problem>().filter(|_| !is_script).cloned() else {
        return response;
    };
    let shown = match &caller {
        Caller::Stranger if action == SIGN_IN_PATH => stranger_page(
            problem.status(),
            &Refused::new(&problem.refusal().message, problem.refusal().cure.as_deref()),
        ),
        Caller::Stranger => {
            let limited = problem.status() == StatusCode::TOO_MANY_REQUESTS;
            let wait = problem.refusal().cure.as_deref().filter(|_| limited);
            stranger_page(problem.status(), &SignedOut::new(&draft, &action, wait))
        }
        Caller::Local { .. } | Caller::Token(_) => {
            page(problem.status(), &message(&visiting.frame(Here::Elsewhere), &problem))
        }
    };
    let Ok(mut shown) = shown else { return response };
    if let Some(seconds) = response.headers().get(header::RETRY_AFTER) {
        shown.headers_mut().insert(header::RETRY_AFTER, seconds.clone());
    }
    shown
}

/// Leads a browser to the name of the pages: a cookie of that name goes to no other program of this machine that answers at
/// `localhost`. Nothing that changes something is led on.
fn elsewhere(request: &Request) -> Option<Response> {
    let Some(Transport::Tcp(names)) = request.extensions().get::<Transport>() else { return None };
    if names.is_of_pages(request.headers()) {
        return None;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let detail = format!("expected a form of {}, found one sent to another name", names.page_origin);
        return Some(Problem::new(Code::HostForbidden, detail).into_response());
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let place = format!("{}{path}", names.page_origin);
    Some((StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, place)]).into_response())
}

fn message<'a>(frame: &'a Frame, problem: &'a Problem) -> Message<'a> {
    let words = frame.words;
    let title = if problem.status() == StatusCode::NOT_FOUND { words.not_found } else { words.problem };
    let refusal = problem.refusal();
    Message { frame, title, detail: &refusal.message, hint: refusal.cure.as_deref() }
}

/// Who may look.
pub(crate) const LOOKING: &[Scope] = &[Scope::Read];
/// Who may answer.
pub(crate) const ANSWERING: &[Scope] = &[Scope::Answer];

/// Nothing from elsewhere, nothing inline but the one script that puts the key into forms, in nobody's frame.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let key_script = key_script_hash();
    format!(
        "default-src 'none'; script-src 'self' {key_script}; style-src 'self'; img-src 'self'; connect-src 'self'; {NO_FRAMES}"
    )
});
/// What pages for strangers allow besides.
const NO_FRAMES: &str = "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
