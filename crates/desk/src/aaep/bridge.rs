//! Questions of this folder as prompts. As long as somebody has a subscription, each open question that people may answer over it is an
//! `agent.awaiting.clarification` in a session of its own. What needs more than a reply can be (a secret, a passkey, anything beyond
//! the word of a token) is announced with the address of the inbox, and is never a prompt.
//!
//! What stands in the ledger is compared with what was told, question by question, and what is missing is told in one write with the
//! record that says so. So it does not matter which process does it, how often, or when it died.

mod answer;
mod session;
mod words;

use std::{sync::Arc, time::Duration};

use demur_aaep::form::{ReplyToken, SessionId};
use demur_api::{code::Code, question::QuestionId, refusal::Refusal};
use demur_ledger::question::{OutcomeKind, touched};
use demur_store::contract::{Cursor, QuestionFilter};
use serde::{Deserialize, Serialize};
use tokio::time;

use super::kept::{QUESTIONS, SUBSCRIPTIONS, question_key};
use crate::{
    desk::Desk,
    follower,
    owner::Owner,
    question,
    records::{self, listed},
    trouble_log::TroubleLog,
};

/// What was told of a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToldQuestion {
    question: QuestionId,
    session: SessionId,
    /// Our token of the window that is open; none where it was announced alone.
    token: Option<ReplyToken>,
}

/// Tells of questions for as long as somebody has a subscription.
pub(super) async fn run(desk: &Arc<Desk>) {
    let mut posted = desk.events().listen();
    let mut log = TroubleLog::new("questions cannot be told as accessibility events");
    loop {
        posted.mark_unchanged();
        let begun = desk.work(|desk, owner| {
            let store = owner.sequencer().store();
            if store.records(SUBSCRIPTIONS, None, 1)?.is_empty() {
                return Ok((None, store.is_shared()));
            }
            let end = store.end()?;
            desk.tell_all(owner)?;
            Ok((Some(end), store.is_shared()))
        });
        let Some((begun, is_shared)) = log.note(begun.await) else {
            time::sleep(RETRY_DELAY).await;
            continue;
        };
        if let Some(end) = begun {
            follow(desk, end, is_shared, &mut log).await;
        }
        let look = if is_shared { SHARED_LOOK_INTERVAL } else { LOOK_INTERVAL };
        tokio::select! {
            changed = posted.changed() => if changed.is_err() { return },
            () = time::sleep(look) => {}
        }
    }
}

/// Tells of what is recorded after a place, until nobody has a subscription.
async fn follow(desk: &Arc<Desk>, mut after: Cursor, is_shared: bool, log: &mut TroubleLog) {
    let mut commits = desk.waiters().commits();
    loop {
        // Seen before the look: whatever is recorded after it wakes us again.
        commits.mark_unchanged();
        let told = desk.work(move |desk, owner| {
            let store = owner.sequencer().store();
            let has_followers = !store.records(SUBSCRIPTIONS, None, 1)?.is_empty();
            Ok((desk.tell_changes(owner, after)?, has_followers))
        });
        let Some(((place, is_end), has_followers)) = log.note(told.await) else {
            time::sleep(RETRY_DELAY).await;
            continue;
        };
        after = place;
        if !has_followers {
            return;
        }
        if !is_end {
            continue;
        }
        let look = if is_shared { SHARED_LOOK_INTERVAL } else { LOOK_INTERVAL };
        tokio::select! {
            changed = commits.changed() => if changed.is_err() { return },
            () = time::sleep(look) => {}
        }
    }
}

impl Desk {
    /// Tells of every question that is open, and of the end of every one that was told as open.
    fn tell_all(&self, owner: &Owner) -> Result<(), Refusal> {
        let store = owner.sequencer().store();
        let open = QuestionFilter { outcomes: Some(vec![OutcomeKind::Open]), ..QuestionFilter::default() };
        let mut after = None;
        loop {
            let page = store.questions(&open, after, QUESTIONS_PER_READ)?;
            let Some(last) = page.last() else { break };
            after = Some(last.cursor);
            for row in &page {
                self.tell_or_warn(owner, QuestionId { trace: row.trace, sequence: row.sequence });
            }
        }
        for record in records::all(store, QUESTIONS)? {
            if let Some(told) = listed::<ToldQuestion>(&record) {
                self.tell_or_warn(owner, told.question);
            }
        }
        Ok(())
    }

    /// Tells of what changed after a place. Returns how far that is, and whether it is the end.
    fn tell_changes(&self, owner: &Owner, after: Cursor) -> Result<(Cursor, bool), Refusal> {
        let changes = owner.sequencer().store().changes(after, CHANGES_PER_READ)?;
        for (_, stored) in &changes {
            let Some(event) = follower::event(stored) else { continue };
            for sequence in touched(&event) {
                self.tell_or_warn(owner, QuestionId { trace: event.envelope().trace, sequence });
            }
        }
        let last = changes.last().map_or(after, |(place, _)| *place);
        Ok((last, changes.len() < CHANGES_PER_READ))
    }

    /// One question that cannot be told does not hide the others.
    fn tell_or_warn(&self, owner: &Owner, id: QuestionId) {
        if let Err(error) = self.tell_question(owner, id) {
            tracing::warn!(question = %id, code = error.code.as_str(), %error, "a question could not be told");
        }
    }

    /// Tells what became of a question since it was last told.
    pub(super) fn tell_question(&self, owner: &Owner, id: QuestionId) -> Result<(), Refusal> {
        let key = question_key(id)?;
        records::retry(|| {
            let found = records::find::<ToldQuestion>(owner.sequencer().store(), &key)?;
            let shown = match question::view(owner, id) {
                Ok(shown) => shown,
                Err(error) if error.code == Code::QuestionUnknown => return Ok(()),
                Err(error) => return Err(error),
            };
            match found {
                None if shown.is_open() && shown.people => self.begin_question(owner, &key, &shown),
                Some((was, told)) if !shown.is_open() => self.end_question(owner, (&key, was), &told, &shown),
                None | Some(_) => Ok(()),
            }
        })
    }
}

const QUESTIONS_PER_READ: usize = 200;
const CHANGES_PER_READ: usize = 64;
const LOOK_INTERVAL: Duration = Duration::from_secs(10);
const SHARED_LOOK_INTERVAL: Duration = Duration::from_millis(500);
const RETRY_DELAY: Duration = Duration::from_secs(1);
