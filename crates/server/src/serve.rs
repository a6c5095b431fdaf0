//! The life of a server: it takes the folder, listens, answers, and ends in good order: on a signal, when it is told to,
//! or when nothing is open and nobody has called for a while.

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use demur_api::{code::Code, refusal::Refusal, server_limits::ServerLimits};
use demur_core::limit::Text;
use demur_desk::{
    aaep,
    access::Caller,
    data::DataFolder,
    deadlines,
    desk::{Addresses, Desk, DeskConfig},
    follower, kept_root,
    rules::RulesSource,
    settings::PageHost,
    token::SessionTimeouts,
};
use tokio::{
    net::{TcpListener, UnixListener},
    runtime::Builder,
    signal::unix::{SignalKind, signal},
    time,
};

use crate::{
    connection::{self, Connections},
    credentials::Names,
    loopback,
    metrics::Metrics,
    network::Network,
    peer_timeouts::PeerTimeouts,
    public_url::PublicUrl,
    routes,
    service::{Service, Shared},
    socket::OwnSocket,
};

/// How a server is to run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The data folder.
    pub data: DataFolder,
    /// The rules that plans are held against.
    pub rules: RulesSource,
    /// Where to listen on TCP.
    pub listen: Listen,
    /// After how long without callers and without open questions it ends.
    pub idle: Option<Duration>,
    /// The user who runs it.
    pub user: Text<1, 256>,
    /// The version of demur.
    pub version: String,
    /// How many connections, tokens and people it takes.
    pub limits: ServerLimits,
    /// Under which name of this machine pages are.
    pub pages: PageHost,
    /// How long browsers stay signed in.
    pub sessions: SessionTimeouts,
}

/// Where to listen on TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Nowhere.
    Nowhere,
    /// On this machine, at the port that the folder remembers. A folder without one takes this port if it is free, otherwise
    /// another, and keeps it.
    Loopback(Option<u16>),
    /// On this machine, at this port and no other: whoever named it has written it down somewhere. The folder keeps it.
    Port(u16),
    /// At this address, behind a proxy that browsers reach under another.
    Proxied {
        /// The address.
        address: SocketAddr,
        /// The address for browsers.
        url: PublicUrl,
        /// The proxies that say for whom they speak.
        trusted: Vec<Network>,
    },
}

/// Runs a server until it ends. `ready` is told once it answers.
pub fn run(config: Config, ready: impl FnOnce(&Service) + Send) -> Result<(), Refusal> {
    run_with(config, PeerTimeouts::default(), ready)
}

/// Runs a server that waits no longer than this for the other side of a connection.
pub fn run_with(
    config: Config,
    timeouts: PeerTimeouts,
    ready: impl FnOnce(&Service) + Send,
) -> Result<(), Refusal> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_keep_alive(Duration::from_secs(2))
        .enable_all()
        .build()
        .map_err(|error| trouble("start its threads", &error))?;
    let ended = runtime.block_on(live(config, timeouts, ready));
    // Whoever still reads a large store or waits for a hung disk is not waited for: what was acknowledged is on the disk.
    runtime.shutdown_timeout(WORK_END_TIMEOUT);
    ended
}

async fn live(
    config: Config,
    timeouts: PeerTimeouts,
    ready: impl FnOnce(&Service) + Send,
) -> Result<(), Refusal> {
    let metrics = Arc::new(Metrics::default());
    let socket = Arc::new(OwnSocket::of(config.data.path()));
    let desk = DeskConfig {
        data: config.data.clone(),
        rules: config.rules.clone(),
        user: config.user.clone(),
        version: config.version.clone(),
        limits: fitting(config.limits),
        sessions: config.sessions,
    };
    let counts = Arc::clone(&metrics);
    let desk = Desk::open(&desk, counts)?;
    sweep_sign_in_files(&config.data);
    let service = Arc::new(Service::new(Arc::clone(&desk), metrics, Arc::clone(&socket), timeouts));
    let connections = Connections::new(routes::router(&service), desk.ending(), timeouts, desk.limits());
    let ended = answer(&config, &service, &connections, ready).await;
    desk.end();
    // Before the folder is let go: the next server has a socket of its own there.
    socket.remove();
    let until = Instant::now() + CONNECTIONS_END_TIMEOUT;
    while connections.count() > 0 && Instant::now() < until {
        time::sleep(Duration::from_millis(5)).await;
    }
    // Nobody removes them later, and without a server they are of no use.
    sweep_sign_in_files(&config.data);
    let closing = tokio::task::spawn_blocking(move || desk.close());
    let _ = closing.await;
    ended
}

