//! Room for what is being sent: how much of it is in memory at once, of everybody and of each. Whoever sends a body and never ends
//! it takes no more of the memory than a share (ONE-15).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::Request,
};
use bytes::BytesMut;
use demur_api::{code::Code, refusal::Refusal};
use demur_desk::access::Caller;
use http_body_util::{BodyExt as _, Limited};
use hyper::http::Extensions;
use tokio::time;

use crate::{limits::Peer, problem::Problem, read, service::Service};

/// The room for the bodies of some callers.
pub(crate) struct BodyRoom {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    /// By token, or by address.
    each: BTreeMap<String, usize>,
}

impl BodyRoom {
    /// Returns room for so many bytes.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Returns how much one of the callers may have: the largest document there is, and a little more.
    fn most_each(&self) -> usize {
        MOST_EACH_BYTES.min(self.most)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one body takes. It is given back when this is dropped.
pub(crate) struct BodyShare {
    room: Arc<BodyRoom>,
    holder: String,
    bytes: usize,
}

impl BodyShare {
    /// Returns the share of whoever sends a request, which is empty.
    pub(crate) fn of(service: &Service, extensions: &Extensions) -> Self {
        let caller = extensions.get::<Caller>().unwrap_or(&Caller::Stranger);
        let room = if caller.is_local() { &service.own_bodies } else { &service.bodies };
        let holder = match (caller, extensions.get::<Peer>()) {
            (Caller::Stranger, Some(peer)) => peer.to_string(),
            (caller, _) => caller.label().to_owned(),
        };
        Self { room: Arc::clone(room), holder, bytes: 0 }
    }

    /// Takes so much in all, or says that there is not so much.
    fn grow_to(&mut self, bytes: usize) -> Result<(), Refusal> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        // The user of this machine needs no share: nobody else has anything of that room.
        let most_each = if self.holder == LOCAL { self.room.most } else { self.room.most_each() };
        let mut taken = self.room.taken();
        let own = taken.each.get(&self.holder).copied().unwrap_or(0);
        if own + more > most_each {
            return Err(full("of one caller", most_each, own + more));
        }
        // A caller with next to nothing is served also where others have filled the room.
        let reserve = if own + more <= SMALL_BYTES { self.room.most / RESERVE_SHARE } else { 0 };
        if taken.all + more > self.room.most + reserve {
            return Err(full("of all callers", self.room.most, taken.all + more));
        }
        taken.all += more;
        *taken.each.entry(self.holder.clone()).or_default() += more;
        drop(taken);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        let mut taken = self.room.taken();
        taken.all -= self.bytes;
        match taken.each.get_mut(&self.holder) {
            Some(own) if *own > self.bytes => *own -= self.bytes,
            _ => drop(taken.each.remove(&self.holder)),
        }
    }
}

/// Returns the whole body of a request that has a share, if it is not too long and does not take too long.
pub(crate) async fn read_whole(
    share: &mut BodyShare,
    body: Body,
    max_bytes: usize,
    timeout: time::Duration,
) -> Result<Bytes, Problem> {
    let said = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let reading = async {
        let (mut body, mut read) = (Limited::new(body, max_bytes), BytesMut::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| read::broken(&*error, max_bytes))?;
            let Ok(part) = frame.into_data() else { continue };
            if read.capacity() - read.len() < part.len() {
                // As much as was announced, so that nothing is copied; otherwise twice as much each time.
                let wanted = (read.len() + part.len()).max(read.capacity() * 2).max(said.min(FIRST_BYTES));
                share.grow_to(wanted.min(max_bytes))?;
                let mut larger = BytesMut::with_capacity(wanted.min(max_bytes));
                larger.extend_from_slice(&read);
                read = larger;
            }
            read.extend_from_slice(&part);
        }
        Ok(read.freeze())
    };
    time::timeout(timeout, reading).await.map_err(|_| read::too_slow(timeout))?
}

