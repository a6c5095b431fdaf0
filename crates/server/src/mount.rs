//! An operation as a route: the request is read, the desk does it, the reply is written under the status that the table
//! names.

use std::pin::Pin;

use axum::{
    Extension, Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use demur_api::{
    call::ApiReply,
    operation::{self, ApiDocument as _},
};
use demur_desk::{access::Caller, desk::Desk, entry::Handle};
use hyper::StatusCode;

use crate::{
    api::{Api, Route},
    places::OwnPlace,
    problem::Problem,
    read,
    service::Shared,
};

impl Api {
    /// Adds an operation that the desk does.
    #[must_use]
    pub fn mount<O>(self) -> Self
    where
        O: operation::Operation,
        Desk: Handle<O>,
    {
        self.mount_as(Route::of::<O>(), |service, caller, request| {
            Box::pin(answer::<O>(service, caller, request))
        })
    }

    /// Adds a route by a pointer to its function, so that this code is compiled once and not for each operation.
    fn mount_as(self, route: Route, answer: Answer) -> Self {
        let handler = move |State(service): State<Shared>,
                            Extension(caller): Extension<Caller>,
                            request: Request| { answer(service, caller, request) };
        self.with(route, handler)
    }
}

/// How a request for an operation is answered.
type Answer = fn(Shared, Caller, Request) -> Pin<Box<dyn Future<Output = Result<Response, Problem>> + Send>>;

async fn answer<O>(service: Shared, caller: Caller, request: Request) -> Result<Response, Problem>
where
    O: operation::Operation,
    Desk: Handle<O>,
{
    let place = request.extensions().get::<OwnPlace>().cloned();
    let (request, turn, share) = read::request::<O>(request, &service).await?;
    // What is small by now takes no more than any request; what is large does until it is done.
    let _share = turn.is_some().then_some(share);
    if <Desk as Handle<O>>::patience(&request)?.is_some_and(|patience| !patience.is_zero()) {
        place.map_or(Ok(()), |place| place.wait())?;
    }
    Ok(written::<O>(service.desk.call_holding::<O>(&caller, request, turn).await?))
}

/// Returns a reply under its status. Of two statuses the first is for an operation that was done now, the second for one that
/// was done before.
fn written<O: operation::Operation>(reply: ApiReply<O::Output>) -> Response {
    let statuses = O::ABOUT.statuses;
    let success = if reply.repeated { statuses.last() } else { statuses.first() };
    let status = success.and_then(|success| StatusCode::from_u16(success.status).ok());
    let status = status.unwrap_or(StatusCode::OK);
    if O::Output::is_nothing() {
        return status.into_response();
    }
    (status, Json(reply.document)).into_response()
}