fn sweep_sign_in_files(data: &DataFolder) {
    if let Err(error) = data.sweep_sign_in_files() {
        tracing::warn!(%error, "files for signing in could not be removed");
    }
}

async fn answer(
    config: &Config,
    service: &Shared,
    connections: &Connections,
    ready: impl FnOnce(&Service) + Send,
) -> Result<(), Refusal> {
    let mut terminate =
        signal(SignalKind::terminate()).map_err(|error| trouble("watch for signals", &error))?;
    let mut interrupt =
        signal(SignalKind::interrupt()).map_err(|error| trouble("watch for signals", &error))?;
    let bound = service.socket.bind().map_err(|error| trouble("make its socket", &error))?;
    let socket = UnixListener::from_std(bound).map_err(|error| trouble("make its socket", &error))?;
    let caller = Caller::Local { name: config.user.clone(), client: None, id: None };
    // First TCP: whoever asks over the socket where that is gets an answer.
    match listen(config, service).await? {
        Bound::Nowhere => {}
        Bound::Here(listeners, names) => serve_tcp(connections, listeners, &Arc::new(names)),
        Bound::Taken(port) => {
            service.desk.wait_for_port(port);
            lose_port(service, port).await;
            tokio::spawn(take_when_free(Arc::clone(service), connections.clone(), port, config.pages));
        }
    }
    tokio::spawn(serve_socket(Arc::clone(service), connections.clone(), socket, caller));
    tokio::spawn(deadlines::run(Arc::clone(&service.desk)));
    tokio::spawn(kept_root::run(Arc::clone(&service.desk)));
    tokio::spawn(follower::run(Arc::clone(&service.desk)));
    tokio::spawn(aaep::run(Arc::clone(&service.desk)));
    tokio::spawn(tell_store_trouble(Arc::clone(service)));
    tracing::info!(address = service.address(), process = std::process::id(), "ready");
    ready(service);
    tokio::select! {
        _ = terminate.recv() => tracing::info!("ends: told by a signal"),
        _ = interrupt.recv() => tracing::info!("ends: told by a signal"),
        () = service.desk.stopping() => tracing::info!("ends: told by a command"),
        () = idle(service, connections, config.idle) => tracing::info!("ends: nothing is open and nobody calls"),
        () = displaced(service) => tracing::warn!("ends: another server has the folder, or it lies no longer where it was"),
    }
    Ok(())
}

/// Returns the limits with no more connections than this process has file descriptors for.
fn fitting(wanted: ServerLimits) -> ServerLimits {
    let limits = connection::fitting(wanted);
    if limits != wanted {
        let ServerLimits { connections, local_connections, .. } = limits;
        tracing::warn!(
            connections,
            local_connections,
            "fewer connections than wanted: this process may open no more files"
        );
    }
    limits
}

/// What came of listening on TCP.
enum Bound {
    /// Nobody wants it.
    Nowhere,
    /// There, at one address or several.
    Here(Vec<TcpListener>, Names),
    /// Another program has the port of the folder.
    Taken(u16),
}