/// Returns the whole body of a request that nothing else is done with.
pub(crate) async fn read_of(
    service: &Service,
    request: Request,
    max_bytes: usize,
) -> Result<(Bytes, BodyShare), Problem> {
    let mut share = BodyShare::of(service, request.extensions());
    let read = read_whole(&mut share, request.into_body(), max_bytes, service.timeouts().body).await?;
    Ok((read, share))
}

fn full(of: &str, most: usize, found: usize) -> Refusal {
    let [most, found] = [most, found].map(|bytes| bytes.div_ceil(1 << 20));
    let message = format!("expected at most {most} MiB {of} that are being sent, found {found}");
    Refusal::new(Code::QuotaExceeded, message)
        .about("body_memory")
        .with_cure("nothing was changed; try again in 1 second")
}

/// What the user of this machine is called.
const LOCAL: &str = "local";
/// How much one token or address may have: the largest document, while it is read.
const MOST_EACH_BYTES: usize = 50 << 20;
/// What a caller may have in the reserve: any ordinary question.
const SMALL_BYTES: usize = 64 << 10;
/// The reserve is this part of the room.
const RESERVE_SHARE: usize = 4;
/// How much is taken at the first part of a body at most: more only as it comes.
const FIRST_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn share(room: &Arc<BodyRoom>, holder: &str) -> BodyShare {
        BodyShare { room: Arc::clone(room), holder: holder.to_owned(), bytes: 0 }
    }

    /// ONE-15
    #[test]
    fn nobody_takes_more_than_a_share_and_all_of_them_no_more_than_there_is() {
        let room = BodyRoom::new(80 << 20);
        let mut one = share(&room, "one");
        one.grow_to(40 << 20).unwrap();
        let mut second = share(&room, "one");
        let refused = second.grow_to(11 << 20).unwrap_err();
        assert_eq!((refused.code, refused.field.as_deref()), (Code::QuotaExceeded, Some("body_memory")));
        second.grow_to(10 << 20).unwrap();
        let mut other = share(&room, "other");
        other.grow_to(30 << 20).unwrap();
        assert!(other.grow_to(31 << 20).is_err(), "there is no more");
        share(&room, "small").grow_to(64 << 10).unwrap();
        assert!(share(&room, "large").grow_to(65 << 10).is_err(), "the reserve is for what is small");
        assert!(second.grow_to((10 << 20) + 1).is_err(), "and for those who have next to nothing");
        drop(one);
        other.grow_to(31 << 20).unwrap();
        drop((second, other));
        let taken = room.taken();
        assert_eq!((taken.all, taken.each.len()), (0, 0), "nothing is left of those who are gone");
    }

    #[tokio::test]
    async fn body_that_ends_is_read_whole_and_one_that_does_not_is_not_waited_for() {
        let room = BodyRoom::new(1 << 20);
        let text = "words ".repeat(20_000);
        let timeout = time::Duration::from_millis(50);
        let mut own = share(&room, "one");
        let read = read_whole(&mut own, Body::from(text.clone()), 1 << 20, timeout).await.unwrap();
        assert_eq!(read, text);
        assert!(own.bytes >= text.len());
        let refused = read_whole(&mut own, Body::from(text), 1000, timeout).await.unwrap_err();
        assert_eq!(refused.code(), Code::TooLarge);
        let silent = Body::from_stream(futures_pending());
        let refused = read_whole(&mut own, silent, 1000, timeout).await.unwrap_err();
        assert_eq!(refused.code(), Code::TooSlow);
    }

    fn futures_pending() -> impl futures_core::Stream<Item = Result<Bytes, std::io::Error>> {
        struct Never;
        impl futures_core::Stream for Never {
            type Item = Result<Bytes, std::io::Error>;

            fn poll_next(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<Self::Item>> {
                std::task::Poll::Pending
            }
        }
        Never
    }
}
