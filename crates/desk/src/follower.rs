//! The one reader of what is recorded, whoever records it. It makes each message once for everybody who watches questions, and
//! in a store that several processes write to it hears what the others recorded: whoever waits is woken, and what is
//! remembered of a question is dropped. Own commits do both by themselves, so a store that is not shared is read only while
//! somebody watches.

mod change;
mod ring;
#[cfg(test)]
mod tests;

use std::{
    future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use demur_api::{code::Code, confirmation::ConfirmationId, question::QuestionId, refusal::Refusal};
use demur_ledger::{
    confirmation::touched_confirmation, entry::Entry, envelope::Event, name::TraceId, newer::Reading,
    question::touched,
};
use demur_store::contract::{Cursor, Store, Stored};
use tokio::{
    sync::{Notify, watch},
    task,
    time::{self, Interval, MissedTickBehavior},
};

pub use self::change::{ChangedConfirmation, ChangedQuestion, QuestionChange};
use self::ring::Ring;
use crate::{desk::Desk, owner::Owner, trouble_log::TroubleLog};

/// What was said lately, and who listens.
pub(crate) struct Follower {
    state: watch::Sender<State>,
    ring: Mutex<Ring>,
    arrived: Notify,
}

/// How far everything is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    /// The place of the newest event that was read; none while no messages are made, because nobody watches.
    pub(crate) newest: Option<Cursor>,
    /// Counts the signs of life.
    pub(crate) beats: u64,
    /// Nothing more is read.
    pub(crate) over: bool,
}

impl Default for Follower {
    fn default() -> Self {
        Self { state: watch::Sender::new(State::default()), ring: Mutex::default(), arrived: Notify::new() }
    }
}

impl Follower {
    /// Returns what says how far everything is; whoever holds it watches.
    pub(crate) fn subscribe(&self) -> watch::Receiver<State> {
        let receiver = self.state.subscribe();
        self.arrived.notify_one();
        receiver
    }

    /// Returns how many watch questions.
    pub(crate) fn viewers(&self) -> usize {
        self.state.receiver_count()
    }

