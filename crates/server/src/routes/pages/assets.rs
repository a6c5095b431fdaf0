//! The stylesheet and the script, for whoever is signed in.

use axum::{
    extract::Path,
    response::{IntoResponse as _, Response},
};
use demur_api::code::Code;
use demur_web::assets;
use hyper::{HeaderMap, Method, StatusCode, header};

use super::LOOKING;
use crate::{
    api::{Api, Route},
    problem::Problem,
};

/// Adds the files.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, "/assets/{asset}", LOOKING), asset)
}

async fn asset(headers: HeaderMap, Path(name): Path<String>) -> Result<Response, Problem> {
    let found = assets::find(&name)
        .ok_or_else(|| Problem::new(Code::NotFound, "expected a file of the inbox, found another name"))?;
    let tag = found.tag();
    let kept = headers.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == tag.as_bytes());
    let head = [
        (header::CONTENT_TYPE, found.media.to_owned()),
        (header::ETAG, tag),
        // Asked for again each time, and not sent again while it is the same.
        (header::CACHE_CONTROL, "private, no-cache".to_owned()),
    ];
    if kept {
        return Ok((StatusCode::NOT_MODIFIED, head).into_response());
    }
    Ok((head, found.text).into_response())
}
