//! Connections: a bounded number of them, with limits on how long a request may take to arrive and a response to be
//! taken, so that a client that is slow or never reads costs the others nothing.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
};
use demur_api::server_limits::ServerLimits;
use demur_desk::access::Caller;
use hyper::{
    Response,
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, UnixListener},
    sync::watch,
    time::{self, Instant, Sleep},
};
use tower::ServiceExt as _;

use crate::{
    credentials::{ConnectedFrom, Names, Transport},
    descent::is_of_tool,
    peer_timeouts::PeerTimeouts,
    places::{Place, Places, RequestAtPlace, Shares},
    service::over,
};

/// Where connections are counted, and what ends them.
#[derive(Clone)]
pub struct Connections {
    router: Router,
    /// Strangers come over TCP: what they take is not taken from the user of this machine.
    places: Arc<Places>,
    own_places: Arc<Places>,
    open: Arc<AtomicUsize>,
    ending: watch::Receiver<bool>,
    timeouts: PeerTimeouts,
}

impl Connections {
    /// Returns connections to these routes, until `ending` says so, and no more than the limits allow.
    pub fn new(
        router: Router,
        ending: watch::Receiver<bool>,
        timeouts: PeerTimeouts,
        limits: ServerLimits,
    ) -> Self {
        let all = limits.connections as usize;
        // Whoever has a token finds a place, however many strangers there are.
        let strangers = (limits.stranger_connections as usize).min(all - all / 4);
        let places = Places::new(Shares { all, strangers, token: limits.quotas.connections as usize });
        let own_places = Places::new(Shares::of_all(limits.local_connections as usize));
        Self { router, places, own_places, open: Arc::default(), ending, timeouts }
    }

    /// Returns how many there are now.
    pub fn count(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Takes connections over TCP.
    pub async fn serve_tcp(self, listener: TcpListener, names: Arc<Names>) {
        let mut failures = 0;
        loop {
            match self.or_end(listener.accept()).await {
                None => return,
                Some(Ok((stream, address))) => {
                    failures = 0;
                    // A small answer must not wait for a larger one.
                    let _ = stream.set_nodelay(true);
                    let from = ConnectedFrom(address.ip());
                    let Some(place) = self.or_end(self.places.take()).await else { return };
                    self.spawn(stream, Transport::Tcp(Arc::clone(&names)), Some(from), place);
                }
                Some(Err(error)) => rest_after(&error, &mut failures).await,
            }
        }
    }

    /// Takes connections over the Unix socket, from one user only.
    pub async fn serve_socket(&self, listener: &UnixListener, user: u32, caller: &Caller) {
        let mut failures = 0;
        loop {
            match self.or_end(listener.accept()).await {
                None => return,
                Some(Ok((stream, _))) => {
                    failures = 0;
                    // The file's mode keeps others out; the kernel's word makes sure.
                    if let Some(peer) = stream.peer_cred().ok().filter(|peer| peer.uid() == user) {
                        let Some(place) = self.or_end(self.own_places.take()).await else { return };
                        let transport = if peer.pid().is_some_and(is_of_tool) {
                            Transport::Tool
                        } else {
                            Transport::Socket(caller.clone())
                        };
                        self.spawn(stream, transport, None, place);
                    } else {
                        tracing::warn!("another user tried the socket");
                    }
                }
                Some(Err(error)) => rest_after(&error, &mut failures).await,
            }
        }
    }

    async fn or_end<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut ending = self.ending.clone();
        tokio::select! {
            done = future => Some(done),
            () = over(&mut ending) => None,
        }
    }

    fn spawn<I>(&self, stream: I, way: Transport, from: Option<ConnectedFrom>, place: Arc<Place>)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (router, mut ending, timeouts) = (self.router.clone(), self.ending.clone(), self.timeouts);
        let counted = Counted::new(&self.open);
        tokio::spawn(async move {
            let _counted = counted;
            let service = service_fn(|request: hyper::Request<Incoming>| {
                let begun = place.begin();
                let mut request: Request = request.map(Body::new);
                request.extensions_mut().insert(way.clone());
                request.extensions_mut().insert(place.named());
                from.map(|from| request.extensions_mut().insert(from));
                answer(router.clone(), request, begun)
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
                () = place.dismissed() => {
                    if place.is_idle() {
                        return;
                    }
                    // Its request came in the same moment.
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
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

/// Answers a request, which is over once the whole response was written.
async fn answer(
    router: Router,
    request: Request,
    begun: RequestAtPlace,
) -> Result<Response<Answered>, Infallible> {
    let response = router.oneshot(request).await?;
    Ok(response.map(|body| Answered { body, _begun: begun }))
}

/// The body of a response, with the request that it answers.
struct Answered {
    body: Body,
    _begun: RequestAtPlace,
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
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

/// Returns the limits with no more connections than this process has file descriptors for. Many systems begin with a
/// thousand and allow more on request.
pub fn fitting(limits: ServerLimits) -> ServerLimits {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = u64::from(limits.connections) + u64::from(limits.local_connections) + OTHER_FILE_DESCRIPTORS;
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_some_and(|current| current < raised) {
        let asked = Rlimit { current: Some(raised), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, asked).is_ok() {
            limit.current = Some(raised);
        }
    }
    shared_out(limits, limit.current.unwrap_or(u64::MAX))
}

/// Shares file descriptors out. Too few for everything: some are left for what is not a connection, half of the rest is for
/// the user of this machine, and those over TCP have what that leaves.
fn shared_out(limits: ServerLimits, given: u64) -> ServerLimits {
    let left = u32::try_from(given.saturating_sub(OTHER_FILE_DESCRIPTORS)).unwrap_or(u32::MAX);
    let at_most = |wanted: u32, room: u32| room.clamp(MIN_CONNECTIONS.min(wanted), wanted);
    let local_connections = at_most(limits.local_connections, left / 2);
    let connections = at_most(limits.connections, left.saturating_sub(local_connections));
    ServerLimits { connections, local_connections, ..limits }
}

/// Room that there is on any machine.
const MIN_CONNECTIONS: u32 = 64;
/// File descriptors for the ledger, artifacts, sockets and threads.
const OTHER_FILE_DESCRIPTORS: u64 = 512;
/// How long the last responses may take when the server ends.
const LAST_RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
/// How large the head of a request may be.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// How long nothing is taken after a connection that could not be, at first and at most.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);
const MAX_ACCEPT_RETRY_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_files_are_shared_and_enough_are_left_as_they_were() {
        let limits = ServerLimits { connections: 3072, local_connections: 1024, ..ServerLimits::default() };
        let shared = |given| {
            let ServerLimits { connections, local_connections, .. } = shared_out(limits, given);
            (connections, local_connections)
        };
        assert_eq!(shared(u64::MAX), (3072, 1024));
        assert_eq!(shared(3072 + 1024 + 512), (3072, 1024));
        assert_eq!(shared(1024), (256, 256));
        assert_eq!(shared(0), (64, 64));
    }
}
