//! Deadlines: what follows from the clock is made visible at its time. Any number of restarts in between change nothing:
//! the deadlines are in the ledger.

use std::{sync::Arc, time::Duration};

use tokio::time;

use crate::{desk::Desk, question::expire};

/// Fires deadlines until the desk closes.
pub async fn run(desk: Arc<Desk>) {
    let mut commits = desk.waiters().commits();
    loop {
        // Seen before the look: whatever is recorded after it wakes us again.
        commits.mark_unchanged();
        let wait = fire(&desk).await;
        tokio::select! {
            () = time::sleep(wait) => {}
            changed = commits.changed() => if changed.is_err() { return },
            () = desk.stopping() => return,
        }
        // A burst of commits is one look.
        time::sleep(BURST).await;
    }
}

/// Records what is due and returns how long nothing else will be.
async fn fire(desk: &Arc<Desk>) -> Duration {
    let looked = desk.work(|_, owner| {
        let now = owner.system().now()?;
        let mut failed = false;
        let found = expire(owner, now, BATCH, &mut |question, error| {
            failed = true;
            tracing::warn!(trace = %question.trace, code = error.code.as_str(), "a deadline could not be recorded");
        })?;
        let next = owner.ledger().store().next_deadline()?;
        let wait = next.map(|next| next.as_millis().saturating_sub(now.as_millis()));
        Ok(match (found, wait) {
            _ if failed => AFTER_TROUBLE,
            (BATCH, _) => Duration::ZERO,
            (_, Some(millis)) => Duration::from_millis(millis).min(LONGEST),
            (_, None) => LONGEST,
        })
    });
    looked.await.unwrap_or(LONGEST)
}

/// How many deadlines are fired at once.
const BATCH: usize = 64;
/// The clock may be set: nobody sleeps longer than this.
const LONGEST: Duration = Duration::from_secs(30);
/// How long until what could not be recorded is tried again.
const AFTER_TROUBLE: Duration = Duration::from_secs(1);
/// How long commits are gathered before the next look.
const BURST: Duration = Duration::from_millis(20);
