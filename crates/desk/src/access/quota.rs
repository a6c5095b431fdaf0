//! How much one token may have: questions that are open, questions and bytes in an hour, requests that wait. What is open and what
//! was asked is counted from the store when a token first asks here, then as it asks; where that says that it is too much, it is
//! counted again. With several processes each counts for itself.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::{code::Code, refusal::Refusal, server_limits::TokenQuotas};
use demur_core::time::Timestamp;
use demur_ledger::{
    confirmation::ConfirmationStanding,
    entry::Entry,
    name::{PrincipalId, TokenId, TraceId},
    question::OutcomeKind,
};
use demur_sequencer::Listener;
use demur_store::contract::{ConfirmationFilter, QuestionFilter, Store};

use super::{Caller, Token};

/// What tokens have.
pub(crate) struct Quotas {
    most: TokenQuotas,
    holders: Mutex<HashMap<Holder, Usage>>,
}

/// Whose usage it is: tokens that speak with one key are one holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Principal(PrincipalId),
    Token(TokenId),
}

/// What one holder has.
#[derive(Clone, Debug, Default)]
struct Usage {
    /// At most so many are open; none before they were counted.
    open: Option<u32>,
    asked: Hour,
    recorded: Hour,
    waits: u32,
}

impl Quotas {
    pub(crate) fn new(most: TokenQuotas) -> Self {
        Self { most, holders: Mutex::default() }
    }

    /// Notes that a token asks, if what is known says that it may; reads nothing.
    pub(crate) fn ask(&self, caller: &Caller, now: Timestamp) -> bool {
        let Some((_, holder)) = held(caller) else { return true };
        let mut holders = self.holders();
        let usage = holders.entry(holder).or_default();
        let may_ask = usage.open.is_some_and(|open| open < self.most.open_questions)
            && usage.asked.sum(now) < u64::from(self.most.asks_per_hour);
        if may_ask {
            usage.open = usage.open.map(|open| open + 1);
            usage.asked.add(now, 1);
        }
        may_ask
    }

    /// Notes that a token asks, or says why it may not. Counts what is open. May block.
    pub(crate) fn ask_counted(
        &self,
        store: &dyn Store,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let Some((token, holder)) = held(caller) else { return Ok(()) };
        let open = self.open(store, token)?;
        let is_new = self.holders().get(&holder).is_none_or(|usage| usage.open.is_none());
        let asked = if is_new { self.asked(store, token, now)? } else { Vec::new() };
        let mut holders = self.holders();
        let usage = holders.entry(holder).or_default();
        if is_new && usage.open.is_none() {
            for time in asked {
                usage.asked.add(time, 1);
            }
        }
        usage.open = Some(open);
        if open >= self.most.open_questions {
            return Err(open_questions(self.most.open_questions, open));
        }
        let (most, found) = (u64::from(self.most.asks_per_hour), usage.asked.sum(now));
        if found >= most {
            let what = "questions, confirmations and plans in an hour";
            return Err(exceeded("asks_per_hour", (most, found), what, &later(usage.asked.eases(now, most))));
        }
        usage.open = Some(open + 1);
        usage.asked.add(now, 1);
        Ok(())
    }

    /// Takes back that a token asks: nothing new was recorded.
    pub(crate) fn ask_not(&self, caller: &Caller, now: Timestamp) {
        let Some((_, holder)) = held(caller) else { return };
        if let Some(usage) = self.holders().get_mut(&holder) {
            usage.open = usage.open.map(|open| open.saturating_sub(1));
            usage.asked.take(now);
        }
    }

    /// Refuses a token that had too much recorded in the last hour.
    pub(crate) fn expect_room(&self, caller: &Caller, now: Timestamp) -> Result<(), Refusal> {
        let Some((_, holder)) = held(caller) else { return Ok(()) };
        let most = u64::from(self.most.mebibytes_per_hour) << 20;
        let mut holders = self.holders();
        // From now on what it has recorded is counted.
        let usage = holders.entry(holder).or_default();
        let found = usage.recorded.sum(now);
        if found < most {
            return Ok(());
        }
        let when = later(usage.recorded.eases(now, most));
        Err(exceeded("mebibytes_per_hour", (most >> 20, found >> 20), "MiB recorded in an hour", &when))
    }