/// Binds where the configuration says, and remembers the port of the folder.
async fn listen(config: &Config, service: &Shared) -> Result<Bound, Refusal> {
    let loopback::Bound { port, listeners } = match &config.listen {
        Listen::Nowhere => return Ok(Bound::Nowhere),
        Listen::Loopback(first) => match remembered(service, *first).await? {
            Ok(bound) => bound,
            Err(port) => return Ok(Bound::Taken(port)),
        },
        Listen::Port(port) => named(service, *port).await?,
        Listen::Proxied { address, url, trusted } => {
            let bound = TcpListener::bind(address).await;
            let listener = bound.map_err(|error| not_bound(address.port(), &error))?;
            let port = listener.local_addr().map_err(|error| trouble("find its address", &error))?.port();
            service.desk.set_addresses(Addresses {
                api: url.to_string(),
                pages: url.to_string(),
                is_public: true,
            });
            return Ok(Bound::Here(vec![listener], Names::public(port, url, trusted.clone())));
        }
    };
    if config.listen != Listen::Port(0) {
        // A port that is not remembered is chosen again next time.
        let _ = service.work(move |desk| desk.remember_port(port)).await;
    }
    let names = reached_here(service, port, config.pages);
    Ok(Bound::Here(listeners, names))
}

/// Takes connections at every address.
fn serve_tcp(connections: &Connections, listeners: Vec<TcpListener>, names: &Arc<Names>) {
    for listener in listeners {
        tokio::spawn(connections.clone().serve_tcp(listener, Arc::clone(names)));
    }
}

/// Ends the sessions of browsers where another program has the port of the folder: it was shown their cookies, and what the
/// pages of that address keep.
async fn lose_port(service: &Shared, port: u16) {
    match service.work(move |desk| desk.end_sessions_at(port)).await {
        Ok(0) => {}
        Ok(ended) => tracing::warn!(port, ended, "browsers are signed out: another program has their port"),
        Err(refusal) => tracing::warn!(code = refusal.code().as_str(), "browsers could not be signed out"),
    }
}

/// Says where programs and browsers of this machine reach this.
fn reached_here(service: &Shared, port: u16, pages: PageHost) -> Names {
    let names = Names::here(port, pages);
    service.desk.set_addresses(Addresses {
        api: format!("http://localhost:{port}"),
        pages: names.page_origin.clone(),
        is_public: false,
    });
    names
}

/// Takes the port of the folder once it is free. Until then the socket works, and pages wait: at another port they would be
/// another place for browsers, and for everything that was written down.
async fn take_when_free(service: Shared, connections: Connections, port: u16, pages: PageHost) {
    tracing::warn!(port, "the port of this folder is taken; nothing comes over TCP until it is free");
    let stopping = service.desk.stopping();
    let bound = async {
        loop {
            time::sleep(LOOK_INTERVAL).await;
            if let Ok(bound) = loopback::bind(port).await {
                return bound.listeners;
            }
        }
    };
    tokio::select! {
        () = stopping => {}
        listeners = bound => {
            let names = reached_here(&service, port, pages);
            tracing::info!(port, "the port of this folder is free again");
            serve_tcp(&connections, listeners, &Arc::new(names));
        }
    }
}

/// Says why an address that was named could not be bound.
fn not_bound(port: u16, error: &io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::AddrInUse => {
            let message = format!("expected a free port, found {port} in use by another program");
            Refusal::new(Code::PortTaken, message)
        }
        ErrorKind::PermissionDenied => {
            let message = format!("expected a port that this user may open, found {port}");
            Refusal::new(Code::PortForbidden, message)
        }
        _ => trouble("listen at that address", error),
    }
}

/// Binds at the port that was named and at no other.
async fn named(service: &Shared, port: u16) -> Result<loopback::Bound, Refusal> {
    match loopback::bind(port).await {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            lose_port(service, port).await;
            Err(not_bound(port, &error))
        }
        bound => bound.map_err(|error| not_bound(port, &error)),
    }
}

