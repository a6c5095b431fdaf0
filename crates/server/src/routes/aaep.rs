//! Accessibility events over HTTP: the binding of Appendix B, and the way in for producers (`docs/aaep.md`).

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension, Json,
    body::Body,
    extract::{Request, State},
    response::{
        IntoResponse as _, Response,
        sse::{Event as Sent, KeepAlive, Sse},
    },
};
use demur_api::{refusal::Refusal, scope::Scope};
use demur_desk::{
    aaep::{
        EventWatch, FOLLOWING, Manifest, OutcomeParameters, PUBLISHING, PromptOutcomes, Published, Received,
        RejectionReason, Subscribed, SubscriptionRejected,
    },
    access::Caller,
    desk::Desk,
};
use futures_core::Stream;
use hyper::{HeaderMap, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    api::{Api, JSON, Route},
    body_room::{BodyShare, read_whole},
    places::OwnPlace,
    problem::Problem,
    read::{Named, Parameters, expect_media},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    let route = |method, path, id, scopes, summary| Route::new(method, path, id, scopes, summary);
    let api = api.with(
        route(
            Method::POST,
            "/aaep/v1/subscriptions",
            "aaepSubscribe",
            FOLLOWING,
            "Begin to follow accessibility events",
        )
        .takes_bytes(JSON)
        .gives_text("subscription.accepted, under 201 with the address of the events", JSON),
        subscribe,
    );
    let api = api.with(
        route(Method::GET, "/aaep/v1/events", "aaepEvents", FOLLOWING, "Follow the events of a subscription")
            .query::<FollowParameters>()
            .gives_text("Server-sent events; each carries one message", "text/event-stream"),
        follow,
    );
    let api = api.with(
        route(
            Method::POST,
            "/aaep/v1/replies",
            "aaepReplies",
            FOLLOWING,
            "Reply to a prompt, change or close a subscription",
        )
        .takes_bytes(JSON)
        .gives_text("The new terms; 204 to a reply, whether it counts or not", JSON),
        receive,
    );
    let api = api.with(
        route(
            Method::POST,
            "/aaep/v1/sessions/{session}/events",
            "aaepPublish",
            PUBLISHING,
            "Publish an event of a session",
        )
        .takes_bytes(JSON)
        .gives::<Published>(StatusCode::CREATED, "It is told")
        .gives::<Published>(StatusCode::OK, "It was told before"),
        publish,
    );
    let api = api.with(
        route(
            Method::GET,
            "/aaep/v1/sessions/{session}/outcomes",
            "aaepOutcomes",
            PUBLISHING,
            "Say what became of the prompts of a session",
        )
        .query::<OutcomeParameters>()
        .gives::<PromptOutcomes>(StatusCode::OK, "What became of them since the last time"),
        outcomes,
    );
    api.with(
        route(
            Method::GET,
            "/.well-known/aaep-manifest.json",
            "aaepManifest",
            OPEN,
            "Say what this server offers to those who follow accessibility events",
        )
        .gives::<Manifest>(StatusCode::OK, "A manifest"),
        manifest,
    )
}

/// Which subscription is followed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FollowParameters {
    /// The subscription.
    subscription_id: String,
}

async fn subscribe(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let bytes = whole(&service, request, MAX_MESSAGE_BYTES).await?;
    let answer = service.work(move |desk| desk.subscribe(&caller, &bytes)).await?;
    Ok(match answer {
        Subscribed::Accepted(accepted) => {
            let place = format!("/aaep/v1/events?subscription_id={}", accepted.subscription_id.as_str());
            let body = message("subscription.accepted", &*accepted)?;
            (StatusCode::CREATED, [(header::LOCATION, place), (header::CONTENT_TYPE, JSON.to_owned())], body)
                .into_response()
        }
        Subscribed::Rejected(rejected) => refused(&rejected)?,
    })
}

