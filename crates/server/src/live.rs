//! What browsers are told while a page is open: that a question was asked, or that something became of one; never its
//! words. One task reads the store and makes each message once; everybody who looks gets the same bytes. Whoever is too
//! slow, or comes back too late, is told to look at the page again.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use demur_api::{question::QuestionId, refusal::Refusal, server_limits::MAX_VIEWERS};
use demur_desk::owner::Owner;
use demur_ledger::{
    facts::Severity,
    name::{Sequence, TraceId},
    newer::Reading,
    question::touched,
};
use demur_store::contract::{Cursor, QuestionSummary, Stored};
use serde::Serialize;
use tokio::{
    sync::{Notify, watch},
    time,
};

use crate::service::Shared;

/// What was said lately, and who listens.
pub struct Live {
    state: watch::Sender<State>,
    ring: Mutex<Ring>,
    arrived: Notify,
}

/// How far everything is.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The place of the newest event that was read; none while nobody reads, because nobody looks.
    newest: Option<Cursor>,
    /// Counts the signs of life.
    beats: u64,
    /// The server ends.
    over: bool,
}

/// The newest messages, by the place of their event.
#[derive(Debug, Default)]
struct Ring {
    /// Everything after this place is here.
    after: Cursor,
    messages: VecDeque<(Cursor, Bytes)>,
}

impl Ring {
    fn begin(&mut self, place: Cursor) {
        self.messages.clear();
        self.after = place;
    }

    fn push(&mut self, place: Cursor, message: Bytes) {
        self.messages.push_back((place, message));
        if self.messages.len() > MAX_KEPT_MESSAGES
            && let Some((dropped, _)) = self.messages.pop_front()
        {
            self.after = dropped;
        }
    }

    /// Returns what was said after a place, and up to which; none where some of it is gone.
    fn since(&self, place: Cursor) -> Option<(Cursor, Bytes)> {
        if place < self.after {
            return None;
        }
        let first = self.messages.partition_point(|(known, _)| *known <= place);
        let mut rest = self.messages.range(first..).take(MESSAGES_PER_SEND);
        let Some((mut last, only)) = rest.next().cloned() else { return Some((place, Bytes::new())) };
        let mut all = Vec::new();
        for (place, message) in rest {
            if all.is_empty() {
                all.extend_from_slice(&only);
            }
            all.extend_from_slice(message);
            last = *place;
        }
        Some((last, if all.is_empty() { only } else { all.into() }))
    }
}

impl Default for Live {
    fn default() -> Self {
        Self { state: watch::Sender::new(State::default()), ring: Mutex::default(), arrived: Notify::new() }
    }
}

impl Live {
    /// Returns somebody who looks, from this place on or from now; none where too many look already.
    pub(crate) fn look(&self, after: Option<Cursor>) -> Option<Looking> {
        let number = self.state.receiver_count();
        if number >= MAX_VIEWERS as usize {
            return None;
        }
        let looking = Looking { state: self.state.subscribe(), place: after, begun: false, number };
        self.arrived.notify_one();
        Some(looking)
    }

    /// Returns how many look.
    pub fn viewers(&self) -> usize {
        self.state.receiver_count()
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_at(&self, place: Cursor) -> Cursor {
        self.ring().begin(place);
        self.state.send_modify(|state| state.newest = Some(place));
        place
    }
}

/// Somebody who looks.
pub(crate) struct Looking {
    state: watch::Receiver<State>,
    /// The last event that was told.
    place: Option<Cursor>,
    begun: bool,
    number: usize,
}

impl Looking {
    /// Waits for what is to be sent next; none at the end. `may` says whether anything may be sent at all.
    pub(crate) async fn next(&mut self, live: &Live, may: impl Fn() -> bool) -> Option<Bytes> {
        loop {
            let state = *self.state.borrow_and_update();
            if state.over || !may() {
                return None;
            }
            if let Some(newest) = state.newest {
                if !self.begun {
                    self.begun = true;
                    return Some(self.begin(live, newest));
                }
                if let Some(bytes) = self.news(live, newest) {
                    return Some(bytes);
                }
            }
            let beats = state.beats;
            self.state.changed().await.ok()?;
            let state = *self.state.borrow();
            if state.beats != beats && !state.over && may() {
                return Some(Bytes::from_static(BEAT));
            }
        }
    }

    /// Whoever comes back and missed nothing goes on; everybody else is told where they begin, and looks again.
    fn begin(&mut self, live: &Live, newest: Cursor) -> Bytes {
        let known = self.place.filter(|place| *place <= newest && live.ring().since(*place).is_some());
        let (place, name) = match (known, self.place) {
            (Some(place), _) => (place, "resumed"),
            (None, Some(_)) => (newest, RELOAD_EVENT),
            (None, None) => (newest, "begin"),
        };
        self.place = Some(place);
        // After a restart they do not all come back in the same moment.
        let retry = 1000 + self.number * 97 % 2000;
        format!("retry: {retry}\nid: {place}\nevent: {name}\ndata: {{}}\n\n").into()
    }