    /// Notes what was recorded in a token's name with another key than that which speaks for it.
    pub(crate) fn note_recorded(&self, caller: &Caller, now: Timestamp, bytes: usize) {
        if let Some((_, holder)) = held(caller) {
            self.holders().entry(holder).or_default().recorded.add(now, bytes as u64);
        }
    }

    /// Takes one of the places of a token for requests that wait.
    pub(crate) fn wait(self: &Arc<Self>, caller: &Caller) -> Result<WaitShare, Refusal> {
        let Some((_, holder)) = held(caller) else { return Ok(WaitShare(None)) };
        let mut holders = self.holders();
        let usage = holders.entry(holder).or_default();
        let (most, found) = (self.most.waits, usage.waits);
        if found >= most {
            let (most, found) = (u64::from(most), u64::from(found));
            let cure = "nothing was changed; wait again when one of the others has ended";
            return Err(exceeded("waits", (most, found), "requests that wait", cure));
        }
        usage.waits += 1;
        Ok(WaitShare(Some((Arc::clone(self), holder))))
    }

    /// Returns how many questions and confirmations of a token are open, up to one more than there may be.
    fn open(&self, store: &dyn Store, token: &Token) -> Result<u32, Refusal> {
        let Some(asker) = token.principal else { return Ok(0) };
        let limit = self.most.open_questions as usize + 1;
        let outcomes = Some(vec![OutcomeKind::Open]);
        let filter = QuestionFilter { asker: Some(asker), outcomes, ..QuestionFilter::default() };
        let questions = store.questions(&filter, None, limit)?.len();
        let outcomes = Some(vec![ConfirmationStanding::Open]);
        let filter = ConfirmationFilter { asker: Some(asker), outcomes, ..ConfirmationFilter::default() };
        let confirmations = store.confirmations(&filter, None, limit)?.len();
        Ok(u32::try_from(questions + confirmations).unwrap_or(u32::MAX))
    }

    /// Returns when a token asked in the last hour, the earliest first, and no more often than it may.
    fn asked(&self, store: &dyn Store, token: &Token, now: Timestamp) -> Result<Vec<Timestamp>, Refusal> {
        let Some(asker) = token.principal else { return Ok(Vec::new()) };
        let limit = (self.most.asks_per_hour as usize).min(MAX_ROWS);
        let (asker, newest_first) = (Some(asker), true);
        let filter = QuestionFilter { asker, newest_first, ..QuestionFilter::default() };
        let questions = store.questions(&filter, None, limit)?;
        let filter = ConfirmationFilter { asker, newest_first, ..ConfirmationFilter::default() };
        let confirmations = store.confirmations(&filter, None, limit)?;
        let mut times: Vec<_> = questions.iter().map(|row| row.asked).collect();
        times.extend(confirmations.iter().map(|row| row.asked));
        times.retain(|time| now.as_millis() < time.as_millis() + HOUR_MINUTES as u64 * MINUTE_MILLIS);
        times.sort_unstable();
        Ok(times)
    }

