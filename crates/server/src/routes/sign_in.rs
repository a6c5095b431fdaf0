//! Signing in with a browser: `demur open` makes a link, the page behind it has one button, and the button spends the link.
//! A link that is only looked at (by a preview, a scanner, a second tab) is not spent: GET never signs anybody in.

use axum::{
    Extension,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use demur_api::{code::Code, operation as op, scope::Scope};
use demur_desk::person::{self, SESSION_TIMEOUT, SIGN_IN_PATH};
use demur_web::notice::SignIn;
use hyper::{HeaderMap, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    api::{Api, Route},
    credentials::Transport,
    limits::Peer,
    problem::Problem,
    read::{self, Parameters},
    routes::pages,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::MakeSignInLink>()
        .with(Route::page(Method::GET, SIGN_IN_PATH, OPEN), page)
        .with(Route::page(Method::POST, SIGN_IN_PATH, OPEN), sign_in)
}

/// The code in a link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignInParameters {
    /// The code, 64 hexadecimal digits.
    code: Option<String>,
}

async fn page(
    State(service): State<Shared>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Parameters(code): Parameters<SignInParameters>,
) -> Result<Response, Problem> {
    if let Some(code) = code.code {
        let asked = code.clone();
        if service.work(move |desk| desk.knows_link(&asked)).await? {
            return pages::stranger_page(StatusCode::OK, &SignIn::new(&code));
        }
    }
    // What a page of another site asks for in passing is no attempt of whoever looks at it.
    if headers.get("sec-fetch-dest").is_none_or(|value| value == "document") {
        attempt(&service, peer)?;
    }
    Err(person::link_spent().into())
}

async fn sign_in(
    State(service): State<Shared>,
    Extension(way): Extension<Transport>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Result<Response, Problem> {
    // A page of another site could send its own visitor here, to answer under a name that is not theirs.
    if request.headers().get(header::ORIGIN).is_none() {
        return Err(Problem::new(Code::OriginForbidden, "expected a request from the page, found another"));
    }
    let Transport::Tcp(names) = way else { return Err(person::link_spent().into()) };
    attempt(&service, peer)?;
    let bytes = read::read(request.into_body(), MAX_FORM_BYTES, service.timeouts().body).await?;
    let code = std::str::from_utf8(&bytes).ok().and_then(|form| form.strip_prefix("code="));
    let code = code.unwrap_or_default().to_owned();
    let secret = service.work(move |desk| desk.sign_in(&code)).await?;
    let cookie = names.set_cookie(&names.cookie, &secret, SESSION_TIMEOUT.as_secs());
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, HOME.to_owned())];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

/// Counts an attempt to sign in.
fn attempt(service: &Shared, peer: Option<Extension<Peer>>) -> Result<(), Problem> {
    let Some(Extension(peer)) = peer else { return Ok(()) };
    service.limits.sign_in.take(&peer, service.desk.now()?).map_err(Problem::from)
}

const OPEN: &[Scope] = &[];
/// No form is longer.
const MAX_FORM_BYTES: usize = 256;
/// Where the browser goes on.
const HOME: &str = "/";
