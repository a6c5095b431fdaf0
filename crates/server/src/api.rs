//! The table of routes. Each is a handler and a description at once, so that the API document names everything that is served,
//! and a route is open only where its description says so.

use axum::{
    Router,
    extract::Request,
    handler::Handler,
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::MethodFilter,
};
use demur_api::{
    code::Code,
    operation::{self, About, ApiDocument as _},
    scope::Scope,
};
use demur_desk::access::{self, Caller};
use hyper::{Method, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::{
    credentials::{FORM_KEY_HEADER, FormKey},
    limits::TooMany,
    problem::Problem,
    routes::pages,
    service::Shared,
};

/// One thing that can be done.
#[must_use]
pub struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Its name for programs.
    pub(crate) id: &'static str,
    /// What it does, in one sentence.
    pub(crate) summary: &'static str,
    /// Who may: any of these. Empty where everybody may.
    pub(crate) scopes: &'static [Scope],
    pub(crate) query: Option<MakeSchema>,
    pub(crate) request: Option<(MakeSchema, &'static str)>,
    pub(crate) headers: &'static [Header],
    pub(crate) returns: Vec<Returned>,
    /// Whether people look at it in a browser: refusals are pages then, and the API document does not name it.
    pub(crate) is_page: bool,
}

/// Makes the schema of a type.
pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// A header of a request.
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) longest: u64,
}

/// A status of success, and its document.
pub(crate) struct Returned {
    pub(crate) status: StatusCode,
    pub(crate) meaning: &'static str,
    pub(crate) body: Option<(MakeSchema, &'static str)>,
}

impl Route {
    /// Returns an operation that these scopes may use; nobody else may.
    pub fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        scopes: &'static [Scope],
        summary: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            scopes,
            query: None,
            request: None,
            headers: &[],
            returns: Vec::new(),
            is_page: false,
        }
    }

    /// Returns an operation of the API.
    pub fn of<O: operation::Operation>() -> Self {
        let About { id, method, path, scopes, summary, keyed, statuses, .. } = O::ABOUT;
        let method = match method {
            operation::Method::Get => Method::GET,
            operation::Method::Post => Method::POST,
            operation::Method::Put => Method::PUT,
            operation::Method::Delete => Method::DELETE,
        };
        let mut operation = Self::new(method, path, id, scopes, summary);
        if !O::Query::is_nothing() {
            operation = operation.query::<O::Query>();
        }
        if !O::Body::is_nothing() {
            operation.request = Some((schema_of::<O::Body>, JSON));
        }
        if keyed {
            operation = operation.idempotent();
        }
        let body: Option<(MakeSchema, _)> =
            (!O::Output::is_nothing()).then_some((schema_of::<O::Output>, JSON));
        let success = |given: &operation::Success| Returned {
            status: StatusCode::from_u16(given.status).unwrap_or(StatusCode::OK),
            meaning: given.meaning,
            body,
        };
        operation.returns = statuses.iter().map(success).collect();
        operation
    }

    /// Returns a page of the inbox that these scopes may see or use; nobody else may.
    pub fn page(method: Method, path: &'static str, scopes: &'static [Scope]) -> Self {
        Self { is_page: true, ..Self::new(method, path, path, scopes, "") }
    }

    /// Returns the operation with these parameters in the query.
    pub fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(schema_of::<T>);
        self
    }

    /// Returns the operation with bytes of this media type in its request.
    pub fn takes_bytes(mut self, media: &'static str) -> Self {
        self.request = Some((binary, media));
        self
    }

    /// Returns the operation with the header that makes a retry safe.
    pub fn idempotent(mut self) -> Self {
        self.headers = &[Header {
            name: "Idempotency-Key",
            meaning: "The same request under the same key is recorded once, for good.",
            longest: 256,
        }];
        self
    }

    /// Returns the operation with a JSON document that comes back.
    pub fn gives<T: JsonSchema>(mut self, status: StatusCode, meaning: &'static str) -> Self {
        self.returns.push(Returned { status, meaning, body: Some((schema_of::<T>, JSON)) });
        self
    }

    /// Returns the operation with a text of this media type that comes back.
    pub fn gives_text(mut self, meaning: &'static str, media: &'static str) -> Self {
        let body: (MakeSchema, _) = (|_| schemars::json_schema!({"type": "string"}), media);
        self.returns.push(Returned { status: StatusCode::OK, meaning, body: Some(body) });
        self
    }

    /// Returns the operation with bytes of this media type that come back.
    pub fn gives_bytes(mut self, meaning: &'static str, media: &'static str) -> Self {
        let body: (MakeSchema, _) = (binary, media);
        self.returns.push(Returned { status: StatusCode::OK, meaning, body: Some(body) });
        self
    }

    /// Returns its method.
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// Returns its path, with the names of its arguments in braces.
    pub const fn path(&self) -> &'static str {
        self.path
    }

    /// Returns its name for programs.
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// Returns which scopes may; any of them is enough, and where there is none everybody may.
    pub const fn scopes(&self) -> &'static [Scope] {
        self.scopes
    }

    /// Returns whether it is a page for people.
    pub const fn is_page(&self) -> bool {
        self.is_page
    }

    /// Returns whether everybody may.
    pub const fn is_open(&self) -> bool {
        self.scopes.is_empty()
    }
}