/// Binds at the port of the folder, or at this one where it has none yet. Returns the port where another program has it.
async fn remembered(service: &Shared, first: Option<u16>) -> Result<Result<loopback::Bound, u16>, Refusal> {
    let remembered = service.work(Desk::remembered_port).await.ok().flatten();
    let wanted: u16 = remembered.or(first).unwrap_or(0);
    match loopback::bind(wanted).await {
        Ok(bound) => Ok(Ok(bound)),
        Err(error) if remembered.is_some() && error.kind() == ErrorKind::AddrInUse => Ok(Err(wanted)),
        Err(_) => {
            let bound = loopback::bind(0).await;
            bound.map(Ok).map_err(|error| trouble("listen on this machine", &error))
        }
    }
}

/// Waits until nobody has called for a while and nothing is open; for ever without a limit.
async fn idle(service: &Shared, connections: &Connections, limit: Option<Duration>) {
    let Some(limit) = limit else { return std::future::pending().await };
    let mut busy = Instant::now();
    loop {
        time::sleep(LOOK_INTERVAL.min(limit)).await;
        if connections.count() > 0 || !service.desk.waiters().is_empty() {
            busy = Instant::now();
        } else if busy.elapsed() >= limit && !has_open(service).await {
            return;
        }
    }
}

/// Takes connections over the socket until the server ends. A socket file that somebody deletes is put back: without it
/// no command finds the server, and no other server can begin.
async fn serve_socket(service: Shared, connections: Connections, mut socket: UnixListener, caller: Caller) {
    let user = rustix::process::geteuid().as_raw();
    loop {
        tokio::select! {
            () = connections.serve_socket(&socket, user, &caller) => return,
            mended = mended_socket(&service) => socket = mended,
        }
    }
}

/// Waits until the socket file was lost, and returns the socket that was bound in its place.
async fn mended_socket(service: &Shared) -> UnixListener {
    loop {
        time::sleep(LOOK_INTERVAL).await;
        match mend_socket(service).and_then(|found| found.map(UnixListener::from_std).transpose()) {
            Ok(None) => {}
            Ok(Some(socket)) => {
                tracing::warn!("the socket file was gone; it is there again");
                return socket;
            }
            Err(error) => tracing::error!(%error, "the socket file is gone and cannot be put back"),
        }
    }
}

/// Binds the socket again where its file is lost; none where nothing is amiss.
fn mend_socket(service: &Shared) -> io::Result<Option<std::os::unix::net::UnixListener>> {
    // One that ends has removed it itself.
    let lost = service.desk.is_open() && service.socket.is_lost();
    lost.then(|| service.socket.bind()).transpose()
}

/// Waits until the folder is no longer this server's: it was deleted or moved.
async fn displaced(service: &Shared) {
    while !service.socket.is_folder_gone() {
        time::sleep(LOOK_INTERVAL).await;
    }
}

/// Says in the log that the files of the store are gone. The server goes on: what it has read can be seen, the files that it
/// has open can be copied, and a new server would begin an empty record.
async fn tell_store_trouble(service: Shared) {
    let stopping = service.desk.stopping();
    let gone = async {
        loop {
            time::sleep(LOOK_INTERVAL).await;
            if let Some(trouble) = service.desk.store_trouble() {
                return trouble;
            }
        }
    };
    tokio::select! {
        () = stopping => {}
        trouble = gone => tracing::error!(error = trouble.message, "nothing more is recorded"),
    }
}

/// Returns whether a question is open, or may be.
async fn has_open(service: &Shared) -> bool {
    service.work(Desk::is_anybody_asked).await.unwrap_or(true)
}

fn trouble(action: &str, error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::ServerTrouble, format!("the server cannot {action}: {error}"))
}

const WORKER_THREADS: usize = 2;
const MAX_BLOCKING_THREADS: usize = 160;
/// How long the last responses may take.
const CONNECTIONS_END_TIMEOUT: Duration = Duration::from_secs(4);
/// How long work that is still going on after that is waited for.
const WORK_END_TIMEOUT: Duration = Duration::from_secs(5);
/// How often it is looked whether anybody is there.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