    fn news(&mut self, live: &Live, newest: Cursor) -> Option<Bytes> {
        let since = live.ring().since(self.place.unwrap_or(newest));
        let Some((place, bytes)) = since else {
            self.place = Some(newest);
            return Some(format!("id: {newest}\nevent: {RELOAD_EVENT}\ndata: {{}}\n\n").into());
        };
        self.place = Some(place);
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// Reads what is recorded and tells everybody who looks, until the server ends.
pub(crate) async fn run(service: Shared) {
    let live = &service.live;
    tokio::select! {
        () = service.desk.stopping() => {}
        () = tell(&service) => {}
    }
    live.state.send_modify(|state| state.over = true);
}

async fn tell(service: &Shared) {
    let live = &service.live;
    let mut commits = service.desk.waiters().commits();
    loop {
        while live.viewers() == 0 {
            live.arrived.notified().await;
        }
        // Nobody is told that they look before this place is known, so what comes after it reaches them.
        let end = service.work(|_, owner| Ok(owner.ledger().store().end()?)).await;
        let Ok(end) = end else {
            time::sleep(RETRY_DELAY).await;
            continue;
        };
        live.wake_at(end);
        let mut after = end;
        let mut beat = time::interval(BEAT_INTERVAL);
        beat.reset();
        while live.viewers() > 0 {
            commits.mark_unchanged();
            after = read_on(service, after).await;
            tokio::select! {
                changed = commits.changed() => if changed.is_err() { return },
                _ = beat.tick() => live.state.send_modify(|state| state.beats += 1),
            }
        }
        live.state.send_modify(|state| state.newest = None);
    }
}

/// Tells what was recorded after a place; returns how far that is.
async fn read_on(service: &Shared, mut after: Cursor) -> Cursor {
    loop {
        let Ok(page) = service.work(move |_, owner| page(owner, after)).await else { return after };
        let full = page.len() == EVENTS_PER_READ;
        let Some((last, _)) = page.last() else { return after };
        after = *last;
        let told: Vec<_> = page.into_iter().filter(|(_, message)| !message.is_empty()).collect();
        if !told.is_empty() {
            let live = &service.live;
            {
                let mut ring = live.ring();
                for (place, message) in told {
                    ring.push(place, message);
                }
            }
            live.state.send_modify(|state| state.newest = Some(after));
        }
        if !full {
            return after;
        }
    }
}

/// Returns a message for every event after a place; an empty one where the event is about no question.
fn page(owner: &Owner, after: Cursor) -> Result<Vec<(Cursor, Bytes)>, Refusal> {
    let store = owner.ledger().store();
    let mut page = Vec::new();
    for (cursor, stored) in store.changes(after, EVENTS_PER_READ)? {
        page.push((cursor, message(owner, cursor, &stored)?));
    }
    Ok(page)
}

fn message(owner: &Owner, cursor: Cursor, stored: &Stored) -> Result<Bytes, Refusal> {
    let event = match Reading::of(&stored.bytes, &stored.hash) {
        Reading::Known(event) => event,
        // What a newer version wrote is passed over: pages of other traces go on.
        Reading::Newer(_) => return Ok(Bytes::new()),
        Reading::Damaged => return Err(Refusal::bug(&"an event that cannot be read")),
    };
    let (trace, own) = (event.envelope().trace, event.position().sequence);
    let mut parts = Vec::new();
    for sequence in touched(&event) {
        let Some(summary) = owner.ledger().store().question(trace, sequence)? else { continue };
        parts.push(said(trace, sequence, own, &summary)?);
    }
    if let Some(last) = parts.last_mut() {
        // Whoever remembers the place has got everything that stands before it.
        last.insert_str(0, &format!("id: {cursor}\n"));
    }
    Ok(parts.concat().into())
}

/// What a browser learns about a question.
#[derive(Serialize)]
struct Told {
    question: QuestionId,
    state: &'static str,
    severity: Severity,
    people: bool,
}

fn said(
    trace: TraceId,
    sequence: Sequence,
    own: Sequence,
    summary: &QuestionSummary,
) -> Result<String, Refusal> {
    let row = &summary.row;
    let told = Told {
        question: QuestionId { trace, sequence },
        state: row.outcome.as_str(),
        severity: row.severity,
        people: row.people,
    };
    let name = if sequence == own { "asked" } else { "changed" };
    let data = serde_json::to_string(&told).map_err(|error| Refusal::bug(&error))?;
    Ok(format!("event: {name}\ndata: {data}\n\n"))
}

/// How many messages are kept for whoever is slow or comes back; each takes about 200 bytes.
const MAX_KEPT_MESSAGES: usize = 1024;
/// How many messages go out together.
const MESSAGES_PER_SEND: usize = 64;
/// How many events are read at once.
const EVENTS_PER_READ: usize = 64;
/// Keeps proxies from thinking that nobody is there, and finds out who has left.
const BEAT_INTERVAL: Duration = Duration::from_secs(15);
const RETRY_DELAY: Duration = Duration::from_millis(250);
const BEAT: &[u8] = b":\n\n";
const RELOAD_EVENT: &str = "reload";

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: usize) -> Cursor {
        Cursor::from_bytes((number as u128).to_be_bytes())
    }

    fn filled(count: usize) -> Ring {
        let mut ring = Ring::default();
        ring.begin(at(10));
        for number in 0..count {
            ring.push(at(11 + number), Bytes::from(format!("{number};")));
        }
        ring
    }

    #[test]
    fn whoever_comes_back_gets_what_came_after() {
        let ring = filled(3);
        assert_eq!(ring.since(at(10)), Some((at(13), "0;1;2;".into())));
        assert_eq!(ring.since(at(12)), Some((at(13), "2;".into())));
        assert_eq!(ring.since(at(13)), Some((at(13), Bytes::new())));
        assert_eq!(ring.since(at(9)), None, "what came before the beginning is not known");
    }

    #[test]
    fn what_is_dropped_is_known_to_be_gone() {
        let ring = filled(MAX_KEPT_MESSAGES + 2);
        assert_eq!(ring.since(at(11)), None);
        let (last, _) = ring.since(at(12)).unwrap();
        assert_eq!(last, at(12 + MESSAGES_PER_SEND), "a part at a time");
        assert_eq!(ring.messages.len(), MAX_KEPT_MESSAGES);
    }
}
