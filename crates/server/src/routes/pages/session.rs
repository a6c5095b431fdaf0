//! Whoever looks at a page, and how to end that.

use axum::{
    extract::{Extension, FromRequestParts, Request, State},
    response::{IntoResponse as _, Response},
};
use demur_api::{person::PersonRole, scope::Scope};
use demur_desk::access::Caller;
use demur_web::frame::{Frame, Here, Visitor};
use hyper::{
    HeaderMap, Method, StatusCode, header,
    http::{Extensions, request::Parts},
};

use super::{Form, LOOKING, settings::View};
use crate::{
    api::{Api, Route},
    credentials::{FormKey, Transport},
    problem::Problem,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::POST, "/sign-out", LOOKING), sign_out)
}

/// Whoever looks at a page.
#[derive(Clone, Debug)]
pub(crate) struct Visiting {
    /// Who calls.
    pub(crate) caller: Caller,
    form_key: String,
    /// Whether people are looked after from here.
    is_public: bool,
    view: View,
}

impl Visiting {
    /// Returns who sent this request.
    pub(crate) fn of(request: &Request) -> Self {
        Self::from_head(request.headers(), request.extensions())
    }

    fn from_head(headers: &HeaderMap, extensions: &Extensions) -> Self {
        let caller = extensions.get::<Caller>().cloned().unwrap_or(Caller::Stranger);
        let form_key = extensions.get::<FormKey>().map(|key| key.shown.clone()).unwrap_or_default();
        let is_public =
            matches!(extensions.get::<Transport>(), Some(Transport::Tcp(names)) if names.is_public);
        Self { caller, form_key, is_public, view: View::of(headers, extensions) }
    }

    /// Returns the frame of a page.
    pub(crate) fn frame(&self, here: Here) -> Frame {
        Frame::new(here, self.visitor())
    }

    /// Returns the same where the page depends on whether this one has a passkey.
    pub(crate) async fn signing_frame(&self, service: &Shared, here: Here) -> Result<Frame, Problem> {
        let mut frame = self.frame(here);
        if let Some(visitor) = &mut frame.visitor {
            let caller = self.caller.clone();
            visitor.credentials = service.work(move |desk| desk.credentials_here(&caller)).await?;
        }
        Ok(frame)
    }

    fn visitor(&self) -> Option<Visitor> {
        let (name, role) = match &self.caller {
            Caller::Local { name, .. } => (name.as_str(), PersonRole::Operator),
            Caller::Token(token) => (token.name.as_str(), token.role.unwrap_or(PersonRole::Auditor)),
            Caller::Stranger => return None,
        };
        Some(Visitor {
            name: name.to_owned(),
            role: role.as_str(),
            may_answer: self.caller.may(super::ANSWERING),
            form_key: self.form_key.clone(),
            bound: self
                .caller
                .person()
                .and_then(|token| token.browser.as_ref()?.bound)
                .map(|key| key.to_string()),
            administers: self.is_public && self.caller.may(&[Scope::Administer]),
            level: self.view.level,
            keys: self.view.keys,
            assurance: self.caller.attribution().root.bears(),
            credentials: Vec::new(),
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visiting {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self::from_head(&parts.headers, &parts.extensions))
    }
}

async fn sign_out(
    State(service): State<Shared>,
    Extension(way): Extension<Transport>,
    visiting: Visiting,
    form: Form,
) -> Result<Response, Problem> {
    form.check_key()?;
    let (Caller::Token(_), Transport::Tcp(names)) = (&visiting.caller, way) else {
        return Err(Problem::malformed("expected a browser that is signed in, found none"));
    };
    service.work(move |desk| desk.sign_out(&visiting.caller)).await?;
    let cookie = names.set_cookie(&names.cookie, "", 0);
    Ok((StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())])
        .into_response())
}
