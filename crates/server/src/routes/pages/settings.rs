//! How the inbox behaves for one browser, kept in a cookie of that browser: nobody else needs to know.

use axum::{
    extract::{Extension, State},
    response::{IntoResponse as _, Response},
};
use demur_web::{
    frame::{Here, Level},
    settings::Settings,
};
use hyper::{HeaderMap, Method, StatusCode, header, http::Extensions};
use serde::Deserialize;

use super::{Form, LOOKING, Visiting, page, sessions};
use crate::{
    api::{Api, Route},
    credentials::{Names, Transport, cookie_value},
    problem::Problem,
    read::Parameters,
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, "/settings", LOOKING), show)
        .with(Route::page(Method::POST, "/settings", LOOKING), change)
}

/// How somebody wants to see questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    pub(super) level: Level,
    pub(super) keys: bool,
}

impl View {
    /// Returns what the browser says; the usual where it says nothing that is known.
    pub(super) fn of(headers: &HeaderMap, extensions: &Extensions) -> Self {
        let Some(Transport::Tcp(names)) = extensions.get::<Transport>() else { return Self::default() };
        cookie_value(headers, &view_cookie(names)).and_then(Self::read).unwrap_or_default()
    }

    fn read(text: &str) -> Option<Self> {
        let (level, keys) = text.split_once('.')?;
        Some(Self { level: Level::from_word(level)?, keys: keys == KEYS_ON })
    }

    fn write(self) -> String {
        format!("{}.{}", self.level.as_str(), if self.keys { KEYS_ON } else { KEYS_OFF })
    }
}

/// Returns the name of the cookie, which carries the port like that of the session.
fn view_cookie(names: &Names) -> String {
    names.cookie.replace("session", "view")
}

#[derive(Clone, Debug, Default, Deserialize)]
struct SettingsParameters {
    saved: Option<String>,
}

async fn show(
    State(service): State<Shared>,
    visiting: Visiting,
    Parameters(parameters): Parameters<SettingsParameters>,
) -> Result<Response, Problem> {
    let frame = visiting.frame(Here::Settings);
    // The reader's own: those of others stand on another page.
    let own = visiting.caller.person().map(|token| token.name.to_string());
    let mut sessions = sessions::rows(&service, &visiting.caller).await?;
    sessions.retain(|row| own.as_deref() == Some(row.person.as_str()));
    page(StatusCode::OK, &Settings { frame: &frame, saved: parameters.saved.is_some(), sessions })
}

async fn change(Extension(way): Extension<Transport>, form: Form) -> Result<Response, Problem> {
    form.check_key()?;
    let Transport::Tcp(names) = way else {
        return Err(Problem::malformed("expected a browser that is signed in, found none"));
    };
    let level = form.one("level").and_then(|word| Level::from_word(&word)).unwrap_or_default();
    let view = View { level, keys: form.one("keys").is_some() };
    let set = names.set_cookie(&view_cookie(&names), &view.write(), COOKIE_LIFETIME_SECONDS);
    let headers = [(header::SET_COOKIE, set), (header::LOCATION, "/settings?saved=yes".to_owned())];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

const KEYS_ON: &str = "keys";
const KEYS_OFF: &str = "plain";
/// How long a browser remembers: a year.
const COOKIE_LIFETIME_SECONDS: u64 = 31_536_000;
