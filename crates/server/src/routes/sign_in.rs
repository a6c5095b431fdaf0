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
use demur_api::{
    code::Code,
    operation,
    person::{Link, NewLink, PersonRole},
    refusal::Refusal,
    scope::Scope,
};
use demur_core::{
    hash::{Digest, sha256},
    limit::Text,
    random::Random as _,
};
use demur_desk::world::World;
use demur_web::notice::SignIn;
use hyper::{HeaderMap, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    api::{Api, Operation},
    gate::Way,
    limits::Peer,
    people,
    problem::Problem,
    read::{self, Document, Parameters},
    routes::pages,
    service::Shared,
    tokens::Wanted,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::MakeSignInLink>(), link)
        .with(Operation::page(Method::GET, PATH, OPEN), page)
        .with(Operation::page(Method::POST, PATH, OPEN), sign_in)
}

/// The code in a link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignInParameters {
    /// The code, 64 hexadecimal digits.
    code: Option<String>,
}

/// Links that nobody has used yet. They do not outlive the server: whoever comes later asks for a new one.
#[derive(Default)]
pub struct Links(Mutex<Vec<Waiting>>);

/// A link that waits.
#[derive(Clone)]
struct Waiting {
    /// The digest of its code.
    code: Digest,
    until: Instant,
    /// Who signs in with it; otherwise the user of this machine.
    person: Option<Text<1, 64>>,
}

impl Links {
    fn open(&self) -> MutexGuard<'_, Vec<Waiting>> {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| Instant::now() < link.until);
        links
    }

    fn make(&self, person: Option<Text<1, 64>>) -> Result<String, Refusal> {
        let mut bytes = [0; 32];
        World::open()?.fill(&mut bytes);
        let code = sha256(&bytes).to_string();
        self.keep(Waiting { code: sha256(code.as_bytes()), until: Instant::now() + GOOD_FOR, person });
        Ok(code)
    }

    fn keep(&self, link: Waiting) {
        let mut links = self.open();
        if links.len() >= MOST {
            links.remove(0);
        }
        links.push(link);
    }

    fn knows(&self, code: &str) -> bool {
        let digest = sha256(code.as_bytes());
        self.open().iter().any(|link| link.code == digest)
    }

    /// Takes the link of a code, which is good once.
    fn spend(&self, code: &str) -> Option<Waiting> {
        let digest = sha256(code.as_bytes());
        let mut links = self.open();
        let at = links.iter().position(|link| link.code == digest)?;
        Some(links.remove(at))
    }

    /// Forgets the links of somebody.
    pub(crate) fn forget(&self, name: &str) {
        self.open().retain(|link| link.person.as_deref().is_none_or(|person| !people::same(person, name)));
    }
}

async fn link(State(service): State<Shared>, Document(new): Document<NewLink>) -> Result<Response, Problem> {
    let address = service.address().ok_or_else(|| {
        Refusal::new(Code::NoTcp, "expected a server that listens on TCP, found one that does not")
            .with_cure("start it without --no-tcp")
    })?;
    let made = service.work(move |service, owner| {
        let _turn = service.people_turn();
        let person = new.person.map(|name| people::find(owner, &name)).transpose()?;
        service.links.make(person.map(|person| person.name))
    });
    let link = Link { url: format!("{address}{PATH}?code={}", made.await?), seconds: GOOD_FOR.as_secs() };
    Ok((StatusCode::CREATED, Json(link)).into_response())
}

async fn page(
    State(service): State<Shared>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Parameters(code): Parameters<SignInParameters>,
) -> Result<Response, Problem> {
    let code = code.code.filter(|code| is_code(code));
    if let Some(code) = code.as_ref().filter(|code| service.links.knows(code)) {
        return pages::stranger_page(StatusCode::OK, &SignIn::new(code));
    }
    // What a page of another site asks for in passing is no attempt of whoever looks at it.
    if headers.get("sec-fetch-dest").is_none_or(|value| value == "document") {
        attempt(&service, peer)?;
    }
    Err(spent())
}

async fn sign_in(
    State(service): State<Shared>,
    Extension(way): Extension<Way>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Result<Response, Problem> {
    // A page of another site could send its own visitor here, to answer under a name that is not theirs.
    if request.headers().get(header::ORIGIN).is_none() {
        return Err(Problem::new(Code::OriginForbidden, "expected a request from the page, found another"));
    }
    let Way::Tcp(names) = way else { return Err(spent()) };
    attempt(&service, peer)?;
    let bytes = read::read(request.into_body(), LONGEST, service.patience().body).await?;
    let code =
        std::str::from_utf8(&bytes).ok().and_then(|form| form.strip_prefix("code=")).map(str::to_owned);
    let link = code.filter(|code| is_code(code)).and_then(|code| service.links.spend(&code));
    let link = link.ok_or_else(spent)?;
    let person = link.person.clone();
    let made = service.work(move |service, owner| {
        let _turn = service.people_turn();
        let (name, role) = match &person {
            // Somebody may have been removed since, or have another role now.
            Some(name) => people::find(owner, name).map(|person| (person.name.to_string(), person.role))?,
            None => (service.user.to_string(), PersonRole::Operator),
        };
        let wanted = Wanted::session(&name, role, SIGNED_IN_FOR.as_secs())?;
        service.tokens.create_session(owner, wanted)
    });
    let (_, secret) = match made.await {
        Ok(made) => made,
        Err(problem) if problem.code() == Code::PersonUnknown => return Err(spent()),
        Err(problem) => {
            // A link that brought nothing is good again.
            service.links.keep(link);
            return Err(problem);
        }
    };
    let cookie = names.set_cookie(&secret, SIGNED_IN_FOR.as_secs());
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, HOME.to_owned())];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

/// Counts an attempt to sign in.
fn attempt(service: &Shared, peer: Option<Extension<Peer>>) -> Result<(), Problem> {
    let Some(Extension(peer)) = peer else { return Ok(()) };
    service.limits.sign_in.take(&peer, service.premises.now()?).map_err(Problem::from)
}

fn spent() -> Problem {
    let detail =
        "expected a link that is good, found one that was used, is older than five minutes, or is none";
    Problem::new(Code::LinkSpent, detail).with_cure("`demur open` makes a new one")
}

fn is_code(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const OPEN: &[Scope] = &[];
/// How long a link is good.
const GOOD_FOR: Duration = Duration::from_mins(5);
/// How long a browser stays signed in.
const SIGNED_IN_FOR: Duration = Duration::from_hours(12);
/// How many links wait at once.
const MOST: usize = 16;
/// No form is longer.
const LONGEST: usize = 256;
/// Where a link leads.
pub(super) const PATH: &str = "/sign-in";
/// Where the browser goes on.
const HOME: &str = "/";