fn binary(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({"type": "string", "format": "binary"})
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Every operation with its handler.
#[derive(Default)]
pub struct Api {
    router: Router<Shared>,
    operations: Vec<Route>,
}

impl Api {
    /// Adds an operation.
    #[must_use]
    pub fn with<H, T>(mut self, operation: Route, handler: H) -> Self
    where
        H: Handler<T, Shared>,
        T: 'static,
    {
        let filter = MethodFilter::try_from(operation.method.clone()).unwrap_or(MethodFilter::GET);
        let (scopes, is_page) = (operation.scopes, operation.is_page);
        let gate = middleware::from_fn(move |request: Request, next: Next| {
            let foreign = (!is_page).then(|| foreign_to_session(&request)).flatten();
            async move {
                match foreign {
                    Some(problem) => problem.into_response(),
                    None => admit(scopes, request, next).await,
                }
            }
        });
        let mut route = axum::routing::on(filter, handler).layer(gate);
        if operation.is_page {
            route = route.layer(middleware::from_fn(pages::answer_with_pages));
        }
        self.router = self.router.route(operation.path, route);
        self.operations.push(operation);
        self
    }

    /// Returns the routes and their descriptions.
    pub fn into_parts(self) -> (Router<Shared>, Vec<Route>) {
        (self.router, self.operations)
    }
}

/// Returns why a request counts for nothing that came with the cookie of a session and without its key. What pages send carries the
/// key as a field of the form.
fn foreign_to_session(request: &Request) -> Option<Problem> {
    let key = request.extensions().get::<FormKey>()?;
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    (!looks && !key.is_in(request.headers())).then(|| {
        let detail = format!("expected the key of this session in {FORM_KEY_HEADER}, found none");
        Problem::new(Code::FormForeign, detail).with_cure("programs use a token: `demur token new` makes one")
    })
}

/// Lets a request through if its caller may do this.
pub(crate) async fn admit(scopes: &'static [Scope], request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Caller>().cloned().unwrap_or(Caller::Stranger);
    if let Some(limited) = request.extensions().get::<TooMany>().filter(|_| !scopes.is_empty()) {
        return Problem::from(*limited).into_response();
    }
    match access::admit(&caller, scopes) {
        Ok(_) => next.run(request).await,
        Err(refusal) => Problem::from(refusal).into_response(),
    }
}

/// Answers for a path that there is none of. Strangers hear the same as about a path that is closed to them.
pub(crate) async fn nothing_here(request: Request) -> Problem {
    match request.extensions().get::<Caller>() {
        Some(caller) if !caller.is_stranger() => {
            Problem::new(Code::NotFound, "expected a path of the API, found another")
                .with_cure("GET /v1/openapi.json names them")
        }
        // Clients look here for ways to sign in before they have a token: that there are none is no secret.
        _ if request.uri().path().starts_with("/.well-known/") => {
            let detail = "expected a well-known address that this server has, found another";
            Problem::new(Code::NotFound, detail)
        }
        _ => access::stranger().into(),
    }
}

pub(crate) async fn wrong_method(request: Request) -> Problem {
    match request.extensions().get::<Caller>() {
        Some(caller) if !caller.is_stranger() => {
            let detail = format!("expected a method that this path has, found {}", request.method());
            Problem::new(Code::MethodNotAllowed, detail)
        }
        _ => access::stranger().into(),
    }
}

/// The media type of documents.
pub(crate) const JSON: &str = "application/json";
