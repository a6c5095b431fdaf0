//! The live feed: every event as it is recorded, as server-sent events. Whoever comes back names the last one seen and
//! misses nothing. The feed holds nothing in memory for slow readers: each reads the store at its own pace.

use std::time::Duration;

use axum::{
    Extension,
    extract::State,
    response::{
        IntoResponse as _, Response,
        sse::{Event as Sent, KeepAlive, Sse},
    },
};
use demur_api::{feed::FeedParameters, scope::Scope};
use demur_desk::{
    access::Caller,
    watch::{Interest, News, Watch},
};
use hyper::{HeaderMap, Method};

use crate::{
    api::{Api, Route},
    places::OwnPlace,
    problem::Problem,
    read::Parameters,
    service::Shared,
    watching::watching,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(
        Route::new(Method::GET, "/v1/feed", "feed", &[Scope::Read], "Follow every event as it is recorded")
            .query::<FeedParameters>()
            .gives_text("Server-sent events; the data of each is a notice in JSON", "text/event-stream"),
        feed,
    )
}

async fn feed(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Extension(place): Extension<OwnPlace>,
    Parameters(parameters): Parameters<FeedParameters>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default());
    let after = last.or(parameters.after.as_deref()).map(str::parse).transpose();
    let after =
        after.map_err(|_| Problem::malformed("after: expected the id of an event, found another text"))?;
    place.wait()?;
    let watch = service.desk.watch(&caller, Interest::Events, after)?;
    let stream = Sse::new(watching(watch, sent)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(stream.into_response())
}

/// Returns what a follower is sent.
fn sent(_: &Watch, news: News) -> Option<Sent> {
    match news {
        // Where it begins, so that whoever comes back before anything happened misses nothing either.
        News::Begins(place) => Some(Sent::default().id(place.to_string()).event("begin").data("{}")),
        News::Event(place, notice) => {
            let data = serde_json::to_string(&notice).ok()?;
            Some(Sent::default().id(place.to_string()).event(notice.kind).data(data))
        }
        News::Resumes(_) | News::Missed(_) | News::Questions(_) | News::Quiet => None,
    }
}

/// After how long without an event a sign of life is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
