//! The way to the server of a data folder: over its Unix socket, with a server started where none runs. A server that goes
//! away meanwhile is replaced: whoever waits goes on waiting.

mod download;
mod folder_user;
mod socket_api;
mod start;
mod stop;
mod stream;

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;
use demur_api::{
    call::{ApiRequest, Call as _},
    code::Code,
    operation::{self, ApiDocument as _, Operation},
    problem::ProblemDetails,
    refusal::Refusal,
    server::PROTOCOL,
};
use demur_server::credentials::socket::PROTOCOL_HEADER;
use http_body_util::BodyExt as _;
use hyper::{Method, Response, StatusCode, body::Incoming};
use tokio::{runtime::Runtime, time::timeout};

pub(crate) use download::Broken;
pub(crate) use folder_user::FolderUser;
pub(crate) use socket_api::{SocketApi, how_to_kill, typed_for};
pub(crate) use start::log_file;
pub(crate) use stop::Ended;
pub(crate) use stream::Follow;

use crate::{context::Context, data::DataFolder, failure::Failure};

/// A way to the server of a data folder.
pub(crate) struct Client {
    way: SocketApi,
    runtime: Runtime,
}

/// One request.
pub(crate) struct SocketRequest<'a> {
    method: Method,
    path: Cow<'a, str>,
    body: Vec<u8>,
    /// The media type of the body.
    media: &'static str,
    key: Option<String>,
    /// Whether it may be sent again when nobody knows what became of it.
    again: bool,
    /// Whether the server has to be of this version.
    versioned: bool,
    /// How long a server that is away is waited for.
    patience: Duration,
    /// The client whose user's words are passed on.
    relay: Option<String>,
}

impl<'a> SocketRequest<'a> {
    /// Returns the request for an operation.
    pub(crate) fn of<O: Operation>(request: &ApiRequest<O>) -> Result<Self, Refusal> {
        let address = request.address().map_err(|error| Refusal::bug(&error))?;
        let body = serde_json::to_vec(&request.body).map_err(|error| Refusal::bug(&error))?;
        Ok(Self {
            method: match O::ABOUT.method {
                operation::Method::Get => Method::GET,
                operation::Method::Post => Method::POST,
                operation::Method::Put => Method::PUT,
                operation::Method::Delete => Method::DELETE,
            },
            body: if O::Body::is_nothing() { Vec::new() } else { body },
            key: request.key.as_ref().map(ToString::to_string),
            ..Self::get(address)
        })
    }

    /// Returns a request that reads.
    pub(crate) fn get(path: impl Into<Cow<'a, str>>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            body: Vec::new(),
            media: "application/json",
            key: None,
            again: true,
            versioned: true,
            patience: SERVER_PATIENCE,
            relay: None,
        }
    }

    /// Returns a request that sends bytes of a media type.
    pub(crate) fn post_bytes(path: impl Into<Cow<'a, str>>, sent: Option<(Vec<u8>, &'static str)>) -> Self {
        let (body, media) = sent.unwrap_or_default();
        Self { method: Method::POST, body, media, ..Self::get(path) }
    }

    /// Returns the request as one that nobody waits for while the server is away.
    pub(crate) const fn in_passing(mut self) -> Self {
        self.patience = Duration::ZERO;
        self
    }

    /// Returns the request as one that waits so long for a server that is away.
    pub(crate) const fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the request in the name of a client that passes on what its user says.
    pub(crate) fn for_client(mut self, client: String) -> Self {
        self.relay = Some(client);
        self
    }

    /// Returns the request as one that is sent once.
    pub(crate) const fn once(mut self) -> Self {
        self.again = false;
        self
    }
}

impl Client {
    /// Returns the way to the server, which is started where none runs. The data folder is made where it is missing.
    pub(crate) fn open(context: &Context<'_>) -> Result<Self, Failure> {
        Self::starting(context.data_made()?)
    }

    /// Returns the same for a command that needs something that is there already: it makes no data folder.
    pub(crate) fn of_existing(context: &Context<'_>) -> Result<Self, Failure> {
        Self::starting(context.data_there()?)
    }

    /// Returns the way to the server of this folder, which is started where none runs.
    pub(crate) fn starting(data: DataFolder) -> Result<Self, Failure> {
        Self::new(SocketApi::new(data, true))
    }

