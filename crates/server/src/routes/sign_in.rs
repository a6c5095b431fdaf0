//! Signing in with a browser: `demur open` makes a link, the page behind it has one button, and the button spends the link.
//! A link that is only looked at (by a preview, a scanner, a second tab) is not spent: GET never signs anybody in.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Extension, Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use demur_core::{
    hash::{Digest, sha256},
    random::Random as _,
};
use demur_desk::{error::CommandError, world::World};
use demur_web::notice::SignIn;
use hyper::{Method, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    api::{Api, Operation},
    caller::{PersonRole, Scope},
    gate::Way,
    problem::Problem,
    read::{self, Parameters},
    routes::pages,
    service::Shared,
    tokens::Wanted,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(
        Operation::new(
            Method::POST,
            "/v1/sign-in",
            "signInLink",
            LOCAL,
            "Make a link that signs a browser in, once",
        )
        .gives::<Link>(StatusCode::CREATED, "The link; it is good for five minutes"),
        link,
    )
    .with(
        Operation::new(
            Method::GET,
            "/sign-in",
            "signInPage",
            OPEN,
            "Show the page behind a link; nothing is spent",
        )
        .query::<SignInParameters>()
        .gives_text("A page with one button", "text/html; charset=utf-8"),
        page,
    )
    .with(
        Operation::new(Method::POST, "/sign-in", "signIn", OPEN, "Spend a link and sign the browser in")
            .takes_bytes("application/x-www-form-urlencoded")
            .gives_redirect("Signed in; the browser goes on"),
        sign_in,
    )
}

/// A link that signs a browser in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// To be opened in a browser on this machine.
    pub url: String,
    /// For how many seconds.
    pub seconds: u64,
}

/// The code in a link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignInParameters {
    /// The code, 64 hexadecimal digits.
    code: Option<String>,
}

/// Links that nobody has used yet, by the digest of their code. They do not outlive the server: whoever comes later asks
/// for a new one.
#[derive(Default)]
pub struct Links(Mutex<Vec<(Digest, Instant)>>);

impl Links {
    fn open(&self) -> MutexGuard<'_, Vec<(Digest, Instant)>> {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|(_, until)| Instant::now() < *until);
        links
    }

    fn make(&self) -> Result<String, CommandError> {
        let mut bytes = [0; 32];
        World::open()?.fill(&mut bytes);
        let code = sha256(&bytes).to_string();
        let mut links = self.open();
        if links.len() >= MOST {
            links.remove(0);
        }
        links.push((sha256(code.as_bytes()), Instant::now() + GOOD_FOR));
        Ok(code)
    }

    fn knows(&self, code: &str) -> bool {
        let digest = sha256(code.as_bytes());
        self.open().iter().any(|(known, _)| *known == digest)
    }

    /// Gives a code back that brought nothing.
    fn restore(&self, code: &str) {
        self.open().push((sha256(code.as_bytes()), Instant::now() + GOOD_FOR));
    }

    /// Returns whether the code was good, which it is once.
    fn spend(&self, code: &str) -> bool {
        let digest = sha256(code.as_bytes());
        let mut links = self.open();
        let at = links.iter().position(|(known, _)| *known == digest);
        at.is_some_and(|at| {
            links.remove(at);
            true
        })
    }
}

async fn link(State(service): State<Shared>) -> Result<Response, Problem> {
    let address = service.address().ok_or_else(|| {
        CommandError::refused("NO_TCP", "expected a server that listens on TCP, found one that does not")
            .with_hint("start it without --no-tcp")
    })?;
    let code = service.links.make()?;
    let link = Link { url: format!("{address}/sign-in?code={code}"), seconds: GOOD_FOR.as_secs() };
    Ok((StatusCode::CREATED, Json(link)).into_response())
}

async fn page(
    State(service): State<Shared>,
    Parameters(code): Parameters<SignInParameters>,
) -> Result<Response, Problem> {
    let code = code.code.filter(|code| is_code(code) && service.links.knows(code)).ok_or_else(spent)?;
    pages::stranger_page(StatusCode::OK, &SignIn::new(&code))
}

async fn sign_in(
    State(service): State<Shared>,
    Extension(way): Extension<Way>,
    request: Request,
) -> Result<Response, Problem> {
    // A page of another site could send its own visitor here, to answer under a name that is not theirs.
    if request.headers().get(header::ORIGIN).is_none() {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "ORIGIN_FORBIDDEN",
            "expected a request from the page, found another",
        ));
    }
    let Way::Tcp(names) = way else { return Err(spent()) };
    let bytes = read::read(request.into_body(), LONGEST, service.patience().body).await?;
    let code =
        std::str::from_utf8(&bytes).ok().and_then(|form| form.strip_prefix("code=")).map(str::to_owned);
    let code = code.filter(|code| is_code(code) && service.links.spend(code)).ok_or_else(spent)?;
    let made = service.work(|service, owner| {
        let wanted = Wanted::session(&service.user, PersonRole::Operator, SIGNED_IN_FOR.as_secs())?;
        service.tokens.create_session(owner, wanted)
    });
    let (_, secret) = made.await.inspect_err(|_| service.links.restore(&code))?;
    let (name, seconds) = (&names.cookie, SIGNED_IN_FOR.as_secs());
    let secure = if names.secure { "; Secure" } else { "" };
    let cookie = format!("{name}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, HOME.to_owned())];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

fn spent() -> Problem {
    let detail =
        "expected a link that is good, found one that was used, is older than five minutes, or is none";
    Problem::new(StatusCode::UNAUTHORIZED, "LINK_SPENT", detail).with_hint("`demur open` makes a new one")
}

fn is_code(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const LOCAL: &[Scope] = &[Scope::Local];
const OPEN: &[Scope] = &[];
/// How long a link is good.
const GOOD_FOR: Duration = Duration::from_mins(5);
/// How long a browser stays signed in.
const SIGNED_IN_FOR: Duration = Duration::from_hours(12);
/// How many links wait at once.
const MOST: usize = 16;
/// No form is longer.
const LONGEST: usize = 256;
/// Where the browser goes on.
const HOME: &str = "/";
