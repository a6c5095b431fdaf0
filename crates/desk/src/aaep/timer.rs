//! What is due: prompts whose time is over, subscriptions that nobody follows, sessions that nobody goes on with. Any process does it,
//! and the second finds it done.

use std::{sync::Arc, time::Duration};

use demur_aaep::{
    payload::SessionCancelled,
    prompt::{PromptCancellation, PromptInput},
    subscription::SubscriptionInput,
    word::CancelledBy,
};
use demur_api::refusal::Refusal;
use demur_core::{limit::Text, time::Timestamp};
use demur_sequencer::Changes;
use demur_store::contract::{KeptRecord, RecordKey};
use tokio::time::{self, Instant};

use super::{
    audience::Audience,
    kept::{ALL, KeptPrompt, KeptSession, PROMPTS, PromptSource, SESSIONS, SUBSCRIPTIONS, open_session_key},
    posted::own_event_post,
    resolve::{self, cancelled},
};
use crate::{desk::Desk, owner::Owner, records, trouble_log::TroubleLog};

/// Does what is due, until the desk ends.
pub(super) async fn run(desk: &Arc<Desk>) {
    let mut posted = desk.events().listen();
    let mut log = TroubleLog::new("what is due of accessibility events cannot be looked for");
    let mut sweep_at = Instant::now();
    loop {
        // Seen before the look: whatever is kept after it wakes us again.
        posted.mark_unchanged();
        let sweeps = Instant::now() >= sweep_at;
        if sweeps {
            sweep_at = Instant::now() + SWEEP_INTERVAL;
        }
        let done = desk.work(move |desk, owner| {
            let now = desk.now()?;
            if sweeps {
                owner.sequencer().store().sweep(now)?;
            }
            desk.do_due(owner, now)
        });
        let wait = log.note(done.await).unwrap_or(RETRY_DELAY);
        tokio::select! {
            () = time::sleep(wait) => {}
            changed = posted.changed() => if changed.is_err() { return },
        }
        // A burst is one look.
        time::sleep(GATHER_DELAY).await;
    }
}

impl Desk {
    /// Does what is due, and returns how long nothing else will be.
    fn do_due(&self, owner: &Owner, now: Timestamp) -> Result<Duration, Refusal> {
        let store = owner.sequencer().store();
        let due = store.due(ALL, now, DUE_PER_LOOK)?;
        let mut failed = 0;
        for record in &due {
            if let Err(error) = self.do_one(owner, record, now) {
                tracing::warn!(record = %record.key, code = error.code.as_str(), %error, "what is due could not be done");
                failed += 1;
            }
        }
        if failed > 0 {
            return Ok(RETRY_DELAY);
        }
        if !due.is_empty() {
            return Ok(Duration::ZERO);
        }
        let longest = if store.is_shared() { MAX_SHARED_SLEEP } else { MAX_SLEEP };
        let until = now.plus_millis(u64::try_from(longest.as_millis()).unwrap_or(u64::MAX));
        let next = store.due(ALL, until, 1)?.pop().and_then(|record| record.value.expires);
        let wait = next.map(|next| Duration::from_millis(next.as_millis().saturating_sub(now.as_millis())));
        Ok(wait.unwrap_or(longest))
    }

    fn do_one(&self, owner: &Owner, record: &KeptRecord, now: Timestamp) -> Result<(), Refusal> {
        let key = record.key.as_str();
        if key.starts_with(PROMPTS) {
            let kept: KeptPrompt = records::read(record)?;
            return match kept.source {
                PromptSource::Producer { .. } => {
                    self.move_prompt(owner, kept.prompt.token(), PromptInput::Tick)
                }
                PromptSource::Question(id) => self.renew_window(owner, id, kept.prompt.token()),
            };
        }
        if key.starts_with(SUBSCRIPTIONS) {
            return self.change_subscription(owner, &record.key, SubscriptionInput::Tick).map(drop);
        }
        if key.starts_with(SESSIONS) {
            return records::retry(|| self.give_up_session(owner, &record.key, now));
        }
        Ok(())
    }

    /// Ends a session that its producer left, or forgets one that ended.
    fn give_up_session(&self, owner: &Owner, key: &RecordKey, now: Timestamp) -> Result<(), Refusal> {
        let store = owner.sequencer().store();
        let Some(record) = store.record(key)?.filter(|kept| kept.value.expires.is_some_and(|at| at <= now))
        else {
            return Ok(());
        };
        let mut session: KeptSession = records::read(&record)?;
        if session.sequence.has_ended() {
            let swaps = vec![records::removal(key.clone(), record.version)];
            return self.keep_events(owner, Changes { swaps, ..Changes::default() });
        }
        let mut changes = Changes::default();
        for ours in session.prompts.clone().into_values() {
            let Some((was, mut kept)) = resolve::find(store, &ours)? else { continue };
            if let Some(resolution) = cancelled(&mut kept.prompt, PromptCancellation::SessionCancelled, now) {
                self.add_resolution(owner, &(was, kept), &resolution, &mut session, &mut changes)?;
            }
        }
        let counted = match &session.audience {
            Audience::Publisher(holder) => Some(open_session_key(holder, session.sequence.session())?),
            Audience::Question { .. } => None,
        };
        let mut end = SessionCancelled::new(CancelledBy::Timeout, Text::try_from(LEFT)?);
        end.summary_terse = Text::try_from(LEFT).ok();
        let event = self.own_event(owner, &mut session, end.into())?;
        session.sequence.apply(&event);
        changes.posts.push(own_event_post(&session.audience, &event, self.events_expire(now))?);
        changes.swaps.push(self.session_swap(&session, record.version)?);
        changes.swaps.extend(counted.map(|key| self.forgetting(&key)).transpose()?.flatten());
        self.keep_events(owner, changes)
    }
}

const LEFT: &str = "The session was left by its agent.";
/// How much is done at once.
const DUE_PER_LOOK: usize = 64;
/// The clock may be set: nobody sleeps longer than this.
const MAX_SLEEP: Duration = Duration::from_secs(30);
/// Another process may have ended that would have done it.
const MAX_SHARED_SLEEP: Duration = Duration::from_secs(2);
/// How long until what could not be done is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long changes are gathered before the next look.
const GATHER_DELAY: Duration = Duration::from_millis(20);
/// How often what has expired is removed.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
