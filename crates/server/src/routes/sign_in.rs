//! Signing in with a browser: `demur open` makes a code, and a form of this server's own page spends it. The code never stands in an
//! address: it is typed, or comes from a file that `demur open` opens. A file has no origin, so what it sends is shown once more.

use axum::{
    Extension,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use demur_api::{code::Code, operation as op, person::PersonRole, scope::Scope};
use demur_core::{hash::Digest, limit::Text, visible::visible};
use demur_desk::{
    access::Browser,
    person::{self, SIGN_IN_PATH},
};
use demur_web::notice::{SignIn, SignInAs};
use hyper::{HeaderMap, Method, StatusCode, header};
use serde::Deserialize;

use crate::{
    api::{Api, Route},
    credentials::Transport,
    limits::Peer,
    problem::Problem,
    read,
    routes::pages,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::MakeSignInLink>()
        .with(Route::page(Method::GET, SIGN_IN_PATH, OPEN), page)
        .with(Route::page(Method::POST, SIGN_IN_PATH, OPEN), sign_in)
}

/// What the form sends.
#[derive(Clone, Debug, Default, Deserialize)]
struct SignInForm {
    #[serde(default)]
    code: String,
    /// The digest of a key that the script of the page keeps; without a script there is none.
    #[serde(default)]
    key: String,
}

async fn page() -> Result<Response, Problem> {
    pages::stranger_page(StatusCode::OK, &SignIn::new())
}

async fn sign_in(
    State(service): State<Shared>,
    Extension(way): Extension<Transport>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Result<Response, Problem> {
    let Transport::Tcp(names) = way else { return Err(person::link_spent().into()) };
    let (parts, body) = request.into_parts();
    let bytes = read::read(body, MAX_FORM_BYTES, service.timeouts().body).await?;
    let form: SignInForm = serde_urlencoded::from_bytes(&bytes).unwrap_or_default();
    // A page of another site could send its own visitor here, to answer under a name that is not theirs.
    if !names.is_from_page(&parts.headers) {
        return ask_first(&service, peer, form, &parts.headers).await;
    }
    let browser = browser(&parts.headers, peer.as_deref(), &form)?;
    let signed = service.work(move |desk| desk.sign_in(&form.code, &browser)).await;
    let (secret, seconds) = signed.map_err(|problem| counted(&service, peer, problem))?;
    let cookie = names.set_cookie(&names.cookie, &secret, seconds);
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, HOME.to_owned())];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

/// Shows as whom a code signs in, to be sent by a press on this server's own page.
async fn ask_first(
    service: &Shared,
    peer: Option<Extension<Peer>>,
    form: SignInForm,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    if headers.get(header::ORIGIN).is_none_or(|origin| origin != "null") {
        return Err(Problem::new(Code::OriginForbidden, "expected a request from the page, found another"));
    }
    let asked = form.code.clone();
    let found = service.work(move |desk| desk.holder_of_link(&asked)).await;
    let (name, role): (Text<1, 256>, PersonRole) =
        found.map_err(|problem| counted(service, peer, problem))?;
    pages::stranger_page(StatusCode::OK, &SignInAs::new(&form.code, &visible(&name), role.as_str()))
}

/// Counts a code that signs nobody in as an attempt. One that is good is spent however many others were tried: nobody guesses it, and
/// whoever guesses keeps nobody out.
fn counted(service: &Shared, peer: Option<Extension<Peer>>, problem: Problem) -> Problem {
    let (Some(Extension(peer)), Code::LinkSpent) = (peer, problem.refusal().code) else { return problem };
    let taken = service.desk.now().map(|now| service.limits.sign_in.take(&peer, now));
    match taken {
        Ok(Err(limited)) => limited.into(),
        Ok(Ok(())) => problem,
        Err(refusal) => refusal.into(),
    }
}

/// Returns what is known about a browser, for whoever looks at the sessions later: the words of its owner, and proof of nothing.
fn browser(headers: &HeaderMap, peer: Option<&Peer>, form: &SignInForm) -> Result<Browser, Problem> {
    // Other letters than ASCII are no reason to list a browser without a word about it.
    let agent = headers.get(header::USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let agent = agent.unwrap_or_default();
    let bound = match form.key.as_str() {
        "" => None,
        key => Some(
            key.parse::<Digest>()
                .map_err(|_| Problem::malformed("expected the digest of a key, found another word"))?,
        ),
    };
    let address = peer.and_then(|peer| Text::cut(&peer.to_string()).ok());
    Ok(Browser { agent: Text::cut(&agent).ok(), address, bound })
}

const OPEN: &[Scope] = &[];
/// No form is longer.
const MAX_FORM_BYTES: usize = 512;
/// Where the browser goes on.
const HOME: &str = "/";
