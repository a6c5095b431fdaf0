//! Places for connections: a bounded number of them. Those that wait for a person leave some free for those that do not, and
//! one without a request makes room for whoever comes.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use demur_api::{code::Code, refusal::Refusal};
use tokio::{
    sync::Notify,
    time::{self, Instant},
};

/// The places for connections of one kind.
pub(crate) struct Places {
    most: usize,
    /// How many of them may be taken by requests that wait.
    most_waiting: usize,
    state: Mutex<State>,
    /// Told when a place is given back, or when a connection has no request any more.
    changed: Notify,
}

#[derive(Default)]
struct State {
    taken: usize,
    waiting: usize,
    /// Counts the times that a connection was without a request.
    times: u64,
    /// Connections without a request, the one that has been so for longest first.
    idle: BTreeMap<u64, Idle>,
}

/// A connection without a request.
struct Idle {
    since: Instant,
    /// Ends it.
    dismissed: Arc<Notify>,
}

/// The place of one connection. It is given back when this is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    doing: Mutex<Doing>,
    /// Told when somebody else needs the place.
    dismissed: Arc<Notify>,
}

/// What the connection at a place does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// It has no request, since this time.
    Idle(u64),
    /// It has a request.
    Working,
    /// It has a request that waits for something to happen.
    Waiting,
}

impl Places {
    /// Returns so many places. One of eight is kept for requests that do not wait.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let most_waiting = most.saturating_sub((most / 8).max(1));
        Arc::new(Self { most, most_waiting, state: Mutex::default(), changed: Notify::new() })
    }

    /// Takes a place for a new connection. Where all are taken, the connection that has been without a request for longest has
    /// to go; where each has one, this waits. For one caller at a time.
    pub(crate) async fn take(self: &Arc<Self>) -> Arc<Place> {
        loop {
            let until = match self.try_take(Instant::now()) {
                Ok(place) => return place,
                Err(until) => until,
            };
            // Nothing is missed in between: a notice without a listener is kept.
            let changed = self.changed.notified();
            match until {
                Some(until) => {
                    // Either way it is tried again.
                    let _ = time::timeout_at(until, changed).await;
                }
                None => changed.await,
            }
        }
    }

    /// Takes a place, or says when one can be taken from a connection without a request, if there is one.
    fn try_take(self: &Arc<Self>, now: Instant) -> Result<Arc<Place>, Option<Instant>> {
        let mut state = self.state();
        if state.taken >= self.most {
            let oldest = state.idle.first_entry().ok_or(None)?;
            let may_go = oldest.get().since + REQUEST_TIMEOUT;
            if now < may_go {
                return Err(Some(may_go));
            }
            oldest.remove().dismissed.notify_one();
        }
        state.taken += 1;
        let dismissed = Arc::<Notify>::default();
        let doing = Mutex::new(Doing::Idle(state.rest(&dismissed, now)));
        Ok(Arc::new(Place { places: Arc::clone(self), doing, dismissed }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Notes a connection without a request; returns since when it is so.
    fn rest(&mut self, dismissed: &Arc<Notify>, since: Instant) -> u64 {
        self.times += 1;
        self.idle.insert(self.times, Idle { since, dismissed: Arc::clone(dismissed) });
        self.times
    }

    fn leave(&mut self, doing: Doing) {
        match doing {
            Doing::Idle(since) => drop(self.idle.remove(&since)),
            Doing::Working => {}
            Doing::Waiting => self.waiting -= 1,
        }
    }
}

impl Place {
    /// Notes that a request has come; it is over when what is returned is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> RequestAtPlace {
        self.change(|_| Doing::Working);
        RequestAtPlace(Arc::clone(self))
    }

    /// Notes that the request waits for something to happen, or refuses that.
    fn wait(&self) -> Result<(), Refusal> {
        let mut doing = self.doing();
        if *doing == Doing::Waiting {
            return Ok(());
        }
        let mut state = self.places.state();
        let most = self.places.most_waiting;
        if state.waiting >= most {
            let message = format!("expected at most {most} connections that wait, found as many");
            return Err(Refusal::new(Code::Overloaded, message)
                .with_cure("nothing was changed; wait again later, or ask without waiting"));
        }
        state.leave(mem::replace(&mut doing, Doing::Waiting));
        state.waiting += 1;
        Ok(())
    }

    /// Returns the place as a request carries it.
    pub(crate) fn named(self: &Arc<Self>) -> OwnPlace {
        OwnPlace(Arc::downgrade(self))
    }

    /// Returns once somebody else needs the place.
    pub(crate) async fn dismissed(&self) {
        self.dismissed.notified().await;
    }

    /// Returns whether the connection has no request.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(*self.doing(), Doing::Idle(_))
    }

    fn change(&self, next: impl FnOnce(&mut State) -> Doing) {
        let mut doing = self.doing();
        let mut state = self.places.state();
        state.leave(*doing);
        *doing = next(&mut state);
    }

    /// Always locked before the state of all places.
    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let doing = *self.doing();
        let mut state = self.places.state();
        state.leave(doing);
        state.taken -= 1;
        drop(state);
        self.places.changed.notify_one();
    }
}

