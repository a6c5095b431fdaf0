//! What keeps an open page up to date: server-sent events for whoever is signed in.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    extract::State,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use demur_api::{code::Code, refusal::Refusal};
use demur_desk::access::Caller;
use futures_core::Stream;
use hyper::{HeaderMap, Method, header};

use super::{LOOKING, Visiting};
use crate::{
    api::{Api, Operation},
    live::Looking,
    problem::Problem,
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::page(Method::GET, "/live", LOOKING), live)
}

async fn live(
    State(service): State<Shared>,
    visiting: Visiting,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // A place that cannot be read is as unknown as one that is long gone.
    let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default());
    let after = last.map(|last| last.parse().unwrap_or_default());
    let looking = service.live.look(after).ok_or_else(|| {
        let message = "expected fewer open pages that are kept up to date, found as many as there can be";
        Refusal::new(Code::Overloaded, message).with_cure("the page works; load it again to see news")
    })?;
    let head = [
        (header::CONTENT_TYPE, "text/event-stream"),
        // A proxy that gathers would make it late.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let viewer = Viewer { next: Box::pin(step(service, visiting.caller, looking)) };
    Ok((head, Body::from_stream(viewer)).into_response())
}

/// What one browser is sent, made when it is ready to take it.
struct Viewer {
    next: Pin<Box<dyn Future<Output = Step> + Send>>,
}

/// A message, and what the one after it is made from; none at the end.
type Step = Option<(Bytes, (Shared, Caller, Looking))>;

async fn step(service: Shared, caller: Caller, mut looking: Looking) -> Step {
    let bytes = looking.next(&service.live, || service.desk.is_good(&caller)).await?;
    Some((bytes, (service, caller, looking)))
}

impl Stream for Viewer {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let done = std::task::ready!(self.next.as_mut().poll(context));
        Poll::Ready(done.map(|(bytes, (service, caller, looking))| {
            self.next = Box::pin(step(service, caller, looking));
            Ok(bytes)
        }))
    }
}
