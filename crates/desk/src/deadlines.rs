//! Deadlines: what follows from the clock is made visible at its time. Any number of restarts in between change nothing:
//! the deadlines are in the ledger.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use demur_api::{code::Code, question::QuestionId, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_store::contract::QuestionSummary;
use tokio::time;

use crate::{confirmation, desk::Desk, owner::Owner, question::expire, trouble_log::TroubleLog};

/// Fires deadlines until the desk closes.
pub async fn run(desk: Arc<Desk>) {
    let mut commits = desk.waiters().commits();
    let (mut passed, mut log) = (Passed::default(), TroubleLog::new("deadlines cannot be looked for"));
    loop {
        // Seen before the look: whatever is recorded after it wakes us again.
        commits.mark_unchanged();
        let looked = desk.work(move |_, owner| {
            let wait = owner.system().now().and_then(|now| fire(owner, now, &mut passed));
            Ok((wait, passed))
        });
        let wait;
        (wait, passed) = looked.await.unwrap_or_else(|error| (Err(error), Passed::default()));
        let wait = log.note(wait).unwrap_or(RETRY_DELAY);
        tokio::select! {
            () = time::sleep(wait) => {}
            changed = commits.changed() => if changed.is_err() { return },
            () = desk.stopping() => return,
        }
        // A burst of commits is one look.
        time::sleep(GATHER_DELAY).await;
    }
}

/// Due questions that could not be recorded. They are passed over for a moment, so that those behind them have their turn.
#[derive(Default)]
struct Passed {
    questions: BTreeMap<QuestionId, Code>,
    /// When all of them are tried again; none before everything that is due had its turn.
    until: Option<Instant>,
    /// What was told of those that were tried before: only news is told.
    told: BTreeMap<QuestionId, Code>,
}

impl Passed {
    /// Tries all of them again, if it is time.
    fn renew(&mut self) {
        if self.until.is_some_and(|until| until <= Instant::now()) {
            self.until = None;
            self.told = mem::take(&mut self.questions);
        }
    }

    fn note(&mut self, id: QuestionId, error: &Refusal) {
        let code = error.code;
        if self.told.get(&id) != Some(&code) {
            tracing::warn!(question = %id, code = code.as_str(), %error, "a deadline could not be recorded");
        }
        self.questions.insert(id, code);
    }
}

/// Records what is due and returns how long nothing else will be.
fn fire(owner: &Owner, now: Timestamp, passed: &mut Passed) -> Result<Duration, Refusal> {
    passed.renew();
    let (store, limit) = (owner.sequencer().store(), DEADLINES_PER_LOOK + passed.questions.len());
    let due = store.due_questions(now, limit)?;
    let is_full = due.len() == limit;
    for question in &due {
        if !passed.questions.contains_key(&id_of(question))
            && let Err(error) = expire(owner, question)
        {
            passed.note(id_of(question), &error);
        }
    }
    let is_full = is_full | fire_confirmations(owner, now, limit, passed)?;
    if is_full && passed.questions.len() < MAX_PASSED_QUESTIONS {
        return Ok(Duration::ZERO);
    }
    if !passed.questions.is_empty() {
        passed.until.get_or_insert_with(|| Instant::now() + RETRY_DELAY);
        return Ok(RETRY_DELAY);
    }
    let wait = store.next_deadline()?.map(|next| next.as_millis().saturating_sub(now.as_millis()));
    Ok(wait.map_or(MAX_SLEEP, |millis| Duration::from_millis(millis).min(MAX_SLEEP)))
}

/// Ends the confirmations that nobody gave in time. Returns whether there may be more of them.
fn fire_confirmations(
    owner: &Owner,
    now: Timestamp,
    limit: usize,
    passed: &mut Passed,
) -> Result<bool, Refusal> {
    let due = owner.sequencer().store().due_confirmations(now, limit)?;
    for confirmation in &due {
        let id = QuestionId { trace: confirmation.trace, sequence: confirmation.sequence };
        if !passed.questions.contains_key(&id)
            && let Err(error) = confirmation::expire(owner, confirmation)
        {
            passed.note(id, &error);
        }
    }
    Ok(due.len() == limit)
}

const fn id_of(question: &QuestionSummary) -> QuestionId {
    QuestionId { trace: question.trace, sequence: question.sequence }
}

/// How many deadlines are fired at once.
const DEADLINES_PER_LOOK: usize = 64;
/// How many questions are passed over; those behind them wait.
const MAX_PASSED_QUESTIONS: usize = 10_000;
/// The clock may be set: nobody sleeps longer than this.
const MAX_SLEEP: Duration = Duration::from_secs(30);
/// How long until what could not be recorded is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long commits are gathered before the next look.
const GATHER_DELAY: Duration = Duration::from_millis(20);
