//! How much one token may have: questions that are open, questions and bytes in an hour, requests that wait. What is open and what
//! was asked is counted from the store when a token first asks here, then as it asks; where that says that it is too much, it is
//! counted again. What a request may still record is reserved under one lock before it begins, and given back when its work has
//! ended: requests at the same time do not pass what one after the other could not. With several processes each counts for itself.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::{code::Code, refusal::Refusal, server_limits::TokenQuotas};
use demur_core::time::Timestamp;
use demur_ledger::{
    confirmation::ConfirmationStanding,
    entry::Entry,
    envelope::Event,
    event_type::Facts,
    name::{PrincipalId, TokenId, TraceId},
    question::OutcomeKind,
};
use demur_sequencer::Listener;
use demur_store::contract::{ConfirmationFilter, QuestionFilter, Store};

use super::{Caller, Token};

/// What tokens have.
#[derive(Debug)]
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
    /// How many questions were ever begun here, and of how many of them the work has ended: what the store says is without
    /// some of those between.
    begun: u64,
    ended: u64,
    /// Whether what was asked before this process began is counted.
    knows_asked: bool,
    asked: Hour,
    recorded: Hour,
    /// How many bytes are being recorded.
    underway_bytes: u64,
    waits: u32,
}

/// What the store says is open, and of how many questions the work had ended before it was asked.
#[derive(Clone, Copy, Debug)]
struct OpenCount {
    in_store: u32,
    ended: u64,
}

impl Usage {
    /// Takes over what was counted; returns how many are open at most: what began since may be in the store or not.
    fn take_over(&mut self, OpenCount { in_store, ended }: OpenCount) -> u32 {
        let underway = u32::try_from(self.begun.saturating_sub(ended)).unwrap_or(u32::MAX);
        let open = in_store.saturating_add(underway);
        self.open = Some(open);
        open
    }
}

impl Quotas {
    pub(crate) fn new(most: TokenQuotas) -> Self {
        Self { most, holders: Mutex::default() }
    }

    /// Reserves a question for a token, if what is known says that it may ask; reads nothing.
    pub(crate) fn ask(self: &Arc<Self>, caller: &Caller, now: Timestamp) -> Option<AskShare> {
        let Some((_, holder)) = held(caller) else { return Some(AskShare(None)) };
        let mut holders = self.holders();
        let usage = holders.entry(holder).or_default();
        let may_ask = usage.open.is_some_and(|open| open < self.most.open_questions)
            && usage.asked.sum(now) < u64::from(self.most.asks_per_hour);
        may_ask.then(|| {
            usage.asked.add(now, 1);
            self.begin(usage, holder, 1)
        })
    }

