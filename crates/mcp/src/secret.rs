//! Secret answers on their way to clients. A secret is told once, and forgotten when the reply with it was written: a client
//! that was gone by then finds it when it looks again.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{ForgetSecret, Nothing, OfQuestion, ReadSecret},
    question::QuestionId,
};
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard},
    task::JoinSet,
    time,
};

use crate::{
    host::{CallerConnection, Visitor},
    reply::Stop,
    written::ReplyWritten,
};

/// The replies with secrets that are under way.
#[derive(Debug, Default)]
pub struct SecretReplies {
    /// Whoever tells a secret holds its lock until the reply was written and the secret is forgotten.
    told: Mutex<BTreeMap<QuestionId, Arc<AsyncMutex<()>>>>,
    forgetting: Mutex<JoinSet<()>>,
}

impl SecretReplies {
    /// Returns a secret answer for the reply that `written` is about; none if it was told before.
    pub(crate) async fn tell<C: CallerConnection>(
        &self,
        visitor: &Visitor<C>,
        id: QuestionId,
        written: Option<ReplyWritten>,
    ) -> Result<Option<String>, Stop> {
        let turn = self.turn(id).await;
        let path = OfQuestion { question: id };
        let delivered = match visitor.ask(ApiRequest::<ReadSecret>::get(path, Nothing {})).await {
            Ok(delivered) => delivered,
            Err(refusal) if refusal.code == Code::SecretGone => return Ok(None),
            Err(refusal) => return Err(refusal.into()),
        };
        // A transport that cannot say so leaves the secret where it is.
        if let Some(written) = written {
            self.forget(visitor.clone(), id, written, turn);
        }
        Ok(Some(delivered.value.clone()))
    }

    /// Waits until everything that was told is forgotten.
    pub(crate) async fn settle(&self) {
        let mut forgetting = mem::take(&mut *self.forgetting.lock().unwrap_or_else(PoisonError::into_inner));
        while forgetting.join_next().await.is_some() {}
    }

    /// Waits for an earlier reply with the same secret. One that nobody reads is not waited for: better told twice than never.
    async fn turn(&self, id: QuestionId) -> Option<OwnedMutexGuard<()>> {
        let lock = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(told.entry(id).or_default())
        };
        time::timeout(TURN_TIMEOUT, lock.lock_owned()).await.ok()
    }

    fn forget<C: CallerConnection>(
        &self,
        visitor: Visitor<C>,
        id: QuestionId,
        written: ReplyWritten,
        turn: Option<OwnedMutexGuard<()>>,
    ) {
        let mut forgetting = self.forgetting.lock().unwrap_or_else(PoisonError::into_inner);
        while forgetting.try_join_next().is_some() {}
        forgetting.spawn(async move {
            let _turn = turn;
            if written.is_written().await {
                let path = OfQuestion { question: id };
                let forgotten = visitor.ask(ApiRequest::<ForgetSecret>::get(path, Nothing {})).await;
                if let Err(refusal) = forgotten {
                    tracing::warn!(code = refusal.code.as_str(), "a secret that was told stays in the store");
                }
            }
        });
    }
}

/// How long a reply with the same secret is waited for.
const TURN_TIMEOUT: Duration = Duration::from_secs(2);