    /// Returns what was said after a place, a part at a time; none where some of it is gone.
    pub(crate) fn since(&self, place: Cursor) -> Option<Vec<Arc<QuestionChange>>> {
        self.ring().since(place)
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins with messages after a place, unless that was done.
    fn begin(&self, place: Cursor) {
        if self.state.borrow().newest.is_none() {
            self.ring().begin(place);
            self.state.send_modify(|state| state.newest = Some(place));
        }
    }

    /// Ends with messages: nobody watches.
    fn rest(&self) {
        self.state.send_if_modified(|state| state.newest.take().is_some());
    }

    /// Tells everybody who watches.
    fn tell(&self, changes: Vec<QuestionChange>, newest: Cursor) {
        if changes.is_empty() {
            return;
        }
        {
            let mut ring = self.ring();
            for change in changes {
                ring.push(Arc::new(change));
            }
        }
        self.state.send_modify(|state| state.newest = Some(newest));
    }
}

/// Reads what is recorded until the desk ends.
pub async fn run(desk: Arc<Desk>) {
    tokio::select! {
        () = desk.stopping() => {}
        () = follow(&desk) => {}
        () = keep_up(&desk) => {}
        () = end_credentials(&desk) => {}
    }
    desk.follower().state.send_modify(|state| state.over = true);
}

async fn follow(desk: &Arc<Desk>) {
    let follower = desk.follower();
    let mut log = TroubleLog::new("what is recorded cannot be followed");
    loop {
        // Nobody is told that they watch before this place is known, so what comes after it reaches them.
        let looked = desk.work(|_, owner| {
            let store = owner.sequencer().store();
            Ok((store.is_shared(), store.end()?))
        });
        let Some((is_shared, end)) = log.note(looked.await) else {
            time::sleep(RETRY_DELAY).await;
            continue;
        };
        if read_from(desk, end, is_shared).await.is_none() {
            return;
        }
        while follower.viewers() == 0 {
            follower.arrived.notified().await;
        }
    }
}

/// Reads on from a place for as long as somebody needs it; none when nothing will be recorded any more.
async fn read_from(desk: &Arc<Desk>, end: Cursor, is_shared: bool) -> Option<()> {
    let follower = desk.follower();
    let mut commits = desk.waiters().commits();
    let (mut beat, mut look) = (every(BEAT_INTERVAL), every(LOOK_INTERVAL));
    let (mut heard, mut told) = (end, end);
    let mut hearing_log = TroubleLog::new("what other processes recorded cannot be read");
    let mut telling_log = TroubleLog::new("those who watch questions cannot be told");
    while is_shared || follower.viewers() > 0 {
        // Seen before the look: whatever is recorded after it wakes us again.
        commits.mark_unchanged();
        if is_shared {
            heard = hear_on(desk, heard, &mut hearing_log).await;
        }
        if follower.viewers() > 0 {
            follower.begin(told);
            told = tell_on(desk, told, &mut telling_log).await;
        } else {
            follower.rest();
            told = heard;
        }
        tokio::select! {
            changed = commits.changed() => changed.ok()?,
            _ = beat.tick() => follower.state.send_modify(|state| state.beats += 1),
            _ = look.tick(), if is_shared => {}
            () = follower.arrived.notified() => {}
        }
    }
    follower.rest();
    Some(())
}

/// Says twice a second that this process lives, and takes in which credentials others made or took back. Ends once others take
/// it for dead; never in a store that is not shared.
async fn keep_up(desk: &Arc<Desk>) {
    let mut look = every(LOOK_INTERVAL);
    let mut log = TroubleLog::new("the store does not answer");
    loop {
        look.tick().await;
        let here = Arc::clone(desk);
        // Not in line with requests: however many there are, this one is on time.
        let kept_up = task::spawn_blocking(move || {
            let owner = here.owner()?;
            if !owner.sequencer().store().is_shared() {
                return Ok(false);
            }
            owner.sequencer().renew_lease()?;
            here.tokens().load(&owner).map(|()| true)
        });
        let kept_up = kept_up.await.unwrap_or_else(|error| Err(Refusal::bug(&error)));
        if kept_up.as_ref().is_err_and(|error| error.code == Code::LeaseLost) {
            // It must not go on as if others did not go on without it.
            tracing::error!("ends: this process did not say in time that it lives");
            return desk.end();
        }
        if log.note(kept_up) == Some(false) {
            return future::pending().await;
        }
    }
}

/// Has whoever waits or watches look again when a credential ended, by its time or because it was taken back.
async fn end_credentials(desk: &Desk) {
    let mut ended = desk.tokens().ended();
    let mut look = every(LOOK_INTERVAL);
    loop {
        tokio::select! {
            changed = ended.changed() => match changed {
                Ok(()) => desk.follower().state.send_modify(|_| ()),
                Err(_) => return,
            },
            // The clock that counts may be set: nobody sleeps until a time of it.
            _ = look.tick() => {
                if let Ok(now) = desk.now() {
                    desk.tokens().tell_expired(now);
                }
            }
        }
    }
}

fn every(period: Duration) -> Interval {
    let mut interval = time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval.reset();
    interval
}

/// Takes note of what other processes recorded after a place; returns how far that is.
async fn hear_on(desk: &Arc<Desk>, mut after: Cursor, log: &mut TroubleLog) -> Cursor {
    loop {
        let read = desk.work(move |desk, owner| hear(desk, owner, after)).await;
        let Some((cursor, has_more)) = log.note(read) else { return after };
        after = cursor;
        if !has_more {
            return after;
        }
    }
}

fn hear(desk: &Desk, owner: &Owner, after: Cursor) -> Result<(Cursor, bool), Refusal> {
    let followed = owner.sequencer().follow(after)?;
    if !followed.changes.is_empty() {
        let of = |(trace, entry): &(TraceId, Entry)| {
            let id = |sequence| QuestionId { trace: *trace, sequence };
            touched(&entry.event).chain(touched_confirmation(&entry.event)).map(id).collect::<Vec<_>>()
        };
        let questions: Vec<_> = followed.changes.iter().flat_map(of).collect();
        // First: whoever is woken looks again.
        for id in &questions {
            owner.lookup().questions().forget(*id);
        }
        for (trace, entry) in &followed.changes {
            owner.marks().renew_seen(*trace, entry);
        }
        desk.waiters().wake(questions);
    }
    Ok((followed.cursor, followed.has_more))
}

/// Tells whoever watches what was recorded after a place; returns how far that is.
async fn tell_on(desk: &Arc<Desk>, mut after: Cursor, log: &mut TroubleLog) -> Cursor {
    loop {
        // What cannot be read now is read with the next commit, or the next sign of life.
        let read = desk.work(move |_, owner| page(owner, after)).await;
        let Some(page) = log.note(read) else { return after };
        let Some(last) = page.last else { return after };
        after = last;
        desk.follower().tell(page.changes, last);
        if !page.is_full {
            return after;
        }
    }
}

/// Some of what was recorded.
struct Page {
    /// What becomes known to those who watch questions.
    changes: Vec<QuestionChange>,
    /// The place of the last event; none where there is none.
    last: Option<Cursor>,
    /// Whether there may be more.
    is_full: bool,
}

fn page(owner: &Owner, after: Cursor) -> Result<Page, Refusal> {
    let store = owner.sequencer().store();
    let found = store.changes(after, EVENTS_PER_READ)?;
    let (last, is_full) = (found.last().map(|(place, _)| *place), found.len() == EVENTS_PER_READ);
    let mut changes = Vec::new();
    for (place, stored) in found {
        // What a newer version wrote is passed over: everything else goes on.
        if let Some(event) = event(&stored) {
            changes.extend(change(store, place, &event)?);
        }
    }
    Ok(Page { changes, last, is_full })
}

/// Returns an event; none where a newer version wrote it, or where it is damaged: whoever reads its trace says so.
pub(crate) fn event(stored: &Stored) -> Option<Event> {
    match Reading::of(&stored.bytes, &stored.hash) {
        Reading::Known(event) => Some(event),
        Reading::Newer(_) | Reading::Damaged => None,
    }
}

/// Returns what an event means for questions and confirmations; none where it is about none.
fn change(store: &dyn Store, at: Cursor, event: &Event) -> Result<Option<QuestionChange>, Refusal> {
    let (trace, own) = (event.envelope().trace, event.position().sequence);
    let mut questions = Vec::new();
    for sequence in touched(event) {
        let Some(summary) = store.question(trace, sequence)? else { continue };
        questions.push(ChangedQuestion {
            id: QuestionId { trace, sequence },
            is_new: sequence == own,
            state: summary.row.outcome,
            severity: summary.row.severity,
            people: summary.row.people,
        });
    }
    let mut confirmation = None;
    if let Some(sequence) = touched_confirmation(event)
        && let Some(summary) = store.confirmation(trace, sequence)?
    {
        confirmation = Some(ChangedConfirmation {
            id: ConfirmationId::new(trace, sequence),
            state: summary.row.outcome,
            people: summary.row.people,
        });
    }
    let is_told = !questions.is_empty() || confirmation.is_some();
    Ok(is_told.then(|| QuestionChange::new(at, questions, confirmation)))
}

/// How many events are read at once.
const EVENTS_PER_READ: usize = 64;
/// How often whoever watches is given a sign of life, and its right to watch is looked at again.
pub(crate) const BEAT_INTERVAL: Duration = Duration::from_secs(15);
/// How often a shared store is looked at without a hint.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
const RETRY_DELAY: Duration = Duration::from_millis(250);
