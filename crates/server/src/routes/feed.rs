//! The live feed: every event as it is recorded, as server-sent events. Whoever comes back names the last one seen and
//! misses nothing. The feed holds nothing in memory for slow readers: each reads the store at its own pace.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Extension,
    extract::State,
    response::{
        IntoResponse as _, Response,
        sse::{Event as Sent, KeepAlive, Sse},
    },
};
use demur_api::{
    feed::{FeedParameters, Notice},
    question::QuestionId,
    refusal::Refusal,
    scope::Scope,
};
use demur_desk::{access::Caller, owner::Owner};
use demur_ledger::{newer::Reading, question::touched};
use demur_store::contract::Cursor;
use futures_core::Stream;
use hyper::{HeaderMap, Method};
use tokio::sync::mpsc;

use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::Parameters,
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(
        Operation::new(
            Method::GET,
            "/v1/feed",
            "feed",
            &[Scope::Read],
            "Follow every event as it is recorded",
        )
        .query::<FeedParameters>()
        .gives_text("Server-sent events; the data of each is a notice in JSON", "text/event-stream"),
        feed,
    )
}

async fn feed(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Parameters(parameters): Parameters<FeedParameters>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default());
    let after = match last.or(parameters.after.as_deref()) {
        Some(id) => id
            .parse()
            .map_err(|_| Problem::malformed("after: expected the id of an event, found another text"))?,
        None => service.work(|_, owner| Ok(owner.ledger().store().end()?)).await?,
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(follow(service, caller, after, sender));
    let stream = Sse::new(Receiving(receiver)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)));
    Ok(stream.into_response())
}

/// Sends every event after a cursor, until nobody reads any more.
async fn follow(service: Shared, caller: Caller, mut after: Cursor, sender: mpsc::Sender<Sent>) {
    let mut commits = service.desk.waiters().commits();
    // Where it begins, so that whoever comes back before anything happened misses nothing either.
    let begin = Sent::default().id(after.to_string()).event("begin").data("{}");
    if sender.send(begin).await.is_err() {
        return;
    }
    loop {
        commits.mark_unchanged();
        // A token that was taken back sees nothing more.
        if !service.desk.is_good(&caller) {
            return;
        }
        let Ok(page) = service.work(move |_, owner| page(owner, after)).await else { return };
        let full = page.len() == PAGE;
        for (cursor, notice) in page {
            after = cursor;
            let Some(notice) = notice else { continue };
            let Ok(data) = serde_json::to_string(&notice) else { return };
            let sent = Sent::default().id(cursor.to_string()).event(notice.kind).data(data);
            if sender.send(sent).await.is_err() {
                return;
            }
        }
        if full {
            continue;
        }
        tokio::select! {
            changed = commits.changed() => if changed.is_err() { return },
            () = sender.closed() => return,
            () = service.desk.stopping() => return,
        }
    }
}

/// Returns what is told of every event after a place; nothing of one that a newer version wrote.
fn page(owner: &Owner, after: Cursor) -> Result<Vec<(Cursor, Option<Notice>)>, Refusal> {
    let changes = owner.ledger().store().changes(after, PAGE)?;
    let notice = |(cursor, stored): (Cursor, demur_store::contract::Stored)| {
        let event = match Reading::of(&stored.bytes, &stored.hash) {
            Reading::Known(event) => event,
            Reading::Newer(_) => return Ok((cursor, None)),
            Reading::Damaged => return Err(Refusal::bug(&"an event that cannot be read")),
        };
        let envelope = event.envelope();
        let trace = envelope.trace;
        let questions = touched(&event).map(|sequence| QuestionId { trace, sequence }).collect();
        let kind = event.said().map(|said| said.kind.to_string()).unwrap_or_default();
        let sequence = event.position().sequence;
        let (time, actor) = (envelope.time, envelope.actor);
        Ok((cursor, Some(Notice { trace, sequence, kind, time, actor, questions })))
    };
    changes.into_iter().map(notice).collect()
}

/// What arrives over a channel, as a stream.
struct Receiving(mpsc::Receiver<Sent>);

impl Stream for Receiving {
    type Item = Result<Sent, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|sent| sent.map(Ok))
    }
}

/// How many events are read at once.
const PAGE: usize = 64;
/// How many events wait for a slow reader.
const WAITING: usize = 16;
