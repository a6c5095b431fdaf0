//! What a form of the inbox sends, read with limits. What changes something carries the key of its session, so that no
//! other page can send it.

use axum::{
    body::Body,
    extract::{FromRequest, Request},
};
use demur_api::code::Code;
use hyper::HeaderMap;
use zeroize::Zeroize as _;

use crate::{
    body_room,
    credentials::FormKey,
    problem::Problem,
    read::{self, expect_media},
    service::Shared,
};

/// The fields of a form, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
    key: Option<FormKey>,
}

/// What was typed may be a secret.
impl Drop for Form {
    fn drop(&mut self) {
        self.fields.iter_mut().for_each(|(_, value)| value.zeroize());
    }
}

impl Form {
    /// Returns the first field of this name, as a browser gives it back that was given it in a page: with one kind of line
    /// end and without what no page can carry. So what is shown for review is what is sent afterwards.
    pub(crate) fn one(&self, name: &str) -> Option<String> {
        let value = self.all(name).next()?;
        Some(value.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{fffd}"))
    }

    /// Returns every field of this name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Checks that the form is of this session: needed before anything changes.
    pub(crate) fn check_key(&self) -> Result<(), Problem> {
        let sent = self.all("form_key").next();
        match &self.key {
            Some(key) if sent.is_some_and(|sent| key.is(sent)) => Ok(()),
            _ => Err(Problem::new(Code::FormForeign, "expected a form of this session, found another")
                .with_cure("nothing was changed; go back, load the page again and send it once more, or sign in again")),
        }
    }
}

impl FromRequest<Shared> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Shared) -> Result<Self, Problem> {
        expect_media(request.headers(), &[MEDIA])?;
        let key = request.extensions().get::<FormKey>().cloned();
        let (bytes, _share) = body_room::read_of(service, request, MAX_FORM_BYTES).await?;
        let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(&bytes)
            .map_err(|_| Problem::malformed("expected the fields of a form, found something else"))?;
        if fields.len() > MAX_FIELDS {
            let detail = format!("expected at most {MAX_FIELDS} fields, found more");
            return Err(Problem::new(Code::TooLarge, detail));
        }
        Ok(Self { fields, key })
    }
}

/// Returns what a stranger typed, to be shown again, and a body for nobody.
pub(super) async fn keep(headers: &HeaderMap, body: Body) -> (Body, Vec<(String, String)>) {
    if expect_media(headers, &[MEDIA]).is_err() {
        return (body, Vec::new());
    }
    let bytes =
        read::read(body, MAX_STRANGER_BYTES, std::time::Duration::from_secs(5)).await.unwrap_or_default();
    let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(&bytes).unwrap_or_default();
    let typed =
        |(name, value): &(String, String)| !["form_key", "secret"].contains(&&**name) && !value.is_empty();
    (Body::empty(), fields.into_iter().filter(typed).take(16).collect())
}

const MEDIA: &str = "application/x-www-form-urlencoded";
/// No form is longer. An answer that is too long by far is still given back, to be made shorter.
const MAX_FORM_BYTES: usize = 1 << 22;
/// How many fields there are at most.
const MAX_FIELDS: usize = 512;
/// How much of what a stranger typed is shown again.
const MAX_STRANGER_BYTES: usize = 1 << 16;
