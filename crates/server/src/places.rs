//! Places for connections: a bounded number of them. Those that wait for a person leave some free for those that do not, and
//! one without a request makes room for whoever comes. Who has shown no token has a share of them, and so has each token.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use demur_api::{code::Code, refusal::Refusal};
use demur_desk::access::exceeded;
use tokio::{
    sync::Notify,
    time::{self, Instant},
};

/// The places for connections of one kind.
pub(crate) struct Places {
    shares: Shares,
    /// How many of them may be taken by requests that wait.
    most_waiting: usize,
    state: Mutex<State>,
    /// Told when a place is given back, or when a connection has no request any more.
    changed: Notify,
}

/// How many places there are, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// For everybody together.
    pub(crate) all: usize,
    /// For those of whom it is not known who they are.
    pub(crate) strangers: usize,
    /// For each token.
    pub(crate) token: usize,
}

impl Shares {
    /// Returns so many places for anybody.
    pub(crate) const fn of_all(all: usize) -> Self {
        Self { all, strangers: all, token: all }
    }
}

#[derive(Default)]
struct State {
    taken: usize,
    strangers: usize,
    waiting: usize,
    /// How many each token has, by its id.
    tokens: BTreeMap<String, usize>,
    /// Counts the times that a connection was without a request.
    times: u64,
    /// Connections without a request, the one that has been so for longest first.
    idle: BTreeMap<u64, Idle>,
    /// Those of them of whom it is not known who they are.
    idle_strangers: BTreeMap<u64, Idle>,
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
    seat: Mutex<Seat>,
    /// Told when somebody else needs the place.
    dismissed: Arc<Notify>,
}

/// Who has a place, and what for.
struct Seat {
    /// The token that its requests showed; none before one did.
    token: Option<String>,
    doing: Doing,
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
    pub(crate) fn new(shares: Shares) -> Arc<Self> {
        let most_waiting = shares.all.saturating_sub((shares.all / 8).max(1));
        Arc::new(Self { shares, most_waiting, state: Mutex::default(), changed: Notify::new() })
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
        if state.strangers >= self.shares.strangers {
            state.dismiss(true, now)?;
        } else if state.taken >= self.shares.all {
            let only_strangers = !state.idle_strangers.is_empty();
            state.dismiss(only_strangers, now)?;
        }
        state.taken += 1;
        state.strangers += 1;
        let dismissed = Arc::<Notify>::default();
        let doing = Doing::Idle(state.rest(false, &dismissed, now));
        let seat = Mutex::new(Seat { token: None, doing });
        Ok(Arc::new(Place { places: Arc::clone(self), seat, dismissed }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Ends the connection that has been without a request for longest, or says when that can be done.
    fn dismiss(&mut self, only_strangers: bool, now: Instant) -> Result<(), Option<Instant>> {
        let idle = if only_strangers { &mut self.idle_strangers } else { &mut self.idle };
        let oldest = idle.first_entry().ok_or(None)?;
        let may_go = oldest.get().since + REQUEST_TIMEOUT;
        if now < may_go {
            return Err(Some(may_go));
        }
        oldest.remove().dismissed.notify_one();
        Ok(())
    }

    /// Notes a connection without a request; returns since when it is so.
    fn rest(&mut self, is_known: bool, dismissed: &Arc<Notify>, since: Instant) -> u64 {
        self.times += 1;
        let idle = if is_known { &mut self.idle } else { &mut self.idle_strangers };
        idle.insert(self.times, Idle { since, dismissed: Arc::clone(dismissed) });
        self.times
    }

    fn leave(&mut self, doing: Doing) {
        match doing {
            Doing::Idle(since) => {
                self.idle.remove(&since);
                self.idle_strangers.remove(&since);
            }
            Doing::Working => {}
            Doing::Waiting => self.waiting -= 1,
        }
    }

    /// Notes that a place is this one's no longer.
    fn let_go(&mut self, token: Option<&str>) {
        let Some(token) = token else {
            self.strangers -= 1;
            return;
        };
        match self.tokens.get_mut(token) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(self.tokens.remove(token)),
        }
    }
}

impl Place {
    /// Notes that a request has come; it is over when what is returned is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> RequestAtPlace {
        self.change(|_, _| Doing::Working);
        RequestAtPlace(Arc::clone(self))
    }

    /// Notes that the request waits for something to happen, or refuses that.
    fn wait(&self) -> Result<(), Refusal> {
        let mut seat = self.seat();
        if seat.doing == Doing::Waiting {
            return Ok(());
        }
        let mut state = self.places.state();
        let most = self.places.most_waiting;
        if state.waiting >= most {
            let message = format!("expected at most {most} connections that wait, found as many");
            return Err(Refusal::new(Code::Overloaded, message)
                .with_cure("nothing was changed; wait again later, or ask without waiting"));
        }
        state.leave(mem::replace(&mut seat.doing, Doing::Waiting));
        state.waiting += 1;
        Ok(())
    }

    /// Notes that the connection is a token's, or refuses one more of that token.
    fn claim(&self, token: &str) -> Result<(), Refusal> {
        let mut seat = self.seat();
        if seat.token.as_deref() == Some(token) {
            return Ok(());
        }
        let mut state = self.places.state();
        let most = self.places.shares.token;
        let found = state.tokens.get(token).copied().unwrap_or(0);
        if found >= most {
            let cure = "nothing was changed; try again when one of the others has ended, or use one connection for several requests";
            return Err(exceeded("connections", (most as u64, found as u64), "connections", cure));
        }
        state.let_go(seat.token.as_deref());
        *state.tokens.entry(token.to_owned()).or_default() += 1;
        seat.token = Some(token.to_owned());
        drop(state);
        drop(seat);
        // There may be room for a stranger now.
        self.places.changed.notify_one();
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
        matches!(self.seat().doing, Doing::Idle(_))
    }

    fn change(&self, next: impl FnOnce(&mut State, bool) -> Doing) {
        let mut seat = self.seat();
        let mut state = self.places.state();
        state.leave(seat.doing);
        seat.doing = next(&mut state, seat.token.is_some());
    }

    /// Always locked before the state of all places.
    fn seat(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let seat = self.seat();
        let mut state = self.places.state();
        state.leave(seat.doing);
        state.let_go(seat.token.as_deref());
        state.taken -= 1;
        drop(state);
        drop(seat);
        self.places.changed.notify_one();
    }
}

/// A request of the connection at a place, until its response is written.
pub(crate) struct RequestAtPlace(Arc<Place>);

impl Drop for RequestAtPlace {
    fn drop(&mut self) {
        let Self(place) = self;
        place.change(|state, is_known| Doing::Idle(state.rest(is_known, &place.dismissed, Instant::now())));
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

    /// Notes that the connection is a token's, or refuses one more of that token.
    pub(crate) fn claim(&self, token: &str) -> Result<(), Refusal> {
        self.0.upgrade().map_or(Ok(()), |place| place.claim(token))
    }
}

/// How long a new connection, and one that goes on, has for its next request before it makes room for another.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn full(most: usize) -> (Arc<Places>, Vec<Arc<Place>>) {
        let places = Places::new(Shares::of_all(most));
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
            let mut idle = state.idle.values().chain(state.idle_strangers.values());
            !idle.any(|idle| Arc::ptr_eq(&idle.dismissed, &place.dismissed))
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

