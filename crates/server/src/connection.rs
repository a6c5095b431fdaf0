//! Connections: a bounded number of them, with limits on how long a request may take to arrive and a response to be
//! taken, so that a client that is slow or never reads costs the others nothing.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, body::Body, extract::Request};
use demur_desk::access::Caller;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, UnixListener},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{self, Instant, Sleep},
};
use tower::ServiceExt as _;

use crate::{
    credentials::{ConnectedFrom, Names, Transport},
    peer_timeouts::PeerTimeouts,
    service::over,
};

/// Where connections are counted, and what ends them.
#[derive(Clone)]
pub struct Connections {
    router: Router,
    /// Strangers come over TCP: what they take is not taken from the user of this machine.
    room: Arc<Semaphore>,
    own_room: Arc<Semaphore>,
    open: Arc<AtomicUsize>,
    ending: watch::Receiver<bool>,
    timeouts: PeerTimeouts,
}

impl Connections {
    /// Returns connections to these routes, until `ending` says so: as many over TCP as there is `room` for.
    pub fn new(router: Router, ending: watch::Receiver<bool>, timeouts: PeerTimeouts, room: usize) -> Self {
        let [room, own_room] = [room, MAX_SOCKET_CONNECTIONS].map(|most| Arc::new(Semaphore::new(most)));
        Self { router, room, own_room, open: Arc::default(), ending, timeouts }
    }

    /// Returns how many there are now.
    pub fn count(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Takes connections over TCP.
    pub async fn serve_tcp(self, listener: TcpListener, names: Arc<Names>) {
        let mut failures = 0;
        loop {
            let Some(permit) = self.permit(&self.room).await else { return };
            match self.or_end(listener.accept()).await {
                None => return,
                Some(Ok((stream, address))) => {
                    failures = 0;
                    // A small answer must not wait for a larger one.
                    let _ = stream.set_nodelay(true);
                    let from = ConnectedFrom(address.ip());
                    self.spawn(stream, Transport::Tcp(Arc::clone(&names)), Some(from), permit);
                }
                Some(Err(error)) => rest_after(&error, &mut failures).await,
            }
        }
    }

    /// Takes connections over the Unix socket, from one user only.
    pub async fn serve_socket(&self, listener: &UnixListener, user: u32, caller: &Caller) {
        let mut failures = 0;
        loop {
            let Some(permit) = self.permit(&self.own_room).await else { return };
            match self.or_end(listener.accept()).await {
                None => return,
                Some(Ok((stream, _))) => {
                    failures = 0;
                    // The file's mode keeps others out; the kernel's word makes sure.
                    if stream.peer_cred().is_ok_and(|peer| peer.uid() == user) {
                        self.spawn(stream, Transport::Socket(caller.clone()), None, permit);
                    } else {
                        tracing::warn!("another user tried the socket");
                    }
                }
                Some(Err(error)) => rest_after(&error, &mut failures).await,
            }
        }
    }

    async fn permit(&self, room: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        self.or_end(Arc::clone(room).acquire_owned()).await?.ok()
    }

    async fn or_end<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut ending = self.ending.clone();
        tokio::select! {
            done = future => Some(done),
            () = over(&mut ending) => None,
        }
    }

    fn spawn<I>(&self, stream: I, way: Transport, from: Option<ConnectedFrom>, permit: OwnedSemaphorePermit)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (router, mut ending, timeouts) = (self.router.clone(), self.ending.clone(), self.timeouts);
        let counted = Counted::new(&self.open);
        tokio::spawn(async move {
            let (_permit, _counted) = (permit, counted);
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let mut request: Request = request.map(Body::new);
                request.extensions_mut().insert(way.clone());
                from.map(|from| request.extensions_mut().insert(from));
                router.clone().oneshot(request)
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(timeouts.head)
                .max_buf_size(MAX_HEAD_BYTES)
                .max_headers(64)
                .serve_connection(TokioIo::new(TimedWrites::new(stream, timeouts.write)), service);
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = over(&mut ending) => {
                    connection.as_mut().graceful_shutdown();
                    time::timeout(LAST_RESPONSE_TIMEOUT, connection).await.unwrap_or(Ok(()))
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
}

/// One connection more, for as long as it lives.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(open))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Pauses after a connection that could not be taken, most likely for want of a file descriptor: others may close theirs. The
/// pauses get longer, and so do those between the lines of the log.
async fn rest_after(error: &io::Error, failures: &mut u32) {
    *failures = failures.saturating_add(1);
    if failures.is_power_of_two() {
        tracing::warn!(%error, failures, "a connection could not be taken");
    }
    time::sleep(ACCEPT_RETRY_INTERVAL.saturating_mul(*failures).min(MAX_ACCEPT_RETRY_INTERVAL)).await;
}

/// A stream that fails if its other side takes nothing for too long.
struct TimedWrites<I> {
    stream: I,
    write_timeout: Duration,
    blocked: Option<Pin<Box<Sleep>>>,
}

impl<I> TimedWrites<I> {
    const fn new(stream: I, write_timeout: Duration) -> Self {
        Self { stream, write_timeout, blocked: None }
    }

    /// Returns what became of a write, or that it took too long.
    fn judge<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.blocked = None;
            return polled;
        }
        let until = || Box::pin(time::sleep_until(Instant::now() + self.write_timeout));
        let sleep = self.blocked.get_or_insert_with(until);
        match sleep.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for TimedWrites<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for TimedWrites<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Returns for how many of so many connections over TCP this process has file descriptors. Many systems begin with a
/// thousand and allow more on request.
pub fn room(most: usize) -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = (most + MAX_SOCKET_CONNECTIONS + OTHER_FILE_DESCRIPTORS) as u64;
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_some_and(|current| current < raised) {
        let asked = Rlimit { current: Some(raised), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, asked).is_ok() {
            limit.current = Some(raised);
        }
    }
    let given = limit.current.map_or(usize::MAX, |current| usize::try_from(current).unwrap_or(usize::MAX));
    // Files and the socket come first; connections over TCP share the rest.
    given
        .saturating_sub(MAX_SOCKET_CONNECTIONS + OTHER_FILE_DESCRIPTORS)
        .clamp(MIN_CONNECTIONS.min(most), most)
}

/// Room that there is on any machine.
const MIN_CONNECTIONS: usize = 64;
/// File descriptors for the ledger, artifacts, sockets and threads.
const OTHER_FILE_DESCRIPTORS: usize = 512;
/// How many connections over the socket there are at once.
const MAX_SOCKET_CONNECTIONS: usize = 256;
/// How long the last responses may take when the server ends.
const LAST_RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
/// How large the head of a request may be.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// How long nothing is taken after a connection that could not be, at first and at most.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);
const MAX_ACCEPT_RETRY_INTERVAL: Duration = Duration::from_secs(1);
