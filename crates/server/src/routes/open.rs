//! What answers without credentials: whether the server lives, what it can do, and the JSON Schemas of every document.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension,
    response::{IntoResponse as _, Response},
};
use demur_api::{code::Code, operation as op, schema, scope::Scope};
use hyper::{Method, header};

use crate::{
    api::{Api, JSON, Route},
    openapi,
    problem::Problem,
    read::Named,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::CheckHealth>()
        .mount::<op::CheckReady>()
        .with(
            Route::new(Method::GET, "/v1/openapi.json", "openapi", OPEN, "Describe the API for programs")
                .gives_text("An OpenAPI 3.1 document", JSON),
            document,
        )
        .with(
            Route::new(Method::GET, "/v1/docs", "docs", OPEN, "Describe the API for people")
                .gives_text("A page", "text/html; charset=utf-8"),
            page,
        )
        .mount::<op::ListSchemas>()
        .with(
            Route::new(Method::GET, "/schemas/{*schema}", "schema", OPEN, "Give one JSON Schema")
                .gives_text("The schema", SCHEMA),
            one_schema,
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
    pub fn new(operations: &[Route]) -> Self {
        let document = openapi::document(operations);
        Self { openapi: openapi::text(&document), page: openapi::page(&document), schemas: every_schema() }
    }
}

fn every_schema() -> BTreeMap<String, String> {
    let text = |(path, schema)| (path, serde_json::to_string_pretty(&schema).unwrap_or_default());
    schema::all().into_iter().map(text).collect()
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

async fn one_schema(
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