    /// ONE-15
    #[test]
    fn strangers_have_a_share_and_each_token_has_one() {
        let places = Places::new(Shares { all: 4, strangers: 2, token: 1 });
        let now = Instant::now();
        let take = || places.try_take(now);
        // As it happens: whose a connection is comes out while it has a request.
        let claim = |place: &Arc<Place>, token: &str| {
            let _request = place.begin();
            place.claim(token)
        };
        let [first, second] = [take().unwrap_or_else(|_| panic!()), take().unwrap_or_else(|_| panic!())];
        assert!(take().is_err(), "strangers have no more");
        claim(&first, "one").unwrap();
        let third = take().unwrap_or_else(|_| panic!("whoever is known is no stranger"));
        assert_eq!(claim(&third, "one").unwrap_err().code, Code::QuotaExceeded);
        claim(&third, "two").unwrap();
        // One of whom it is known who it is goes for no stranger, however long it says nothing.
        let late = now + 2 * REQUEST_TIMEOUT;
        let fourth = places.try_take(late).unwrap_or_else(|_| panic!("there is room"));
        assert!(places.try_take(late).is_ok_and(|_| !first.is_dismissed() && !third.is_dismissed()));
        assert!(second.is_dismissed(), "the stranger that was silent for longest is gone");
        drop((first, fourth));
        claim(&third, "one").unwrap();
        assert_eq!(places.state().tokens.len(), 1);
    }

    impl Place {
        fn is_dismissed(&self) -> bool {
            let state = self.places.state();
            let mut idle = state.idle.values().chain(state.idle_strangers.values());
            !idle.any(|idle| Arc::ptr_eq(&idle.dismissed, &self.dismissed))
        }
    }
}