/// A request of the connection at a place, until its response is written.
pub(crate) struct RequestAtPlace(Arc<Place>);

impl Drop for RequestAtPlace {
    fn drop(&mut self) {
        let Self(place) = self;
        place.change(|state| Doing::Idle(state.rest(&place.dismissed, Instant::now())));
        place.places.changed.notify_one();
    }
}

/// The place from which a request came, as the request carries it. What outlives the connection does not keep its place.
#[derive(Clone)]
pub(crate) struct OwnPlace(Weak<Place>);

impl OwnPlace {
    /// Notes that the request waits for something to happen, or refuses that: requests that wait leave places for those
    /// that do not.
    pub(crate) fn wait(&self) -> Result<(), Refusal> {
        self.0.upgrade().map_or(Ok(()), |place| place.wait())
    }
}

/// How long a new connection, and one that goes on, has for its next request before it makes room for another.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn full(most: usize) -> (Arc<Places>, Vec<Arc<Place>>) {
        let places = Places::new(most);
        let taken = (0..most).map(|_| places.try_take(Instant::now()).unwrap_or_else(|_| panic!()));
        let taken = taken.collect();
        (places, taken)
    }

    #[test]
    fn whoever_has_no_request_for_longest_goes_first_and_not_at_once() {
        let (places, taken) = full(2);
        drop(taken[0].begin());
        let first_may_go = places.try_take(Instant::now()).err().flatten().unwrap();
        assert!(first_may_go > Instant::now(), "its request may be on the way");
        assert!(places.try_take(first_may_go).is_ok());
        let is_dismissed = |place: &Place| {
            let state = places.state();
            !state.idle.values().any(|idle| Arc::ptr_eq(&idle.dismissed, &place.dismissed))
        };
        assert!(is_dismissed(&taken[1]) && !is_dismissed(&taken[0]), "the first one had a request since");
    }

    #[test]
    fn nobody_goes_who_has_a_request() {
        let (places, mut taken) = full(2);
        let requests: Vec<_> = taken.iter().map(Place::begin).collect();
        let late = Instant::now() + 2 * REQUEST_TIMEOUT;
        assert_eq!(places.try_take(late).err(), Some(None));
        drop(requests);
        taken.pop();
        assert!(places.try_take(Instant::now()).is_ok());
    }

    #[test]
    fn waiting_leaves_places_and_is_counted_until_the_request_is_over() {
        let (_places, taken) = full(3);
        let [first, second, third] = &taken[..] else { panic!() };
        let requests = [first.begin(), second.begin(), third.begin()];
        first.wait().unwrap();
        first.wait().unwrap();
        second.wait().unwrap();
        assert_eq!(third.wait().unwrap_err().code, Code::Overloaded);
        let [over, _second, _third] = requests;
        drop(over);
        third.wait().unwrap();
    }
}
