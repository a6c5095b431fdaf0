//! What answers without credentials: whether the server lives, what it can do, and the JSON Schemas of every document.

use demur_api::{
    code::Code,
    operation,
    scope::Scope,
    server::{Health, SchemaList},
};
use std::{collections::BTreeMap, sync::Arc};

use axum::Json;
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use hyper::{Method, header};

use crate::{
    api::{Api, JSON, Operation},
    openapi, premises,
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::CheckHealth>(), health)
        .with(Operation::of::<operation::CheckReady>(), ready)
        .with(
            Operation::new(Method::GET, "/v1/openapi.json", "openapi", OPEN, "Describe the API for programs")
                .gives_text("An OpenAPI 3.1 document", JSON),
            document,
        )
        .with(
            Operation::new(Method::GET, "/v1/docs", "docs", OPEN, "Describe the API for people")
                .gives_text("A page", "text/html; charset=utf-8"),
            page,
        )
        .with(Operation::of::<operation::ListSchemas>(), schemas)
        .with(
            Operation::new(Method::GET, "/schemas/{*schema}", "schema", OPEN, "Give one JSON Schema")
                .gives_text("The schema", SCHEMA),
            schema,
        )
}

/// What never changes while the server runs, made once.
pub struct Described {
    openapi: String,
    page: String,
    schemas: BTreeMap<String, String>,
}

impl Described {
    /// Returns the description of these operations.
    pub fn new(operations: &[Operation]) -> Self {
        let document = openapi::document(operations);
        Self { openapi: openapi::text(&document), page: openapi::page(&document), schemas: every_schema() }
    }
}

fn every_schema() -> BTreeMap<String, String> {
    let clarify =
        demur_clarify::schema::all().into_iter().map(|(name, schema)| (format!("clarify/{name}"), schema));
    let ledger =
        demur_ledger::schema::all().into_iter().map(|(name, schema)| (format!("ledger/{name}"), schema));
    let text = |(name, schema): (String, schemars::Schema)| {
        (format!("/schemas/{name}.json"), serde_json::to_string_pretty(&schema).unwrap_or_default())
    };
    clarify.chain(ledger).map(text).collect()
}

async fn health() -> Json<Health> {
    Json(Health { status: "ok".to_owned() })
}

async fn ready(State(service): State<Shared>) -> Result<Json<Health>, Problem> {
    if service.premises.is_ready() {
        return Ok(Json(Health { status: "ok".to_owned() }));
    }
    Err(premises::lent().into())
}

async fn document(Extension(described): Extension<Arc<Described>>) -> Response {
    ([(header::CONTENT_TYPE, JSON)], described.openapi.clone()).into_response()
}

async fn page(Extension(described): Extension<Arc<Described>>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    (headers, described.page.clone()).into_response()
}

async fn schemas(Extension(described): Extension<Arc<Described>>) -> Json<SchemaList> {
    Json(SchemaList { schemas: described.schemas.keys().cloned().collect() })
}

async fn schema(
    Extension(described): Extension<Arc<Described>>,
    Named(name): Named<String>,
) -> Result<Response, Problem> {
    let found = described.schemas.get(&format!("/schemas/{name}")).cloned();
    let text = found.ok_or_else(|| {
        Problem::new(Code::SchemaUnknown, "expected the name of a schema, found another")
            .with_cure("GET /schemas names them")
    })?;
    Ok(([(header::CONTENT_TYPE, SCHEMA)], text).into_response())
}

const OPEN: &[Scope] = &[];
const SCHEMA: &str = "application/schema+json";