    /// Returns the way to a server that answers, or why none can be started.
    pub(crate) fn reaching(data: DataFolder) -> Result<Self, Failure> {
        let client = Self::starting(data)?;
        client.runtime.block_on(client.way.reach())?;
        Ok(client)
    }

    /// Returns the way to the server of a data folder that has a store.
    pub(crate) fn of_store(context: &Context<'_>) -> Result<Self, Failure> {
        let data = context.data()?;
        if data.has_store()? { Self::starting(data) } else { Err(data.no_keys().into()) }
    }

    /// Returns a way of its own to the same server, for another thread.
    pub(crate) fn another(&self) -> Result<Self, Failure> {
        Self::new(self.way.clone())
    }

    /// Returns the way to a server that runs already.
    pub(crate) fn to_running(data: DataFolder) -> Result<Self, Failure> {
        Self::new(SocketApi::new(data, false))
    }

    fn new(way: SocketApi) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::of(Code::ClientTrouble, error))?;
        Ok(Self { way, runtime })
    }

    /// Has an operation done that may be done twice: a server that ends meanwhile is replaced, and the request is sent again.
    /// For all others there is [`Self::call_with`] with [`SocketRequest::once`].
    pub(crate) fn call<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure> {
        Ok(self.runtime.block_on(self.way.call(request))?.document)
    }

    /// Has an operation done that takes a moment; a server that does not answer is told.
    pub(crate) fn call_at_once<O: Operation>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure> {
        let answered = self.runtime.block_on(async { timeout(ANSWER_TIMEOUT, self.way.call(request)).await });
        Ok(answered.unwrap_or_else(|_| Err(self.way.silent()))?.document)
    }

    /// Has an operation done, with a request that is not sent as usual.
    pub(crate) fn call_with<O: Operation>(
        &self,
        request: &ApiRequest<O>,
        so: impl FnOnce(SocketRequest<'static>) -> SocketRequest<'static>,
    ) -> Result<O::Output, Failure> {
        let call = so(SocketRequest::of(request)?);
        Ok(self.runtime.block_on(self.way.perform::<O>(&call))?.document)
    }

    /// Returns the way to the server, for work that waits at several places at once.
    pub(crate) const fn way(&self) -> &SocketApi {
        &self.way
    }

    /// Does such work.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Sends a request, and returns a response of which nothing was read yet; never a refusal.
    fn open_stream(&self, call: &SocketRequest<'_>) -> Result<Response<Incoming>, Unanswered> {
        self.runtime.block_on(self.way.open(call))
    }
}

async fn whole(response: Response<Incoming>) -> Result<Bytes, String> {
    let body = response.into_body().collect().await.map_err(|error| error.to_string())?;
    Ok(body.to_bytes())
}

/// Why a request brought nothing back.
enum Unanswered {
    /// Nobody listens.
    NoServer,
    /// The connection broke; nobody knows what became of the request.
    Lost(String),
    /// Somebody said no: the server, or this side of the way.
    Refused(Refusal),
}

impl Unanswered {
    fn of(status: StatusCode, bytes: &[u8]) -> Self {
        let details: Result<ProblemDetails, _> = serde_json::from_slice(bytes);
        let silent = |_| Refusal::bug(&format!("the server answered {status} without a reason"));
        Self::Refused(details.map_or_else(silent, Refusal::from))
    }
}

/// A server of another version would misunderstand what it is told.
fn check_protocol(response: &Response<Incoming>) -> Result<(), Unanswered> {
    let found = response.headers().get(PROTOCOL_HEADER).map(|value| value.to_str().unwrap_or_default());
    if found == Some(PROTOCOL.to_string().as_str()) {
        return Ok(());
    }
    let message = format!("expected a server that speaks version {PROTOCOL} of the socket, found another");
    Err(Unanswered::Refused(
        Refusal::new(Code::VersionMismatch, message)
            .with_cure("`demur stop` ends it; the next command starts the right one"),
    ))
}

fn lost(error: &str) -> Refusal {
    Refusal::new(Code::ConnectionLost, format!("the connection to the server broke: {error}"))
        .with_cure("whether it happened shows in `demur inbox --list` or `demur show`")
}

/// How long a server that is away is waited for.
const SERVER_PATIENCE: Duration = Duration::from_secs(30);
/// How often it is tried.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// How long a server may take to answer what takes a moment.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
