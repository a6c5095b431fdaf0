//! Questions that are listened to: whoever asked for it hears once that `demur://questions/{id}` has changed, which is when
//! it is no longer open. For programs: no client is known that wakes a model on it.

use demur_api::question::QuestionId;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionContext,
};
use tokio::{
    sync::watch,
    task::{AbortHandle, JoinSet},
};

use crate::{
    host::{CallerConnection, Visitor},
    pass::{closing, look, over},
};

/// What a connection of 2025 listens to.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    waiting: Mutex<HashMap<String, AbortHandle>>,
}

/// Returns the question that an address names.
pub(crate) fn question(uri: &str) -> Option<QuestionId> {
    uri.strip_prefix("demur://questions/")?.parse().ok()
}

/// Returns what of a wish can be listened to.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let uris: Vec<_> = uris.filter(|uri| question(uri).is_some()).take(MAX_QUESTIONS).cloned().collect();
    SubscriptionFilter::builder().resource_subscriptions(uris).build()
}

/// Tells of each question of a subscription when it is no longer open, until nobody listens (2026-07-28).
pub(crate) async fn tell(
    visitor: &Visitor<impl CallerConnection>,
    subscription: &SubscriptionContext,
    mut ended: watch::Receiver<bool>,
) {
    let mut waits = JoinSet::new();
    for uri in subscription.accepted().resource_subscriptions.iter().flatten() {
        let (Some(id), visitor, uri) = (question(uri), visitor.clone(), uri.clone()) else { continue };
        waits.spawn(async move { changed(&visitor, id).await.then_some(uri) });
    }
    loop {
        tokio::select! {
            Some(closed) = waits.join_next() => {
                if let Ok(Some(uri)) = closed
                    && subscription.sink().notify_resource_updated(uri).await.is_err()
                {
                    return;
                }
            }
            () = subscription.cancelled() => return,
            () = over(&mut ended) => return,
        }
    }
}

/// Waits until a question is no longer open, or is asked again under another id; false if nobody can say.
async fn changed(visitor: &Visitor<impl CallerConnection>, id: QuestionId) -> bool {
    match closing(visitor, id, None).await {
        Ok(shown) => shown.is_some(),
        Err(stop) => stop.is_replaced(),
    }
}

impl Heard {
    /// Listens to a question for a connection of 2025.
    pub(crate) async fn begin(
        &self,
        visitor: Visitor<impl CallerConnection>,
        uri: String,
        peer: Peer<RoleServer>,
        mut ended: watch::Receiver<bool>,
    ) -> Result<(), ErrorData> {
        let id = question(&uri).ok_or_else(|| nothing(&uri))?;
        look(&visitor, id).await.map_err(|_| nothing(&uri))?;
        let mut waiting = self.waiting();
        waiting.retain(|_, wait| !wait.is_finished());
        if waiting.len() >= MAX_QUESTIONS {
            let message = format!("expected at most {MAX_QUESTIONS} questions to listen to, found more");
            return Err(ErrorData::invalid_params(message, None));
        }
        let name = uri.clone();
        let wait = tokio::spawn(async move {
            tokio::select! {
                closed = changed(&visitor, id) => if closed {
                    let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
                },
                () = over(&mut ended) => {}
            }
        });
        if let Some(before) = waiting.insert(name, wait.abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    /// Stops listening.
    pub(crate) fn end(&self, uri: &str) {
        if let Some(wait) = self.waiting().remove(uri) {
            wait.abort();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.waiting().values().for_each(AbortHandle::abort);
    }
}

fn nothing(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(128).collect();
    ErrorData::resource_not_found(
        format!("expected demur://questions/ID with the id of a question, found {shown:?}"),
        None,
    )
}

/// How many questions one connection listens to.
const MAX_QUESTIONS: usize = 64;