    fn holders(&self) -> MutexGuard<'_, HashMap<Holder, Usage>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts what is recorded in a holder's name.
impl Listener for Quotas {
    fn recorded(&self, _: TraceId, entries: &[Entry]) {
        let mut holders = self.holders();
        if holders.is_empty() {
            return;
        }
        for Entry { event, opening, .. } in entries {
            let envelope = event.envelope();
            let Ok(said) = event.said() else { continue };
            let by_token = said.facts.attribution().flatten().and_then(|way| way.token).map(Holder::Token);
            let holder = by_token.unwrap_or(Holder::Principal(envelope.actor));
            let Some(usage) = holders.get_mut(&holder) else { continue };
            let content = opening.as_ref().map_or(0, |opening| opening.bytes.len());
            usage.recorded.add(envelope.time, (event.bytes().len() + content) as u64);
        }
    }
}

/// A place of a token for a request that waits. It is given back when this is dropped.
pub(crate) struct WaitShare(Option<(Arc<Quotas>, Holder)>);

impl Drop for WaitShare {
    fn drop(&mut self) {
        if let Some((quotas, holder)) = &self.0
            && let Some(usage) = quotas.holders().get_mut(holder)
        {
            usage.waits = usage.waits.saturating_sub(1);
        }
    }
}

/// Returns the token to which quotas apply, and whose it is: not the user of this machine, and not a person who signed in.
fn held(caller: &Caller) -> Option<(&Token, Holder)> {
    match caller {
        Caller::Token(token) if token.role.is_none() => {
            let holder = match token.principal {
                Some(principal) => Holder::Principal(principal),
                None => Holder::Token(token.id.parse().ok()?),
            };
            Some((token, holder))
        }
        Caller::Local { .. } | Caller::Token(_) | Caller::Stranger => None,
    }
}

fn open_questions(most: u32, found: u32) -> Refusal {
    let cure =
        "nothing was changed; ask again when one of them is answered, or call off what is no longer needed";
    exceeded("open_questions", (most.into(), found.into()), "open questions and confirmations", cure)
}

/// Returns the refusal of a caller that has as much as it may.
pub fn exceeded(quota: &str, (most, found): (u64, u64), what: &str, cure: &str) -> Refusal {
    let message = format!("expected at most {most} {what} for one token, found {found}");
    Refusal::new(Code::QuotaExceeded, message).about(quota).with_cure(cure)
}

fn later(seconds: u64) -> String {
    format!("nothing was changed; try again in {seconds} seconds")
}

/// What was counted in the last sixty minutes, minute by minute.
#[derive(Clone, Debug)]
struct Hour {
    counts: [u64; HOUR_MINUTES],
    /// The newest minute in it.
    newest: u64,
}

impl Default for Hour {
    fn default() -> Self {
        Self { counts: [0; HOUR_MINUTES], newest: 0 }
    }
}

impl Hour {
    fn add(&mut self, time: Timestamp, count: u64) {
        let minute = self.move_to(time);
        self.counts[minute] = self.counts[minute].saturating_add(count);
    }

    fn take(&mut self, time: Timestamp) {
        let minute = self.move_to(time);
        self.counts[minute] = self.counts[minute].saturating_sub(1);
    }

    fn sum(&mut self, now: Timestamp) -> u64 {
        self.move_to(now);
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns after how many seconds there is less than so much.
    fn eases(&self, now: Timestamp, most: u64) -> u64 {
        let mut sum = self.counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        for minute in 1..=HOUR_MINUTES as u64 {
            sum -= self.counts[place(self.newest + minute)];
            if sum < most {
                let at = (self.newest + minute) * MINUTE_MILLIS;
                return at.saturating_sub(now.as_millis()).div_ceil(1000).max(1);
            }
        }
        HOUR_MINUTES as u64 * 60
    }

    /// Forgets what is an hour old; returns the place of a time. A clock that was set back stays in the newest minute.
    fn move_to(&mut self, time: Timestamp) -> usize {
        let minute = time.as_millis() / MINUTE_MILLIS;
        let gone = minute.saturating_sub(self.newest).min(HOUR_MINUTES as u64);
        for step in 1..=gone {
            self.counts[place(self.newest + step)] = 0;
        }
        self.newest = self.newest.max(minute);
        place(self.newest)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is below the number of minutes in an hour")]
const fn place(minute: u64) -> usize {
    (minute % HOUR_MINUTES as u64) as usize
}

const HOUR_MINUTES: usize = 60;
const MINUTE_MILLIS: u64 = 60_000;
/// How many questions of a token are read when it first asks.
const MAX_ROWS: usize = 5000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(1_794_700_800_000 + seconds * 1000).unwrap()
    }

    #[test]
    fn an_hour_forgets_minute_by_minute_and_says_when() {
        let mut hour = Hour::default();
        (0..3).for_each(|minute| hour.add(at(minute * 60), 10));
        assert_eq!(hour.sum(at(179)), 30);
        assert_eq!(hour.eases(at(179), 30), 3600 - 179, "the first minute has to go");
        assert_eq!(hour.eases(at(179), 11), 3660 - 179, "and the second");
        assert_eq!(hour.sum(at(3599)), 30);
        assert_eq!(hour.sum(at(3600)), 20);
        assert_eq!(hour.sum(at(60)), 20, "a clock that was set back changes nothing");
        hour.take(at(3600));
        assert_eq!(hour.sum(at(3600)), 20, "what was not counted in this minute is not taken");
        assert_eq!(hour.sum(at(3600 * 30)), 0);
    }
}