/// Returns a refusal under the status that fits its reason.
fn refused(rejected: &SubscriptionRejected) -> Result<Response, Problem> {
    let status = match rejected.reason_code {
        RejectionReason::VersionUnsupported => StatusCode::BAD_REQUEST,
        RejectionReason::AuthenticationRequired => StatusCode::UNAUTHORIZED,
        RejectionReason::AuthorizationDenied => StatusCode::FORBIDDEN,
        RejectionReason::ManifestSignatureRequired
        | RejectionReason::CapabilitiesIncompatible
        | RejectionReason::Unknown => StatusCode::UNPROCESSABLE_ENTITY,
        RejectionReason::RateLimit => StatusCode::TOO_MANY_REQUESTS,
        RejectionReason::TransportUnavailable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let body = message("subscription.rejected", rejected)?;
    let mut response = (status, [(header::CONTENT_TYPE, JSON)], body).into_response();
    if let Some(seconds) = rejected.retry_after_seconds {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.as_u64().into());
    }
    Ok(response)
}

/// Returns a message with what it is.
fn message(kind: &'static str, document: &impl Serialize) -> Result<String, Refusal> {
    #[derive(Serialize)]
    struct Tagged<'a, T> {
        r#type: &'static str,
        #[serde(flatten)]
        document: &'a T,
    }
    serde_json::to_string(&Tagged { r#type: kind, document }).map_err(|error| Refusal::bug(&error))
}

async fn follow(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Extension(place): Extension<OwnPlace>,
    Parameters(FollowParameters { subscription_id }): Parameters<FollowParameters>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    place.wait()?;
    let watch = service.desk.follow_events(&caller, &subscription_id, last).await?;
    let frames = Sse::new(frames(watch)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(frames.into_response())
}

/// Returns the frames of a connection, each made when whoever reads is ready to take it.
fn frames(watch: EventWatch) -> impl Stream<Item = Result<Sent, Infallible>> + Send {
    crate::watching::Unfolded::new(watch, |mut watch: EventWatch| async move {
        let frame = watch.next().await.ok().flatten()?;
        let mut sent = Sent::default().event(EVENT_NAME).data(&*frame.text);
        if let Some(id) = &frame.id {
            sent = sent.id(id.as_str());
        }
        Some((sent, watch))
    })
}

async fn receive(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let bytes = whole(&service, request, MAX_MESSAGE_BYTES).await?;
    match service.work(move |desk| desk.receive_message(&caller, &bytes)).await? {
        Received::Nothing => Ok(StatusCode::NO_CONTENT.into_response()),
        Received::Terms(terms) => Ok(Json(*terms).into_response()),
    }
}

async fn publish(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<String>,
    request: Request,
) -> Result<Response, Problem> {
    let bytes = whole(&service, request, MAX_EVENT_BYTES).await?;
    let published = service.work(move |desk: &Desk| desk.publish_event(&caller, &session, &bytes)).await?;
    let status = if published.repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(published)).into_response())
}

async fn outcomes(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Extension(place): Extension<OwnPlace>,
    Named(session): Named<String>,
    Parameters(parameters): Parameters<OutcomeParameters>,
) -> Result<Json<PromptOutcomes>, Problem> {
    if parameters.seconds.is_some() {
        place.wait()?;
    }
    Ok(Json(service.desk.prompt_outcomes(&caller, &session, parameters).await?))
}

async fn manifest(State(service): State<Shared>) -> Result<Response, Problem> {
    Ok(Json(service.desk.aaep_manifest()?).into_response())
}

/// Returns the whole of a message.
async fn whole(service: &Shared, request: Request<Body>, most: usize) -> Result<bytes::Bytes, Problem> {
    let (parts, body) = request.into_parts();
    expect_media(&parts.headers, &[JSON])?;
    let mut share = BodyShare::of(service, &parts.extensions);
    read_whole(&mut share, body, most, service.timeouts().body).await
}

const OPEN: &[Scope] = &[];
/// The name of each frame (B.1.3).
const EVENT_NAME: &str = "aaep.event";
/// What one event has at most; more than any transport has to carry.
const MAX_EVENT_BYTES: usize = 1 << 20;
/// What any other message has at most.
const MAX_MESSAGE_BYTES: usize = 256 << 10;
/// After how long without an event a sign of life is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