    /// Reserves a question for a token, or says why it may not ask. Counts what is open. May block.
    pub(crate) fn ask_counted(
        self: &Arc<Self>,
        store: &dyn Store,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<AskShare, Refusal> {
        let Some((token, holder)) = held(caller) else { return Ok(AskShare(None)) };
        let knows_asked = self.holders().get(&holder).is_some_and(|usage| usage.knows_asked);
        let asked = if knows_asked { Vec::new() } else { self.asked(store, token, now)? };
        let count = self.count(store, token, holder)?;
        let mut holders = self.holders();
        let usage = holders.entry(holder).or_default();
        if !usage.knows_asked {
            for time in asked {
                usage.asked.add(time, 1);
            }
            usage.knows_asked = true;
        }
        let open = usage.take_over(count);
        if open >= self.most.open_questions {
            return Err(open_questions(self.most.open_questions, open));
        }
        let (most, found) = (u64::from(self.most.asks_per_hour), usage.asked.sum(now));
        if found >= most {
            let what = "questions, confirmations and plans in an hour";
            return Err(exceeded("asks_per_hour", (most, found), what, &later(usage.asked.eases(now, most))));
        }
        usage.asked.add(now, 1);
        Ok(self.begin(usage, holder, 1))
    }

    /// Reserves the questions of a plan that a token submits, whose one place is reserved already: refused where others took
    /// the last one meanwhile. A plan that begins with a place left has all its questions. May block.
    pub(crate) fn ask_gaps(
        self: &Arc<Self>,
        store: &dyn Store,
        caller: &Caller,
        gaps: usize,
    ) -> Result<AskShare, Refusal> {
        let more = u32::try_from(gaps.saturating_sub(1)).unwrap_or(u32::MAX);
        let Some((token, holder)) = held(caller).filter(|_| more > 0) else { return Ok(AskShare(None)) };
        let count = self.count(store, token, holder)?;
        let mut holders = self.holders();
        let usage = holders.entry(holder).or_default();
        let open = usage.take_over(count);
        if open > self.most.open_questions {
            return Err(open_questions(self.most.open_questions, open));
        }
        Ok(self.begin(usage, holder, more))
    }

    /// Takes back that a token asks: nothing new was recorded.
    pub(crate) fn ask_not(&self, caller: &Caller, now: Timestamp) {
        let Some((_, holder)) = held(caller) else { return };
        if let Some(usage) = self.holders().get_mut(&holder) {
            usage.open = usage.open.map(|open| open.saturating_sub(1));
            usage.asked.take(now);
        }
    }

    fn begin(self: &Arc<Self>, usage: &mut Usage, holder: Holder, questions: u32) -> AskShare {
        usage.open = usage.open.map(|open| open.saturating_add(questions));
        usage.begun += u64::from(questions);
        AskShare(Some((Arc::clone(self), holder, questions)))
    }

    /// Reserves room for so many bytes that a token wants recorded, or refuses it where it had too much in the last hour. None
    /// where nothing is counted.
    pub(crate) fn expect_room(
        self: &Arc<Self>,
        caller: &Caller,
        now: Timestamp,
        bytes: impl FnOnce() -> u64,
    ) -> Result<Option<RoomShare>, Refusal> {
        let Some((_, holder)) = held(caller) else { return Ok(None) };
        let (most, bytes) = (u64::from(self.most.mebibytes_per_hour) << 20, bytes());
        let mut holders = self.holders();
        // From now on what it has recorded is counted.
        let usage = holders.entry(holder).or_default();
        let found = usage.recorded.sum(now).saturating_add(usage.underway_bytes);
        if found < most {
            usage.underway_bytes += bytes;
            return Ok(Some(RoomShare { quotas: Arc::clone(self), holder, bytes }));
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

    /// Counts how many questions, gaps of its plans and confirmations of a token are open, each up to one more than there may be.
    fn count(&self, store: &dyn Store, token: &Token, holder: Holder) -> Result<OpenCount, Refusal> {
        let ended = self.holders().get(&holder).map_or(0, |usage| usage.ended);
        let Some(asker) = token.principal else { return Ok(OpenCount { in_store: 0, ended }) };
        let limit = self.most.open_questions as usize + 1;
        let outcomes = Some(vec![OutcomeKind::Open]);
        let (asker, with_gaps) = (Some(asker), true);
        let filter = QuestionFilter { asker, with_gaps, outcomes, ..QuestionFilter::default() };
        let questions = store.questions(&filter, None, limit)?.len();
        let outcomes = Some(vec![ConfirmationStanding::Open]);
        let filter = ConfirmationFilter { asker, outcomes, ..ConfirmationFilter::default() };
        let confirmations = store.confirmations(&filter, None, limit)?.len();
        let in_store = u32::try_from(questions + confirmations).unwrap_or(u32::MAX);
        Ok(OpenCount { in_store, ended })
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
        if entries.iter().any(|entry| has_gap(&entry.event)) {
            // Whose plan it is stands in events that came before.
            holders.values_mut().for_each(|usage| usage.open = None);
        }
    }
}

fn has_gap(event: &Event) -> bool {
    event.said().is_ok_and(|said| matches!(said.facts, Facts::GapFound(_)))
}

/// Questions of a token that are being recorded. They are in the store, or not, once this is dropped.
#[derive(Debug)]
pub(crate) struct AskShare(Option<(Arc<Quotas>, Holder, u32)>);

impl Drop for AskShare {
    fn drop(&mut self) {
        if let Some((quotas, holder, questions)) = &self.0
            && let Some(usage) = quotas.holders().get_mut(holder)
        {
            usage.ended += u64::from(*questions);
        }
    }
}

/// Bytes of a token that are being recorded. They are counted as recorded, or were not, once this is dropped.
#[derive(Debug)]
pub(crate) struct RoomShare {
    quotas: Arc<Quotas>,
    holder: Holder,
    bytes: u64,
}

impl Drop for RoomShare {
    fn drop(&mut self) {
        if let Some(usage) = self.quotas.holders().get_mut(&self.holder) {
            usage.underway_bytes = usage.underway_bytes.saturating_sub(self.bytes);
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
