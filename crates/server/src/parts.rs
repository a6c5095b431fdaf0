//! Large answers on their way out, part by part: what is written on one thread is read by a connection, and neither waits
//! for the other longer than it must. An answer that does not come to its end breaks the connection off, so that nobody
//! takes a part for the whole.

use std::{
    io::{self, ErrorKind, Write},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bytes::Bytes;
use demur_desk::desk::Desk;
use demur_desk::large_turns::LargeTurn;
use futures_core::Stream;
use tokio::{runtime::Handle, sync::mpsc, time};

use crate::service::Shared;

/// Where a thread writes.
pub struct PartWriter {
    sender: mpsc::Sender<Bytes>,
    gathered: Vec<u8>,
    whole: Arc<AtomicBool>,
    runtime: Handle,
    desk: Arc<Desk>,
    until: Instant,
}

/// What a connection reads.
pub struct Parts {
    /// The first of them, once it is there.
    first: Option<Bytes>,
    receiver: mpsc::Receiver<Bytes>,
    whole: Arc<AtomicBool>,
    ended: bool,
}

/// Returns both ends. The writer works in the data folder, which is let go when the server ends.
pub fn open(service: &Shared) -> (PartWriter, Parts) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING_PARTS);
    let whole = Arc::new(AtomicBool::new(false));
    let writer = PartWriter {
        sender,
        gathered: Vec::with_capacity(PART_BYTES),
        whole: Arc::clone(&whole),
        runtime: Handle::current(),
        desk: Arc::clone(&service.desk),
        until: Instant::now() + ANSWER_TIMEOUT,
    };
    (writer, Parts { first: None, receiver, whole, ended: false })
}

impl PartWriter {
    /// Says that everything is written.
    pub fn finish(self) {
        self.whole.store(true, Ordering::Release);
    }

    /// Hands over what is gathered; waits for the reader, but not for ever.
    fn hand_over(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let part = Bytes::from(std::mem::replace(&mut self.gathered, Vec::with_capacity(PART_BYTES)));
        loop {
            match self.runtime.block_on(time::timeout(LOOK_INTERVAL, self.sender.reserve())) {
                Ok(Ok(place)) => {
                    place.send(part);
                    return Ok(());
                }
                Ok(Err(_)) => return Err(ErrorKind::BrokenPipe.into()),
                Err(_) => {}
            }
            if !self.desk.is_open() {
                self.until = self.until.min(Instant::now() + LEAVE_TIMEOUT);
            }
            if Instant::now() > self.until {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}

impl Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART_BYTES - self.gathered.len());
        self.gathered.extend_from_slice(&bytes[..taken]);
        if self.gathered.len() == PART_BYTES {
            self.hand_over()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_over()
    }
}

impl Parts {
    /// Waits for the first part; none where the writer gives up before it: then there is somebody to be told why.
    pub async fn begun(mut self) -> Option<Self> {
        self.first = self.receiver.recv().await;
        (self.first.is_some() || self.whole.load(Ordering::Acquire)).then_some(self)
    }
}

impl Stream for Parts {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        self.receiver.poll_recv(context).map(|part| {
            if let Some(part) = part {
                return Some(Ok(part));
            }
            self.ended = true;
            let whole = self.whole.load(Ordering::Acquire);
            (!whole).then(|| Err(io::Error::other("the answer could not be finished")))
        })
    }
}

/// Bytes that are there at once, with the turn that allows them to be.
pub struct Held {
    rest: Bytes,
    _turn: LargeTurn,
}

impl Held {
    /// Returns the bytes as a stream that gives the turn back at its end.
    pub const fn new(rest: Bytes, turn: LargeTurn) -> Self {
        Self { rest, _turn: turn }
    }
}

impl Stream for Held {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let length = self.rest.len().min(PART_BYTES);
        Poll::Ready((length > 0).then(|| Ok(self.rest.split_to(length))))
    }
}

/// How large a part is.
const PART_BYTES: usize = 64 << 10;
/// How many parts wait for a slow reader.
const MAX_WAITING_PARTS: usize = 4;
/// How often a waiting writer looks whether the server ends.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// How long a reader has when it does; shorter than the server waits.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);
